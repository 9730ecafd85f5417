/** What is expected of a line of a provider's answer table, and a status by which it is reached. */
import { expect } from 'vitest';
import type { AnswerRow } from '../../../src/transport/providers/provider.ts';
import type { TransportResult } from '../../../src/transport/transport.ts';
import { only } from '../smtp-out/rig.ts';

/** A status that a line is for, and no other line of the table has by itself. */
export function statusFor({ status }: AnswerRow, table: readonly AnswerRow[]): number {
  if (typeof status === 'number') return status;
  const first = Number(status.charAt(0)) * 100;
  const taken = new Set(table.map((row) => row.status));
  for (let one = first; one < first + 100; one++) if (!taken.has(one)) return one;
  throw new Error(`no status is left for ${status}`);
}

/** A line in words. */
export function nameOf({ status, code }: AnswerRow): string {
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** Holds the end of a delivery to what its answer's line says. */
export function holdTo({ meaning, enhanced }: AnswerRow, status: number, result: TransportResult): void {
  const { kind, hopFailed, hopBound, ...reply } = only(result);
  expect({ kind, hopFailed, hopBound }).toEqual(ENDS[meaning]);
  expect(reply).toMatchObject({ code: status, enhanced });
}

const ENDS = {
  done: { kind: 'delivered', hopFailed: false, hopBound: false },
  later: { kind: 'deferred', hopFailed: false, hopBound: false },
  never: { kind: 'rejected', hopFailed: false, hopBound: false },
  relay_ill: { kind: 'deferred', hopFailed: true, hopBound: false },
  unknown: { kind: 'unknown', hopFailed: false, hopBound: false },
};
