import { expect, it } from 'vitest';
import type { RequestOf, ResultOf } from '../../../../src/operations/table.ts';
import {
  type ActProgress,
  actOnAll,
  countFor,
  EVERYTHING,
  MAX_COUNTED,
  ofLane,
  ofRelay,
} from './act-dialog.tsx';

type Part = ResultOf<'actOnQueue'>;
const never = new AbortController().signal;
const cancel = { act: 'cancel', selection: ofLane('out'), toRelay: null } as const;

/** Answers with these parts, one after the other. */
function answering(parts: readonly Part[]) {
  const asked: RequestOf<'actOnQueue'>[] = [];
  return {
    asked,
    ask: async (request: RequestOf<'actOnQueue'>) => {
      asked.push(request);
      return parts[asked.length - 1] ?? { matched: 0, acted: 0, next: null };
    },
  };
}

it('acts part by part until there is none left', async () => {
  const { ask, asked } = answering([
    { matched: 500, acted: 480, next: 'a' },
    { matched: 0, acted: 0, next: 'b' },
    { matched: 3, acted: 3, next: null },
  ]);
  const told: ActProgress[] = [];
  expect(await actOnAll(cancel, ask, (part) => told.push(part), never)).toEqual({ matched: 503, acted: 483 });
  expect(asked.map(({ cursor, dryRun }) => [cursor, dryRun])).toEqual([
    [null, false],
    ['a', false],
    ['b', false],
  ]);
  expect(told.at(0)).toEqual({ matched: 500, acted: 480 });
});

it('stops between two parts when it is told to', async () => {
  const { ask, asked } = answering(Array.from({ length: 9 }, () => ({ matched: 1, acted: 1, next: 'x' })));
  const stop = new AbortController();
  expect(await actOnAll(cancel, ask, () => stop.abort(), stop.signal)).toEqual({ matched: 1, acted: 1 });
  expect(asked).toHaveLength(1);
});

it('counts by dry runs alone, and not without end', async () => {
  const { ask, asked } = answering(Array.from({ length: 99 }, () => ({ matched: 500, acted: 0, next: 'x' })));
  expect(await countFor(cancel, ask, never)).toEqual({ matched: MAX_COUNTED, more: true });
  expect(asked).toHaveLength(MAX_COUNTED / 500);
  expect(asked.every(({ dryRun }) => dryRun)).toBe(true);
});

it('means a lane, a relay, or everything, and never two of them', () => {
  expect(ofLane('mx/example.org')).toMatchObject({ lane: 'mx/example.org', relay: null, all: false });
  expect(ofRelay('mx')).toMatchObject({ lane: null, relay: 'mx', all: false });
  expect(EVERYTHING).toMatchObject({ lane: null, relay: null, all: true });
});
