import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DeliveryState,
  isFinal,
  type MessageStatus,
  mayTransition,
  type TransitionCause,
} from '../../../src/domain/delivery.ts';
import type { LaneLease } from '../../../src/domain/lane.ts';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import type { UnitRef } from '../../../src/store/leased.ts';
import type { Settlement } from '../../../src/store/store.ts';
import { expectDerived } from './derived.ts';
import {
  at,
  CAPTURED,
  DEFERRED,
  DELIVERED,
  HOUR,
  KEEP_ALL,
  message,
  type OpenSubject,
  POLICY,
  REJECTED,
  read,
  recipient,
  refOf,
  report,
  type Subject,
  settlement,
  T0,
  UNKNOWN,
} from './fixtures.ts';
import { QuotaModel } from './model-quotas.ts';

const LANES = ['x', 'y'];
const HOPS = LANES.map((lane) => ({ relay: lane, lane }));
const KEYS = ['key_one', 'key_two', null];
const ORDERS = ['high_first', 'high_only', 'bulk_first'] as const;
const OUTCOMES = [DELIVERED, CAPTURED, DEFERRED, REJECTED, UNKNOWN];

/** One random step: what to do, with a number to choose by. */
type Step = readonly [verb: (typeof VERBS)[number], choice: number];
const VERBS = [
  'accept',
  'acquire',
  'claim',
  'begin',
  'settle',
  'release',
  'reclaim',
  'expire',
  'cancel',
  'requeue',
  'reassign',
  'discover',
  'purge',
  'wait',
] as const;

/** Which causes may move deliveries in each verb. */
const CAUSES: Partial<Record<Step[0], TransitionCause>> = {
  accept: 'claim',
  claim: 'claim',
  settle: 'settle',
  release: 'release',
  reclaim: 'reclaim',
  expire: 'expire',
  cancel: 'cancel',
  requeue: 'retry',
};

/** After any sequence of verbs, everything derived equals what it is derived from. */
export function modelContract(open: OpenSubject): void {
  describe('any sequence of verbs', () => {
    it('leaves status, counts, depths, gauges and quotas as derived, by listed transitions only', async () => {
      const step = fc.tuple(fc.constantFrom(...VERBS), fc.nat(1000));
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 100, size: 'max' }), async (steps) => {
          const world = new World(await open());
          try {
            for (const one of steps) await world.take(one);
            await world.check();
            await world.takeApart();
            await world.check();
          } finally {
            await world.close();
          }
        }),
        { numRuns: 40, seed: 20261120 },
      );
      // Some thousand transactions, of which each goes to a server and back several times.
    }, 180_000);
  });
}

/** A store, and what a caller of it would remember. */
class World {
  readonly #subject: Subject;
  readonly #ids: string[] = [];
  readonly #leases: LaneLease[] = [];
  readonly #units: UnitRef[] = [];
  /** When a unit was last begun, in ms after `T0`. */
  readonly #begun = new Map<UnitRef, number>();
  readonly #states = new Map<string, DeliveryState>();
  /** In processing, and to end cancelled. */
  readonly #marked = new Set<string>();
  readonly #quotas = new QuotaModel();
  readonly #statuses = new Map<string, MessageStatus>();
  readonly #ended = { delivered: 0, failed: 0 };
  #ms = 0;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  close(): Promise<void> {
    return this.#subject.close();
  }

  async take([verb, choice]: Step): Promise<void> {
    if (verb === 'accept') await this.#accept(choice);
    else if (verb === 'acquire') await this.#acquire(choice);
    else if (verb === 'claim') await this.#claim(choice);
    else if (verb === 'begin') await this.#begin(choice);
    else if (verb === 'settle') await this.#settle(choice);
    else if (verb === 'release') await this.#release(choice);
    else if (verb === 'reclaim') await this.#reclaim(choice);
    else if (verb === 'expire') await this.#expire(choice);
    else if (verb === 'cancel') await this.#cancel(this.#someIds(choice));
    else if (verb === 'requeue') await this.#requeue(this.#someIds(choice));
    else if (verb === 'purge') await this.#purge(choice);
    else if (verb === 'reassign') await this.#reassign(choice);
    else if (verb === 'discover') await this.#discover();
    else this.#ms += choice * 200;
    await this.#watchTransitions(verb);
  }

  /** Ends everything by cancelling it, then takes back what is still leased. */
  async takeApart(): Promise<void> {
    await this.#cancel(this.#ids);
    await this.#watchTransitions('cancel');
    const options = { seize: true, policy: POLICY, dice: 0.5, limit: 10_000 };
    await this.#subject.store.reclaim(options, at(this.#ms));
    await this.#watchTransitions('reclaim', 'cancel');
    for (const id of this.#ids)
      expect(isFinal((await read(this.#subject.views, id)).message.status)).toBe(true);
  }

  /** Compares what the store keeps by differences with what its deliveries say. */
  async check(): Promise<void> {
    await this.#quotas.check(this.#subject.views);
    const history = { ids: this.#ids, ended: this.#ended };
    await expectDerived(this.#subject, history, T0 + this.#ms);
  }

  async #accept(choice: number): Promise<void> {
    const deliveries = Array.from({ length: 1 + (choice % 3) }, (_, place) => {
      const lane = LANES[(choice + place) % 2] ?? 'x';
      const fence = this.#leases.find((lease) => lease.lane === lane)?.fence ?? null;
      return recipient({ lane, relay: lane, fence, dueAt: T0 + this.#ms + (choice % 7 === 0 ? 1000 : 0) });
    });
    const record = message({
      deliveries,
      expiresAt: T0 + this.#ms + (choice % 5) * 100_000,
      keyId: KEYS[choice % KEYS.length] ?? null,
      content: { segment: 1, offset: 0, length: 1 + choice },
    });
    await this.#subject.store.accept([record], at(this.#ms));
    this.#ids.push(record.id);
  }

  async #acquire(choice: number): Promise<void> {
    const until = T0 + this.#ms + (choice % 3) * HOUR;
    this.#leases.unshift(...(await this.#subject.store.acquireLanes(LANES, 2, until, at(this.#ms))));
  }

  async #claim(choice: number): Promise<void> {
    const requests = this.#leases.slice(0, 2).map((lease) => ({
      ...lease,
      limit: 2,
      maxRecipients: 1 + (choice % 2),
      order: ORDERS[choice % 3] ?? 'high_first',
    }));
    const answers = await this.#subject.store.claim(requests, at(this.#ms));
    for (const { units } of answers) this.#units.push(...units.map(refOf));
  }

  async #begin(choice: number): Promise<void> {
    const requests = this.#some(choice).map((unit, place) => ({
      unit,
      wish: this.#quotas.wishOf(unit, choice + place),
    }));
    const answers = await this.#subject.store.begin(
      requests.map(({ wish }) => wish),
      at(this.#ms),
    );
    for (const [place, { unit, wish }] of requests.entries()) {
      this.#quotas.answered(wish, answers[place] ?? 'refused');
      if (answers[place] === 'begun') this.#begun.set(unit, this.#ms);
    }
  }

  async #release(choice: number): Promise<void> {
    const units = this.#some(choice).map((unit, place) => ({
      ...unit,
      refund: this.#quotas.refundOf(unit, choice + place),
    }));
    const answers = await this.#subject.store.release(units, at(this.#ms));
    for (const [place, unit] of units.entries())
      if (answers[place]?.kind === 'settled') this.#quotas.gaveBack(unit, unit.refund);
  }

  /** Settles units; of every other choice, as begun just now. */
  async #settle(choice: number): Promise<void> {
    const units = this.#some(choice);
    if (choice % 2 === 0) await this.#begin(choice);
    const batch = units.map((unit) => this.#settlementOf(unit, choice));
    const answers = await this.#subject.store.settle(batch, at(this.#ms));
    for (const [place, settlement] of batch.entries()) {
      const isWritten = answers[place]?.kind === 'settled';
      await this.#expectReport(settlement.report, isWritten);
      if (isWritten) this.#quotas.gaveBack(settlement.unit, settlement.refund);
    }
  }

  /** What an attempt did: of every third choice deferrals go elsewhere, of every fourth it brings a report. */
  #settlementOf(unit: UnitRef, choice: number): Settlement {
    const outcomes = unit.indexes.map((index) => OUTCOMES[(choice + index) % OUTCOMES.length] ?? DELIVERED);
    const settled = settlement(unit, outcomes, at(this.#begun.get(unit) ?? this.#ms));
    const next = choice % 3 === 0 ? (HOPS[choice % 2] ?? null) : null;
    return {
      ...settled,
      transitions: settled.transitions.map((one) => (one.state === 'retrying' ? { ...one, next } : one)),
      report: choice % 4 === 0 ? this.#report() : null,
      delayReported: choice % 4 === 0 ? unit.indexes : [],
      refund: this.#quotas.refundOf(unit, choice),
    };
  }

  #report(): AcceptRecord {
    const deliveries = [recipient({ relay: 'x', lane: 'x', dueAt: T0 + this.#ms })];
    return report({ deliveries, content: { segment: 1, offset: 0, length: 7 } });
  }

  /** A report is accepted exactly when what it reports was written. */
  async #expectReport(record: AcceptRecord | null, written: boolean): Promise<void> {
    if (record === null) return;
    expect((await this.#subject.views.message(record.id)) !== null).toBe(written);
    if (written) this.#ids.push(record.id);
  }

  /** Expires what it is told is past its time, but for what cannot be; then nothing of it is left to tell. */
  async #expire(choice: number): Promise<void> {
    const { store } = this.#subject;
    const found = await store.expiring(choice % 5, at(this.#ms));
    const batch = found.map(({ messageId, deliveries }, place) => {
      const indexes = deliveries.map(({ index }) => index).concat((choice + place) % 4 === 0 ? [99] : []);
      return { messageId, indexes, report: choice % 2 === 0 ? this.#report() : null };
    });
    const answers = await store.expire(batch, at(this.#ms));
    expect(answers).toEqual(batch.map(({ indexes }) => !indexes.includes(99)));
    for (const [place, answer] of answers.entries())
      await this.#expectReport(batch[place]?.report ?? null, answer);
    const left = new Set((await store.expiring(1_000, at(this.#ms))).map(({ messageId }) => messageId));
    for (const [place, answer] of answers.entries())
      expect(left.has(batch[place]?.messageId ?? '')).toBe(!answer);
  }

  /** Gives some of what waits another way, or none; where it waits no more, that is refused. */
  async #reassign(choice: number): Promise<void> {
    const { store, views } = this.#subject;
    const { deliveries } = await views.waiting({ lane: 'all', after: null, limit: 1 + (choice % 5) });
    const moves = deliveries.map(({ messageId, index, lane }, place) => {
      const to = [...HOPS, null][(choice + place) % 3] ?? null;
      return { messageId, index, fromLane: lane, to, rule: null, group: [] };
    });
    expect(await store.reassign(moves, at(this.#ms))).toEqual(moves.map(() => true));
    const again = moves.map((move) => ({ ...move, to: null }));
    const stayed = moves.map(({ fromLane, to }) => fromLane === (to?.lane ?? null));
    expect(
      await store.reassign(
        again.filter((_, place) => !stayed[place]),
        at(this.#ms),
      ),
    ).toEqual(stayed.filter((stays) => !stays).map(() => false));
  }

  /** What discovery finds is free and due; what it does not find, and is free, is not due. */
  async #discover(): Promise<void> {
    const { store, views } = this.#subject;
    const stamp = at(this.#ms, 'other');
    const due = async () =>
      new Map((await views.lanes(null, 9)).map(({ lane, oldestDueAt }) => [lane, oldestDueAt]));
    const isDue = (dueAt: number | null | undefined) => (dueAt ?? Number.POSITIVE_INFINITY) <= stamp.now;
    const before = await due();
    const found = await store.acquireLanes([], 9, stamp.now + 1, stamp);
    for (const { lane } of found) expect(isDue(before.get(lane)), `${lane} is due`).toBe(true);
    const free = await store.acquireLanes(LANES, 0, stamp.now + 1, stamp);
    for (const { lane } of free) expect(isDue(before.get(lane)), `${lane} is not due`).toBe(false);
  }

  async #cancel(ids: readonly string[]): Promise<void> {
    const before = await this.#statesOf(ids);
    const answers = await this.#subject.store.cancel(ids, at(this.#ms));
    const after = await this.#statesOf(ids);
    for (const [place, answer] of answers.entries()) {
      const old = before[place] ?? [];
      const left = old.map((state) => (state === 'queued' || state === 'retrying' ? 'failed' : state));
      expect(after[place]).toEqual(left);
      const open = old.some((state) => !isFinal(state));
      for (const [index, state] of old.entries())
        if (state === 'processing') this.#marked.add(`${ids[place]}/${index}`);
      expect(answer).toBe(open ? 'cancelled' : 'final');
    }
  }

  async #requeue(ids: readonly string[]): Promise<void> {
    const { store, views } = this.#subject;
    const before = await Promise.all(ids.map((id) => read(views, id)));
    const expiresAt = T0 + this.#ms + HOUR;
    const answers = await store.requeue(
      ids.map((id) => ({ id, expiresAt })),
      at(this.#ms),
    );
    const after = await Promise.all(ids.map((id) => read(views, id)));
    for (const [place, { kind }] of answers.entries()) {
      const { message: record, recipients = [] } = before[place] ?? {};
      const wanted = recipients.filter(({ state }) => state === 'failed' || state === 'retrying');
      const marked = recipients.filter(({ index }) => this.#marked.delete(`${record?.id}/${index}`));
      if (wanted.length === 0) expect(kind).toBe(marked.length > 0 ? 'requeued' : 'nothing_to_retry');
      else expect(kind).toBe(record?.content ? 'requeued' : 'content_expired');
      for (const [index, old] of recipients.entries()) {
        const now = after[place]?.recipients[index];
        if (kind !== 'requeued' || !wanted.includes(old)) expect(now).toEqual(old);
        else expect(now).toMatchObject({ attempts: old.attempts, dueAt: T0 + this.#ms });
      }
    }
  }

  async #purge(choice: number): Promise<void> {
    const age = (choice % 4) * 50_000;
    const size = choice % 3 === 0 ? 500 : 1e9;
    const ages = { contentAgeMs: age, capturedAgeMs: age };
    const policy = { ...KEEP_ALL, ...ages, contentMaxBytes: size, capturedMaxBytes: size };
    await this.#subject.store.purge(policy, 1 + (choice % 5), at(this.#ms));
  }

  async #statesOf(ids: readonly string[]): Promise<DeliveryState[][]> {
    const details = await Promise.all(ids.map((id) => read(this.#subject.views, id)));
    return details.map(({ recipients }) => recipients.map(({ state }) => state));
  }

  #someIds(choice: number): string[] {
    return this.#ids.filter((_, place) => (place + choice) % 4 === 0);
  }

  async #reclaim(choice: number): Promise<void> {
    const options = { seize: choice % 4 === 0, policy: POLICY, dice: 0.5, limit: 1 + (choice % 4) };
    await this.#subject.store.reclaim(options, at(this.#ms));
  }

  #some(choice: number): UnitRef[] {
    return this.#units.filter((_, place) => (place + choice) % 3 === 0);
  }

  /** Every change since the last look must be one that the verb may cause. */
  async #watchTransitions(...verbs: readonly Step[0][]): Promise<void> {
    const causes = verbs.flatMap((verb) => CAUSES[verb] ?? []);
    const details = await Promise.all(this.#ids.map((id) => read(this.#subject.views, id)));
    for (const { message: record, recipients } of details) {
      const { id, status } = record;
      for (const { index, state } of recipients) {
        const before = this.#states.get(`${id}/${index}`) ?? 'queued';
        expect(before === state || reachable(before, state, causes), `${before} to ${state}`).toBe(true);
        this.#states.set(`${id}/${index}`, state);
        if (state === 'processing') continue;
        this.#marked.delete(`${id}/${index}`);
        this.#quotas.ended(id, index);
      }
      if (status !== this.#statuses.get(id) && (status === 'delivered' || status === 'failed'))
        this.#ended[status]++;
      this.#statuses.set(id, status);
    }
  }
}

/** Whether these causes may lead from one state to the other, in one step or, given back cancelled, in two. */
function reachable(from: DeliveryState, to: DeliveryState, causes: readonly TransitionCause[]): boolean {
  if (causes.some((cause) => mayTransition(from, to, cause))) return true;
  return (
    from === 'processing' && to === 'failed' && (causes.includes('release') || causes.includes('reclaim'))
  );
}
