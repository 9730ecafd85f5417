import type { CloseReason, Effect, Question, ReceiverOptions } from './effect.ts';
import { formatReply, type SessionReply, TOO_MANY_COMMANDS, TOO_MANY_ERRORS } from './session-reply.ts';

/** Replies are gathered up to this many characters, so that a pipelined batch is answered by one write. */
const MAX_GATHERED = 4096;

/** What a session has to say: effects in order, replies between them, one open question; and what the peer wastes. */
export class Outbox {
  readonly #options: ReceiverOptions;
  readonly #effects: Effect[] = [];
  #text = '';
  #question: Question | null = null;
  #errors = 0;
  /** Commands that led to no message. */
  #idleCommands = 0;
  /** The owner knows of a transaction that may still end without a message. */
  #hasTransaction = false;
  #closed = false;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** The session is over: what is still in here is the last of it. */
  get closed(): boolean {
    return this.#closed;
  }

  /** What the owner has to answer before anything further is read. */
  get question(): Question | null {
    return this.#question;
  }

  /** The next effect, or enough text to be written. */
  take(): Effect | null {
    if (this.#effects.length > 0) return this.#effects.shift() ?? null;
    return this.#text.length >= MAX_GATHERED ? this.flush() : null;
  }

  /** What was gathered; null when nothing. */
  flush(): Effect | null {
    const text = this.#text;
    this.#text = '';
    return text === '' ? null : { kind: 'send', text };
  }

  /** Adds reply lines, CRLF included. Gives null, as a verb does that has nothing to refuse. */
  say(lines: string): null {
    if (!this.#closed) this.#text += lines;
    return null;
  }

  /** Refuses what the peer said. 421 ends the session; other 5xx are counted, and too many end it. */
  refuse(reply: SessionReply): void {
    if (this.#closed) return;
    if (reply.code === 421) {
      this.end('refused', reply);
      return;
    }
    this.#text += formatReply(reply);
    if (reply.code < 500) return;
    this.#errors += 1;
    const { softErrors, hardErrors } = this.#options;
    if (this.#errors >= hardErrors) this.end('too_many_errors', TOO_MANY_ERRORS);
    else if (this.#errors > softErrors) this.ask({ kind: 'pause', errors: this.#errors });
  }

  /** Counts a command that leads to no message. False when it was one too many, and the session has ended. */
  countIdle(): boolean {
    this.#idleCommands += 1;
    if (this.#idleCommands <= this.#options.maxCommandsWithoutMail) return true;
    this.end('too_many_commands', TOO_MANY_COMMANDS);
    return false;
  }

  /** A message came in: whoever sent it errs and idles no more than others. */
  forgive(): void {
    this.#errors = 0;
    this.#idleCommands = 0;
  }

  /** Adds an effect. Replies gathered before it go out before it only where that matters. */
  tell(effect: Effect): void {
    if (!this.#closed) this.#effects.push(effect);
  }

  /** Asks the owner. Gives null, see {@link say}. */
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

  /** The open transaction, if there is one, comes to nothing. Told once. */
  discard(): void {
    if (this.#hasTransaction) this.tell({ kind: 'discard' });
    this.#hasTransaction = false;
  }

  /** The question was answered. */
  settle(): void {
    this.#question = null;
  }

  /** The last words, and the end. Gives null, see {@link say}. */
  end(reason: CloseReason, reply: SessionReply | null): null {
    if (this.#closed) return null;
    if (reply !== null) this.#text += formatReply(reply);
    this.#endWith({ kind: 'close', reason });
    return null;
  }

  /** The peer speaks HTTP; the owner takes over. */
  endAsHttp(isHead: boolean): void {
    if (!this.#closed) this.#endWith({ kind: 'http', isHead });
  }

  /** What was gathered goes out before this effect. */
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
