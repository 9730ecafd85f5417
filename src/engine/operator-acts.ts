import type { Clock } from '../lib/clock.ts';
import type { Events } from '../observe/events.ts';
import type {
  CancelAnswer,
  InboxMark,
  Reassignment,
  RequeueAnswer,
  RescheduleAnswer,
} from '../store/acting.ts';
import type { Store } from '../store/store.ts';
import type { RestoredAct } from '../store/upkeep.ts';
import type { WaitingDelivery } from '../store/views.ts';
import type { Acts, EngineSettings } from './contract.ts';
import type { Dispatch } from './dispatch.ts';
import type { Leases } from './leases.ts';
import type { Redecide } from './redecide.ts';

/** What operator acts need. */
export interface ActingDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Events;
  readonly node: string;
  readonly settings: () => EngineSettings;
}

/** Records operator acts, then tells those who can continue because of them. */
export class Acting implements Acts {
  readonly #deps: ActingDeps;
  readonly #dispatch: Dispatch;
  readonly #leases: Leases;
  readonly #redecide: Redecide;

  constructor(deps: ActingDeps, dispatch: Dispatch, leases: Leases, redecide: Redecide) {
    this.#deps = deps;
    this.#dispatch = dispatch;
    this.#leases = leases;
    this.#redecide = redecide;
  }

  async cancel(id: string): Promise<CancelAnswer> {
    const { store, clock, events, node } = this.#deps;
    const [answer = 'not_found'] = await store.cancel([id], { node, now: clock.wall() });
    if (answer !== 'cancelled') return answer;
    events.emit({ type: 'acted', messageId: id, act: 'cancel' });
    await this.#dispatch.withdraw(id);
    return answer;
  }

  async retry(id: string): Promise<RequeueAnswer['kind']> {
    const { store, clock, events, node, settings } = this.#deps;
    const now = clock.wall();
    const request = { id, expiresAt: now + settings().retry.maxAgeMs };
    const [answer = NOT_FOUND] = await store.requeue([request], { node, now });
    if (answer.kind !== 'requeued') return answer.kind;
    for (const lane of answer.lanes) {
      this.#leases.want(lane);
      this.#dispatch.expect(lane, now);
    }
    // Its route may have gone since it failed, or it never had one.
    const stuck = answer.lanes.filter((lane) => !this.#dispatch.canSend(lane));
    if (answer.lanes.length === 0 || stuck.length > 0) this.#redecide.cameBack(stuck);
    events.emit({ type: 'acted', messageId: id, act: 'retry' });
    return answer.kind;
  }

  async reschedule(id: string, sendAt: number): Promise<RescheduleAnswer['kind']> {
    const { store, clock, events, node, settings } = this.#deps;
    const now = clock.wall();
    const request = { id, sendAt, expiresAt: now + settings().retry.maxAgeMs };
    const [answer = NOT_FOUND] = await store.reschedule([request], { node, now });
    if (answer.kind !== 'rescheduled') return answer.kind;
    for (const lane of answer.lanes) {
      this.#leases.want(lane);
      this.#dispatch.expect(lane, answer.dueAt);
    }
    events.emit({ type: 'acted', messageId: id, act: 'reschedule' });
    return answer.kind;
  }

  async discard(ids: readonly string[]): Promise<number> {
    const { store, clock, events, node } = this.#deps;
    const answers = await store.discard(ids, { node, now: clock.wall() });
    const gone = ids.filter((_, place) => answers[place]);
    for (const messageId of gone) events.emit({ type: 'acted', messageId, act: 'discard' });
    return gone.length;
  }

  async mark(marks: readonly InboxMark[]): Promise<void> {
    const { store, clock, node } = this.#deps;
    await store.mark(marks, { node, now: clock.wall() });
  }

  async decideRestored(act: RestoredAct): Promise<number> {
    const { store, clock, node, settings } = this.#deps;
    let total = 0;
    for (let more = true; more; ) {
      const now = clock.wall();
      const expiresAt = now + settings().retry.maxAgeMs;
      const answer = await store.decideRestored(act, expiresAt, RESTORED_BATCH, { node, now });
      total += answer.count;
      more = answer.more;
      for (const lane of answer.lanes) {
        this.#leases.want(lane);
        this.#dispatch.expect(lane, now);
      }
    }
    // Routes may have changed since the backup was taken.
    this.#redecide.stir();
    return total;
  }

  async reroute(moves: readonly Reassignment[]): Promise<number> {
    const { store, clock, node } = this.#deps;
    const now = clock.wall();
    const moved = await store.reassign(moves, { node, now });
    const lanes = new Set(moves.flatMap(({ to }, place) => (moved[place] && to !== null ? [to.lane] : [])));
    for (const lane of lanes) {
      this.#leases.want(lane);
      // Only the store knows when they are due; asking it is cheap.
      this.#dispatch.expect(lane, now);
    }
    return moved.filter(Boolean).length;
  }

  redecide(deliveries: readonly WaitingDelivery[]): Promise<number> {
    return this.#redecide.afresh(deliveries);
  }
}

/** Most recipients that one transaction decides on. */
const RESTORED_BATCH = 500;
const NOT_FOUND = { kind: 'not_found' } as const;
