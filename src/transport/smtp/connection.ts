import type { Socket } from 'node:net';
import type { TransportSecurity } from '../../domain/attempt.ts';
import type { Reply } from '../../domain/outcome.ts';
import type { Clock } from '../../lib/clock.ts';
import { QUIT } from '../../smtp/command.ts';
import { type Capabilities, NO_CAPABILITIES, ReplyParser, type SmtpReply } from '../../smtp/reply.ts';
import type { TimedVerb, Timeouts } from './deadline.ts';
import { Deadline } from './deadline.ts';
import { badReply, lostReply, timeoutReply } from './failure.ts';

/** Whoever uses the connection now. */
export interface ConnectionUser {
  /** A complete reply came. */
  reply(reply: SmtpReply): void;
  /** The connection is gone; nothing more will be heard. Not called for one we closed ourselves. */
  lost(reason: Reply): void;
}

/** What all connections of a transport share. */
export interface ConnectionSettings {
  readonly host: string;
  readonly clock: Clock;
  readonly timeouts: Timeouts;
}

/** A connection to a server: bytes out, replies in, and one time limit. */
export class SmtpConnection {
  /** Who hears of replies and loss; null while nobody should (closing). */
  user: ConnectionUser | null = null;
  /** Who has written behind what the user still waits for, and hears of what comes after that (RFC 2920). */
  next: (ConnectionUser & { follow(): void }) | null = null;
  /** Set once the session is open. */
  capabilities: Capabilities = NO_CAPABILITIES;
  address: string | null = null;
  localAddress: string | null = null;
  tls: string | null = null;
  verdict: NonNullable<TransportSecurity['verdict']> = 'none';
  /** What of a reply may be recorded. */
  conceal: (reply: SmtpReply) => SmtpReply = (reply) => reply;
  /** Transactions begun. */
  transactions = 0;
  /** Resolves when the socket is closed. */
  readonly closed: Promise<void>;
  readonly #settings: ConnectionSettings;
  /** The TCP socket, under TLS or not. */
  readonly #wire: Socket;
  readonly #deadline: Deadline;
  #socket: Socket;
  #parser = new ReplyParser();
  #verb: TimedVerb = 'connect';
  #error: Error | null = null;
  /** A reply came that answers nothing: the next one could not be told from it. */
  #outOfStep = false;
  #spoilt = false;
  #wake: (() => void) | null = null;

  constructor(socket: Socket, settings: ConnectionSettings) {
    this.#settings = settings;
    this.#wire = socket;
    this.#socket = socket;
    this.#deadline = new Deadline(settings.clock, () => this.#expired());
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    this.#listen();
  }

  /** The server's name, for texts. */
  get host(): string {
    return this.#settings.host;
  }

  /** Whether a transaction can go on. False once either side has begun to close, or spoke out of turn. */
  get usable(): boolean {
    return this.#socket.writable && !this.#socket.readableEnded && !this.#outOfStep && !this.#spoilt;
  }

  /** Replies will come that nobody waits for any more: it ends with its present user. */
  spoil(): void {
    this.next = null;
    this.#spoilt = true;
  }

  /** Waits for `verb`'s answer, or for progress, no longer than its time-out, counted from now. */
  expect(verb: TimedVerb): void {
    this.#verb = verb;
    this.#deadline.set(this.#settings.timeouts[verb]);
  }

  /** Waits for something of our own: the peer has no time limit meanwhile. */
  calm(): void {
    this.#deadline.clear();
  }

  /** Writes; false when what is written should be {@link drained} first. */
  write(data: string | Uint8Array): boolean {
    return this.#socket.write(data);
  }

  /** Whatever is written meanwhile goes out in one go. */
  inOneGo(write: () => void): void {
    this.#socket.cork();
    try {
      write();
    } finally {
      this.#socket.uncork();
    }
  }

  /** Writes all pieces, then `end`, in one go. */
  writeWhole(pieces: Iterable<Uint8Array>, end: string): void {
    this.inOneGo(() => {
      for (const piece of pieces) this.#socket.write(piece);
      this.#socket.write(end, 'latin1');
    });
  }

  /** Resolves when what was written is on its way, or the connection is gone. */
  drained(): Promise<void> {
    if (!this.#socket.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Hands out the socket for a TLS handshake. Whatever the peer said ahead of it is forgotten (RFC 3207 §6). */
  detach(): Socket {
    this.#socket.removeAllListeners('data');
    this.#socket.removeAllListeners('end');
    this.#socket.removeAllListeners('drain');
    this.#parser = new ReplyParser();
    return this.#socket;
  }

  /** Goes on over the secured socket. */
  attach(socket: Socket): void {
    this.#socket = socket;
    this.#listen();
  }

  /** Says goodbye and closes; does not wait long for the answer. */
  quit(): void {
    this.user = null;
    this.expect('quit');
    this.#socket.end(QUIT);
  }

  /** Closes at once, so that the peer gets nothing more, not even what was written but not sent. */
  destroy(): void {
    this.user = null;
    this.#deadline.stop();
    // Once our side has ended there is nothing left to take back, and a reset then never completes.
    if (!this.#socket.writableEnded) this.#wire.resetAndDestroy();
    this.#socket.destroy();
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('drain', () => this.#wakeUp());
    socket.on('error', (error) => {
      this.#error ??= error;
    });
    socket.on('end', () => this.#lose(lostReply(this.#settings.host, this.#error)));
    socket.on('close', () => {
      this.#deadline.stop();
      this.#lose(lostReply(this.#settings.host, this.#error));
    });
  }

  #read(chunk: Buffer): void {
    this.#parser.push(chunk);
    for (let reply = this.#parser.next(); reply !== null; reply = this.#parser.next()) {
      if (this.user) this.user.reply(reply);
      else this.#outOfStep = true;
    }
    const { fault } = this.#parser;
    if (fault === null) return;
    const users = this.#users();
    this.destroy();
    for (const user of users) user.lost(badReply(this.#settings.host, fault));
  }

  #expired(): void {
    const { host, timeouts } = this.#settings;
    const reason = timeoutReply(this.#verb, host, timeouts[this.#verb]);
    const users = this.#users();
    if (this.#verb === 'idle') this.quit();
    else this.destroy();
    for (const user of users) user.lost(reason);
  }

  #lose(reason: Reply): void {
    const users = this.#users();
    this.user = null;
    for (const user of users) user.lost(reason);
    this.#wakeUp();
  }

  /** Who is to hear that it is gone; of the one behind, it is the last that is heard. */
  #users(): ConnectionUser[] {
    const users = [this.user, this.next].filter((user) => user !== null);
    this.next = null;
    return users;
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = null;
  }
}
