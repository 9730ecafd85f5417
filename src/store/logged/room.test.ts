import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { AcceptWish, QueueLimits } from '../accepting.ts';
import type { QueueUse } from '../applying.ts';
import { SureRoom } from './room.ts';

const LIMITS: QueueLimits = { maxBytes: 100, maxMessagesPerKey: 3 };
const WIDE: QueueLimits = { maxBytes: 100, maxMessagesPerKey: 8 };

let room: SureRoom;

beforeEach(() => {
  room = new SureRoom();
});

function wish(sizeBytes: number, keyId: string | null = null): AcceptWish {
  return { keyId, sizeBytes, idempotency: null };
}

function learn(bytes: number, messages: QueueUse['messages'] = []): void {
  room.asking()({ bytes, messages });
}

/** The database took these. */
function came(wishes: readonly AcceptWish[]): void {
  room.enter(wishes);
  room.entered(wishes);
}

describe('there is surely room', () => {
  test('for nothing before the database has been heard, but where nothing is limited', () => {
    expect(room.take([wish(1)], LIMITS)).toBe(false);
    expect(room.take([wish(99)], undefined)).toBe(true);
    learn(0);
    expect(room.take([wish(1)], LIMITS)).toBe(true);
  });

  test('for what fits, to the byte, and no more', () => {
    learn(40);
    expect(room.take([wish(61)], LIMITS)).toBe(false);
    expect(room.take([wish(30), wish(31)], LIMITS)).toBe(false);
    expect(room.take([wish(30), wish(30)], LIMITS)).toBe(true);
    expect(room.take([wish(1)], LIMITS)).toBe(false);
  });

  test('for so many messages of a key, of which others take nothing', () => {
    learn(0, [
      ['a', 1],
      ['b', 3],
    ]);
    expect(room.take([wish(1, 'b')], LIMITS)).toBe(false);
    expect(room.take([wish(1, 'a'), wish(1, 'a'), wish(1, 'a')], LIMITS)).toBe(false);
    expect(room.take([wish(1, 'a'), wish(1, 'a')], LIMITS)).toBe(true);
    expect(room.take([wish(1, 'a')], LIMITS)).toBe(false);
    expect(room.take([wish(1)], LIMITS)).toBe(true);
  });

  test('for no message of a key that nobody has asked about, which is asked about then, once', () => {
    learn(0);
    expect(room.take([wish(1, 'a'), wish(1, 'b')], LIMITS)).toBe(false);
    expect(room.take([wish(1, 'b')], LIMITS)).toBe(false);
    expect(room.keysToAsk().toSorted()).toEqual(['a', 'b']);
    expect(room.keysToAsk()).toEqual([]);
    learn(0, [
      ['a', 0],
      ['b', 2],
    ]);
    expect(room.take([wish(1, 'a'), wish(1, 'b')], LIMITS)).toBe(true);
  });

  test('for a key whose mail ended: it is asked about again after whatever was added to it', () => {
    learn(0, [['a', 2]]);
    expect(room.keysToAsk()).toEqual([]);
    expect(room.take([wish(1, 'a')], LIMITS)).toBe(true);
    came([wish(1, 'b'), wish(1)]);
    expect(room.take([wish(1, 'a')], LIMITS)).toBe(false);
    expect(room.keysToAsk().toSorted()).toEqual(['a', 'b']);
    expect(room.keysToAsk()).toEqual([]);
    learn(0, [['a', 2]]);
    expect(room.isSure([wish(1, 'a')], LIMITS)).toBe(false);
  });

  test('for what ended only when the database says so', () => {
    learn(100);
    expect(room.take([wish(1)], LIMITS)).toBe(false);
    learn(99);
    expect(room.take([wish(1)], LIMITS)).toBe(true);
  });

  test('for nothing that comes while the database decides alone', async () => {
    learn(0);
    const decision = Promise.withResolvers<string>();
    const answer = room.alone(() => decision.promise);
    expect([room.take([wish(1)], LIMITS), room.isSure([wish(1)], LIMITS)]).toEqual([false, false]);
    decision.resolve('decided');
    expect(await answer).toBe('decided');
    expect(room.take([wish(1)], LIMITS)).toBe(true);
    await expect(room.alone(() => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
    expect(room.take([wish(1)], LIMITS)).toBe(true);
  });

  test('for nothing once somebody may have added what was not counted, until an answer that was asked for later', () => {
    const early = room.asking();
    room.distrust();
    early({ bytes: 0, messages: [] });
    expect(room.take([wish(1)], LIMITS)).toBe(false);
    learn(0);
    expect(room.take([wish(1)], LIMITS)).toBe(true);
  });

  test('beside what is still entering the log when the database is asked', () => {
    learn(0);
    const entering = [wish(60)];
    expect(room.take(entering, LIMITS)).toBe(true);
    learn(0);
    expect(room.take([wish(41)], LIMITS)).toBe(false);
    room.entered(entering);
    learn(60);
    expect(room.take([wish(41)], LIMITS)).toBe(false);
    expect(room.take([wish(40)], LIMITS)).toBe(true);
  });

  test('beside what the database is deciding on when it is asked, since it answers first', () => {
    const deciding = [wish(60, 'a')];
    room.enter(deciding);
    learn(0, [['a', 2]]);
    expect(room.take([wish(41)], LIMITS)).toBe(false);
    expect(room.take([wish(1, 'a')], LIMITS)).toBe(false);
    room.entered(deciding);
    learn(0, [['a', 2]]);
    expect(room.take([wish(100, 'a')], LIMITS)).toBe(true);
  });

  test('beside what came in after the database was asked; of several answers the last counts', () => {
    const first = room.asking();
    came([wish(30)]);
    const second = room.asking();
    came([wish(40)]);
    second({ bytes: 30, messages: [] });
    first({ bytes: 0, messages: [] });
    expect(room.take([wish(31)], LIMITS)).toBe(false);
    expect(room.take([wish(30)], LIMITS)).toBe(true);
  });

  test('beside what came of a key after the database was asked about it, or is entering', () => {
    const entering = [wish(1, 'a')];
    room.take(entering, undefined);
    const hear = room.asking();
    came([wish(1, 'a')]);
    hear({ bytes: 0, messages: [['a', 0]] });
    expect(room.take([wish(1, 'a'), wish(1, 'a')], LIMITS)).toBe(false);
    expect(room.take([wish(1, 'a')], LIMITS)).toBe(true);
    expect(room.take([wish(1, 'a')], LIMITS)).toBe(false);
  });
});

/** Mail that the database is asked to take. */
interface Asked {
  readonly wishes: AcceptWish[];
  /** Reports are taken whatever the limits. */
  readonly isReport: boolean;
  hasReached: boolean;
}

/** What counts exactly, beside a room that is asked. */
class Model {
  readonly #room = new SureRoom();
  /** Let in by the room, and not in the log yet. */
  readonly #entering: AcceptWish[][] = [];
  /** What the database decides on, until its answer is heard. */
  readonly #asked: Asked[] = [];
  /** In the log, or in the database, and not final. */
  readonly #queued: AcceptWish[] = [];
  readonly #answers: (() => void)[] = [];
  letIn = 0;

  take(wishes: AcceptWish[]): void {
    if (this.#room.take(wishes, WIDE)) {
      expect(fits(wishes, [...this.#queued, ...this.#underWay()]), 'let in where there is room').toBe(true);
      this.letIn += wishes.length;
      this.#entering.push(wishes);
    } else this.#decide(wishes);
  }

  /** Some of what is entering comes into the log, or fails. */
  enter(nth: number, isKept: boolean): void {
    const [wishes] = this.#entering.splice(nth % Math.max(1, this.#entering.length), 1);
    if (wishes === undefined) return;
    if (isKept) this.#queued.push(...wishes);
    this.#room.entered(wishes);
  }

  /** The database is asked for what surely fits, as what has an idempotency key, or writes reports. */
  askFor(wishes: AcceptWish[], isReport: boolean): void {
    if (isReport || this.#room.isSure(wishes, WIDE)) {
      this.#room.enter(wishes);
      this.#asked.push({ wishes, isReport, hasReached: false });
    } else this.#decide(wishes);
  }

  /** One of these calls reaches the database, which counts exactly; or its answer is heard. */
  goOn(nth: number): void {
    const place = nth % Math.max(1, this.#asked.length);
    const call = this.#asked[place];
    if (call === undefined) return;
    if (call.hasReached) {
      this.#asked.splice(place, 1);
      this.#room.entered(call.wishes);
    } else {
      call.hasReached = true;
      if (call.isReport || fits(call.wishes, this.#queued)) this.#queued.push(...call.wishes);
    }
  }

  /** Some of what is queued ends. */
  end(nth: number, count: number): void {
    this.#queued.splice(nth % Math.max(1, this.#queued.length), count);
  }

  /** What the database will answer stands when it is asked: calls reach it in their order. */
  ask(): void {
    const learn = this.#room.asking();
    const keys = this.#room.keysToAsk();
    const use = {
      bytes: bytesOf(this.#queued),
      messages: keys.map((key) => [key, messagesOf(key, this.#queued)] as const),
    };
    this.#answers.push(() => learn(use));
  }

  /** An answer is heard, or lost. */
  answer(nth: number, isHeard: boolean): void {
    const [hear] = this.#answers.splice(nth % Math.max(1, this.#answers.length), 1);
    if (isHeard) hear?.();
  }

  requeue(wishes: AcceptWish[]): void {
    this.#room.distrust();
    this.#queued.push(...wishes);
  }

  #underWay(): AcceptWish[] {
    const asked = this.#asked.filter(({ hasReached }) => !hasReached);
    return [...this.#entering.flat(), ...asked.flatMap(({ wishes }) => wishes)];
  }

  /** The database decides once nothing is entering the log, and what it was asked before is answered; it counts exactly. */
  #decide(wishes: AcceptWish[]): void {
    if (this.#entering.length > 0) return;
    this.#room.enter(wishes);
    this.ask();
    for (const hear of this.#answers.splice(0)) hear();
    if (fits(wishes, this.#queued)) this.#queued.push(...wishes);
    this.#room.entered(wishes);
    this.ask();
  }
}

/** What the database would say: of keys, those of the new ones count. */
function fits(wishes: readonly AcceptWish[], queued: readonly AcceptWish[]): boolean {
  const all = [...queued, ...wishes];
  const keyIds = new Set(wishes.map(({ keyId }) => keyId).filter((keyId) => keyId !== null));
  return (
    bytesOf(all) <= WIDE.maxBytes &&
    [...keyIds].every((keyId) => messagesOf(keyId, all) <= WIDE.maxMessagesPerKey)
  );
}

function bytesOf(mail: readonly AcceptWish[]): number {
  return mail.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

function messagesOf(key: string, mail: readonly AcceptWish[]): number {
  return mail.filter(({ keyId }) => keyId === key).length;
}

const WISHES = fc.array(
  fc.record({
    keyId: fc.constantFrom(null, 'a', 'b'),
    sizeBytes: fc.integer({ min: 1, max: 15 }),
    idempotency: fc.constant(null),
  }),
  { minLength: 1, maxLength: 3, size: 'max' },
);
type Step = (model: Model) => void;

function step<T>(weight: number, of: fc.Arbitrary<T>, play: (model: Model, of: T) => void) {
  const arbitrary = of.map(
    (drawn): Step =>
      (model) =>
        play(model, drawn),
  );
  return { weight, arbitrary };
}

const STEP: fc.Arbitrary<Step> = fc.oneof(
  step(8, WISHES, (model, wishes) => model.take(wishes)),
  step(3, fc.tuple(fc.nat(5), fc.boolean()), (model, [nth, isKept]) => model.enter(nth, isKept)),
  step(2, fc.tuple(WISHES, fc.boolean()), (model, [wishes, isReport]) => model.askFor(wishes, isReport)),
  step(4, fc.nat(5), (model, nth) => model.goOn(nth)),
  step(6, fc.tuple(fc.nat(20), fc.nat(8)), (model, [nth, count]) => model.end(nth, count)),
  step(2, fc.constant(null), (model) => model.ask()),
  // One in eight is lost.
  step(8, fc.tuple(fc.nat(5), fc.nat(7)), (model, [nth, luck]) => model.answer(nth, luck > 0)),
  step(1, WISHES, (model, wishes) => model.requeue(wishes)),
);

test('whatever enters, ends, is asked and is answered in whatever order, nobody is let in beyond the limits', () => {
  let letIn = 0;
  fc.assert(
    fc.property(fc.array(STEP, { minLength: 40, maxLength: 80, size: 'max' }), (steps) => {
      const model = new Model();
      for (const step of steps) step(model);
      letIn += model.letIn;
    }),
    { numRuns: 2_000 },
  );
  // A room that never let anybody in would hold the law too.
  expect(letIn).toBeGreaterThan(5_000);
});
