import { laneOf } from '../domain/lane.ts';
import { type Content, type ContentRef, isReadBack, type Submission } from '../domain/message.ts';
import { INBOX } from '../domain/relay.ts';
import type { RouteFacts } from '../domain/route-match.ts';
import type { Suppression } from '../domain/suppression.ts';
import { heldBackMs } from '../domain/test-outcome.ts';
import { giveBack } from '../lib/budget.ts';
import type { Clock } from '../lib/clock.ts';
import { createIdSource, messageIdTime } from '../lib/id.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import { SpoolError } from '../spool/spool.ts';
import type { AcceptAnswer, AcceptDelivery, AcceptRecord, AcceptWish } from '../store/accepting.ts';
import { StoreError, type Unit } from '../store/store.ts';
import { MAX_ADDITIONS, type SuppressionList } from '../store/suppressions.ts';
import type { Taken, Taking } from '../store/taking.ts';
import type { Stopped } from '../store/telling.ts';
import type {
  EngineSettings,
  Intake,
  IntakeAnswer,
  PlannedDelivery,
  RouteExplanation,
  Signer,
  Suspension,
} from './contract.ts';
import { firstBytesOn, type PlacedCopy, signCopies } from './copies.ts';
import type { Dispatch } from './dispatch.ts';
import type { Lane } from './lanes.ts';
import type { Leases } from './leases.ts';
import { isAmbiguous, recordFactsOf } from './persist.ts';
import { playedEntries } from './playing.ts';
import { type Admission, Gate, type QueueRoom, wishOf } from './queue-room.ts';
import type { Relays } from './relays.ts';
import { explainRoute, planRecipients, type RoutingParts, routeRecipients } from './routing.ts';
import { unitsOf } from './short-way.ts';

/** What accepting needs. */
export interface AcceptDeps {
  readonly taking: Taking;
  readonly suppressions?: Pick<SuppressionList, 'addSuppressions'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly node: string;
  readonly events: Events;
  readonly signer: Signer;
  readonly settings: () => EngineSettings;
  readonly fault: (code: string, error: unknown) => void;
}

/** How long a lack of room is reported if no later message shows otherwise, in ms. */
const TROUBLE_MS = 60_000;

/** Why messages cannot be stored. */
export type IntakeTrouble = 'disk_full' | 'store_unavailable';

/** A submission and the room that it needs. */
interface Wanted {
  readonly submission: Submission;
  readonly wish: AcceptWish;
  /** Null: all recipients get the same contents. */
  readonly copies: readonly PlacedCopy[] | null;
}

/** How messages are kept. */
interface Keeping {
  /** The room that is held for them. */
  readonly wishes: readonly AcceptWish[];
  /** Monotonic ms. */
  readonly startedAt: number;
  /** All of them or none. */
  readonly together: boolean;
}

/** A message with its contents in the spool, routed, and the lanes that promised room for it. */
interface Routed {
  readonly submission: Submission;
  readonly copies: Wanted['copies'];
  readonly record: AcceptRecord;
  readonly promised: readonly Lane[];
}

/** Why a submission is refused, before or after its contents were written. */
type Refusal = Exclude<Admission, { readonly kind: 'fits' }> | Suspended;
type Suspended = Extract<IntakeAnswer, { readonly kind: 'suspended' }>;

/** The other parts of the engine that accepting uses. */
export interface AcceptPeers {
  readonly relays: Relays;
  readonly dispatch: Dispatch;
  readonly leases: Leases;
  readonly gate: Gate;
  readonly room: QueueRoom;
}

/** ACCEPT and ROUTE: reserve room, write the contents, commit the records that refer to them, then answer. */
export class Accept implements Intake {
  readonly #deps: AcceptDeps;
  readonly #relays: Relays;
  readonly #dispatch: Dispatch;
  readonly #leases: Leases;
  readonly #gate: Gate;
  readonly #room: QueueRoom;
  readonly #nextId: () => string;
  readonly #nextEntryId: () => string;
  /** When a message last could not be stored (monotonic ms); null once one was. */
  #trouble: { readonly reason: IntakeTrouble; readonly at: number } | null = null;

  constructor(deps: AcceptDeps, { relays, dispatch, leases, gate, room }: AcceptPeers) {
    this.#deps = deps;
    this.#relays = relays;
    this.#dispatch = dispatch;
    this.#leases = leases;
    this.#gate = gate;
    this.#room = room;
    this.#nextId = createIdSource(deps.clock, deps.random);
    this.#nextEntryId = createIdSource(deps.clock, deps.random, 'sup_');
  }

  suspended(keyId: string | null): Suspension | null {
    return this.#gate.suspension() ?? this.#room.suspension(keyId);
  }

  newId(): string {
    return this.#nextId();
  }

  async plan(submission: Submission): Promise<PlannedDelivery[]> {
    return planRecipients(submission, submission.id ?? this.#anyId(), this.#routing());
  }

  async explain(facts: RouteFacts): Promise<RouteExplanation> {
    return explainRoute(facts, this.#anyId(), this.#routing());
  }

  /** Why the last message could not be stored, if that was recent; null if all is well. */
  trouble(): IntakeTrouble | null {
    const last = this.#trouble;
    return last !== null && this.#deps.clock.mono() - last.at < TROUBLE_MS ? last.reason : null;
  }

  async accept(submissions: readonly Submission[], together = false): Promise<IntakeAnswer[]> {
    const suspension = this.#gate.suspension();
    if (suspension) return submissions.map(() => ({ kind: 'suspended', suspension }));
    const startedAt = this.#deps.clock.mono();
    const wanted = submissions.map((submission): Wanted => {
      return { submission, wish: wishOf(submission), copies: null };
    });
    const wishes = wanted.map(({ wish }) => wish);
    try {
      // Awaits only if it must: most mail goes from here to the log in one turn.
      const admitted = this.#room.admit(wishes, together);
      const foreseen = admitted instanceof Promise ? await admitted : admitted;
      const listing = this.#listPlayed(submissions, foreseen, together);
      const admissions = listing === null ? foreseen : await listing;
      const signing = this.#signed(wanted.filter((_, place) => admissions[place]?.kind === 'fits'));
      const kept = await this.#keep(signing instanceof Promise ? await signing : signing, {
        wishes,
        startedAt,
        together,
      });
      if (kept.length === submissions.length) return kept;
      const answers = kept.values();
      return submissions.map(({ keyId }, place) => {
        const admission = admissions[place];
        return admission === undefined || admission.kind === 'fits'
          ? answered(answers.next().value)
          : this.#refusal(admission, together ? null : keyId);
      });
    } catch (error) {
      const trouble = Gate.because(this.#suspend(error));
      return submissions.map(() => ({ kind: 'suspended', suspension: trouble }));
    } finally {
      this.#room.settled(wishes);
    }
  }

  /**
   * Lists the recipients of test keys' admitted mail that ask to be suppressed; null: there are none. Where that fails, only
   * this mail is not admitted: what a test plays must not stop other mail.
   */
  #listPlayed(
    submissions: readonly Submission[],
    admissions: readonly Admission[],
    together: boolean,
  ): Promise<readonly (Admission | Suspended)[]> | null {
    const { suppressions, clock, settings, fault } = this.#deps;
    if (suppressions === undefined || !submissions.some(({ test }) => test)) return null;
    const now = clock.wall();
    const played = submissions.map((submission, place) =>
      admissions[place]?.kind === 'fits' ? playedEntries(submission, this.#nextEntryId, now) : [],
    );
    const entries = played.flat();
    if (entries.length === 0) return null;
    const rules = { max: settings().suppressions.maxEntries, by: 'itself', now } as const;
    return addInTurn(entries, (some) => suppressions.addSuppressions(some, rules)).then(
      () => admissions,
      (error: unknown) => {
        fault('accept_failed', error);
        const refused = { kind: 'suspended', suspension: Gate.because('store_unavailable') } as const;
        return admissions.map((admission, place) =>
          together || played[place]?.length !== 0 ? refused : admission,
        );
      },
    );
  }

  /** A message is signed once, before we take responsibility for it, so that what is stored is what is sent. */
  #signed(wanted: readonly Wanted[]): readonly Wanted[] | Promise<readonly Wanted[]> {
    const { signer } = this.#deps;
    const withContent = (one: Wanted, content: Content): Wanted =>
      content === one.submission.content ? one : { ...one, submission: { ...one.submission, content } };
    const signed = wanted.map((one) => {
      const { copies } = one.submission;
      if (copies !== undefined)
        return signCopies(one.submission, copies, signer).then((made) => ({
          ...withContent(one, made.content),
          copies: made.copies,
        }));
      const content = signer.sign(one.submission.content, one.submission.signing);
      return content instanceof Promise
        ? content.then((later) => withContent(one, later))
        : withContent(one, content);
    });
    return signed.every(isReady) ? signed : Promise.all(signed);
  }

  /** Writes contents and records of what there is room for. Rejects with the spool's or the store's error. */
  async #keep(wanted: readonly Wanted[], { wishes, startedAt, together }: Keeping): Promise<IntakeAnswer[]> {
    if (wanted.length === 0) return [];
    const { taking, clock, node } = this.#deps;
    const routed: Routed[] = [];
    try {
      const messages = wanted.map(({ submission, wish, copies }, place): Taken => {
        const messageId = submission.id ?? this.#nextId();
        const record = (content: ContentRef) => {
          const one = this.#route({ submission, copies }, messageId, content);
          routed[place] = one;
          return one.record;
        };
        const { recipients } = submission.envelope;
        return { messageId, content: submission.content, wish, recipients, record };
      });
      const answers = await taking.take(messages, {
        at: () => ({ node, now: clock.wall() }),
        limits: this.#room.limits(),
        together,
        counted: () => this.#room.settled(wishes),
      });
      const durationMs = clock.mono() - startedAt;
      this.#trouble = null;
      return wanted.map((_, place) => this.#answer(routed[place], answers[place], { durationMs, together }));
    } catch (error) {
      for (const one of routed) {
        this.#takeBack(one);
        if (isAmbiguous(error)) for (const lane of one.promised) this.#dispatch.retire(lane);
      }
      throw error;
    }
  }

  /** Chooses a relay for every recipient, and asks for the short way where a lane has room. */
  #route({ submission, copies }: Omit<Wanted, 'wish'>, id: string, content: ContentRef): Routed {
    const settings = this.#deps.settings();
    const createdAt = messageIdTime(id);
    const now = this.#deps.clock.wall();
    // The time in an id never goes back. If the clock did, mail must not wait until it has caught up.
    const dueAt = Math.max(Math.min(createdAt, now), submission.sendAt ?? 0);
    const promised = new Map<string, Lane | null>();
    const { sizeBytes } = submission.content;
    const recipients = routeRecipients(submission, id, this.#routing());
    const deliveries = recipients.map(({ relay, ...routed }, place): AcceptDelivery => {
      const { recipient } = routed;
      const heldMs = submission.test ? heldBackMs(recipient.address) : 0;
      if (relay === null) return { ...routed, relay: null, lane: null, dueAt, fence: null };
      const lane = laneOf(relay.name, relay.type, recipient.address);
      if (heldMs > 0) return { ...routed, relay: relay.name, lane, dueAt: dueAt + heldMs, fence: null };
      if (!promised.has(lane)) {
        const bytes = copies === null ? sizeBytes : (copies[place]?.part.length ?? 0);
        promised.set(lane, dueAt > now ? null : this.#dispatch.reserve(lane, bytes, submission.priority));
      }
      return { ...routed, relay: relay.name, lane, dueAt, fence: promised.get(lane)?.fence ?? null };
    });
    const lanes = [...promised.values()].filter((lane) => lane !== null);
    const expiresAt = dueAt + settings.retry.maxAgeMs;
    const parts = copies === null ? null : copies.map(({ part }) => part);
    const record = {
      ...recordFactsOf(submission),
      id,
      createdAt,
      expiresAt,
      content,
      copies: parts,
      deliveries,
      routeTable: settings.routing.version,
    };
    return { submission, copies, record, promised: lanes };
  }

  #routing(): RoutingParts {
    return { table: this.#deps.settings().routing, relays: this.#relays, now: this.#deps.clock.wall() };
  }

  /** An id for a message that will not exist: any random part will do. */
  #anyId(): string {
    return String(this.#deps.random.next());
  }

  /** `keyId`: whose queue is remembered to be full; null: nobody's. */
  #refusal(refusal: Refusal, keyId: string | null): IntakeAnswer {
    if (refusal.kind !== 'queue_full') return refusal;
    return { kind: 'suspended', suspension: this.#room.noteFull(refusal, keyId) };
  }

  #answer(
    routed: Routed | undefined,
    answer: AcceptAnswer | undefined,
    { durationMs, together }: Pick<Keeping, 'together'> & { readonly durationMs: number },
  ): IntakeAnswer {
    if (answer === undefined || routed === undefined) throw new Error('the store gave no answer');
    if (answer.kind !== 'accepted') {
      this.#takeBack(routed);
      if (answer.kind === 'queue_full') this.#room.surprised();
      return this.#refusal(answer, together ? null : routed.record.keyId);
    }
    const { record, submission } = routed;
    if (isReadBack(submission)) for (const chunk of submission.content.chunks) giveBack(chunk);
    this.#deps.events.emit({
      type: 'accepted',
      messageId: record.id,
      keyId: record.keyId,
      requestId: submission.requestId,
      source: record.source,
      deliveries: record.deliveries,
      tags: record.tags,
      sizeBytes: record.sizeBytes,
      durationMs,
    });
    const { leased, suppressed: stopped = [] } = answer;
    this.#dispatchAccepted(routed, leased, stopped);
    const captured = submission.test || record.deliveries.every(({ relay }) => relay === INBOX);
    if (stopped.length === 0) return { kind: 'accepted', id: record.id, captured };
    const suppressed = stopped.map(({ index, reason }) => {
      return { address: record.deliveries[index]?.recipient.address ?? '', reason };
    });
    this.#deps.events.emit({ type: 'suppressed', messageId: record.id, recipients: suppressed });
    return { kind: 'accepted', id: record.id, captured, suppressed };
  }

  /** Hands over the leased work, and tells the lanes of what waits. */
  #dispatchAccepted(routed: Routed, leased: readonly boolean[], stopped: readonly Stopped[]): void {
    const { record, submission, copies } = routed;
    for (const lane of routed.promised) {
      const units = unitsOf(record, leased, lane, this.#relays);
      const contentOf = ({ deliveries }: Unit) => copies?.[deliveries[0]?.index ?? 0]?.content;
      const jobs = units.map((unit) => ({ unit, content: contentOf(unit) ?? submission.content }));
      if (jobs.length > 0) this.#dispatch.handOver(lane, jobs);
      else this.#dispatch.unreserve(lane, firstBytesOn(lane.name, record));
    }
    for (const [place, { lane, dueAt }] of record.deliveries.entries()) {
      if (lane === null || leased[place] || stopped.some(({ index }) => index === place)) continue;
      this.#leases.want(lane);
      this.#dispatch.expect(lane, dueAt);
    }
  }

  #takeBack(routed: Routed): void {
    for (const lane of routed.promised)
      this.#dispatch.unreserve(lane, firstBytesOn(lane.name, routed.record));
  }

  #suspend(error: unknown): IntakeTrouble {
    const full =
      (error instanceof SpoolError && error.code === 'spool_full') ||
      (error instanceof StoreError && error.code === 'store_full');
    const reason = full ? 'disk_full' : 'store_unavailable';
    // A full disk stays full until the sweep finds room; other causes are judged again at the next message.
    if (full) this.#gate.set('disk_full', true);
    this.#trouble = { reason, at: this.#deps.clock.mono() };
    this.#deps.fault(full ? 'disk_full' : 'accept_failed', error);
    return reason;
  }
}

function answered(answer: IntakeAnswer | undefined): IntakeAnswer {
  if (answer === undefined) throw new Error('a submission got no answer');
  return answer;
}

async function addInTurn(
  entries: readonly Suppression[],
  add: (some: readonly Suppression[]) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < entries.length; start += MAX_ADDITIONS)
    await add(entries.slice(start, start + MAX_ADDITIONS));
}

function isReady<T>(one: T | Promise<T>): one is T {
  return !(one instanceof Promise);
}
