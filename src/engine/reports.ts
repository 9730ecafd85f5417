import { laneOf } from '../domain/lane.ts';
import { type ContentRef, ownSubmission, type Submission } from '../domain/message.ts';
import { type Clock, inSlices } from '../lib/clock.ts';
import { messageIdTime } from '../lib/id.ts';
import type { Random } from '../lib/random.ts';
import { composeReport } from '../mail/report.ts';
import { type Beginning, MAX_RETURNED_BYTES, NOTHING_RETURNED, returnedOf } from '../mail/report-parts.ts';
import type { Events } from '../observe/events.ts';
import { type Spool, SpoolError } from '../spool/spool.ts';
import type { AcceptDelivery, AcceptRecord } from '../store/accepting.ts';
import type { Unit } from '../store/store.ts';
import type { EngineSettings, Signer } from './contract.ts';
import type { Wait } from './persist.ts';
import { recordFactsOf } from './persist.ts';
import type { Owed } from './report-policy.ts';
import { type RoutingParts, routeRecipients } from './routing.ts';

/** The pause before an append that found no room in the spool is repeated, in ms, and how often. */
const RETRY_MS = 1_000;
const RETRIES = 30;
/** Reported as the rule that chose `delivery.report_relay`. */
const REPORT_RULE = 'report-relay';

/** What reports need. */
export interface ReportsDeps {
  readonly spool: Spool;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  readonly signer: Signer;
  readonly settings: () => EngineSettings;
  readonly relays: RoutingParts['relays'];
  /** Returns the next message id. */
  readonly newId: () => string;
  readonly fault: (code: string, error: unknown) => void;
}

/** The message that a report is about. */
export type Subject = Pick<
  Unit,
  'messageId' | 'reversePath' | 'ret' | 'envid' | 'tls' | 'content' | 'part' | 'createdAt'
>;

/** A report whose contents are in the spool, to be accepted in the transaction of the event it reports. */
export interface WrittenReport {
  readonly record: AcceptRecord;
  readonly owed: Owed;
  /** The id of the message that it is about, and its addressee. */
  readonly about: string;
  readonly to: string;
}

/** The result: a report; null if it can never be written; or `not_now`. */
export type PatientlyWritten = WrittenReport | null | 'not_now';

/**
 * Writes the reports that are owed: their contents before the store records the event. From then on they are ordinary
 * messages, with a null reverse-path, so that nobody is ever notified of a notification.
 */
export class Reports {
  readonly #deps: ReportsDeps;
  readonly #rate: ReportRate;

  constructor(deps: ReportsDeps) {
    this.#deps = deps;
    this.#rate = new ReportRate(deps.clock);
  }

  /**
   * Composes a report and puts it into the spool. Null if its addressee has had too many, or it cannot be written: the
   * event is recorded all the same. Every written report must be {@link decided}. Rejects only for transient causes
   * (`spool_full`, `spool_unavailable`).
   */
  async write(subject: Subject, owed: Owed): Promise<WrittenReport | null> {
    if (!this.#mayGo(subject, owed)) return null;
    try {
      return await this.#write(subject, owed);
    } catch (error) {
      this.#rate.giveBack(subject.reversePath);
      if (isPassing(error)) throw error;
      this.#deps.fault('report_failed', error);
      return null;
    }
  }

  /**
   * Like `write`, but waits out transient causes; a lack of room only briefly: what an attempt did must be recorded
   * soon.
   */
  async writePatiently(subject: Subject, owed: Owed, giveUp: AbortSignal): Promise<PatientlyWritten> {
    const { clock, events } = this.#deps;
    for (let retries = 0; ; retries++) {
      try {
        return await this.write(subject, owed);
      } catch (error) {
        // While the spool is unavailable, so is the store that would record the event: waiting delays nobody.
        const mayWait = retries < RETRIES || isAway(error);
        if (mayWait && !giveUp.aborted) await clock.sleep(RETRY_MS, giveUp);
        else {
          const { kind, recipients } = owed;
          const { messageId } = subject;
          events.emit({ type: 'report_unwritten', messageId, kind, recipients: recipients.length });
          return 'not_now';
        }
      }
    }
  }

  /** The store has taken a report, or never will: the contents of a report it did not take may be removed. */
  decided(report: WrittenReport | null, taken: boolean): void {
    if (report === null) return;
    this.#deps.spool.decided([report.record.content]);
    if (!taken) this.#rate.giveBack(report.to);
  }

  /** Publishes a report that the store has taken; returns what of it waits, and where. */
  announce({ record, owed, about }: WrittenReport): Wait[] {
    const { events, clock } = this.#deps;
    const { id, keyId, source, sizeBytes, createdAt, deliveries, tags } = record;
    const durationMs = Math.max(0, clock.wall() - createdAt);
    const facts = { messageId: id, keyId, requestId: null, source, sizeBytes, durationMs };
    events.emit({ type: 'accepted', ...facts, deliveries, tags });
    const { kind, recipients } = owed;
    events.emit({ type: 'reported', messageId: about, reportId: id, kind, recipients: recipients.length });
    return deliveries.flatMap(({ lane, dueAt }) => (lane === null ? [] : { lane, dueAt }));
  }

  /** Counts it, unless its addressee has had this hour's limit. */
  #mayGo({ messageId, reversePath }: Subject, { kind, recipients }: Owed): boolean {
    const { events, settings } = this.#deps;
    const { perHour } = settings().reports;
    const mayGo = this.#rate.take(reversePath, perHour);
    // A limit of zero is a setting; exceeding a limit is news.
    if (!mayGo && perHour > 0)
      events.emit({ type: 'report_suppressed', messageId, kind, recipients: recipients.length });
    return mayGo;
  }

  async #write(subject: Subject, owed: Owed): Promise<WrittenReport> {
    const { spool, newId, settings, clock, random } = this.#deps;
    const id = newId();
    const { hostname } = settings().reports;
    // What was to be kept from prying eyes comes back as a header alone, whatever RET says (RFC 8689 §5).
    const full = subject.ret === 'FULL' && subject.tls !== 'required' && owed.kind === 'failed';
    const beginning = await this.#beginningOf(subject);
    const returned = beginning === null ? NOTHING_RETURNED : await inSlices(returnedOf(beginning, full));
    const message = { id: subject.messageId, envid: subject.envid, arrivedAt: subject.createdAt };
    const messageId = `<${id}@${hostname}>`;
    const told = { hostname, to: subject.reversePath, messageId, date: clock.wall(), message, returned };
    const plain = await inSlices(composeReport({ ...told, recipients: owed.recipients }, random));
    const content = await this.#deps.signer.sign(plain.content, 'any');
    const own = ownSubmission({
      id,
      recipients: [subject.reversePath],
      notify: 'NEVER',
      header: { from: plain.from, subject: plain.subject, messageId },
      content,
      priority: 'normal',
    });
    // A report says what its message was: it needs the same way (RFC 8689 §5).
    const submission: Submission = subject.tls === 'required' ? { ...own, tls: 'required' } : own;
    const [ref] = await spool.append([{ messageId: id, content }]);
    if (ref === undefined) throw new Error('the spool gave no reference');
    return {
      record: this.#recordOf(submission, id, ref),
      owed,
      about: subject.messageId,
      to: subject.reversePath,
    };
  }

  /**
   * Null if the message can never be read. Rejects for transient causes: a report without the returned message is the
   * last resort.
   */
  async #beginningOf({ content: ref, part }: Subject): Promise<Beginning | null> {
    try {
      const content = await this.#deps.spool.read(ref, part);
      const pieces: Uint8Array[] = [];
      let length = 0;
      for await (const piece of content.chunks()) {
        pieces.push(piece);
        length += piece.length;
        if (length > MAX_RETURNED_BYTES) break;
      }
      return { bytes: Buffer.concat(pieces, length), isWhole: length === content.sizeBytes };
    } catch (error) {
      if (error instanceof SpoolError && !isPassing(error)) return null;
      throw error;
    }
  }

  /** Routed like any message, or by the relay for reports. */
  #recordOf(submission: Submission, id: string, content: ContentRef): AcceptRecord {
    const { relays, clock, settings } = this.#deps;
    const { routing, reports, retry } = settings();
    const now = clock.wall();
    const createdAt = messageIdTime(id);
    const dueAt = Math.min(createdAt, now);
    const table = reports.relay === null ? routing : { ...routing, rules: [], defaultRelay: reports.relay };
    const rule = reports.relay === null ? null : REPORT_RULE;
    const deliveries = routeRecipients(submission, id, { table, relays, now }).map(
      ({ relay, ...routed }): AcceptDelivery => {
        const lane = relay === null ? null : laneOf(relay.name, relay.type, routed.recipient.address);
        const way = { ...routed, rule: routed.rule ?? rule };
        return { ...way, relay: relay?.name ?? null, lane, dueAt, fence: null };
      },
    );
    const facts = { ...recordFactsOf(submission), id, createdAt, content, copies: null, deliveries };
    return { ...facts, expiresAt: dueAt + retry.maxAgeMs, routeTable: routing.version };
  }
}

/** Room may appear, and an unavailable spool may return. */
function isPassing(error: unknown): boolean {
  return isAway(error) || (error instanceof SpoolError && error.code === 'spool_full');
}

function isAway(error: unknown): boolean {
  return error instanceof SpoolError && error.code === 'spool_unavailable';
}

const HOUR_MS = 3_600_000;
/** Most reports remembered over all addresses. Beyond it, addresses are forgotten that got none for longest. */
const MAX_REMEMBERED = 50_000;

/** Reports sent to each address in the last hour. Kept in memory only: a restart begins anew. */
export class ReportRate {
  readonly #clock: Pick<Clock, 'mono'>;
  /** When reports went to an address (monotonic ms), ascending; the address with the newest report comes last. */
  readonly #sent = new Map<string, number[]>();
  #remembered = 0;

  constructor(clock: Pick<Clock, 'mono'>) {
    this.#clock = clock;
  }

  /** Counts one more report to an address; false if it has had `perHour` within the hour. */
  take(address: string, perHour: number): boolean {
    const key = address.toLowerCase();
    const now = this.#clock.mono();
    const recent = this.#forget(key).filter((at) => now - at < HOUR_MS);
    const isOpen = recent.length < perHour;
    if (isOpen) recent.push(now);
    if (recent.length > 0) this.#sent.set(key, recent);
    this.#remembered += recent.length;
    while (this.#remembered > MAX_REMEMBERED) this.#forgetOldest();
    return isOpen;
  }

  /** Uncounts the last one: it was not sent. */
  giveBack(address: string): void {
    const key = address.toLowerCase();
    const sent = this.#sent.get(key);
    if (sent === undefined) return;
    sent.pop();
    this.#remembered--;
    if (sent.length === 0) this.#sent.delete(key);
  }

  #forget(key: string): number[] {
    const sent = this.#sent.get(key) ?? [];
    this.#sent.delete(key);
    this.#remembered -= sent.length;
    return sent;
  }

  #forgetOldest(): void {
    for (const [key] of this.#sent) {
      this.#forget(key);
      return;
    }
  }
}
