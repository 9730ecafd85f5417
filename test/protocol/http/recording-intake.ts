import type { Submission } from '../../../src/domain/message.ts';
import { INBOX } from '../../../src/domain/relay.ts';
import type { Intake, IntakeAnswer, Suspension } from '../../../src/engine/intake.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { createIdSource, messageIdTime } from '../../../src/lib/id.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import type { AcceptRecord, Store } from '../../../src/store/store.ts';

/** An intake that keeps what it was given and writes the facts into a real store; nothing is ever delivered. */
export class RecordingIntake implements Intake {
  /** Everything accepted, in order. */
  readonly submissions: Submission[] = [];
  /** Set to refuse everything. */
  suspension: Suspension | null = null;
  /** Where mail goes that no test key sent. */
  relay = 'out';
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #nextId: () => string;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#nextId = createIdSource(clock, seededRandom(1));
  }

  suspended(): Suspension | null {
    return this.suspension;
  }

  async accept(submissions: readonly Submission[]): Promise<IntakeAnswer[]> {
    const { suspension } = this;
    if (suspension !== null) return submissions.map(() => ({ kind: 'suspended', suspension }));
    const records = submissions.map((submission) => this.#recordOf(submission));
    const answers = await this.#store.accept(records, { node: 'test', now: this.#clock.wall() });
    return answers.map((answer, place) => {
      const [submission, record] = [submissions[place], records[place]];
      if (answer.kind !== 'accepted' || submission === undefined || record === undefined)
        return answer.kind === 'accepted' ? { kind: 'idempotency_mismatch' } : answer;
      this.submissions.push(submission);
      return {
        kind: 'accepted',
        id: record.id,
        captured: record.deliveries.every(({ relay }) => relay === INBOX),
      };
    });
  }

  #recordOf(submission: Submission): AcceptRecord {
    const { envelope, content, ...facts } = submission;
    const id = this.#nextId();
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
      expiresAt: dueAt + 1000,
      content: { segment: 1, offset: 0, length: content.sizeBytes },
      routeRule: null,
      routeTable: 0,
      deliveries: envelope.recipients.map((recipient) => ({
        recipient,
        relay,
        lane: relay,
        dueAt,
        fence: null,
      })),
    };
  }
}
