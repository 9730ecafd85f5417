import type { OpenDriver } from '../../src/store/sqlite/driver.ts';
import type { Books } from '../contract/store/fixtures.ts';

/** The books of the database at this path, read beside whoever has it open. */
export function readBooks(driver: OpenDriver, path: string): Books {
  const other = driver(path);
  const queues = other.prepare<[], [string, number]>('SELECT key_id, messages FROM key_queues').all();
  const gauges = new Map(other.prepare<[], [string, number]>('SELECT name, value FROM gauges').all());
  other.close();
  return {
    queues: new Map(queues),
    sentBytes: gauges.get('sent_bytes') ?? 0,
    capturedBytes: gauges.get('captured_bytes') ?? 0,
  };
}
