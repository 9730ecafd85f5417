import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DeliveryState, deriveStatus, mayTransition } from '../../../src/domain/delivery.ts';
import type { LaneLease } from '../../../src/domain/lane.ts';
import type { UnitRef } from '../../../src/store/store.ts';
import {
  at,
  CAPTURED,
  DEFERRED,
  DELIVERED,
  HOUR,
  message,
  type OpenSubject,
  POLICY,
  REJECTED,
  read,
  recipient,
  refOf,
  type Subject,
  settlement,
  T0,
  UNKNOWN,
} from './fixtures.ts';

const LANES = ['x', 'y'];
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
  'reroute',
  'wait',
] as const;

/** After any sequence of verbs, everything derived equals what it is derived from. */
export function modelContract(open: OpenSubject): void {
  describe('any sequence of verbs', () => {
    it('leaves status, counts, depths and gauges as derived, by listed transitions only', async () => {
      const step = fc.tuple(fc.constantFrom(...VERBS), fc.nat(1000));
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
          const world = new World(await open());
          try {
            for (const one of steps) await world.take(one);
            await world.check();
          } finally {
            await world.close();
          }
        }),
        { numRuns: 25, seed: 20261120 },
      );
    });
  });
}

/** A store, and what a caller of it would remember. */
class World {
  readonly #subject: Subject;
  readonly #ids: string[] = [];
  readonly #leases: LaneLease[] = [];
  readonly #units: UnitRef[] = [];
  readonly #states = new Map<string, DeliveryState>();
  #ms = 0;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  close(): Promise<void> {
    return this.#subject.close();
  }

  async take([verb, choice]: Step): Promise<void> {
    const { store } = this.#subject;
    const now = at(this.#ms);
    if (verb === 'accept') await this.#accept(choice);
    else if (verb === 'acquire') await this.#acquire(choice);
    else if (verb === 'claim') await this.#claim(choice);
    else if (verb === 'begin') await store.begin(this.#some(choice), now);
    else if (verb === 'settle') await this.#settle(choice);
    else if (verb === 'release') await store.release(this.#some(choice), now);
    else if (verb === 'reclaim') await this.#reclaim(choice);
    else if (verb === 'expire') await store.expire(choice % 5, now);
    else if (verb === 'reroute')
      await store.reroute([{ fromLane: 'x', toLane: 'y', toRelay: 'y' }], choice % 3, now);
    else this.#ms += choice * 200;
    await this.#watchTransitions();
  }

  /** Compares what the store keeps by differences with what its deliveries say. */
  async check(): Promise<void> {
    const { views, store } = this.#subject;
    const details = await Promise.all(this.#ids.map((id) => read(views, id)));
    const depth = new Map(LANES.map((lane) => [lane, { waiting: 0, processing: 0 }]));
    const messages = { incoming: 0, processing: 0, failed: 0 };
    for (const { message: record, recipients } of details) {
      const counts = { queued: 0, processing: 0, retrying: 0, delivered: 0, failed: 0 };
      for (const { state, relay } of recipients) {
        counts[state]++;
        const lane = depth.get(relay ?? '');
        if (lane !== undefined && state === 'processing') lane.processing++;
        if (lane !== undefined && (state === 'queued' || state === 'retrying')) lane.waiting++;
      }
      const status = deriveStatus(counts);
      expect(record.status).toBe(status);
      if (status === 'processing' || status === 'failed') messages[status]++;
      else if (status !== 'delivered') messages.incoming++;
      expect(await views.attempts(record.id)).toHaveLength(record.attempts);
      const listed = await views.list({ owner: 'all', statuses: [status], before: null, limit: 200 });
      expect(listed.messages.map(({ id }) => id)).toContain(record.id);
    }
    const expected = [...depth].filter(([, { waiting, processing }]) => waiting + processing > 0);
    const lanes = await views.lanes(9);
    expect(new Map(lanes.map(({ lane, ...rest }) => [lane, rest]))).toEqual(new Map(expected));
    expect((await views.figures(T0)).spool).toEqual(messages);
    expect(await store.liveSegments([1])).toEqual(new Map([[1, this.#ids.length]]));
  }

  async #accept(choice: number): Promise<void> {
    const deliveries = Array.from({ length: 1 + (choice % 3) }, (_, place) => {
      const lane = LANES[(choice + place) % 2] ?? 'x';
      const fence = this.#leases.find((lease) => lease.lane === lane)?.fence ?? null;
      return recipient({ lane, relay: lane, fence, dueAt: T0 + this.#ms + (choice % 7 === 0 ? 1000 : 0) });
    });
    const record = message({ deliveries, expiresAt: T0 + this.#ms + (choice % 5) * 100_000 });
    await this.#subject.store.accept([record], at(this.#ms));
    this.#ids.push(record.id);
  }

  async #acquire(choice: number): Promise<void> {
    const until = T0 + this.#ms + (choice % 3) * HOUR;
    this.#leases.unshift(...(await this.#subject.store.acquireLanes(LANES, 2, until, at(this.#ms))));
  }

  async #claim(choice: number): Promise<void> {
    const requests = this.#leases
      .slice(0, 2)
      .map((lease) => ({ ...lease, limit: 2, maxRecipients: 1 + (choice % 2) }));
    const answers = await this.#subject.store.claim(requests, at(this.#ms));
    for (const { units } of answers) this.#units.push(...units.map(refOf));
  }

  async #settle(choice: number): Promise<void> {
    const batch = this.#some(choice).map((unit) =>
      settlement(
        unit,
        unit.indexes.map((index) => OUTCOMES[(choice + index) % OUTCOMES.length] ?? DELIVERED),
        at(this.#ms),
      ),
    );
    await this.#subject.store.settle(batch, at(this.#ms));
  }

  async #reclaim(choice: number): Promise<void> {
    const options = { seize: choice % 4 === 0, policy: POLICY, dice: 0.5, limit: 1 + (choice % 4) };
    await this.#subject.store.reclaim(options, at(this.#ms));
  }

  #some(choice: number): UnitRef[] {
    return this.#units.filter((_, place) => (place + choice) % 3 === 0);
  }

  async #watchTransitions(): Promise<void> {
    for (const id of this.#ids) {
      const { recipients } = await read(this.#subject.views, id);
      for (const { index, state } of recipients) {
        const before = this.#states.get(`${id}/${index}`) ?? 'queued';
        expect(before === state || reachable(before, state), `${before} to ${state}`).toBe(true);
        this.#states.set(`${id}/${index}`, state);
      }
    }
  }
}

const CAUSES = ['claim', 'settle', 'expire', 'cancel', 'release', 'reclaim'] as const;

/** Whether some cause of these verbs may lead from one state to the other. */
function reachable(from: DeliveryState, to: DeliveryState): boolean {
  return CAUSES.some((cause) => mayTransition(from, to, cause));
}
