import type { Content, ContentPart, ContentRef, Submission } from '../../src/domain/message.ts';
import { INBOX } from '../../src/domain/relay.ts';
import type { RouteFacts } from '../../src/domain/route-match.ts';
import type {
  Acts,
  Intake,
  IntakeAnswer,
  PlannedDelivery,
  RouteExplanation,
  Suspension,
} from '../../src/engine/contract.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createIdSource, messageIdTime } from '../../src/lib/id.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { type Encryption, type Spool, type SpoolContent, SpoolError } from '../../src/spool/spool.ts';
import type { AcceptRecord, QueueLimits } from '../../src/store/accepting.ts';
import type { InboxMark, Reassignment } from '../../src/store/acting.ts';
import type { Store } from '../../src/store/store.ts';

const QUEUE_FULL: Suspension = { code: 'queue_limit', detail: 'The queue is full.', retryAfterSeconds: 60 };

/** How long a message may wait in these tests. */
const MAX_AGE_MS = 1000;

/**
 * An engine that keeps what it was given and writes the facts into a real store; nothing is ever delivered. It is
 * the spool too: contents are found again by the segment, which counts submissions.
 */
export class RecordingIntake implements Intake, Acts, Pick<Spool, 'read' | 'encryption'> {
  /** Everything accepted, in order. */
  readonly submissions: Submission[] = [];
  /** Contents given to the store, whether or not it took them, by segment from 1 on. */
  readonly #contents: Content[] = [];
  /** Set to fill the queue. */
  limits: QueueLimits | undefined;
  /** How many submissions were handed over, answered or not. */
  handed = 0;
  #held: Promise<void> | null = null;
  /** Set to refuse everything. */
  suspension: Suspension | null = null;
  /** What was last to be explained. */
  explained: RouteFacts | null = null;
  /** Where mail goes that no test key sent. */
  relay = 'out';
  /** What a signer puts above what is stored; nothing unless it is set. */
  signature = '';
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #nextId: () => string;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#nextId = createIdSource(clock, seededRandom(1));
  }

  async encryption(): Promise<Encryption> {
    return { encrypting: false, keyId: null, segments: this.#contents.length, encrypted: 0 };
  }

  suspended(): Suspension | null {
    return this.suspension;
  }

  newId(): string {
    return this.#nextId();
  }

  async plan(submission: Submission): Promise<readonly PlannedDelivery[]> {
    const relay = submission.test ? INBOX : this.relay;
    return submission.envelope.recipients.map(() => planOf(relay));
  }

  async explain(facts: RouteFacts): Promise<RouteExplanation> {
    this.explained = facts;
    return { ...planOf(this.relay), tableVersion: 0, rules: [], weighted: false };
  }

  async cancel(id: string) {
    const [answer = 'not_found'] = await this.#store.cancel([id], this.#stamp());
    return answer;
  }

  async retry(id: string) {
    const expiresAt = this.#clock.wall() + MAX_AGE_MS;
    const [answer] = await this.#store.requeue([{ id, expiresAt }], this.#stamp());
    return answer?.kind ?? 'not_found';
  }

  async reschedule(id: string, sendAt: number) {
    const expiresAt = this.#clock.wall() + MAX_AGE_MS;
    const [answer] = await this.#store.reschedule([{ id, sendAt, expiresAt }], this.#stamp());
    return answer?.kind ?? 'not_found';
  }

  async reroute(moves: readonly Reassignment[]) {
    const answers = await this.#store.reassign(moves, this.#stamp());
    return answers.filter(Boolean).length;
  }

  async decideRestored() {
    return 0;
  }

  async mark(marks: readonly InboxMark[]) {
    await this.#store.mark(marks, this.#stamp());
  }

  async discard(ids: readonly string[]) {
    return (await this.#store.discard(ids, this.#stamp())).filter(Boolean).length;
  }

  /** Nothing is routed here, so nothing is decided anew. */
  redecide(): Promise<number> {
    return Promise.resolve(0);
  }

  async read({ segment }: ContentRef, part: ContentPart | null = null): Promise<SpoolContent> {
    const content = this.#contents[segment - 1];
    if (content === undefined) throw new SpoolError('content_missing', `there is no segment ${segment}`);
    if (part !== null) {
      const bytes = Buffer.concat(content.chunks).subarray(part.start, part.start + part.length);
      return { sizeBytes: part.length, chunks: () => [bytes] };
    }
    return { sizeBytes: content.sizeBytes, chunks: () => content.chunks };
  }

  /** From now on answers are held back, though what they tell is done, until the returned function is called. */
  holdAnswers(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return () => {
      this.#held = null;
      resolve();
    };
  }

  async accept(submissions: readonly Submission[], together = false): Promise<IntakeAnswer[]> {
    this.handed += submissions.length;
    const answers = await this.#accept(submissions, together);
    await this.#held;
    return answers;
  }

  async #accept(submissions: readonly Submission[], together: boolean): Promise<IntakeAnswer[]> {
    const { suspension } = this;
    if (suspension !== null) return submissions.map(() => ({ kind: 'suspended', suspension }));
    const records = submissions.map((submission) => this.#recordOf(submission));
    const answers = await this.#store.accept(records, this.#stamp(), this.limits, together);
    return answers.map((answer, place) => {
      const [submission, record] = [submissions[place], records[place]];
      if (answer.kind === 'queue_full') return { kind: 'suspended', suspension: QUEUE_FULL };
      if (answer.kind !== 'accepted' || submission === undefined || record === undefined)
        return answer.kind === 'accepted' ? { kind: 'idempotency_mismatch' } : answer;
      this.submissions.push(submission);
      return {
        kind: 'accepted',
        id: record.id,
        captured: record.deliveries.every(({ relay }) => relay === INBOX),
        suppressed: (answer.suppressed ?? []).map(({ index, reason }) => ({
          address: record.deliveries[index]?.recipient.address ?? '',
          reason,
        })),
      };
    });
  }

  #signed({ chunks, sizeBytes, ...rest }: Content): Content {
    const signature = Buffer.from(this.signature);
    return { ...rest, chunks: [signature, ...chunks], sizeBytes: sizeBytes + signature.length };
  }

  #stamp() {
    return { node: 'test', now: this.#clock.wall() };
  }

  #recordOf(submission: Submission): AcceptRecord {
    const { envelope, content: given, copies = null, ...facts } = submission;
    const content = this.#signed(given);
    const id = submission.id ?? this.#nextId();
    const createdAt = messageIdTime(id);
    const dueAt = Math.max(createdAt, submission.sendAt ?? 0);
    const relay = submission.test ? INBOX : this.relay;
    return {
      ...facts,
      id,
      createdAt,
      reversePath: envelope.reversePath,
      ret: envelope.ret,
      envid: envelope.envid,
      sizeBytes: content.sizeBytes,
      flags: content.flags,
      expiresAt: dueAt + MAX_AGE_MS,
      content: { segment: this.#contents.push(content), offset: 0, length: content.sizeBytes },
      copies: copies === null ? null : partsOf(copies),
      routeTable: 0,
      deliveries: envelope.recipients.map((recipient) => ({
        recipient,
        relay,
        lane: relay,
        rule: null,
        group: [relay],
        dueAt,
        fence: null,
      })),
    };
  }
}

/** What is recorded here is not signed, and nobody checks its bytes. */
function partsOf(lengths: readonly number[]): ContentPart[] {
  let end = 0;
  return lengths.map((length) => {
    end += length;
    return { start: end - length, length, checksum: 0 };
  });
}

function planOf(relay: string): PlannedDelivery {
  return { relay, rule: null, group: [{ relay, fitness: 'usable' }] };
}
