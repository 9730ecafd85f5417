/**
 * One mail transaction from the client's side, as a state machine (RFC 5321 §3.3, RFC 2920, RFC 3030): given replies,
 * it returns what to send next and, at the end, the outcome of each recipient. It never sends the final dot, or the
 * last chunk: its driver does, and reports it, because from then on the peer may have the message.
 */
import type { BodyFlags, Envelope } from '../domain/message.ts';
import { localReply, type Outcome, type Reply } from '../domain/outcome.ts';
import { DATA, EnvelopeLines, isSafePath } from './command.ts';
import type { Capabilities, SmtpReply } from './reply.ts';
import { providerMessageId } from './reply.ts';
import {
  isHopsIllness,
  isOneTooMany,
  isPositive,
  isUnknownBdat,
  NO_EIGHT_BIT,
  NO_REQUIRETLS,
  NO_UTF8,
  notForThisHop,
  outcomeOfRcpt,
  peerReply,
  type SenderVerb,
  UNDECIDED,
  UNSAFE_RECIPIENT,
  UNSAFE_SENDER,
} from './verdict.ts';

/** The message to send, and how. */
export interface MailPlan {
  readonly envelope: Envelope;
  readonly sizeBytes: number;
  readonly flags: BodyFlags;
  /** The message demands TLS all the way (RFC 8689), which this session has. */
  readonly requireTls: boolean;
  /** DATA waits for {@link Sender.permitted}: for contents too large to begin in vain. */
  readonly holdsData: boolean;
  /** The content is sent by BDAT, never by DATA. */
  readonly chunking: boolean;
}

/**
 * The next step.
 * - `wait` for another reply; `send` the text, then wait.
 * - `held`: call {@link Sender.permitted} once the message may be sent, or {@link Sender.withdraw}.
 * - `content`: send the content, then its end, calling {@link Sender.dotSent} just before. With `chunking` the end is
 * the last chunk; after each one before it call {@link Sender.chunkSent}. Before sending any content ahead of the end
 * call {@link Sender.contentBegun}.
 * - `chunked`: every chunk sent is answered with 2xx.
 * - `end`: every outcome is known. The session can be used again at once (`clean`), after RSET (`reset`), or not at all
 * (`close`).
 */
export type SenderAction =
  | { readonly kind: 'wait' | 'held' | 'content' | 'chunked' }
  | { readonly kind: 'send'; readonly text: string }
  | { readonly kind: 'end'; readonly session: SessionState };

/** See {@link SenderAction}. */
export type SessionState = 'clean' | 'reset' | 'close';

const WAIT: SenderAction = { kind: 'wait' };
const SEND_DATA: SenderAction = { kind: 'send', text: DATA };
const HELD: SenderAction = { kind: 'held' };
const CONTENT: SenderAction = { kind: 'content' };
const CHUNKED: SenderAction = { kind: 'chunked' };
const CLEAN: SenderAction = { kind: 'end', session: 'clean' };
const RESET: SenderAction = { kind: 'end', session: 'reset' };
const CLOSE: SenderAction = { kind: 'end', session: 'close' };

/** Sends one message to its recipients over an open session. */
export class Sender {
  readonly #plan: MailPlan;
  readonly #capabilities: Capabilities;
  readonly #lines: EnvelopeLines;
  readonly #outcomes: (Outcome | null)[];
  /** Envelope indexes that RCPT is sent for, in order. */
  readonly #asked: number[] = [];
  /** Those answered with 2xx. */
  readonly #accepted: number[] = [];
  /** Those refused because one transaction accepts no more. */
  readonly #tooMany: number[] = [];
  #answeredRcpts = 0;
  #mailReply: SmtpReply | null = null;
  #awaiting: SenderVerb = 'mail';
  /** DATA waits for permission; the peer has nothing to answer. */
  #held = false;
  /** Why the message must not be sent; null while it may. */
  #withdrawn: Reply | null = null;
  #dotSent = false;
  #contentBegun = false;
  /** Chunks before the last one: sent, and answered with 2xx. */
  #chunksSent = 0;
  #chunksTaken = 0;
  #chunkingRefused = false;
  #hopFailed = false;

  constructor(plan: MailPlan, capabilities: Capabilities) {
    this.#plan = plan;
    this.#capabilities = capabilities;
    const { envelope, sizeBytes, flags, requireTls } = plan;
    this.#lines = new EnvelopeLines(envelope, sizeBytes, flags, capabilities, requireTls);
    this.#outcomes = plan.envelope.recipients.map(() => null);
  }

  /** What the next reply will answer. */
  get awaiting(): SenderVerb {
    return this.#awaiting;
  }

  /** Whether the hop itself refused service, whatever the message. */
  get hopFailed(): boolean {
    return this.#hopFailed;
  }

  /** Whether the peer does not know BDAT, though it offered it: send it DATA from now on. */
  get chunkingRefused(): boolean {
    return this.#chunkingRefused;
  }

  /** Chunks sent and not answered yet. */
  get unansweredChunks(): number {
    return this.#chunksSent - this.#chunksTaken;
  }

  /** One per recipient, in the envelope's order. Read it after the end. */
  outcomes(): Outcome[] {
    return this.#outcomes.map((outcome) => outcome ?? { kind: 'deferred', reply: UNDECIDED });
  }

  /** Begins: returns what to send, or the end if nothing can be sent. */
  begin(): SenderAction {
    const { envelope } = this.#plan;
    const refusal = this.#refusal();
    if (refusal) return this.#endAll(refusal, CLEAN);
    for (const [index, recipient] of envelope.recipients.entries()) {
      if (recipient.address !== '' && isSafePath(recipient.address)) this.#asked.push(index);
      else this.#outcomes[index] = { kind: 'rejected', reply: UNSAFE_RECIPIENT };
    }
    if (this.#asked.length === 0) return CLEAN;
    const mail = this.#lines.mail();
    if (!this.#capabilities.pipelining) return { kind: 'send', text: mail };
    let text = mail;
    for (const index of this.#asked) text += this.#lines.rcpt(index);
    return { kind: 'send', text: this.#saysDataAlong ? text + DATA : text };
  }

  /** Permits what was `held`. */
  permitted(): SenderAction {
    this.#held = false;
    return this.#beginContent();
  }

  /**
   * The message must not be sent. Only allowed before the content. The peer's pending answers are awaited, so that the
   * session can be used again, unless it has received DATA and waits for the content.
   */
  withdraw(reason: Reply): SenderAction {
    this.#withdrawn = reason;
    const nothingSaid = this.#plan.chunking && this.#awaiting === 'content' && this.#chunksSent === 0;
    return this.#held || nothingSaid ? this.#endWithdrawn(reason, RESET) : WAIT;
  }

  /** A part of the content, without its end, is about to be written. */
  contentBegun(): void {
    this.#contentBegun = true;
  }

  /** A chunk before the last has been written. */
  chunkSent(): void {
    this.#chunksSent++;
  }

  /** The end of the content is about to be written: from now on the peer may have the message. */
  dotSent(): void {
    this.#awaiting = 'dot';
    this.#dotSent = true;
  }

  /** Takes the reply that was awaited. */
  receive(reply: SmtpReply): SenderAction {
    if (isHopsIllness(reply, this.#awaiting)) return this.#onIllness(reply);
    if (this.#held) return this.#onEarlyEnd(reply);
    switch (this.#awaiting) {
      case 'mail':
        return this.#onMail(reply);
      case 'rcpt':
        return this.#onRcpt(reply);
      case 'data':
        return this.#onData(reply);
      case 'content':
        return this.#onChunk(reply);
      case 'dot':
        return this.#onDot(reply);
    }
  }

  /** The session ended, on either side, before the transaction did. Settles undecided recipients. */
  lost(reason: Reply): void {
    this.#endAll({ kind: this.#dotSent ? 'unknown' : 'deferred', reply: reason }, CLOSE);
  }

  /** Why the peer cannot accept this message at all. */
  #refusal(): Outcome | null {
    const { envelope, sizeBytes, flags, requireTls } = this.#plan;
    const { maxSizeBytes, eightBitMime, smtpUtf8 } = this.#capabilities;
    if (!isSafePath(envelope.reversePath)) return { kind: 'rejected', reply: UNSAFE_SENDER };
    if (maxSizeBytes !== null && sizeBytes > maxSizeBytes)
      return notForThisHop(
        localReply('message_too_large', '5.3.4', `The relay accepts at most ${maxSizeBytes} bytes`),
      );
    if (this.#lines.needsUtf8 && !smtpUtf8) return notForThisHop(NO_UTF8);
    if (flags.eightBit && !eightBitMime) return notForThisHop(NO_EIGHT_BIT);
    // A report is sent nevertheless: it would be lost (RFC 8689 §5).
    if (requireTls && !this.#capabilities.requireTls && envelope.reversePath !== '')
      return notForThisHop(NO_REQUIRETLS);
    return null;
  }

  /** Whether DATA is pipelined with the envelope (PIPELINING). */
  get #saysDataAlong(): boolean {
    return !this.#plan.holdsData && !this.#plan.chunking;
  }

  #onMail(reply: SmtpReply): SenderAction {
    this.#mailReply = reply;
    if (!isPositive(reply)) this.#decide(this.#asked, reply);
    this.#awaiting = 'rcpt';
    if (this.#capabilities.pipelining) return WAIT;
    return isPositive(reply) ? this.#sendNextRcpt() : RESET;
  }

  #onRcpt(reply: SmtpReply): SenderAction {
    const index = this.#asked[this.#answeredRcpts++] ?? 0;
    if (isPositive(reply)) this.#accepted.push(index);
    else if (this.#outcomes[index] === null) {
      this.#outcomes[index] = outcomeOfRcpt(reply);
      if (isOneTooMany(reply)) this.#tooMany.push(index);
    }
    if (!this.#capabilities.pipelining) return this.#sendNextRcpt();
    if (this.#answeredRcpts < this.#asked.length) return WAIT;
    if (!this.#saysDataAlong) return this.#afterRcpts();
    this.#awaiting = 'data';
    return WAIT;
  }

  #sendNextRcpt(): SenderAction {
    const next = this.#asked[this.#answeredRcpts];
    if (next === undefined) return this.#afterRcpts();
    if (this.#withdrawn) return this.#endWithdrawn(this.#withdrawn, RESET);
    return { kind: 'send', text: this.#lines.rcpt(next) };
  }

  /** Every RCPT is answered, and DATA has not been sent. */
  #afterRcpts(): SenderAction {
    if (!this.#isOpen()) return RESET;
    if (this.#withdrawn) return this.#endWithdrawn(this.#withdrawn, RESET);
    this.#awaiting = 'data';
    this.#held = this.#plan.holdsData;
    return this.#held ? HELD : this.#beginContent();
  }

  #beginContent(): SenderAction {
    if (!this.#plan.chunking) return SEND_DATA;
    this.#awaiting = 'content';
    return CONTENT;
  }

  /** Whether a recipient was accepted. */
  #isOpen(): boolean {
    return this.#accepted.length > 0 && this.#mailReply !== null && isPositive(this.#mailReply);
  }

  #onData(reply: SmtpReply): SenderAction {
    const open = this.#isOpen();
    if (reply.code === 354) {
      if (this.#withdrawn) return this.#endWithdrawn(this.#withdrawn, CLOSE);
      this.#awaiting = 'content';
      // A server that wants content without recipients gets none: it might accept an empty message (RFC 2920 §3.1).
      return open ? CONTENT : CLOSE;
    }
    if (open) this.#decide(this.#accepted, reply);
    return reply.code < 400 ? CLOSE : RESET;
  }

  /** Handles an answer while content is being sent. */
  #onChunk(reply: SmtpReply): SenderAction {
    const isFirst = this.#chunksTaken === 0;
    if (this.unansweredChunks === 0) return this.#onEarlyEnd(reply);
    if (!isPositive(reply)) {
      // The next chunk may be half written, and is useless: the session ends here.
      return isFirst && isUnknownBdat(reply) ? this.#onUnknownBdat(reply) : this.#onEarlyEnd(reply);
    }
    this.#chunksTaken++;
    return this.unansweredChunks === 0 ? CHUNKED : WAIT;
  }

  /** It read the content as commands, if at all: the state of this session is unknown. */
  #onUnknownBdat(reply: SmtpReply): SenderAction {
    this.#chunkingRefused = true;
    return this.#endAll({ kind: 'deferred', reply: peerReply(reply) }, CLOSE);
  }

  /** The peer answers before the end: it refuses the message, and the session is out of step. */
  #onEarlyEnd(reply: SmtpReply): SenderAction {
    // Unless the answer is positive: the peer may have found an end where we sent none.
    if (isPositive(reply) && this.#contentBegun)
      return this.#endAll({ kind: 'unknown', reply: peerReply(reply) }, CLOSE);
    this.#decide(this.#accepted, reply);
    return CLOSE;
  }

  #onDot(reply: SmtpReply): SenderAction {
    if (reply.code >= 300 && reply.code < 400) {
      this.lost(localReply('bad_reply', '4.5.0', `The relay answered the message with ${reply.code}`));
      return CLOSE;
    }
    if (!isPositive(reply)) {
      if (this.#plan.chunking && this.#chunksSent === 0 && isUnknownBdat(reply))
        return this.#onUnknownBdat(reply);
      this.#decide(this.#accepted, reply);
      return RESET;
    }
    const outcome: Outcome = {
      kind: 'delivered',
      captured: false,
      reply: peerReply(reply),
      providerMessageId: providerMessageId(reply.text),
      dsnPassed: this.#capabilities.dsn,
    };
    for (const index of this.#accepted) this.#outcomes[index] = outcome;
    for (const index of this.#tooMany) {
      const refused = this.#outcomes[index];
      if (refused?.kind === 'deferred') this.#outcomes[index] = { ...refused, nextInLine: true };
    }
    return CLEAN;
  }

  #onIllness(reply: SmtpReply): SenderAction {
    this.#hopFailed = true;
    return this.#endAll({ kind: 'deferred', reply: peerReply(reply) }, CLOSE);
  }

  /** Settles `indexes` by an unfavourable reply. */
  #decide(indexes: readonly number[], reply: SmtpReply): void {
    // An unexpected 2xx or 3xx proves only that nothing was accepted.
    const kind = reply.code >= 500 ? 'rejected' : 'deferred';
    const outcome: Outcome = { kind, reply: peerReply(reply) };
    for (const index of indexes) this.#outcomes[index] ??= outcome;
  }

  #endWithdrawn(reason: Reply, action: SenderAction): SenderAction {
    return this.#endAll({ kind: 'deferred', reply: reason }, action);
  }

  #endAll(outcome: Outcome, action: SenderAction): SenderAction {
    for (let index = 0; index < this.#outcomes.length; index++) this.#outcomes[index] ??= outcome;
    return action;
  }
}
