import { createHash } from 'node:crypto';
import type { DeliveryState, MessageStatus } from '../../src/domain/delivery.ts';
import type { Priority } from '../../src/domain/message.ts';
import type { OutcomeName } from '../../src/domain/outcome.ts';
import type { Transition } from '../../src/domain/settle.ts';
import type { AcceptRecord } from '../../src/store/accepting.ts';
import type { UnitRef } from '../../src/store/leased.ts';
import type { Views } from '../../src/store/views.ts';
import { Story } from './events.ts';
import { type Ledger, tokenIn } from './ledger.ts';
import { InvariantBroken, isOver, maySee, statusOf } from './statuses.ts';
import type { NodeLife } from './virtual-clock.ts';

/** A recipient, by its place in the store and by what the world calls it. */
interface Place {
  readonly id: string;
  readonly index: number;
  readonly name: string;
}

/** What became of a recipient by a verb. */
export interface Change {
  readonly id: string;
  readonly index: number;
  readonly to: DeliveryState;
  readonly outcome: OutcomeName | null;
  readonly verb: string;
}

/** Hears of what the watch sees, in its order. */
export interface Onlooker {
  stored(record: AcceptRecord): void;
  /** Everything that came with the acceptance of a message was seen. */
  accepted(id: string): void;
  began(units: readonly UnitRef[]): void;
  settled(unit: UnitRef, transitions: readonly Transition[]): void;
  changed(change: Change): void;
  /** A message was retried by hand. */
  requeued(id: string): void;
}

/** Watches every message of a world: what it was, what it is, whether it may have become that. */
export class Watch {
  readonly #views: Views;
  readonly #ledger: Ledger;
  readonly #states = new Map<string, DeliveryState[]>();
  readonly #unfinished = new Set<string>();
  readonly #statuses = new Map<string, MessageStatus>();
  /** How often messages were stored, and became delivered or failed. */
  readonly happened = { received: 0, delivered: 0, failed: 0 };
  /** Messages that were flagged as possibly sent twice; known at the end. */
  flagged = 0;
  /** `id` → `token address` of each of its recipients. */
  readonly #names = new Map<string, readonly string[]>();
  readonly #fences = new Map<string, number>();
  /** `id/index` of recipients that were in processing when their cancellation was written. */
  readonly #marked = new Set<string>();
  /** `id/index` of recipients whose attempt has begun → when, by the clock of who begins; -Infinity where it was set back. */
  readonly #begun = new Map<string, number>();
  /** Until when, in virtual time, some clocks may go on as they did before they were set back. */
  #unsureUntil = 0;
  /** `token address` of recipients that were cancelled before an attempt had begun. */
  readonly #barred = new Set<string>();
  /** `id/index` of recipients of whom an attempt had an unknown end, by the world's own account, or was never ended. */
  readonly #unsure = new Set<string>();
  /** `token address` → how often it failed for good, of which its sender must hear: not by a cancellation. */
  readonly failed = new Map<string, number>();
  readonly #hash = createHash('sha256');
  /** Token of the submission → the id it was stored under. */
  readonly ids = new Map<string, string>();
  /** Messages that had a report which could not be written: they may wait beyond their time until it can. */
  readonly #untold = new Set<string>();
  /** Messages without a sender: nobody is told of their fate. */
  readonly #unsent = new Set<string>();
  /** How many reports were stored. */
  reports = 0;
  /** How many deliveries failed for want of time, and of those that nobody is told of how many failed. */
  expired = 0;
  failedUnsent = 0;
  /** What events must tell. */
  readonly story = new Story();
  /** Ids that were answered with 202. */
  readonly acknowledged = new Set<string>();

  /** Copies that the world sent back: `token address` → how many. */
  readonly #returned = new Map<string, number>();
  onlooker: Onlooker | null = null;

  constructor(views: Views, ledger: Ledger) {
    this.#views = views;
    this.#ledger = ledger;
  }

  /** The history's fingerprint: every change of every delivery, with its time and cause. */
  fingerprint(): string {
    return this.#hash.digest('hex');
  }

  /** Messages that were not final when last looked at. */
  unfinished(): readonly string[] {
    return [...this.#unfinished];
  }

  /** Whether all of them are final. */
  get isOver(): boolean {
    return this.#unfinished.size === 0;
  }

  /** A message, or a report, was stored just now. */
  stored(record: AcceptRecord): void {
    const { id, header, source, reversePath, reportable, deliveries } = record;
    // Reports have subjects in common, and their own ids for tokens.
    const token = source === 'report' ? id : header.subject;
    this.#ledger.stored(token, source === 'report', record.expiresAt);
    this.#names.set(
      id,
      deliveries.map(({ recipient }) => `${token} ${recipient.address}`),
    );
    const other = this.ids.get(token);
    if (other !== undefined) throw new InvariantBroken(`${token} was stored twice: as ${other} and ${id}`);
    this.ids.set(token, id);
    if (reversePath === '' || !reportable) this.#unsent.add(id);
    this.#unfinished.add(id);
    this.#statuses.set(id, 'queued');
    this.happened.received++;
    this.story.stored(id);
    this.#states.set(
      id,
      deliveries.map(() => 'queued' as const),
    );
    if (source === 'report') this.reports++;
    this.onlooker?.stored(record);
  }

  /** The messages that go to an address. */
  idsTo(address: string): string[] {
    return [...this.#names].flatMap(([id, names]) =>
      names.some((name) => name.endsWith(` ${address}`)) ? id : [],
    );
  }

  /** A customer was told that a submission is ours, under that id. */
  answered(token: string, id: string): void {
    const stored = this.ids.get(token);
    if (stored !== id) throw new InvariantBroken(`${token} is ${stored}, and its customer was told ${id}`);
    this.acknowledged.add(id);
  }

  /** Every grant of a lane has a higher fence than the one before. */
  granted(lane: string, fence: number): void {
    const last = this.#fences.get(lane) ?? 0;
    if (fence <= last)
      throw new InvariantBroken(`lane ${lane} was granted with fence ${fence} after ${last}`);
    this.#fences.set(lane, fence);
  }

  /** Attempts for these have begun, at `now`, when the clock of their node said `wall`. */
  began(units: readonly UnitRef[], wall: number, now: number): void {
    const since = now < this.#unsureUntil ? Number.NEGATIVE_INFINITY : wall;
    for (const { messageId, indexes } of units)
      for (const index of indexes) this.#begun.set(`${messageId}/${index}`, since);
    this.onlooker?.began(units);
  }

  /** A process has written how an attempt ended. Who may have it although nobody knows is what the world knows, too. */
  settled(unit: UnitRef, transitions: readonly Transition[], life: NodeLife): void {
    const { messageId, indexes } = unit;
    for (const [place, index] of indexes.entries()) {
      const name = this.#names.get(messageId)?.[index] ?? '';
      const isDoubtful = this.#ledger.isDoubtful(life, `${messageId}/${index}`, name);
      if (transitions[place]?.possibleDuplicate !== isDoubtful)
        throw new InvariantBroken(
          `${messageId}/${index} (${name}) is ${isDoubtful ? 'not flagged, and its hop may have it' : 'flagged without a cause'}`,
        );
      if (isDoubtful) this.#unsure.add(`${messageId}/${index}`);
    }
    this.onlooker?.settled(unit, transitions);
  }

  /** All clocks are set back, and some notice it only at `noticed`, in virtual time. */
  clockSetBack(noticed: number): void {
    this.#unsureUntil = noticed;
    for (const place of this.#begun.keys()) this.#begun.set(place, Number.NEGATIVE_INFINITY);
  }

  /** A report on a message could not be written. */
  leftUntold(id: string): void {
    this.#untold.add(id);
  }

  /** Looks at messages after `verb` committed at `now`. */
  async look(verb: string, ids: Iterable<string>, now: number): Promise<void> {
    for (const id of ids) {
      const before = this.#states.get(id);
      const detail = await this.#views.message(id);
      if (!before) continue;
      if (!detail) throw new InvariantBroken(`${id} vanished during ${verb}`);
      for (const { index, state, address, outcome } of detail.recipients) {
        const old = before[index];
        if (old === undefined) throw new InvariantBroken(`${id} has a recipient ${address} nobody submitted`);
        const place = { id, index, name: this.#names.get(id)?.[index] ?? '' };
        const begunAt = this.#begun.get(`${id}/${index}`) ?? Number.NEGATIVE_INFINITY;
        const isPast = begunAt >= detail.message.expiresAt && !this.#untold.has(id);
        if (verb === 'settle' && old !== state && state === 'retrying' && isPast)
          throw new InvariantBroken(`${id}/${index} waits although its time was over when it was tried`);
        if (old !== state) this.#changed(verb, place, old, state, outcome, now);
        if (old !== state) this.onlooker?.changed({ id, index, to: state, outcome, verb });
        if (old !== state && state === 'failed' && outcome !== 'cancelled') this.#failed(place, outcome);
        if (verb === 'cancel') this.#cancelled(place, state);
        if (verb === 'requeue' && (old !== state || state === 'retrying'))
          this.#ledger.wasRetried(id, place.name);
        // Of a cancel and a retry the last one counts, also for what is under way.
        if (verb === 'requeue' && state === 'processing') {
          this.#marked.delete(`${id}/${index}`);
          this.#barred.delete(place.name);
        }
        before[index] = state;
      }
      if (detail.recipients.length !== before.length)
        throw new InvariantBroken(`${id} lost a recipient in ${verb}`);
      if (verb === 'accept') this.onlooker?.accepted(id);
      if (verb === 'requeue') this.onlooker?.requeued(id);
      const derived = statusOf(before);
      this.#became(id, derived);
      if (detail.message.status !== derived)
        throw new InvariantBroken(
          `${id} says ${detail.message.status}, its recipients say ${derived}, after ${verb}`,
        );
    }
  }

  /**
   * The world took these just now; `taken` says how often in all. A second copy, and a copy of what was cancelled
   * before an attempt had begun, are explained only by an attempt for this recipient with an unknown end, flagged
   * before.
   */
  async took(names: readonly string[], taken: ReadonlyMap<string, number>): Promise<void> {
    for (const name of names) {
      const again = (taken.get(name) ?? 0) - (this.#returned.get(name) ?? 0) > 1;
      if (!again && !this.#barred.has(name)) continue;
      const token = tokenIn(name);
      const id = this.ids.get(token) ?? token;
      const detail = await this.#views.message(id);
      const what = `${name} was ${again ? 'taken again' : 'taken after its end'}`;
      if (!detail?.message.possibleDuplicate) throw new InvariantBroken(`${what}, unflagged`);
      const index = this.#names.get(id)?.indexOf(name);
      if (!this.#unsure.has(`${id}/${index}`))
        throw new InvariantBroken(`${what}, and only other recipients had an unknown end`);
    }
  }

  /**
   * All has been well since then, in world time: what was there, and has time left, waits no more. Unless it must not
   * leave by another relay than the one whose hop may have it, and that one's quota `isSpent`.
   */
  async settledSince(at: number, isSpent: (relay: string, priority: Priority) => boolean): Promise<void> {
    for (const id of this.#unfinished) {
      const detail = await this.#views.message(id);
      if (!detail) continue;
      for (const { index, state, lane } of detail.recipients) {
        const name = this.#names.get(id)?.[index] ?? '';
        if (isOver(state) || !this.#ledger.hasTimeSince(name, at)) continue;
        const boundTo = this.#unsure.has(`${id}/${index}`) ? lane : null;
        if (boundTo !== null && isSpent(boundTo, detail.message.priority)) continue;
        throw new InvariantBroken(`${id}/${index} (${name}) is ${state} although all is well since ${at} ms`);
      }
    }
  }

  /**
   * Nothing acknowledged is missing, everything has ended, what is delivered was really taken, and what failed was not,
   * unless an attempt for it had an unknown end. Such an end, and nothing else, flags a message.
   */
  async ended(taken: ReadonlyMap<string, number>): Promise<void> {
    for (const id of this.ids.values()) {
      const detail = await this.#views.message(id);
      if (!detail) {
        if (this.acknowledged.has(id)) throw new InvariantBroken(`${id} was acknowledged and is gone`);
        continue;
      }
      const isUnsure = detail.recipients.some(({ index }) => this.#unsure.has(`${id}/${index}`));
      if (detail.message.possibleDuplicate !== isUnsure)
        throw new InvariantBroken(`${id} is ${isUnsure ? 'not flagged' : 'flagged without a cause'}`);
      if (isUnsure) this.flagged++;
      if (!isOver(detail.message.status))
        throw new InvariantBroken(`${id} is still ${detail.message.status}`);
      for (const { index, address, state, outcome } of detail.recipients) {
        const name = this.#names.get(id)?.[index] ?? '';
        const isTaken = taken.has(name);
        if (state === 'delivered' && outcome === 'accepted' && !isTaken)
          throw new InvariantBroken(`${id} claims that ${address} has it, and nobody took it`);
        const isReturned = this.#returned.has(name);
        if (state === 'failed' && isTaken && !isReturned && !this.#unsure.has(`${id}/${index}`))
          throw new InvariantBroken(
            `${id} claims that ${address} does not have it (${outcome}), and it was taken`,
          );
      }
    }
  }

  #became(id: string, status: MessageStatus): void {
    const isNew = this.#statuses.get(id) !== status;
    this.#statuses.set(id, status);
    if (isNew && (status === 'delivered' || status === 'failed')) this.happened[status]++;
    if (isOver(status)) this.#unfinished.delete(id);
    else this.#unfinished.add(id);
  }

  #failed({ id, name }: Place, outcome: OutcomeName | null): void {
    // Nobody is told of what was told to us.
    if (outcome === 'bounced') {
      this.#returned.set(name, (this.#returned.get(name) ?? 0) + 1);
      return;
    }
    if (outcome === 'expired') this.expired++;
    if (this.#unsent.has(id)) this.failedUnsent++;
    else this.failed.set(name, (this.failed.get(name) ?? 0) + 1);
  }

  /** After a cancellation nothing of the message waits. */
  #cancelled({ id, index, name }: Place, state: DeliveryState): void {
    if (state === 'queued' || state === 'retrying')
      throw new InvariantBroken(`${id}/${index} is ${state} after it was cancelled`);
    if (state !== 'processing') return;
    this.#marked.add(`${id}/${index}`);
    if (!this.#begun.has(`${id}/${index}`)) this.#barred.add(name);
  }

  #changed(
    verb: string,
    place: Place,
    from: DeliveryState,
    to: DeliveryState,
    outcome: OutcomeName | null,
    now: number,
  ): void {
    const { id, index, name } = place;
    // Taken back in the middle of an attempt: what came of it nobody knows.
    const hadBegun = from === 'processing' && this.#begun.delete(`${id}/${index}`);
    const wasTried = verb === 'settle' || (hadBegun && verb === 'reclaim');
    this.story.became(`${id}/${index}`, to, outcome, wasTried);
    if (hadBegun && verb === 'reclaim') this.#unsure.add(`${id}/${index}`);
    const marked = from === 'processing' && this.#marked.delete(`${id}/${index}`);
    if (marked && !isOver(to)) throw new InvariantBroken(`${id}/${index} waits although it was cancelled`);
    if (verb === 'cancel') this.#barred.add(name);
    if (verb === 'requeue') this.#barred.delete(name);
    this.#hash.update(`${now} ${verb} ${id} ${index} ${from} ${to}\n`);
    if (!maySee(verb, from, to, outcome))
      throw new InvariantBroken(`${verb} took ${id}/${index} from ${from} to ${to} (${outcome})`);
    if (to === 'processing') this.#ledger.held(`${id}/${index}`);
    if (outcome === 'rejected' && to === 'failed') this.#ledger.wasRejected(`${id}/${index}`, name);
    if (outcome === 'expired' && to === 'failed') this.#ledger.wasExpired(name);
    if (outcome === 'cancelled' && to === 'failed') this.#ledger.wasCancelled(id, name);
  }
}
