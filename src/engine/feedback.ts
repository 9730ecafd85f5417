import { bounceTypeOfReply, type DomainOutcomes, GUARD_WINDOW_MS, guardAfter } from '../domain/bounce.ts';
import { type BounceType, type Feedback, type FeedbackToken, feedbackText } from '../domain/feedback.ts';
import type { Transition } from '../domain/settle.ts';
import { suppressedOf } from '../domain/suppressed-address.ts';
import { FEEDBACK_AFTER_MS, testOutcomeOf } from '../domain/test-outcome.ts';
import type { Clock } from '../lib/clock.ts';
import { createIdSource, idFloor } from '../lib/id.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import { expired } from '../store/columns.ts';
import type { ExpiringMessage, Store, UnitDelivery } from '../store/store.ts';
import type { OwnBounce, OwnBounces, Telling, TellRules, ToldResult } from '../store/telling.ts';
import type { Views } from '../store/views.ts';
import {
  type EngineSettings,
  type FeedbackDesk,
  type FeedbackReport,
  MAX_EVIDENCE_BYTES,
  type ToldAnswer,
} from './contract.ts';

/** How much is told in one transaction, for the end of which all others wait. */
const BATCH = 100;
/** How often a process looks for what another has left: one that is gone, or another node. */
const LOOK_EVERY_MS = 60_000;
/** How often it tells again what came too early. */
const AGAIN_EVERY_MS = 5000;

/** What hearing of mail needs. */
export interface FeedbackDeps {
  readonly store: Pick<Store, 'tell' | 'retell' | 'guard'>;
  readonly views: Pick<Views, 'message'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  readonly node: string;
  readonly settings: () => EngineSettings;
  readonly fault: (code: string, error: unknown) => void;
}

/** FEEDBACK: from what others tell of mail, and from our own refusals, to what is known of recipients and addresses. */
export class FeedbackRoom implements FeedbackDesk {
  readonly #deps: FeedbackDeps;
  readonly #nextId: () => string;
  readonly #nextEntryId: () => string;
  readonly #guards: Guards;
  /** Something of this process waits to be told again. */
  #hasEarly = false;
  /** Wall ms at which it last looked for what waits. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Wall ms at which something that was planned is due. */
  #plannedAt = Number.POSITIVE_INFINITY;

  constructor(deps: FeedbackDeps) {
    this.#deps = deps;
    this.#nextId = createIdSource(deps.clock, deps.random, 'fbk_');
    this.#nextEntryId = createIdSource(deps.clock, deps.random, 'sup_');
    this.#guards = new Guards(deps.clock);
    deps.events.on((event) => {
      if (event.type !== 'attempted') return;
      for (const { address, outcome } of event.results)
        if (outcome.kind === 'delivered') this.#guards.decided(address, false, true);
        else if (outcome.kind === 'rejected')
          this.#note(address, bounceTypeOfReply(outcome.reply, false) === 'hard', true);
    });
  }

  async tell(report: FeedbackReport): Promise<ToldAnswer> {
    const tellings = this.#tellingsOf(report);
    const results: ToldResult[] = [];
    for (const telling of tellings) {
      const [answer] = await this.#deps.store.tell([telling], this.rules(), this.#stamp());
      const told = answer?.results ?? [];
      this.#hasEarly ||= told.some(({ verdict }) => verdict === 'early');
      this.#announce(told);
      results.push(...told);
    }
    if (report.items.length === 0)
      this.#deps.events.emit({ type: 'feedback', source: report.source, result: 'unmatched', count: 1 });
    return {
      id: tellings[0].id,
      matched: results.some(({ messageId }) => messageId !== null),
      changed: results.some(({ changed }) => changed),
    };
  }

  /** What is told in one transaction each. The first has the evidence. */
  #tellingsOf({ source, items, evidence, mayBeEarly, onlyOfKey }: FeedbackReport): [Telling, ...Telling[]] {
    const toTelling = (some: FeedbackReport['items'], kept: Telling['evidence']): Telling => ({
      id: this.#nextId(),
      source,
      mayBeEarly,
      ...(onlyOfKey !== undefined && { onlyOfKey }),
      items: some.map(({ feedback, onceId }) => ({ feedback, onceId, entryId: this.#nextEntryId() })),
      evidence: kept,
    });
    // A part of what is told does not show whether all of it is about one message, whose evidence this is then.
    const isApart = items.length > BATCH && evidence !== null && !isAboutOne(items);
    const [first = [], ...others] = [...(isApart ? [[]] : []), ...batchesOf(items)];
    const kept = evidence && {
      contentType: evidence.contentType,
      base64: Buffer.from(evidence.bytes.subarray(0, MAX_EVIDENCE_BYTES)).toString('base64'),
    };
    return [toTelling(first, kept), ...others.map((some) => toTelling(some, null))];
  }

  async counts({ id, recipient }: FeedbackToken): Promise<boolean> {
    const detail = await this.#deps.views.message(id);
    if (detail === null || (recipient !== null && recipient >= detail.recipients.length)) return false;
    const { finalAt, updatedAt } = detail.message;
    return (finalAt ?? updatedAt) + this.#deps.settings().tokenAgeMs > this.#deps.clock.wall();
  }

  /**
   * Plans what is told {@link FEEDBACK_AFTER_MS} from now, as if somebody else told it. Resolves once it is on disk, to
   * whether each is planned: too much may be already. Rejects with `StoreError`.
   */
  async plan(told: readonly Feedback[]): Promise<boolean[]> {
    const notBefore = this.#deps.clock.wall() + FEEDBACK_AFTER_MS;
    const [first] = told;
    if (first === undefined) return [];
    const items = told.map((feedback) => ({ feedback, onceId: null, entryId: this.#nextEntryId() }));
    const { source } = first;
    const telling = { id: this.#nextId(), source, items, evidence: null, mayBeEarly: false, notBefore };
    const [answer] = await this.#deps.store.tell([telling], this.rules(), this.#stamp());
    this.#plannedAt = Math.min(this.#plannedAt, notBefore);
    return told.map((_, place) => answer?.results[place]?.verdict === 'early');
  }

  /** Tells what came too early again, and what was planned when it is due. */
  async retell(signal: AbortSignal): Promise<void> {
    const now = this.#deps.clock.wall();
    const sinceMs = Math.abs(now - this.#lookedAt);
    const isDue = sinceMs >= (this.#hasEarly ? AGAIN_EVERY_MS : LOOK_EVERY_MS) || now >= this.#plannedAt;
    if (!isDue) return;
    this.#hasEarly = false;
    this.#lookedAt = now;
    this.#plannedAt = Number.POSITIVE_INFINITY;
    let after: string | null = '';
    try {
      while (after !== null && !signal.aborted) {
        const answer: Awaited<ReturnType<Store['retell']>> = await this.#deps.store.retell(
          after,
          BATCH,
          this.rules(),
          this.#stamp(),
        );
        this.#announce(answer.results);
        this.#hasEarly ||= answer.waits;
        this.#plannedAt = Math.min(this.#plannedAt, answer.nextAt ?? Number.POSITIVE_INFINITY);
        after = answer.next;
      }
    } catch (error) {
      this.#hasEarly = true;
      throw error;
    }
  }

  /** The rules for entries that are made by themselves. */
  rules(): TellRules {
    return { ...this.#deps.settings().suppressions, guarded: this.#guards.inForce() };
  }

  /** What an expiry may mean for the list; undefined: nothing. */
  ofExpiry({ deliveries }: ExpiringMessage): OwnBounces | undefined {
    // What was said before a retry by hand says nothing of what became of that.
    const ends = deliveries.map(({ attempts, lastCode, lastEnhanced, lastReply }) =>
      expired(attempts === 0 || lastReply === null ? null : [lastCode, lastEnhanced, lastReply]),
    );
    return this.own(deliveries, ends);
  }

  /** What an attempt's failures may mean for the list; undefined: nothing. */
  own(deliveries: readonly UnitDelivery[], transitions: readonly Transition[]): OwnBounces | undefined {
    const bounces = transitions.flatMap((transition, place): OwnBounce[] => {
      const delivery = deliveries[place];
      const type = ownBounceOf(transition);
      // Nothing else that our own attempts meet suppresses anybody.
      if (delivery === undefined || (type !== 'hard' && type !== 'soft')) return [];
      const { code, enhanced: enhancedCode, text, cause } = transition.reply;
      return [
        {
          index: delivery.index,
          address: delivery.recipient.address,
          type,
          code: cause === 'smtp_reply' ? code : null,
          enhancedCode,
          text: feedbackText(text),
          entryId: this.#nextEntryId(),
        },
      ];
    });
    return bounces.length === 0 ? undefined : { bounces, rules: this.rules() };
  }

  #announce(results: readonly ToldResult[]): void {
    for (const result of results) {
      const { kind, bounce, address, messageId } = result;
      // The mail was accepted first, which counted.
      if (kind === 'bounce' && bounce !== null && address !== null)
        this.#note(address, bounce === 'hard', false);
      this.#deps.events.emit({ type: 'told', ...result, messageId });
    }
  }

  #note(address: string, isHard: boolean, isAnew: boolean): void {
    // What is played for tests shows nothing of a receiver.
    if (testOutcomeOf(address) !== null) return;
    const domain = this.#guards.decided(address, isHard, isAnew);
    if (domain === null) return;
    this.#deps.store
      .guard(domain, idFloor('sup_', this.#deps.clock.wall() - GUARD_WINDOW_MS), this.#stamp())
      .then(() => this.#deps.events.emit({ type: 'guarded', domain }))
      .catch((error: unknown) => this.#deps.fault('guard_failed', error));
  }

  #stamp() {
    return { node: this.#deps.node, now: this.#deps.clock.wall() };
  }
}

function batchesOf(items: FeedbackReport['items']): FeedbackReport['items'][] {
  const count = Math.ceil(items.length / BATCH);
  return Array.from({ length: count }, (_, number) => items.slice(number * BATCH, (number + 1) * BATCH));
}

/** Whether all of it names its message alike. */
function isAboutOne(items: FeedbackReport['items']): boolean {
  return new Set(items.map(({ feedback }) => JSON.stringify(feedback.message))).size <= 1;
}

/** What a transition of ours means for its recipient's address; null: it is no failure of the address. */
function ownBounceOf({ state, outcome, reply }: Transition): BounceType | null {
  if (state !== 'failed') return null;
  if (outcome === 'expired') return bounceTypeOfReply(reply, true);
  return outcome === 'rejected' && reply.cause === 'smtp_reply' ? bounceTypeOfReply(reply, false) : null;
}

/** How finely a domain's outcomes are counted, in ms. */
const SLOT_MS = 60_000;
/** Domains whose outcomes are counted. Beyond it, those are forgotten that had none for longest. */
const MAX_DOMAINS = 10_000;

interface Watched {
  /** By time, in slots. */
  readonly slots: Map<number, { decided: number; hard: number }>;
  /** Wall ms. */
  guardedUntil: number | null;
}

/**
 * What recipient domains decided within the last hour, as this process saw it, and which of them are guarded. A domain
 * is counted from its first hard bounce on.
 */
class Guards {
  readonly #clock: Pick<Clock, 'wall'>;
  /** The one with the newest outcome comes last. */
  readonly #domains = new NewestMap<string, Watched>(MAX_DOMAINS);

  constructor(clock: Pick<Clock, 'wall'>) {
    this.#clock = clock;
  }

  /** Domains of which no bounce suppresses anything now. */
  inForce(): string[] {
    const now = this.#clock.wall();
    return [...this.#domains].flatMap(([domain, { guardedUntil }]) =>
      guardedUntil !== null && guardedUntil > now ? [domain] : [],
    );
  }

  /**
   * A recipient's domain has decided: for the first time, or (not `isAnew`) against what it had accepted, which is still
   * one recipient. Returns the domain if its guard begins.
   */
  decided(address: string, isHard: boolean, isAnew: boolean): string | null {
    const { domain } = suppressedOf(address);
    const known = this.#domains.get(domain);
    if (known === undefined && !isHard) return null;
    const watched = known ?? { slots: new Map(), guardedUntil: null };
    this.#domains.set(domain, watched);
    const now = this.#clock.wall();
    const slot = Math.floor(now / SLOT_MS);
    const counts = watched.slots.get(slot) ?? { decided: 0, hard: 0 };
    if (isAnew || known === undefined) counts.decided++;
    if (isHard) counts.hard++;
    watched.slots.set(slot, counts);
    if (!isHard) return null;
    const guard = guardAfter(watched.guardedUntil, sumOf(watched, now), now);
    watched.guardedUntil = guard.until;
    return guard.begins ? domain : null;
  }
}

function sumOf({ slots }: Watched, now: number): DomainOutcomes {
  const sum = { decided: 0, hard: 0 };
  for (const [slot, { decided, hard }] of slots)
    if ((slot + 1) * SLOT_MS <= now - GUARD_WINDOW_MS) slots.delete(slot);
    else {
      sum.decided += decided;
      sum.hard += hard;
    }
  return sum;
}
