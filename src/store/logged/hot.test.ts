import { beforeEach, describe, expect, test } from 'vitest';
import { at, HOUR, message, recipient, refTo, T0 } from '../../../test/contract/store/fixtures.ts';
import type { AcceptRecord } from '../accepting.ts';
import type { Unit } from '../store.ts';
import { HotTable } from './hot.ts';

const OUT = { lane: 'out', fence: 3 };
const OTHER = { lane: 'other', fence: 8 };
const UNTIL = T0 + HOUR;

let hot: HotTable;

beforeEach(() => {
  hot = new HotTable();
});

/** A message with a delivery on each of these lanes, to be leased under the fence that stands there. */
function freshOn(
  ...leases: readonly { readonly lane: string; readonly fence: number | null }[]
): AcceptRecord {
  return message({ deliveries: leases.map(({ lane, fence }) => recipient({ lane, fence })) });
}

/** Enters a message that is leased on lane `out`. */
function enterOne(): string {
  const record = freshOn(OUT);
  expect(hot.enter(record, 0, at())).toEqual([true]);
  return record.id;
}

describe('a lease', () => {
  test('holds for the node that was granted it, under its fence, until it ends', () => {
    hot.held([OUT], UNTIL, at());
    expect(hot.holds(OUT, at())).toBe(true);
    expect(hot.holds(OUT, at(HOUR - 1))).toBe(true);
    expect(hot.holds(OUT, at(HOUR))).toBe(false);
    expect(hot.holds({ ...OUT, fence: 2 }, at())).toBe(false);
    expect(hot.holds({ ...OUT, fence: 4 }, at())).toBe(false);
    expect(hot.holds(OUT, at(0, 'b'))).toBe(false);
    expect(hot.holds(OTHER, at())).toBe(false);
  });

  test('that is renewed holds longer, and its mail stays hot', () => {
    hot.held([OUT], UNTIL, at());
    const id = enterOne();
    hot.held([OUT], UNTIL + HOUR, at());
    expect(hot.holds(OUT, at(HOUR))).toBe(true);
    expect(hot.find(refTo(id, OUT))).toHaveLength(1);
  });

  test('that is lost holds no more, and its mail is left to the database', () => {
    hot.held([OUT, OTHER], UNTIL, at());
    const id = enterOne();
    const both = freshOn(OUT, OTHER);
    hot.enter(both, 0, at());
    hot.lost([OUT]);
    expect([hot.holds(OUT, at()), hot.holds(OTHER, at())]).toEqual([false, true]);
    expect([hot.find(refTo(id, OUT)), hot.find(refTo(both.id, OTHER, [1]))]).toEqual([null, null]);
    expect(hot.size).toBe(0);
  });

  test('that was replaced is not ended by who gives back the older one', () => {
    hot.held([OUT], UNTIL, at());
    hot.held([{ ...OUT, fence: 4 }], UNTIL, at());
    hot.lost([OUT]);
    expect(hot.holds({ ...OUT, fence: 4 }, at())).toBe(true);
  });

  test('may be taken away once it has ended, and all of them by who seizes them', () => {
    hot.held([OUT], UNTIL, at());
    hot.held([OTHER], UNTIL + 1, at());
    const id = enterOne();
    hot.lapsed(UNTIL - 1);
    expect(hot.find(refTo(id, OUT))).toHaveLength(1);
    hot.lapsed(UNTIL);
    expect(hot.find(refTo(id, OUT))).toBeNull();
    expect(hot.holds(OTHER, at())).toBe(true);
    hot.lapsed(null);
    expect(hot.holds(OTHER, at())).toBe(false);
  });

  test('under a higher fence replaces the one before, whose mail is left to the database; a lower one changes nothing', () => {
    hot.held([OUT], UNTIL, at());
    const id = enterOne();
    hot.held([{ ...OUT, fence: 4 }], UNTIL, at(0, 'b'));
    expect(hot.find(refTo(id, OUT))).toBeNull();
    expect([hot.holds(OUT, at()), hot.holds({ ...OUT, fence: 4 }, at(0, 'b'))]).toEqual([false, true]);
    hot.held([OUT], UNTIL + HOUR, at());
    expect([hot.holds(OUT, at()), hot.holds({ ...OUT, fence: 4 }, at(0, 'b'))]).toEqual([false, true]);
  });
});

describe('a message', () => {
  beforeEach(() => hot.held([OUT, OTHER], UNTIL, at()));

  test('takes the short way where its lane is held under its fence and it is due', () => {
    const due = { lane: 'out', fence: 3 };
    const deliveries = [
      recipient(due),
      recipient({ lane: 'out', fence: null }),
      recipient({ lane: 'out', fence: 2 }),
      recipient({ lane: null, relay: null, fence: null }),
      recipient({ ...due, dueAt: T0 + 1 }),
      recipient(OTHER),
    ];
    const record = message({ deliveries });
    expect(hot.enter(record, 0, at())).toEqual([true, false, false, false, false, true]);
    expect(hot.find(refTo(record.id, OUT, [0]))).toHaveLength(1);
    expect(hot.find(refTo(record.id, OUT, [0, 1]))).toBeNull();
  });

  test('without a leased delivery is not entered', () => {
    const record = freshOn({ lane: 'out', fence: null });
    expect(hot.enter(record, 0, at())).toEqual([false]);
    expect(hot.size).toBe(0);
  });

  test('is found only where all deliveries of the unit are hot under its lane and fence', () => {
    const { id } = enterBoth();
    expect(hot.find(refTo(id, OUT, [0, 2]))).toHaveLength(2);
    expect(hot.find(refTo(id, OTHER, [1]))).toHaveLength(1);
    expect(hot.find(refTo(id, OUT, [0, 1]))).toBeNull();
    expect(hot.find(refTo(id, OUT, [0, 3]))).toBeNull();
    expect(hot.find(refTo(id, { ...OUT, fence: 4 }, [0]))).toBeNull();
    expect(hot.find(refTo('msg_unknown', OUT))).toBeNull();
  });

  test('is gone with the last delivery that is taken out, which can be put back', () => {
    const { id } = enterBoth();
    const [first] = hot.find(refTo(id, OUT, [0, 2])) ?? [];
    if (first === undefined) throw new Error('not hot');
    first.begunAt = T0 + 5;
    const putBack = hot.takeOut(refTo(id, OUT, [0, 2]));
    expect(hot.find(refTo(id, OUT, [0]))).toBeNull();
    expect(hot.find(refTo(id, OTHER, [1]))).toHaveLength(1);
    const putBackLast = hot.takeOut(refTo(id, OTHER, [1]));
    expect(hot.size).toBe(0);
    putBackLast();
    putBack();
    expect(hot.find(refTo(id, OUT, [0, 2]))).toMatchObject([first, { ...OUT, begunAt: null }]);
    expect(hot.find(refTo(id, OTHER, [1]))).toHaveLength(1);
  });

  test('that was left to the database while deliveries were out does not come back with them', () => {
    const { id } = enterBoth();
    const putBack = hot.takeOut(refTo(id, OUT, [0, 2]));
    hot.forget([id]);
    putBack();
    expect(hot.size).toBe(0);
    expect(hot.find(refTo(id, OUT, [0]))).toBeNull();
  });

  test('that was left to the database while all of it was out does not come back', () => {
    const { id } = enterBoth();
    hot.takeOut(refTo(id, OTHER, [1]));
    const putBack = hot.takeOut(refTo(id, OUT, [0, 2]));
    hot.forget([id]);
    putBack();
    expect(hot.size).toBe(0);
  });

  test('whose lease ended while deliveries were out does not come back: they may have been taken away', () => {
    const { id } = enterBoth();
    const putBack = hot.takeOut(refTo(id, OUT, [0, 2]));
    hot.lost([OUT]);
    putBack();
    expect(hot.find(refTo(id, OUT, [0]))).toBeNull();
    expect(hot.find(refTo(id, OTHER, [1]))).toHaveLength(1);
  });

  test('may be left to the database though it was never hot', () => {
    hot.forget(['msg_unknown']);
    hot.takeOut(refTo('msg_unknown', OUT))();
    expect(hot.size).toBe(0);
  });

  function enterBoth(): AcceptRecord {
    const record = freshOn(OUT, OTHER, OUT);
    expect(hot.enter(record, 0, at())).toEqual([true, true, true]);
    return record;
  }
});

describe('what is claimed', () => {
  beforeEach(() => hot.held([OUT], UNTIL, at()));

  const unitOf = (messageId: string, fence = OUT.fence) =>
    ({
      messageId,
      lane: OUT.lane,
      fence,
      deliveries: [0, 2].map((index) => ({ index, recipient: { address: `r${index}@example.org` } })),
    }) as unknown as Unit;
  const found = (messageId: string) => hot.find({ ...OUT, messageId, indexes: [0, 2] })?.length ?? 0;

  test('is hot, beside what of the message is already', () => {
    const id = enterOne();
    const message = { ...OUT, messageId: id };
    hot.claiming()([{ ...unitOf(id), deliveries: unitOf(id).deliveries.slice(1) }]);
    expect(hot.find({ ...message, indexes: [0, 2] })).toHaveLength(2);
  });

  test('under a lease that is not held is left to the database', () => {
    hot.claiming()([unitOf('msg_a', OUT.fence - 1)]);
    expect(hot.size).toBe(0);
  });

  test('and left to the database before the answer came stays there, and nothing else', () => {
    const enter = hot.claiming();
    hot.forget(['msg_a']);
    enter([unitOf('msg_a'), unitOf('msg_b')]);
    expect([found('msg_a'), found('msg_b')]).toEqual([0, 2]);
    hot.claiming()([unitOf('msg_a')]);
    expect(found('msg_a')).toBe(2);
  });

  test('stays there too where a lease ended before the answer came, though it is held again', () => {
    const enter = hot.claiming();
    hot.lost([OUT]);
    hot.held([OUT], UNTIL, at());
    enter([unitOf('msg_a')]);
    expect(hot.size).toBe(0);
  });
});
