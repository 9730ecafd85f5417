/** The connections of one relay: opened when needed, reused while they are usable, never more than allowed. */
import { RSET } from '../../smtp/command.ts';
import type { SessionState } from '../../smtp/sender.ts';
import { Behind } from './behind.ts';
import type { SmtpConnection } from './connection.ts';
import { ABORTED, HopFailure, lostReply } from './failure.ts';

export interface PoolLimits {
  /** Connections at once, including idle ones and those being opened, to any destination. */
  readonly maxConnections: number;
  /** Transactions over one connection before it is closed. */
  readonly maxTransactions: number;
}

interface Waiter {
  readonly way: string;
  readonly resolve: (slot: SmtpConnection | 'open') => void;
  readonly reject: (failure: HopFailure) => void;
}

/**
 * Lends connections. The borrower gives each back exactly once. Connections of the same way (any text that names host,
 * address and security) are interchangeable; at the limit, the longest idle one makes room.
 */
export class ConnectionPool {
  readonly #limits: PoolLimits;
  /** The open ones, with their ways. */
  readonly #open = new Map<SmtpConnection, string>();
  /** The most recently used last: the first ones may grow old and close. */
  readonly #idle = new Set<SmtpConnection>();
  /** The idle ones of each way, the most recently used last. Ways without any have no entry. */
  readonly #idleByWay = new Map<string, SmtpConnection[]>();
  /** See {@link ConnectionPool.lend}. */
  #lent: SmtpConnection | null = null;
  /** Those being closed, which still take up room. */
  readonly #ending = new Set<SmtpConnection>();
  readonly #waiters: Waiter[] = [];
  #opening = 0;
  readonly #closed = Promise.withResolvers<void>();
  #closing = false;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  /** An idle connection that looks alive, if there is one. */
  takeIdle(way: string): SmtpConnection | null {
    for (;;) {
      const connection = this.#idleByWay.get(way)?.at(-1);
      if (!connection) return null;
      this.#forget(connection);
      connection.user = null;
      if (connection.usable) return connection;
    }
  }

  /**
   * While `use` runs, lets another transaction begin behind this connection's user, which has sent everything and waits
   * for the last reply. Does not run `use` if nobody could begin: there is room for a separate connection, or this one
   * will soon close. Only while it runs: then the follower's commands leave together with the message, the hop answers
   * both together, and neither side delays an answer for want of an acknowledgement (RFC 896).
   */
  lend(connection: SmtpConnection, use: () => void): void {
    const { maxConnections, maxTransactions } = this.#limits;
    if (this.#closing || connection.transactions >= maxTransactions || this.#used() < maxConnections) return;
    this.#lent = connection;
    try {
      use();
    } finally {
      this.#lent = null;
    }
  }

  /** The place behind a connection's user, if one is offered. */
  takeLent(way: string): readonly [SmtpConnection, Behind] | null {
    const lent = this.#lent;
    if (lent === null || this.#open.get(lent) !== way) return null;
    this.#lent = null;
    return [lent, new Behind(lent)];
  }

  /**
   * A connection just opened by `open` or, at the limit, the next of its way to be given back. Throws what `open`
   * throws, and `HopFailure` when `signal` aborts.
   */
  async takeFresh(
    way: string,
    open: () => Promise<SmtpConnection>,
    signal: AbortSignal,
  ): Promise<SmtpConnection> {
    if (this.#used() >= this.#limits.maxConnections) {
      const slot = await this.#wait(way, signal);
      if (slot !== 'open') return slot;
    } else {
      this.#opening++;
    }
    try {
      const connection = await open();
      this.#adopt(connection, way);
      return connection;
    } finally {
      this.#opening--;
      this.#roomMade();
    }
  }

  /** Takes a connection back after a transaction. */
  giveBack(connection: SmtpConnection, session: SessionState | 'spent'): void {
    const { next } = connection;
    if (next !== null && session === 'clean' && connection.usable) {
      next.follow();
      return;
    }
    connection.next = null;
    const worn = session === 'spent' || connection.transactions >= this.#limits.maxTransactions;
    // With a follower, the peer may expect content by now, and would take QUIT or RSET for that.
    if (session === 'close' || next !== null || !connection.usable) this.#end(connection, 'destroy');
    else if (worn || this.#closing) this.#end(connection, 'quit');
    else if (session === 'reset') this.#reset(connection);
    else this.#rest(connection);
    next?.lost(lostReply(connection.host, null));
  }

  /** Closes idle connections now and others when they are given back. Resolves when all are closed. */
  close(): Promise<void> {
    this.#closing = true;
    for (const connection of [...this.#idle]) this.#retire(connection);
    this.#roomMade();
    return this.#closed.promise;
  }

  #used(): number {
    return this.#open.size + this.#opening;
  }

  #adopt(connection: SmtpConnection, way: string): void {
    this.#open.set(connection, way);
    void connection.closed.then(() => {
      this.#open.delete(connection);
      this.#ending.delete(connection);
      this.#roomMade();
    });
  }

  #end(connection: SmtpConnection, how: 'quit' | 'destroy'): void {
    if (this.#open.has(connection)) this.#ending.add(connection);
    connection[how]();
  }

  #reset(connection: SmtpConnection): void {
    connection.user = {
      reply: (reply) => this.giveBack(connection, reply.code < 300 ? 'clean' : 'close'),
      lost: () => {},
    };
    connection.expect('rset');
    connection.write(RSET);
  }

  #rest(connection: SmtpConnection): void {
    // From here on, an unsolicited reply makes the session unusable, and answers nobody.
    connection.user = null;
    const way = this.#open.get(connection) ?? '';
    const next = this.#waiters.findIndex((waiter) => waiter.way === way);
    if (next >= 0) {
      this.#waiters.splice(next, 1)[0]?.resolve(connection);
      return;
    }
    this.#idle.add(connection);
    const others = this.#idleByWay.get(way);
    if (others) others.push(connection);
    else this.#idleByWay.set(way, [connection]);
    connection.expect('idle');
    connection.user = {
      // Unsolicited, whatever it is (most likely a 421): this session is over.
      reply: () => {
        this.#forget(connection);
        this.#end(connection, 'destroy');
      },
      lost: () => this.#forget(connection),
    };
    this.#makeRoom();
  }

  #forget(idle: SmtpConnection): void {
    if (!this.#idle.delete(idle)) return;
    const way = this.#open.get(idle) ?? '';
    const others = this.#idleByWay.get(way) ?? [];
    others.splice(others.lastIndexOf(idle), 1);
    if (others.length === 0) this.#idleByWay.delete(way);
  }

  #retire(idle: SmtpConnection): void {
    this.#forget(idle);
    this.#end(idle, 'quit');
  }

  #wait(way: string, signal: AbortSignal): Promise<SmtpConnection | 'open'> {
    const { promise, resolve, reject } = Promise.withResolvers<SmtpConnection | 'open'>();
    const waiter = { way, resolve, reject };
    this.#waiters.push(waiter);
    const abort = () => {
      const at = this.#waiters.indexOf(waiter);
      if (at >= 0) this.#waiters.splice(at, 1);
      reject(new HopFailure(ABORTED));
    };
    signal.addEventListener('abort', abort);
    this.#makeRoom();
    return promise.finally(() => signal.removeEventListener('abort', abort));
  }

  /** Closes as many idle connections as there are waiters, as far as possible. */
  #makeRoom(): void {
    for (const connection of this.#idle) {
      if (this.#ending.size >= this.#waiters.length) return;
      this.#retire(connection);
    }
  }

  /** Lets the next waiter open a connection, now that there is one fewer. */
  #roomMade(): void {
    while (this.#waiters.length > 0 && this.#used() < this.#limits.maxConnections) {
      this.#opening++;
      this.#waiters.shift()?.resolve('open');
    }
    if (this.#closing && this.#used() === 0) this.#closed.resolve();
  }
}
