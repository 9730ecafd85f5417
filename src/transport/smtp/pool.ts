/** The connections of one relay: opened when needed, reused while they are good, never more than allowed. */
import { RSET } from '../../smtp/command.ts';
import type { SessionState } from '../../smtp/sender.ts';
import type { SmtpConnection } from './connection.ts';
import { ABORTED, HopFailure } from './failure.ts';
import { type OpenTarget, openSession } from './open.ts';
import type { Trace } from './trace.ts';

/** What a pool may use. */
export interface PoolLimits {
  /** Connections at once, idle ones and those being opened too. */
  readonly maxConnections: number;
  /** Transactions over one connection before it is closed. */
  readonly maxTransactions: number;
}

interface Waiter {
  readonly resolve: (slot: SmtpConnection | 'open') => void;
  readonly reject: (failure: HopFailure) => void;
}

/** Lends connections. A borrowed one is given back exactly once. */
export class ConnectionPool {
  readonly #target: OpenTarget;
  readonly #limits: PoolLimits;
  readonly #open = new Set<SmtpConnection>();
  /** The latest used last: those first in line may grow old and close. */
  readonly #idle: SmtpConnection[] = [];
  readonly #waiters: Waiter[] = [];
  #opening = 0;
  readonly #closed = Promise.withResolvers<void>();
  #closing = false;

  constructor(target: OpenTarget, limits: PoolLimits) {
    this.#target = target;
    this.#limits = limits;
  }

  /** Connections open now. */
  get size(): number {
    return this.#open.size;
  }

  /** An idle connection, if there is one that looks alive. */
  takeIdle(): SmtpConnection | null {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      connection.user = null;
      if (connection.usable) return connection;
    }
    return null;
  }

  /**
   * A connection that was just opened, or, when there is no room for one more, the next to be given back.
   * Throws `HopFailure`.
   */
  async takeFresh(trace: Trace, signal: AbortSignal): Promise<SmtpConnection> {
    if (this.#used() >= this.#limits.maxConnections) {
      const slot = await this.#wait(signal);
      if (slot !== 'open') return slot;
    } else {
      this.#opening++;
    }
    try {
      const connection = await openSession(this.#target, trace, signal);
      this.#adopt(connection);
      return connection;
    } finally {
      this.#opening--;
      this.#roomMade();
    }
  }

  /** Takes a connection back after a transaction. */
  giveBack(connection: SmtpConnection, session: SessionState): void {
    const worn = connection.transactions >= this.#limits.maxTransactions;
    if (session === 'close' || !connection.usable) connection.destroy();
    else if (worn || this.#closing) connection.quit();
    else if (session === 'reset') this.#reset(connection);
    else this.#rest(connection);
  }

  /** Closes idle connections now and others when they are given back; resolves when all are closed. */
  close(): Promise<void> {
    this.#closing = true;
    for (const connection of this.#idle.splice(0)) connection.quit();
    this.#roomMade();
    return this.#closed.promise;
  }

  #used(): number {
    return this.#open.size + this.#opening;
  }

  #adopt(connection: SmtpConnection): void {
    this.#open.add(connection);
    void connection.closed.then(() => {
      this.#open.delete(connection);
      this.#roomMade();
    });
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
    // From here on a reply nobody asked for puts the session out of step, and is no one's answer.
    connection.user = null;
    const waiter = this.#waiters.shift();
    if (waiter) {
      waiter.resolve(connection);
      return;
    }
    this.#idle.push(connection);
    connection.expect('idle');
    connection.user = {
      // Nothing was asked: whatever it is (a 421, most likely), this session is over.
      reply: () => {
        this.#forget(connection);
        connection.destroy();
      },
      lost: () => this.#forget(connection),
    };
  }

  #forget(idle: SmtpConnection): void {
    const at = this.#idle.indexOf(idle);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  #wait(signal: AbortSignal): Promise<SmtpConnection | 'open'> {
    const { promise, resolve, reject } = Promise.withResolvers<SmtpConnection | 'open'>();
    const waiter = { resolve, reject };
    this.#waiters.push(waiter);
    const abort = () => {
      const at = this.#waiters.indexOf(waiter);
      if (at >= 0) this.#waiters.splice(at, 1);
      reject(new HopFailure(ABORTED));
    };
    signal.addEventListener('abort', abort);
    return promise.finally(() => signal.removeEventListener('abort', abort));
  }

  /** Lets the next in line open a connection, when one fewer is there. */
  #roomMade(): void {
    while (this.#waiters.length > 0 && this.#used() < this.#limits.maxConnections) {
      this.#opening++;
      this.#waiters.shift()?.resolve('open');
    }
    if (this.#closing && this.#used() === 0) this.#closed.resolve();
  }
}
