/** Mail transactions from the server's side (RFC 5321 §3.3, RFC 3030): MAIL, RCPT, DATA, BDAT and the content. */

import { tooLarge } from './content.ts';
import { ContentReader } from './content-reader.ts';
import type { ForwardPath, Question, ReceiverOptions, ReversePath } from './effect.ts';
import type { InputBuffer } from './input.ts';
import type { Outbox } from './outbox.ts';
import { readMailParameters, readRcptParameters } from './parameters.ts';
import { type OrReply, readMailbox, scanPath } from './path.ts';
import {
  formatReply,
  MAIL_FIRST,
  MAIL_OK,
  NESTED_MAIL,
  NO_ARGUMENT,
  NO_VALID_RECIPIENTS,
  RCPT_FIRST,
  RCPT_OK,
  REQUIRETLS_IN_CLEAR,
  type SessionReply,
  sessionReply,
} from './session-reply.ts';

const FROM = /^FROM:/i;
const TO = /^TO:/i;
const POSTMASTER = /^postmaster$/i;
const CHUNK = /^(\d{1,15})( LAST)?$/i;
/** The number of bytes that follow can be read, even if nothing else can. */
const CHUNK_SIZE = /^(\d{1,15})(?: |$)/;

/**
 * Recipients of one transaction beyond its limit, each answered 452, before further ones count as idle commands: a
 * large list comes in one transaction, and its sender sends the rest in another.
 */
export const MAX_SURPLUS_RECIPIENTS = 50_000;

const MAIL_SYNTAX = sessionReply(501, '5.5.4', 'Syntax: MAIL FROM:<address>, then parameters');
const RCPT_SYNTAX = sessionReply(501, '5.5.4', 'Syntax: RCPT TO:<address>, then parameters');
const BDAT_SYNTAX = sessionReply(501, '5.5.4', 'Syntax: BDAT size, or BDAT size LAST');
const TOO_MANY_TRANSACTIONS = sessionReply(421, '4.5.3', 'Too many messages in one session; connect again');
const CONTENT_BEGUN = sessionReply(503, '5.5.1', 'Content has begun with BDAT');
const CHUNKS_FAILED = sessionReply(503, '5.5.1', 'An earlier BDAT has failed; RSET ends the transaction');
const NO_RECIPIENT_FOR_CHUNK = sessionReply(503, '5.5.1', 'No valid recipients; RSET ends the transaction');

export class Transactions {
  readonly #options: ReceiverOptions;
  readonly #outbox: Outbox;
  readonly #content: ContentReader;
  #reversePath: ReversePath | null = null;
  #forwardPaths: ForwardPath[] = [];
  /** RCPTs of this transaction refused for their address. */
  #refused = 0;
  #accepted = 0;
  /** RCPTs of this transaction beyond the limit. */
  #surplus = 0;

  constructor(options: ReceiverOptions, outbox: Outbox) {
    this.#options = options;
    this.#outbox = outbox;
    this.#content = new ContentReader(options, outbox);
  }

  /** MAIL was accepted, and neither a message nor a reset has followed. */
  get isOpen(): boolean {
    return this.#reversePath !== null;
  }

  /** The input is content, not commands. */
  get isReading(): boolean {
    return this.#content.isReading;
  }

  /** The input is content, or the session is between two chunks. */
  get isUnderWay(): boolean {
    return this.#content.isUnderWay;
  }

  /** Ends the transaction without a message. */
  reset(): void {
    this.#outbox.discard();
    this.#clear();
  }

  /** `secure`: over TLS. */
  mail(argument: string, secure: boolean): SessionReply | null {
    if (this.isOpen) return NESTED_MAIL;
    if (!FROM.test(argument)) return MAIL_SYNTAX;
    const read = this.#readReversePath(argument.slice('FROM:'.length));
    if (!read.ok) return read.reply;
    if (read.value.requireTls && !secure) return REQUIRETLS_IN_CLEAR;
    const { maxMessageBytes, maxTransactions } = this.#options;
    if ((read.value.sizeBytes ?? 0) > maxMessageBytes) return this.#refuseSize(maxMessageBytes);
    if (this.#accepted >= maxTransactions)
      return this.#outbox.end('too_many_transactions', TOO_MANY_TRANSACTIONS);
    return this.#outbox.ask({ kind: 'mail', path: read.value });
  }

  rcpt(argument: string): SessionReply | null {
    const reversePath = this.#reversePath;
    if (reversePath === null) return MAIL_FIRST;
    if (this.#content.hasBegun) return CONTENT_BEGUN;
    if (!TO.test(argument)) return this.#rememberRefused(RCPT_SYNTAX);
    const read = this.#readForwardPath(argument.slice('TO:'.length), reversePath.utf8);
    if (!read.ok) return this.#rememberRefused(read.reply);
    if (this.#forwardPaths.length >= this.#options.maxRecipients) return this.#refuseSurplus();
    return this.#outbox.ask({ kind: 'rcpt', path: read.value, reversePath });
  }

  data(argument: string): SessionReply | null {
    const reversePath = this.#reversePath;
    if (argument !== '') return NO_ARGUMENT;
    if (reversePath === null) return MAIL_FIRST;
    if (this.#content.hasBegun) return CONTENT_BEGUN;
    if (this.#forwardPaths.length === 0) return this.#refused > 0 ? NO_VALID_RECIPIENTS : RCPT_FIRST;
    this.#content.expectData();
    return this.#askToBegin(reversePath);
  }

  /** Takes BDAT. Its chunk is always read; without a readable size, nothing after it can be. */
  bdat(argument: string): SessionReply | null {
    const size = CHUNK_SIZE.exec(argument)?.[1];
    if (size === undefined) return this.#outbox.end('unreadable_chunk', BDAT_SYNTAX);
    const well = CHUNK.exec(argument);
    const refusal = well === null ? BDAT_SYNTAX : this.#chunkRefusal();
    const hadBegun = this.#content.hasBegun;
    this.#content.expectChunk(Number(size), well?.[2] !== undefined, refusal, this.isOpen);
    if (refusal !== null && this.isOpen) this.#outbox.discard();
    if (refusal === null && !hadBegun && this.#reversePath !== null) this.#askToBegin(this.#reversePath);
    return null;
  }

  /** Reads content. False when more bytes are needed. */
  read(input: InputBuffer): boolean {
    const step = this.#content.read(input);
    if (step === 'more') return false;
    if (step === 'complete') this.#complete();
    else if (step === 'over') this.reset();
    return true;
  }

  /** The owner accepts the question, which is settled. */
  accept(question: Question, text: string): void {
    switch (question.kind) {
      case 'mail':
        this.#reversePath = question.path;
        this.#accepted += 1;
        this.#outbox.openTransaction();
        this.#outbox.say(MAIL_OK);
        break;
      case 'rcpt':
        this.#forwardPaths.push(question.path);
        this.#outbox.say(RCPT_OK);
        break;
      case 'begin':
        this.#content.begin();
        break;
      case 'message':
        this.#outbox.forgive();
        this.#outbox.say(formatReply(sessionReply(250, '2.0.0', text)));
        break;
    }
  }

  /** The owner refuses it. Returns the reply to send now; with a chunk on its way, the reply is sent later. */
  refuse(question: Question, reply: SessionReply): SessionReply | null {
    if (question.kind === 'rcpt') return this.#rememberRefused(reply);
    if (question.kind !== 'begin') return reply;
    const isLater = this.#content.refuseToBegin(reply);
    if (!isLater) this.reset();
    this.#outbox.discard();
    return isLater ? null : reply;
  }

  /** The owner refuses the message whose content is arriving; the reply is sent at its end. */
  refuseContent(reply: SessionReply): void {
    this.#content.refuse(reply);
  }

  #readReversePath(text: string): OrReply<ReversePath> {
    const scanned = scanPath(text, 'sender');
    if (!scanned.ok) return scanned;
    const { address, rest } = scanned.value;
    const parameters = readMailParameters(rest);
    if (!parameters.ok) return parameters;
    if (address === '') return { ok: true, value: { ...parameters.value, mailbox: null } };
    const mailbox = readMailbox(address, 'sender', parameters.value.utf8, this.#options.quotedLocalParts);
    return mailbox.ok ? { ok: true, value: { ...parameters.value, mailbox: mailbox.value } } : mailbox;
  }

  #readForwardPath(text: string, utf8: boolean): OrReply<ForwardPath> {
    const scanned = scanPath(text, 'recipient');
    if (!scanned.ok) return scanned;
    const { address, rest } = scanned.value;
    const parameters = readRcptParameters(rest);
    if (!parameters.ok) return parameters;
    if (POSTMASTER.test(address)) return { ok: true, value: { ...parameters.value, mailbox: null } };
    const mailbox = readMailbox(address, 'recipient', utf8, this.#options.quotedLocalParts);
    return mailbox.ok ? { ok: true, value: { ...parameters.value, mailbox: mailbox.value } } : mailbox;
  }

  #refuseSize(maxMessageBytes: number): SessionReply {
    const refusal = tooLarge(maxMessageBytes);
    this.#outbox.tell({ kind: 'refused', ...refusal });
    return refusal.reply;
  }

  #refuseSurplus(): SessionReply | null {
    this.#surplus += 1;
    const isIdle = this.#surplus > MAX_SURPLUS_RECIPIENTS;
    return isIdle && !this.#outbox.countIdle() ? null : tooManyRecipients(this.#options.maxRecipients);
  }

  /** A bad address or two in a long list is not the sender's error: it counts only if most are bad. */
  #rememberRefused(reply: SessionReply): SessionReply | null {
    this.#refused += 1;
    const isSpared = reply.code !== 421 && this.#refused <= this.#forwardPaths.length;
    return isSpared ? this.#outbox.spare(reply) : reply;
  }

  #chunkRefusal(): SessionReply | null {
    if (!this.isOpen) return MAIL_FIRST;
    if (this.#content.hasFailed) return CHUNKS_FAILED;
    return this.#forwardPaths.length === 0 ? NO_RECIPIENT_FOR_CHUNK : null;
  }

  #askToBegin(reversePath: ReversePath): null {
    const envelope = { reversePath, forwardPaths: this.#forwardPaths };
    return this.#outbox.ask({ kind: 'begin', envelope, declaredBytes: reversePath.sizeBytes });
  }

  /** The content has ended and may be accepted. */
  #complete(): void {
    const { sizeBytes, dotStuffing } = this.#content;
    const reversePath = this.#reversePath;
    const forwardPaths = this.#forwardPaths;
    this.#clear();
    if (reversePath === null) return;
    this.#outbox.ask({ kind: 'message', envelope: { reversePath, forwardPaths }, sizeBytes, dotStuffing });
  }

  #clear(): void {
    this.#reversePath = null;
    this.#forwardPaths = [];
    this.#refused = 0;
    this.#surplus = 0;
    this.#content.clear();
  }
}

function tooManyRecipients(maxRecipients: number): SessionReply {
  const text = `A message may have ${maxRecipients} recipients; send to the others in another message`;
  return sessionReply(452, '4.5.3', text);
}
