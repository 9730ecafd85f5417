import type { Socket } from 'node:net';
import type { TransportSecurity } from '../../domain/attempt.ts';
import type { Reply } from '../../domain/outcome.ts';
import type { Clock } from '../../lib/clock.ts';
import { QUIT } from '../../smtp/command.ts';
import { type Capabilities, NO_CAPABILITIES, ReplyParser, type SmtpReply } from '../../smtp/reply.ts';
import type { TimedVerb, Timeouts } from './deadline.ts';
import { Deadline } from './deadline.ts';
import { badReply, lostReply, timeoutReply } from './failure.ts';

/** The current user of a connection. */
export interface ConnectionUser {
  /** A complete reply came. */
  reply(reply: SmtpReply): void;
  /** The connection is lost; nothing more will come. Not called for one that we closed. */
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
  /** Receives replies and loss; null while closing. */
  user: ConnectionUser | null = null;
  /** A user pipelined behind the current one, which receives what comes after it (RFC 2920). */
  next: (ConnectionUser & { follow(): void }) | null = null;
  /** Set once the session is open. */
  capabilities: Capabilities = NO_CAPABILITIES;
  address: string | null = null;
  localAddress: string | null = null;
  tls: string | null = null;
  verdict: NonNullable<TransportSecurity['verdict']> = 'none';
  /** Removes from a reply what may not be recorded. */
  conceal: (reply: SmtpReply) => SmtpReply = (reply) => reply;
  transactions = 0;
  readonly closed: Promise<void>;
  readonly #settings: ConnectionSettings;
  /** The TCP socket, below TLS if there is any. */
  readonly #wire: Socket;
  readonly #deadline: Deadline;
  #socket: Socket;
  #parser = new ReplyParser();
  #verb: TimedVerb = 'connect';
  #error: Error | null = null;
  /** An unsolicited reply came: it could not be told from the next one. */
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

  /** Whether another transaction can begin. False once either side has begun to close, or an unsolicited reply came. */
  get usable(): boolean {
    return this.#socket.writable && !this.#socket.readableEnded && !this.#outOfStep && !this.#spoilt;
  }

  /** Replies will come that nobody waits for: the connection ends with its current user. */
  spoil(): void {
    this.next = null;
    this.#spoilt = true;
  }

  /** Waits for `verb`'s answer, or for progress, at most for its time-out, counted from now. */
  expect(verb: TimedVerb): void {
    this.#verb = verb;
    this.#deadline.set(this.#settings.timeouts[verb]);
  }

  /** Stops the peer's time-out while something of our own is awaited. */
  calm(): void {
    this.#deadline.clear();
  }

  /** Writes; false when the caller should await {@link drained} first. */
  write(data: string | Uint8Array): boolean {
    return this.#socket.write(data);
  }

  /** Sends everything written meanwhile in one go. */
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

  /** Resolves when everything written is on its way, or the connection is lost. */
  drained(): Promise<void> {
    if (!this.#socket.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Hands out the socket for a TLS handshake. Anything the peer sent ahead of it is dropped (RFC 3207 §6). */
  detach(): Socket {
    this.#socket.removeAllListeners('data');
    this.#socket.removeAllListeners('end');
    this.#socket.removeAllListeners('drain');
    this.#parser = new ReplyParser();
    return this.#socket;
  }

  /** Continues over the secured socket. */
  attach(socket: Socket): void {
    this.#socket = socket;
    this.#listen();
  }

  /** Sends QUIT and closes without waiting long for the answer. */
  quit(): void {
    this.user = null;
    this.expect('quit');
    this.#socket.end(QUIT);
  }

  /** Closes at once, so that the peer gets nothing more, not even data written but unsent. */
  destroy(): void {
    this.user = null;
    this.#deadline.stop();
    // Once our side has ended there is nothing left to take back, and a reset would never complete.
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

  /** Those to tell of the loss; the user behind gets no other call. */
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
