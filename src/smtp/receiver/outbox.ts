import type { CloseReason, Effect, Question, ReceiverOptions } from './effect.ts';
import { Refusals } from './refusals.ts';
import { formatReply, type SessionReply, TOO_MANY_COMMANDS, TOO_MANY_ERRORS } from './session-reply.ts';

/** Replies are gathered up to this many characters, so that a pipelined batch is answered in one write. */
const MAX_GATHERED = 4096;

/** Ends that refuse no command. */
const NO_REFUSALS: ReadonlySet<CloseReason> = new Set<CloseReason>(['quit', 'time_out', 'shutdown']);

/** The output of a session: effects in order, replies between them, one open question; and counts of waste. */
export class Outbox {
  readonly #options: ReceiverOptions;
  /** What was refused, for the owner to look at in the end. */
  readonly refusals = new Refusals();
  readonly #effects: Effect[] = [];
  #text = '';
  #question: Question | null = null;
  #errors = 0;
  /** Commands without a message. */
  #idleCommands = 0;
  /** The owner knows of a transaction that may still end without a message. */
  #hasTransaction = false;
  #closed = false;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** The session is over: this is its last output. */
  get closed(): boolean {
    return this.#closed;
  }

  /** The question that the owner must answer before anything further is read. */
  get question(): Question | null {
    return this.#question;
  }

  /** The next effect, or gathered text of sufficient size. */
  take(): Effect | null {
    if (this.#effects.length > 0) return this.#effects.shift() ?? null;
    return this.#text.length >= MAX_GATHERED ? this.flush() : null;
  }

  /** The gathered text; null if there is none. */
  flush(): Effect | null {
    const text = this.#text;
    this.#text = '';
    return text === '' ? null : { kind: 'send', text };
  }

  /** Adds reply lines, CRLF included. Returns null, like a command without a refusal. */
  say(lines: string): null {
    if (!this.#closed) this.#text += lines;
    return null;
  }

  /** Refuses a command. 421 ends the session; other 5xx are counted, and too many end it. */
  refuse(reply: SessionReply): void {
    if (this.#closed) return;
    if (reply.code === 421) {
      this.end('refused', reply);
      return;
    }
    this.refusals.add(reply);
    this.#text += formatReply(reply);
    if (reply.code < 500) return;
    this.#errors += 1;
    const { softErrors, hardErrors } = this.#options;
    if (this.#errors >= hardErrors) this.end('too_many_errors', TOO_MANY_ERRORS);
    else if (this.#errors > softErrors) this.ask({ kind: 'pause', errors: this.#errors });
  }

  /** Refuses a command without counting it as an error. Returns null, like {@link say}. */
  spare(reply: SessionReply): null {
    if (this.#closed) return null;
    this.refusals.add(reply);
    return this.say(formatReply(reply));
  }

  /** Counts a command without a message. False when it was one too many, and the session has ended. */
  countIdle(): boolean {
    this.#idleCommands += 1;
    if (this.#idleCommands <= this.#options.maxCommandsWithoutMail) return true;
    this.end('too_many_commands', TOO_MANY_COMMANDS);
    return false;
  }

  /** A message was accepted: resets the counts of errors and idle commands. */
  forgive(): void {
    this.#errors = 0;
    this.#idleCommands = 0;
  }

  /** Adds an effect. Replies gathered earlier leave before it only where the order matters. */
  tell(effect: Effect): void {
    if (!this.#closed) this.#effects.push(effect);
  }

  /** Asks the owner. Returns null, see {@link say}. */
  ask(question: Question): null {
    if (this.#closed) return null;
    if (question.kind === 'message') this.#hasTransaction = false;
    this.#question = question;
    this.#effects.push(question);
    return null;
  }

  /** The owner has accepted a MAIL. */
  openTransaction(): void {
    this.#hasTransaction = true;
  }

  /** An open transaction ends without a message. Reported once. */
  discard(): void {
    if (this.#hasTransaction) this.tell({ kind: 'discard' });
    this.#hasTransaction = false;
  }

  /** The question was answered. */
  settle(): void {
    this.#question = null;
  }

  /** Adds the last reply and ends. Returns null, see {@link say}. */
  end(reason: CloseReason, reply: SessionReply | null): null {
    if (this.#closed) return null;
    if (reply !== null) {
      if (!NO_REFUSALS.has(reason)) this.refusals.add(reply, reason === 'refused' ? undefined : reason);
      this.#text += formatReply(reply);
    }
    this.#endWith({ kind: 'close', reason });
    return null;
  }

  /** The peer sends HTTP; the owner takes over. */
  endAsHttp(isHead: boolean): void {
    if (!this.#closed) this.#endWith({ kind: 'http', isHead });
  }

  /** Adds an effect after the gathered text. */
  tellAfterText(effect: Effect): void {
    const text = this.flush();
    if (text !== null) this.#effects.push(text);
    this.#effects.push(effect);
  }

  #endWith(last: Effect): void {
    this.tellAfterText(last);
    this.#question = null;
    this.#closed = true;
  }
}
