/** What reading and claiming cost when a million wait: the same statements, and rows, as with a thousand. */
import { expect, test } from 'vitest';
import { at, HOUR, message, recipient, T0 } from '../../../test/contract/store/fixtures.ts';
import { tell, times } from '../../../test/support/proof.ts';
import { watched } from '../../../test/support/watched-driver.ts';
import { openDatabase } from './open.ts';
import { Paging } from './paging.ts';
import type { Verbs } from './verbs.ts';
import { createViews } from './views.ts';
import { Writer } from './writer.ts';

const FEW = 1_000;
const MANY = times('deep_queue', 20_000);
const AT_ONCE = 500;
const LIST = { owner: 'all', statuses: ['queued'], before: null, limit: 100 } as const;

/** What each costs over a queue of so many, in rows and statements. */
function costsWith(count: number): Record<string, readonly [rows: number, statements: number]> {
  const { db, seen } = watched(openDatabase(':memory:'));
  const writer = new Writer(db);
  const views = createViews(db);
  const ask = <K extends keyof Verbs>(verb: K, ...args: Parameters<Verbs[K]>): ReturnType<Verbs[K]> => {
    const [answer] = writer.commit([{ verb, args }]);
    if (answer?.ok !== true) throw answer?.error;
    return answer.value as ReturnType<Verbs[K]>;
  };
  let middle = '';
  for (let queued = 0; queued < count; queued += AT_ONCE) {
    const records = Array.from({ length: AT_ONCE }, () => message({ deliveries: [recipient()] }));
    if (queued <= count / 2) middle = records[0]?.id ?? '';
    ask('accept', records, at());
  }
  const [lease] = ask('acquireLanes', ['out'], 0, T0 + HOUR, at());
  if (lease === undefined) throw new Error('nothing was granted');
  const costOf = (work: () => unknown, expected: unknown): readonly [number, number] => {
    seen.rows = 0;
    seen.runs.clear();
    expect(work()).toEqual(expected);
    return [seen.rows, [...seen.runs.values()].reduce((sum, runs) => sum + runs, 0)];
  };
  const claim = { ...lease, order: 'high_first', limit: 64, maxRecipients: 100 } as const;
  return {
    list: costOf(() => views.listSlice(new Paging(LIST).rest).messages.length, LIST.limit),
    'list from the middle': costOf(
      () => views.listSlice(new Paging({ ...LIST, before: middle }).rest).messages.length,
      LIST.limit,
    ),
    status: costOf(() => views.message(middle)?.message.id, middle),
    figures: costOf(() => views.figures(T0).spool.incoming, count),
    lanes: costOf(() => views.lanes(null, 10).length, 1),
    claim: costOf(() => ask('claim', [claim], at())[0]?.units.length, claim.limit),
  };
}

test(`list, status, figures and claim over ${MANY} cost as much as over ${FEW}`, {
  timeout: 1_800_000,
}, () => {
  const few = costsWith(FEW);
  expect(costsWith(MANY)).toEqual(few);
  for (const [what, [rows, statements]] of Object.entries(few))
    expect(rows + statements, what).toBeLessThan(FEW);
  tell('the cost of a deep queue', {}, { 'messages queued': MANY });
});
