import type { Driver } from './driver.ts';

/** Runs several reads over one state of the database. */
export type InSnapshot = <T>(read: () => T) => T;

/** Makes {@link InSnapshot} for a connection. */
export function snapshots(db: Driver): InSnapshot {
  return (read) => {
    db.exec('BEGIN');
    try {
      return read();
    } finally {
      db.exec('COMMIT');
    }
  };
}
