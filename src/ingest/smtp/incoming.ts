import { createHash } from 'node:crypto';
import type { Feedback, FeedbackToken } from '../../domain/feedback.ts';
import { NO_FACTS, NO_MESSAGE } from '../../domain/feedback.ts';
import { type FeedbackItem, type FeedbackReport, MAX_EVIDENCE_BYTES } from '../../engine/contract.ts';
import { messageIdTime } from '../../lib/id.ts';
import { sourceGroup } from '../../lib/network.ts';
import { probeOf, type TokenPurpose } from '../../lib/recipient-token.ts';
import { readIncomingFeedback } from '../../mail/incoming-feedback.ts';
import { receivedHeader, type Trace } from '../../mail/trace.ts';
import { readDmarcMail } from '../../reports/dmarc-mail.ts';
import type { ForwardPath, ReversePath, TakenEnvelope } from '../../smtp/receiver/effect.ts';
import { StoreError } from '../../store/store.ts';
import type { SmtpDeps, SmtpOptions } from './options.ts';
import { decline, deny, type Refusal, suspended } from './refusal.ts';

/**
 * Mail to the bounce domains (contract-2 §A3): what tells of our mail comes from anybody, to addresses that cannot be
 * guessed and a few that each domain has. It is read, kept as evidence and told to the desk; it never becomes a message.
 */

/** Recipients of one transaction: whoever bounces mail names one. */
const MAX_RECIPIENTS = 20;
/**
 * Bytes that are read of mail to addresses that everybody knows, such as `postmaster@`: what a complaint says comes
 * before the message that it returns, and reading is work that anybody could make us do.
 */
const MAX_READ_WITHOUT_TOKEN = 256 * 1024;
/** What one message may tell, of all recipients together: a notification about the largest of ours tells of each. */
const MAX_TOLD = 1000;
/** One holder for the memory of all these messages: many sources must not mean more memory. */
export const INCOMING_HOLDER = 'bounces';
/** What a bounce domain has besides return paths: where providers' complaints go, and what each domain must have. */
const OTHERS: ReadonlySet<string> = new Set(['fbl', 'abuse', 'postmaster']);

const STORE_AWAY = decline('store_unavailable', 451, '4.3.0', 'The store cannot be used now; try again soon');
const NOT_BOTH = decline(
  'mixed_recipients',
  452,
  '4.5.3',
  'Bounces are taken in a transaction of their own; send to this recipient again, in another',
);
const TOO_MANY = decline(
  'too_many_recipients',
  452,
  '4.5.3',
  `At most ${MAX_RECIPIENTS} recipients of bounces are taken in one transaction; send to the others in another`,
);

/** Whom a message to a bounce domain is for. */
type Addressee =
  /** The return path of a message of ours. */
  | { readonly kind: 'bounce'; readonly token: FeedbackToken }
  /** Who sends there wants no more of what the message belongs to. */
  | { readonly kind: 'unsubscribe'; readonly token: FeedbackToken }
  /** We ask ourselves whether mail comes back: the answer proves that it does. */
  | { readonly kind: 'probe'; readonly token: FeedbackToken }
  /** Where receivers send their DMARC reports (RFC 7489 §7.2). */
  | { readonly kind: 'dmarc' }
  | { readonly kind: 'other' };

/** The addresses with tokens. */
const ADDRESSES = [
  ['bounce', 'return_path'],
  ['unsubscribe', 'unsubscribe'],
  ['probe', 'probe'],
] as const satisfies readonly (readonly [Addressee['kind'], TokenPurpose])[];
/** The local part of the address for DMARC reports. */
const DMARC_LOCAL = 'dmarc';
/** What has a transaction to itself. */
const STANDS_ALONE: ReadonlySet<Addressee['kind']> = new Set(['probe', 'dmarc']);
/** How long a probe may be under way, in ms. */
const PROBE_MS = 600_000;

/** What is known of a transaction besides its envelope. */
export interface IncomingContext extends Pick<Trace, 'fromName' | 'protocol'> {
  readonly address: string;
  readonly requestId: string;
}

/** The mail of one session to bounce domains, one transaction after the other. */
export class Incoming {
  readonly #deps: SmtpDeps;
  readonly #options: SmtpOptions;
  #addressees: Addressee[] = [];
  #isCounted = false;

  constructor(deps: SmtpDeps, options: SmtpOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Whether there is any domain that takes it. */
  get isTaken(): boolean {
    return this.#options.bounces.domains.size > 0;
  }

  /** A recipient of this transaction was accepted: it brings nothing else. */
  get isOpen(): boolean {
    return this.#addressees.length > 0;
  }

  /** The largest message, in bytes. */
  get maxBytes(): number {
    return Math.min(this.#options.bounces.maxMessageBytes, this.#options.limits.maxMessageBytes);
  }

  /** Whether a recipient is on a domain of bounces. */
  isFor({ mailbox }: ForwardPath): boolean {
    return mailbox !== null && this.#options.bounces.domains.has(mailbox.domain);
  }

  /** A new transaction, or none. */
  reset(): void {
    this.#addressees = [];
    this.#isCounted = false;
  }

  /** Refuses a recipient that the transaction of another one cannot have; null if it may go on. */
  mixed(path: ForwardPath, hasOthers: boolean): Refusal | null {
    return this.isFor(path) ? (hasOthers ? NOT_BOTH : null) : this.isOpen ? NOT_BOTH : null;
  }

  /** May this come to that recipient of ours? Null if it may. Rejects only for a fault of ours. */
  async rcpt(address: string, path: ForwardPath, { sizeBytes }: ReversePath): Promise<Refusal | null> {
    const refusal = this.#notNow(address);
    if (refusal !== null) return refusal;
    if ((sizeBytes ?? 0) > this.maxBytes) return tooLargeForBounces(this.maxBytes);
    if (this.#addressees.length >= MAX_RECIPIENTS) return TOO_MANY;
    const addressee = this.#addresseeOf(path);
    if (addressee === null) return this.#nobody(path);
    const [first] = this.#addressees;
    if (first !== undefined && (STANDS_ALONE.has(first.kind) || STANDS_ALONE.has(addressee.kind)))
      return NOT_BOTH;
    try {
      if (addressee.kind === 'bounce' && !(await this.#deps.desk.counts(addressee.token)))
        return this.#nobody(path);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return STORE_AWAY;
    }
    this.#addressees.push(addressee);
    return null;
  }

  /**
   * Reads a message and tells what it says; the text of the 250. When it resolves, what was told and the evidence are on
   * disk. Rejects only for a fault of ours.
   */
  async take(
    envelope: TakenEnvelope,
    chunks: readonly Buffer[],
    context: IncomingContext,
  ): Promise<string | Refusal> {
    const [first] = this.#addressees;
    const probes = this.#options.bounces.tokens('probe');
    if (first?.kind === 'probe' && probes !== null) return `proof ${probeOf(probes, first.token.id).proof}`;
    const bytes = Buffer.concat(chunks);
    try {
      if (first?.kind === 'dmarc') return await this.#takeDmarc(bytes);
      return `taken as ${(await this.#deps.desk.tell(this.#report(envelope, bytes, context))).id}`;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return STORE_AWAY;
    }
  }

  /** Why nothing is taken now, or no more of this source; each transaction counts once. */
  #notNow(address: string): Refusal | null {
    const suspension = this.#deps.intake.suspended(null);
    // It joins no queue.
    if (suspension !== null && suspension.code !== 'queue_limit') return suspended(suspension);
    if (this.#isCounted) return null;
    const { shared, clock } = this.#deps;
    const group = sourceGroup(address);
    const { ratePerSource } = this.#options.bounces;
    const verdict = shared.sources.take(`bounces ${group}`, 'send', ratePerSource, clock.mono());
    // What is refused is not counted: else the transaction's next recipient would slip through.
    this.#isCounted = verdict === null || verdict.allowed;
    if (verdict === null || this.#isCounted) return null;
    return deny(
      'rate_limited',
      451,
      '4.7.1',
      `${group} may send ${verdict.limit} bounces a minute; try again in ${verdict.resetSeconds} seconds`,
    );
  }

  /** Refuses a recipient: one that never was, or is no more. */
  #nobody(path: ForwardPath): Refusal {
    this.#deps.events.emit({ type: 'feedback', source: 'dsn', result: 'refused', count: 1 });
    return nobody(path);
  }

  #addresseeOf({ mailbox }: ForwardPath): Addressee | null {
    const local = mailbox?.local ?? '';
    const { tokens } = this.#options.bounces;
    for (const [kind, purpose] of ADDRESSES) {
      const token = tokens(purpose)?.readLocalPart(local) ?? null;
      if (token !== null) return kind !== 'probe' || this.#isProbe(token) ? { kind, token } : null;
    }
    if (local.toLowerCase() === DMARC_LOCAL) return { kind: 'dmarc' };
    return OTHERS.has(local.toLowerCase()) ? { kind: 'other' } : null;
  }

  /** Reads a DMARC report, and keeps it; the text of the 250, which comes once it is on disk. */
  async #takeDmarc(bytes: Buffer): Promise<string | Refusal> {
    const reading = await readDmarcMail(bytes);
    if (!reading.ok) {
      this.#deps.events.emit({ type: 'dmarc_report', domain: '', verdict: 'unreadable' });
      return deny('not_a_dmarc_report', 554, '5.6.0', `No DMARC report could be read: ${reading.reason}`);
    }
    const { domain } = reading.report;
    switch (await this.#deps.dmarcDesk.take(reading.report, 'mail')) {
      case 'not_ours':
        return deny('not_our_domain', 550, '5.7.1', `DMARC reports about ${domain} are not taken here`);
      case 'dated':
        return deny('dmarc_report_dated', 550, '5.7.1', 'Reports about this time are not taken');
      case 'known':
        return 'known: this DMARC report was taken before';
      default:
        return `taken: a DMARC report about ${domain}`;
    }
  }

  /** Asked of us a short while ago, and no answer of ours. */
  #isProbe({ id, recipient }: FeedbackToken): boolean {
    return recipient === null && Math.abs(this.#deps.clock.wall() - messageIdTime(id)) < PROBE_MS;
  }

  #report(envelope: TakenEnvelope, bytes: Buffer, context: IncomingContext): FeedbackReport {
    const { source, feedback } = this.#read(envelope, bytes);
    const items = onceEach(feedback, bytes);
    const evidence = { contentType: 'message/rfc822', bytes: this.#evidence(envelope, bytes, context) };
    return { source, items, evidence, mayBeEarly: false };
  }

  /** What it tells: once for each return path that it came to, and an unsubscription for each address of one. */
  #read(
    { reversePath }: TakenEnvelope,
    bytes: Buffer,
  ): { readonly source: FeedbackReport['source']; readonly feedback: readonly Feedback[] } {
    const sender = reversePath.mailbox?.address ?? '';
    const left = tokensOf(this.#addressees, 'unsubscribe').map(unsubscription);
    if (this.#addressees.every(({ kind }) => kind === 'unsubscribe'))
      return { source: 'mailto', feedback: left };
    const [first = null, ...others] = tokensOf(this.#addressees, 'bounce');
    const most = first === null ? MAX_READ_WITHOUT_TOKEN : bytes.length;
    const mail = { bytes: bytes.subarray(0, most), reversePath: sender, token: first };
    const { form, feedback } = readIncomingFeedback(mail, this.#options.bounces.recognise);
    // A complaint says itself whom it is about, wherever it came to.
    if (COMPLAINTS.has(form)) return { source: 'arf', feedback: [...feedback, ...left] };
    const own = feedback.flatMap((one) => ofToken(one, one.message.token));
    const toOthers = others.flatMap((token) => feedback.flatMap((one) => ofToken(one, token)));
    return { source: 'dsn', feedback: [...left, ...own, ...toOthers] };
  }

  /** The beginning of the message, under fields that say how it came. */
  #evidence({ reversePath, forwardPaths }: TakenEnvelope, bytes: Buffer, context: IncomingContext): Buffer {
    const { address, requestId, ...names } = context;
    const trace = receivedHeader({
      ...names,
      byHost: this.#options.hostname,
      fromAddress: address,
      id: requestId,
      date: this.#deps.clock.wall(),
    });
    const to = forwardPaths.map(({ mailbox }) => `X-Original-To: <${mailbox?.address ?? ''}>\r\n`).join('');
    const head = Buffer.from(`Return-Path: <${reversePath.mailbox?.address ?? ''}>\r\n${to}${trace}`);
    return Buffer.concat([head, bytes.subarray(0, MAX_EVIDENCE_BYTES - head.length)]);
  }
}

/**
 * What is told of each recipient, the first of each kind; not more than one message may tell. The same bytes once more
 * are a repeat, by who did not hear our 250; but to another address of ours they tell something else.
 */
function onceEach(feedback: readonly Feedback[], bytes: Buffer): readonly FeedbackItem[] {
  const first = new Map<string, Feedback>();
  for (const one of feedback) {
    const { token } = one.message;
    // Where the token names the recipient, the message may call it anything, and as often as it likes.
    const recipient = token === null || token.recipient === null ? one.recipient : null;
    const subject = JSON.stringify([token?.id, token?.recipient, one.kind, recipient]);
    if (!first.has(subject)) first.set(subject, one);
    if (first.size === MAX_TOLD) break;
  }
  const hash = sha256(bytes);
  return [...first].map(([subject, one]) => ({ feedback: one, onceId: sha256(`${hash} ${subject}`) }));
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

/** The forms of a report that somebody called our mail spam. */
const COMPLAINTS: ReadonlySet<string> = new Set(['arf', 'microsoft', 'loop']);

/** Each token of a kind once. */
function tokensOf(
  addressees: readonly Addressee[],
  kind: 'bounce' | 'unsubscribe',
): readonly FeedbackToken[] {
  const found = new Map<string, FeedbackToken>();
  for (const addressee of addressees)
    if (addressee.kind === kind)
      found.set(`${addressee.token.id} ${addressee.token.recipient}`, addressee.token);
  return [...found.values()];
}

/**
 * What somebody tells of the message of a token; nothing without one. Anybody may send here, and a Message-ID is no
 * secret: it must not be enough to say that mail has bounced.
 */
function ofToken(feedback: Feedback, token: FeedbackToken | null): Feedback[] {
  return token === null ? [] : [{ ...feedback, message: { ...NO_MESSAGE, token } }];
}

/** Contract-2 §A7: whoever sends to such an address leaves. */
function unsubscription(token: FeedbackToken): Feedback {
  const message = { ...NO_MESSAGE, token };
  return { kind: 'unsubscribe', source: 'mailto', message, recipient: null, bounce: NO_FACTS, at: null };
}

function nobody({ mailbox }: ForwardPath): Refusal {
  return deny(
    'unknown_bounce_address',
    550,
    '5.1.1',
    `No such address <${mailbox?.address ?? ''}>: this domain takes only bounces of mail sent from here, for a limited time`,
  );
}

/** Refuses a message to a bounce domain for its size. */
export function tooLargeForBounces(maxBytes: number): Refusal {
  return decline(
    'message_too_large',
    552,
    '5.3.4',
    `A bounce may have at most ${maxBytes} bytes here; return less of the message`,
  );
}
