import type { LastError } from '../domain/message.ts';
import type { Suppression } from '../domain/suppression.ts';
import type { AcceptRecord } from './accepting.ts';
import { lastErrorOf, suppressed } from './columns.ts';
import type { Stopped } from './telling.ts';

/** Recipients that the suppression list stops: the entries, by places in the envelope. */
export type Stops = ReadonlyMap<number, Suppression>;

/** The list stops nobody. */
export const NOBODY: Stops = new Map();

/** Stops, for an answer. */
export function stopsOf(stopped: Stops): Stopped[] {
  return [...stopped].map(([index, { id, reason }]) => ({ index, entry: id, reason }));
}

/** The error of the last recipient of a record that is stopped; null: none is. */
export function lastStopOf({ deliveries }: AcceptRecord, stopped: Stops): LastError | null {
  const [index, entry] = [...stopped].at(-1) ?? [];
  const address = index === undefined ? undefined : deliveries[index]?.recipient.address;
  if (entry === undefined || address === undefined) return null;
  return lastErrorOf(suppressed(address, entry.reason).reply, 'permanent', address);
}
