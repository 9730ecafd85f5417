/** The server's side of an SMTP session (RFC 5321) as a state machine without sockets, clock or randomness. */
import { Authentication } from './authentication.ts';
import { CommandLines, type FaultyLine } from './command-lines.ts';
import type { Effect, Question, ReceiverOptions } from './effect.ts';
import { asksForHead, hearEarlyTalk, isHttpLine } from './http-line.ts';
import { InputBuffer } from './input.ts';
import { Outbox } from './outbox.ts';
import type { Refusals } from './refusals.ts';
import * as replies from './session-reply.ts';
import { ehloReply, isIdleAnswer, isIdleCommand, takeSimpleCommand } from './simple-commands.ts';
import { Transactions } from './transaction.ts';

/** How the client introduced itself. */
export interface Hello {
  readonly verb: 'HELO' | 'EHLO';
  /** Printable ASCII, never empty; unverified. */
  readonly name: string;
}

const NOT_ASCII = /[^\0-\x7f]/;
const HELLO_LINE = /^(?:EHLO|HELO) /i;
/** Commands whose argument may contain a non-ASCII address, or a name that is never a reason to refuse. */
const UTF8_VERBS = new Set(['MAIL', 'RCPT', 'VRFY', 'EXPN', 'EHLO', 'HELO', 'NOOP']);

/**
 * One session. The owner has the socket, the clock and the policy; the machine has the grammar, the order of commands
 * and the limits. The owner's duties:
 *
 * 1. Pass every chunk that arrives to `receive`, and call `greet` when it is time for the greeting. A chunk is kept by
 * reference: it must not be changed again. 2. After every call, take `next` until it returns null, and carry the
 * effects out in order. Replies to a pipelined batch come as one `send`. An owner whose socket is full stops taking
 * until it drains. 3. Answer each question ({@link Question}) by `accept` or `refuse`, at once or later. While one is
 * open nothing further is read: `wantsInput` is false, and the owner should stop reading from the socket. More than
 * `maxWaitingBytes` received meanwhile end the session. 4. Keep the `content` that follows an accepted `begin`, until
 * `message` (it is the message), `discard` or the end. 5. Run the time-outs and call `timeOut` when one expires.
 * Received bytes start a new one. 6. After `close` or `http` the machine is over: it takes nothing and returns nothing.
 * When the peer disconnects, simply drop it; a later answer is ignored.
 *
 * No input makes it throw; answering without a question does. The same bytes give the same replies, questions and
 * content however they are cut.
 */
export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #outbox: Outbox;
  readonly #transactions: Transactions;
  readonly #authentication: Authentication;
  readonly #input = new InputBuffer();
  readonly #lines = new CommandLines();
  #phase: 'early' | 'commands' | 'handshake' = 'early';
  #secure: boolean;
  #hello: Hello | null = null;
  #stopping = false;

  /** `secure`: the connection uses TLS from its beginning. */
  constructor(options: ReceiverOptions, secure: boolean) {
    this.#options = options;
    this.#secure = secure;
    this.#outbox = new Outbox(options);
    this.#transactions = new Transactions(options, this.#outbox);
    this.#authentication = new Authentication(options, this.#outbox);
  }

  /** Null before EHLO or HELO, and again after STARTTLS. */
  get hello(): Hello | null {
    return this.#hello;
  }

  /** What was refused so far. */
  get refusals(): Pick<Refusals, 'first' | 'count' | 'offered'> {
    return this.#outbox.refusals;
  }

  /** For the Received field (RFC 3848). */
  get protocol(): 'SMTP' | 'ESMTP' | 'ESMTPS' | 'ESMTPA' | 'ESMTPSA' {
    if (this.#hello?.verb !== 'EHLO') return 'SMTP';
    const { isAuthenticated } = this.#authentication;
    if (this.#secure) return isAuthenticated ? 'ESMTPSA' : 'ESMTPS';
    return isAuthenticated ? 'ESMTPA' : 'ESMTP';
  }

  /** False while a question is open, during a handshake, and at the end. */
  get wantsInput(): boolean {
    return !this.#outbox.closed && this.#outbox.question === null && this.#phase !== 'handshake';
  }

  /** A message is arriving: content is being read, or its next chunk awaited. */
  get isReadingContent(): boolean {
    return this.#transactions.isUnderWay;
  }

  /** Bytes that came in and are not yet read. */
  get waitingBytes(): number {
    return this.#input.length;
  }

  /** It is time for the greeting, which is not sent to a peer that has already sent something. */
  greet(): void {
    if (this.#phase !== 'early' || this.#input.length > 0) return;
    this.#phase = 'commands';
    this.#outbox.say(`220 ${this.#options.hostname} ESMTP\r\n`);
  }

  /** Takes bytes. */
  receive(chunk: Buffer): void {
    if (this.#outbox.closed || this.#phase === 'handshake') return;
    this.#input.push(chunk);
    if (this.#outbox.question !== null && this.#input.length > this.#options.maxWaitingBytes)
      this.#outbox.end('too_much_input', replies.TOO_MUCH_INPUT);
  }

  /** The next effect; null when there is none until more bytes, an answer or an event arrives. */
  next(): Effect | null {
    for (;;) {
      const effect = this.#outbox.take();
      if (effect !== null) return effect;
      if (this.#outbox.closed) this.#input.clear();
      const isWaiting = this.#outbox.closed || this.#outbox.question !== null || !this.#step();
      // The last step may have left effects although it needs more bytes.
      if (isWaiting) return this.#outbox.take() ?? this.#outbox.flush();
    }
  }

  /** Answers yes to the open question; `text` is the text of the 250 to a `message`, such as `queued as msg_…`. */
  accept(text = 'OK'): void {
    const question = this.#settle();
    if (question?.kind === 'auth') this.#authentication.accept();
    else if (question !== null) this.#transactions.accept(question, text);
  }

  /** Answers no to the open question with a 4xx or 5xx. A 421 ends the session. */
  refuse(reply: replies.SessionReply): void {
    const question = this.#settle();
    if (question === null) return;
    if (isIdleAnswer(question, reply) && !this.#outbox.countIdle()) return;
    if (question.kind === 'auth') this.#authentication.refuse(reply);
    else this.#answer(this.#transactions.refuse(question, reply));
  }

  /** The owner refuses the arriving message. Its rest is dropped, and the refusal sent at its end. */
  refuseContent(reply: replies.SessionReply): void {
    this.#transactions.refuseContent(reply);
  }

  /** The handshake requested by `start_tls` is done. The client starts afresh. */
  secured(): void {
    if (this.#phase !== 'handshake') return;
    this.#phase = 'commands';
    this.#secure = true;
  }

  /** The peer was silent for too long. Ignored while a question is open: then the peer waits for us. */
  timeOut(): void {
    if (this.#outbox.question !== null) return;
    if (this.#phase === 'handshake') this.#outbox.end('time_out', null);
    else if (this.#phase === 'early' && this.#input.length > 0)
      this.#outbox.end('early_talk', replies.EARLY_TALK);
    else {
      const reply = replies.IDLE_TOO_LONG;
      if (this.isReadingContent) this.#outbox.tell({ kind: 'refused', reason: 'time_out', reply });
      this.#outbox.end('time_out', reply);
    }
  }

  /** The service stops. An open question is answered first: a message being stored gets its reply. */
  shutDown(): void {
    this.#stopping = true;
    if (this.#outbox.question === null) this.#stop();
  }

  /** Ends the session with this reply, whatever the peer is doing: too many connections, not allowed. */
  dismiss(reply: replies.SessionReply): void {
    this.#outbox.end('refused', this.#phase === 'handshake' ? null : reply);
  }

  /** The answered question; null when the answer comes too late. */
  #settle(): Question | null {
    if (this.#outbox.closed) return null;
    const { question } = this.#outbox;
    if (question === null) throw new Error('an answer without a question');
    this.#outbox.settle();
    return question;
  }

  /** Sends a command's refusal, if there is one. */
  #answer(refusal: replies.SessionReply | null): void {
    if (refusal === null) return;
    const reason = replies.WITHHELD.get(refusal);
    if (reason !== undefined) this.#outbox.tell({ kind: 'denied', reason });
    this.#outbox.refuse(refusal);
  }

  #stop(): void {
    this.#outbox.end('shutdown', this.#phase === 'handshake' ? null : replies.SHUTTING_DOWN);
  }

  /** Reads one step. False when there is nothing to read yet. */
  #step(): boolean {
    if (this.#stopping) this.#stop();
    else if (this.#phase === 'handshake') return false;
    else if (this.#phase === 'early') return this.#hearEarlyTalk();
    else if (this.#transactions.isReading) return this.#transactions.read(this.#input);
    else return this.#readLine();
    return true;
  }

  #hearEarlyTalk(): boolean {
    const heard = this.#input.length === 0 ? 'maybe' : hearEarlyTalk(this.#input);
    if (heard === 'http') this.#outbox.endAsHttp(asksForHead(this.#input));
    else if (heard === 'other') this.#outbox.end('early_talk', replies.EARLY_TALK);
    return heard !== 'maybe';
  }

  #readLine(): boolean {
    const { isExchanging } = this.#authentication;
    const line = this.#lines.next(this.#input, isExchanging);
    if (line === null) return false;
    if (typeof line !== 'string') this.#answer(this.#takeFaulty(line));
    else if (isExchanging) this.#answer(this.#authentication.respond(line));
    else this.#answer(this.#takeCommand(line));
    return true;
  }

  #takeFaulty({ fault, text }: FaultyLine): replies.SessionReply | null {
    const { isExchanging } = this.#authentication;
    if (!isExchanging) this.#outbox.refusals.hear('');
    this.#authentication.abandon();
    if (!isExchanging && isHttpLine(text)) return this.#outbox.end('http_after_greeting', replies.NOT_HTTP);
    if (fault === 'encoding' && !isExchanging && HELLO_LINE.test(text)) return this.#takeCommand(text);
    const said = {
      too_long: replies.TOO_LONG,
      bare_lf: replies.BARE_LF,
      control: replies.BAD_CHARACTERS,
      encoding: replies.NOT_ASCII,
    };
    return said[fault];
  }

  #takeCommand(line: string): replies.SessionReply | null {
    const blank = line.indexOf(' ');
    const verb = (blank < 0 ? line : line.slice(0, blank)).toUpperCase();
    const argument = blank < 0 ? '' : line.slice(blank + 1).trim();
    this.#outbox.refusals.hear(verb);
    if (NOT_ASCII.test(line) && !UTF8_VERBS.has(verb)) return replies.NOT_ASCII;
    if (isIdleCommand(verb, argument) && !this.#outbox.countIdle()) return null;
    switch (verb) {
      case 'MAIL':
        return this.#mail(argument);
      case 'RCPT':
        return this.#transactions.rcpt(argument);
      case 'DATA':
        return this.#transactions.data(argument);
      case 'BDAT':
        return this.#transactions.bdat(argument);
      case 'EHLO':
      case 'HELO':
        return this.#greetBack(verb, argument);
      case 'STARTTLS':
        return this.#startTls(argument);
      case 'AUTH':
        return this.#auth(argument);
      default:
        return takeSimpleCommand({ verb, argument, line }, this.#transactions, this.#outbox);
    }
  }

  #greetBack(verb: Hello['verb'], argument: string): replies.SessionReply | null {
    const name = replies.printable(argument);
    if (name === '') return replies.NEEDS_ARGUMENT;
    this.#transactions.reset();
    this.#hello = { verb, name };
    if (verb === 'HELO') return this.#outbox.say(`250 ${this.#options.hostname}\r\n`);
    return this.#outbox.say(
      ehloReply(this.#options, { secure: this.#secure, authenticated: this.#authentication.isAuthenticated }),
    );
  }

  #mail(argument: string): replies.SessionReply | null {
    if (this.#hello === null) return replies.HELLO_FIRST;
    if (this.#options.requireTls && !this.#secure) return replies.TLS_FIRST;
    return this.#authentication.missing(this.#secure) ?? this.#transactions.mail(argument, this.#secure);
  }

  #startTls(argument: string): replies.SessionReply | null {
    if (argument !== '') return replies.NO_ARGUMENT;
    if (this.#secure) return replies.ALREADY_SECURE;
    if (!this.#options.startTls) return replies.NOT_IMPLEMENTED;
    if (this.#hello?.verb !== 'EHLO') return replies.EHLO_FIRST;
    // Bytes sent after it in clear may come from anybody (RFC 3207 §6), and nothing before it proves anything now.
    this.#input.clear();
    this.#lines.clear();
    this.#transactions.reset();
    this.#hello = null;
    this.#authentication.reset();
    this.#phase = 'handshake';
    this.#outbox.say(replies.START_TLS);
    this.#outbox.tellAfterText({ kind: 'start_tls' });
    return null;
  }

  #auth(argument: string): replies.SessionReply | null {
    return this.#authentication.begin(argument, {
      secure: this.#secure,
      extended: this.#hello?.verb === 'EHLO',
      inTransaction: this.#transactions.isOpen,
    });
  }
}
