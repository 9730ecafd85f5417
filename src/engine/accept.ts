import { laneOf } from '../domain/lane.ts';
import type { ContentRef, Submission } from '../domain/message.ts';
import { INBOX } from '../domain/relay.ts';
import type { RouteFacts } from '../domain/route-match.ts';
import type { Clock } from '../lib/clock.ts';
import { createIdSource, messageIdTime } from '../lib/id.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import type { Spool } from '../spool/spool.ts';
import { SpoolError } from '../spool/spool.ts';
import type { AcceptAnswer, AcceptDelivery, AcceptRecord, AcceptWish } from '../store/accepting.ts';
import { type Store, StoreError } from '../store/store.ts';
import type { Dispatch } from './dispatch.ts';
import { Gate } from './gate.ts';
import type { Intake, IntakeAnswer, PlannedDelivery, RouteExplanation, Suspension } from './intake.ts';
import type { Lane } from './lanes.ts';
import type { Leases } from './leases.ts';
import { isAmbiguous } from './persist.ts';
import { type Admission, type QueueRoom, wishOf } from './queue-room.ts';
import { recordFactsOf } from './record.ts';
import type { Relays } from './relays.ts';
import { explainRoute, planRecipients, type RoutingParts, routeRecipients } from './routing.ts';
import type { EngineSettings } from './settings.ts';
import { unitsOf } from './shortway.ts';
import type { Signer } from './signer.ts';

/** What accepting needs. */
export interface AcceptDeps {
  readonly store: Store;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly random: Random;
  readonly node: string;
  readonly events: Events;
  readonly signer: Signer;
  readonly settings: () => EngineSettings;
  readonly fault: (code: string, error: unknown) => void;
}

/** How long a want of room is believed when no message tells otherwise, in ms. */
const TROUBLE_MS = 60_000;

/** Why messages cannot be stored. */
export type IntakeTrouble = 'disk_full' | 'store_unavailable';

/** A message with its contents in the spool, routed, and the lanes that promised room for it. */
interface Routed {
  readonly submission: Submission;
  readonly record: AcceptRecord;
  readonly promised: readonly Lane[];
}

/** Why a submission is not kept, before or after its contents were written. */
type Refusal = Exclude<Admission, { readonly kind: 'fits' }>;

/** The rest of the engine, as accepting sees it. */
export interface AcceptPeers {
  readonly relays: Relays;
  readonly dispatch: Dispatch;
  readonly leases: Leases;
  readonly gate: Gate;
  readonly room: QueueRoom;
}

/** ACCEPT and ROUTE: room first, then the bytes, then the facts that refer to them, then the answer. */
export class Accept implements Intake {
  readonly #deps: AcceptDeps;
  readonly #relays: Relays;
  readonly #dispatch: Dispatch;
  readonly #leases: Leases;
  readonly #gate: Gate;
  readonly #room: QueueRoom;
  readonly #nextId: () => string;
  /** When a message last found no room (monotonic ms); null once one was stored. */
  #trouble: { readonly reason: IntakeTrouble; readonly at: number } | null = null;

  constructor(deps: AcceptDeps, { relays, dispatch, leases, gate, room }: AcceptPeers) {
    this.#deps = deps;
    this.#relays = relays;
    this.#dispatch = dispatch;
    this.#leases = leases;
    this.#gate = gate;
    this.#room = room;
    this.#nextId = createIdSource(deps.clock, deps.random);
  }

  suspended(keyId: string | null): Suspension | null {
    return this.#gate.suspension() ?? this.#room.suspension(keyId);
  }

  newId(): string {
    return this.#nextId();
  }

  plan(submission: Submission): PlannedDelivery[] {
    return planRecipients(submission, submission.id ?? this.#anyId(), this.#routing());
  }

  explain(facts: RouteFacts): RouteExplanation {
    return explainRoute(facts, this.#anyId(), this.#routing());
  }

  /** Why the last message could not be stored, if that was a short while ago; null when all is well. */
  trouble(): IntakeTrouble | null {
    const last = this.#trouble;
    return last !== null && this.#deps.clock.mono() - last.at < TROUBLE_MS ? last.reason : null;
  }

  async accept(submissions: readonly Submission[]): Promise<IntakeAnswer[]> {
    const suspension = this.#gate.suspension();
    if (suspension) return submissions.map(() => ({ kind: 'suspended', suspension }));
    const startedAt = this.#deps.clock.mono();
    const wishes = submissions.map(wishOf);
    try {
      const admissions = await this.#room.admit(wishes);
      const fitting = await this.#signed(
        submissions.filter((_, place) => admissions[place]?.kind === 'fits'),
      );
      const kept = (await this.#keep(fitting, wishes, startedAt)).values();
      return submissions.map(({ keyId }, place) => {
        const admission = admissions[place];
        return admission === undefined || admission.kind === 'fits'
          ? answered(kept.next().value)
          : this.#refusal(admission, keyId);
      });
    } catch (error) {
      const trouble = Gate.because(this.#suspend(error));
      return submissions.map(() => ({ kind: 'suspended', suspension: trouble }));
    } finally {
      this.#room.settled(wishes);
    }
  }

  /** What is sent is what is stored: signed once, before it is ours. */
  async #signed(submissions: readonly Submission[]): Promise<Submission[]> {
    const { signer } = this.#deps;
    return await Promise.all(
      submissions.map(async (submission) => {
        const content = await signer.sign(submission.content, submission.signing);
        return content === submission.content ? submission : { ...submission, content };
      }),
    );
  }

  /** Writes what there is room for: the contents, then the facts. Rejects with the spool's or the store's error. */
  async #keep(
    submissions: readonly Submission[],
    wishes: readonly AcceptWish[],
    startedAt: number,
  ): Promise<IntakeAnswer[]> {
    if (submissions.length === 0) return [];
    const { store, spool, clock, node } = this.#deps;
    let refs: readonly ContentRef[] = [];
    let routed: readonly Routed[] = [];
    try {
      const ids = submissions.map(({ id }) => id ?? this.#nextId());
      refs = await spool.append(
        submissions.map(({ content }, place) => ({ messageId: ids[place] ?? '', content })),
      );
      routed = submissions.map((submission, place) => this.#route(submission, ids[place], refs[place]));
      const records = routed.map(({ record }) => record);
      this.#room.settled(wishes);
      const answers = await store.accept(records, { node, now: clock.wall() }, this.#room.limits());
      const durationMs = clock.mono() - startedAt;
      this.#trouble = null;
      return routed.map((one, place) => this.#answer(one, answers[place], durationMs));
    } catch (error) {
      for (const one of routed) {
        this.#takeBack(one);
        if (isAmbiguous(error)) for (const lane of one.promised) this.#dispatch.retire(lane);
      }
      throw error;
    } finally {
      spool.decided(refs);
    }
  }

  /** Chooses a relay for every recipient, and asks for the short way where a lane has room. */
  #route(submission: Submission, id: string | undefined, content: ContentRef | undefined): Routed {
    if (id === undefined || content === undefined) throw new Error('the spool gave no reference');
    const settings = this.#deps.settings();
    const createdAt = messageIdTime(id);
    const now = this.#deps.clock.wall();
    // An id's time never goes back; after the clock did, mail must not wait until it has caught up.
    const dueAt = Math.max(Math.min(createdAt, now), submission.sendAt ?? 0);
    const promised = new Map<string, Lane | null>();
    const { sizeBytes } = submission.content;
    const recipients = routeRecipients(submission, id, this.#routing());
    const deliveries = recipients.map(({ relay, ...routed }): AcceptDelivery => {
      const { recipient } = routed;
      if (relay === null) return { ...routed, relay: null, lane: null, dueAt, fence: null };
      const lane = laneOf(relay.name, relay.type, recipient.address);
      if (!promised.has(lane))
        promised.set(lane, dueAt > now ? null : this.#dispatch.reserve(lane, sizeBytes, submission.priority));
      return { ...routed, relay: relay.name, lane, dueAt, fence: promised.get(lane)?.fence ?? null };
    });
    const lanes = [...promised.values()].filter((lane) => lane !== null);
    const expiresAt = dueAt + settings.retry.maxAgeMs;
    const record = { ...recordFactsOf(submission), id, createdAt, expiresAt, content, deliveries };
    return { submission, record: { ...record, routeTable: settings.routing.version }, promised: lanes };
  }

  #routing(): RoutingParts {
    return { table: this.#deps.settings().routing, relays: this.#relays, now: this.#deps.clock.wall() };
  }

  /** What stands for a message that will not be: its dice are as good as another's. */
  #anyId(): string {
    return String(this.#deps.random.next());
  }

  #refusal(refusal: Refusal, keyId: string | null): IntakeAnswer {
    if (refusal.kind !== 'queue_full') return refusal;
    return { kind: 'suspended', suspension: this.#room.noteFull(refusal, keyId) };
  }

  #answer(routed: Routed, answer: AcceptAnswer | undefined, durationMs: number): IntakeAnswer {
    if (answer === undefined) throw new Error('the store gave no answer');
    if (answer.kind !== 'accepted') {
      this.#takeBack(routed);
      if (answer.kind === 'queue_full') this.#room.surprised();
      return this.#refusal(answer, routed.record.keyId);
    }
    const { record, submission } = routed;
    this.#deps.events.emit({
      type: 'accepted',
      messageId: record.id,
      keyId: record.keyId,
      requestId: submission.requestId,
      source: record.source,
      recipients: record.deliveries.length,
      sizeBytes: record.sizeBytes,
      durationMs,
    });
    this.#dispatchAccepted(routed, answer.leased);
    const captured = record.deliveries.every(({ relay }) => relay === INBOX);
    return { kind: 'accepted', id: record.id, captured: captured || submission.test };
  }

  /** Hands leased work over, and tells the lanes of what waits. */
  #dispatchAccepted(routed: Routed, leased: readonly boolean[]): void {
    const { record, submission } = routed;
    for (const lane of routed.promised) {
      const units = unitsOf(record, leased, lane, this.#relays);
      const jobs = units.map((unit) => ({ unit, content: submission.content }));
      if (jobs.length > 0) this.#dispatch.handOver(lane, jobs);
      else this.#dispatch.unreserve(lane, record.sizeBytes);
    }
    for (const [place, { lane, dueAt }] of record.deliveries.entries()) {
      if (lane === null || leased[place]) continue;
      this.#leases.want(lane);
      this.#dispatch.expect(lane, dueAt);
    }
  }

  #takeBack(routed: Routed): void {
    for (const lane of routed.promised) this.#dispatch.unreserve(lane, routed.record.sizeBytes);
  }

  #suspend(error: unknown): IntakeTrouble {
    const full =
      (error instanceof SpoolError && error.code === 'spool_full') ||
      (error instanceof StoreError && error.code === 'store_full');
    const reason = full ? 'disk_full' : 'store_unavailable';
    // A full disk stays full until the sweep sees room; anything else is judged anew at the next message.
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
