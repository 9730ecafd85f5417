import type { MessageStatus } from '../../domain/delivery.ts';
import { BYTES_GAUGE } from '../counting.ts';
import type { Books } from './books.ts';

type KeptRow = [seq: number, status: MessageStatus, segment: number | null, length: number | null];

/** Builds the verb `discard`. */
export function discardVerb({ db, tallies }: Books) {
  const find = db.prepare<[id: string], KeptRow>(
    `SELECT seq, status, segment, length FROM messages WHERE id = ? AND kept = 'captured'`,
  );
  const drop = db.prepare<[seq: number]>(
    `UPDATE messages SET kept = 'gone', segment = NULL, offset = NULL, length = NULL WHERE seq = ?`,
  );
  return (ids: readonly string[]): boolean[] =>
    ids.map((id) => {
      const [seq, status, segment, length] = find.get(id) ?? [];
      if (seq === undefined) return false;
      drop.run(seq);
      if (segment != null && length != null) {
        tallies.segment(segment, -1, -length);
        tallies.gauge(BYTES_GAUGE.captured, -length);
        if (status === 'failed') tallies.gauge('failed_kept', -1);
      }
      return true;
    });
}
