/** One mail transaction over an open session. */
import type { Outcome, Reply } from '../../domain/outcome.ts';
import type { Clock } from '../../lib/clock.ts';
import { DataFramer } from '../../smtp/data.ts';
import type { SmtpReply } from '../../smtp/reply.ts';
import { Sender, type SenderAction, type SessionState } from '../../smtp/sender.ts';
import type { TransportContent, TransportJob } from '../transport.ts';
import type { ConnectionUser, SmtpConnection } from './connection.ts';
import { ABORTED, LEASE_LOST, lostReply } from './failure.ts';
import type { Trace } from './trace.ts';

/**
 * Contents up to this size cost little in vain: DATA does not wait for the gate, only the content does, and leaves
 * in one write with the final dot. For larger ones DATA waits, so that the peer gets nothing of what is refused.
 */
const WHOLE_WRITE_BYTES = 64 * 1024;
/** What counts as progress when a large content is written: the time-out is for each block. */
const BLOCK_BYTES = 64 * 1024;

/** What a transaction came to. */
export interface TransactionEnd {
  readonly outcomes: readonly Outcome[];
  readonly hopFailed: boolean;
  readonly session: SessionState;
  /** The connection was dead, or closing, before anything was said to this message. */
  readonly stillborn: boolean;
}

/** Runs a transaction to its end. Rejects only when the contents cannot be read; the connection is then gone. */
export function transact(
  connection: SmtpConnection,
  job: TransportJob,
  trace: Trace,
  clock: Clock,
  signal: AbortSignal,
): Promise<TransactionEnd> {
  return new Promise((resolve, reject) => {
    new Transaction(connection, job, trace, clock, signal, resolve, reject).start();
  });
}

class Transaction implements ConnectionUser {
  readonly #connection: SmtpConnection;
  readonly #job: TransportJob;
  readonly #trace: Trace;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #sender: Sender;
  readonly #resolve: (end: TransactionEnd) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onAbort = (): void => this.#breakOff(ABORTED);
  readonly #onRefused = (): void => this.#withdraw();
  #answered = false;
  #ended = false;
  #contentAt = 0;

  constructor(
    connection: SmtpConnection,
    job: TransportJob,
    trace: Trace,
    clock: Clock,
    signal: AbortSignal,
    resolve: (end: TransactionEnd) => void,
    reject: (error: unknown) => void,
  ) {
    const { envelope, content } = job;
    this.#connection = connection;
    this.#job = job;
    this.#trace = trace;
    this.#clock = clock;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#sender = new Sender(
      {
        ...{ envelope, sizeBytes: content.sizeBytes, flags: content.flags },
        holdsData: content.sizeBytes > WHOLE_WRITE_BYTES,
      },
      connection.capabilities,
    );
  }

  start(): void {
    this.#connection.user = this;
    this.#connection.transactions++;
    this.#signal.addEventListener('abort', this.#onAbort);
    this.#job.refused.addEventListener('abort', this.#onRefused);
    if (this.#signal.aborted) this.#breakOff(ABORTED);
    else if (this.#job.refused.aborted) this.#endUnsaid();
    // It may have died while it was nobody's.
    else if (!this.#connection.usable) this.lost(lostReply(this.#trace.host, null));
    else this.#act(this.#sender.begin());
  }

  reply(reply: SmtpReply): void {
    this.#trace.replied(STEP_NAME[this.#sender.awaiting], reply);
    // A server that closes idle connections may have said so just before it heard of this message.
    if (reply.code !== 421) this.#answered = true;
    this.#act(this.#sender.receive(reply));
  }

  lost(reason: Reply): void {
    this.#sender.lost(reason);
    this.#end('close');
  }

  #act(action: SenderAction): void {
    switch (action.kind) {
      case 'send':
        this.#connection.expect(this.#sender.awaiting);
        this.#connection.write(action.text);
        return;
      case 'wait':
        this.#connection.expect(this.#sender.awaiting);
        return;
      case 'held':
        this.#askGate().catch((error: unknown) => this.#fail(error));
        return;
      case 'content':
        this.#contentAt = this.#clock.mono();
        this.#sendContent(this.#job.content).catch((error: unknown) => this.#fail(error));
        return;
      case 'end':
        this.#end(action.session);
    }
  }

  /** Before DATA: what is refused here leaves the session as good as it was. */
  async #askGate(): Promise<void> {
    this.#connection.calm();
    const open = await this.#job.gate();
    if (this.#ended) return;
    if (open) this.#act(this.#sender.permitted());
    else this.#withdraw();
  }

  async #sendContent(content: TransportContent): Promise<void> {
    const framer = new DataFramer(content.flags.dotStuffing);
    const whole = content.sizeBytes <= WHOLE_WRITE_BYTES;
    // Our own reading and the gate take their time at no cost of the peer's.
    this.#connection.calm();
    const pieces = whole ? await collect(content, framer) : await this.#stream(content, framer);
    if (this.#ended) return;
    const open = await this.#job.gate();
    if (this.#ended) return;
    if (!open) return this.#breakOff(LEASE_LOST);
    if (!this.#connection.usable) return;
    this.#sender.dotSent();
    this.#connection.expect('dot');
    this.#connection.writeWhole(pieces, framer.end());
  }

  /** Writes the content as fast as the peer takes it. Nothing is left to be written with the end. */
  async #stream(content: TransportContent, framer: DataFramer): Promise<Uint8Array[]> {
    for await (const chunk of content.chunks()) {
      const framed = framer.push(chunk);
      for (let at = 0; at < framed.length && !this.#ended; at += BLOCK_BYTES) {
        this.#connection.expect('content');
        if (!this.#connection.write(framed.subarray(at, at + BLOCK_BYTES))) await this.#connection.drained();
      }
      if (this.#ended) break;
      this.#connection.calm();
    }
    return [];
  }

  /** It will never be permitted. Once the content is wanted only the gate itself can end it. */
  #withdraw(): void {
    const { awaiting } = this.#sender;
    if (this.#ended || awaiting === 'content' || awaiting === 'dot') return;
    const action = this.#sender.withdraw(LEASE_LOST);
    if (action.kind === 'end') this.#act(action);
  }

  /** Refused before anything was said to the peer. */
  #endUnsaid(): void {
    this.#sender.lost(LEASE_LOST);
    this.#end('clean');
  }

  /** Ends it from our side. The connection goes with it, so that what was begun can never be completed. */
  #breakOff(reason: Reply): void {
    this.#connection.destroy();
    this.#sender.lost(reason);
    this.#end('close');
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    this.#connection.destroy();
    this.#detach();
    this.#reject(error);
  }

  #end(session: SessionState): void {
    if (this.#ended) return;
    this.#detach();
    if (this.#contentAt > 0) this.#trace.transferMs = Math.round(this.#clock.mono() - this.#contentAt);
    const stillborn = session === 'close' && !this.#answered && !this.#signal.aborted;
    // A peer that goes away in the middle may be choking on this very message; one that does so before it has
    // heard of it is ill.
    const hopFailed = this.#sender.hopFailed || stillborn;
    this.#resolve({ outcomes: this.#sender.outcomes(), hopFailed, session, stillborn });
  }

  #detach(): void {
    this.#ended = true;
    this.#connection.user = null;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#job.refused.removeEventListener('abort', this.#onRefused);
  }
}

const STEP_NAME = { mail: 'MAIL', rcpt: 'RCPT', data: 'DATA', content: 'CONTENT', dot: 'DOT' } as const;

/** A content small enough to be held, framed. */
async function collect(content: TransportContent, framer: DataFramer): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of content.chunks()) pieces.push(framer.push(chunk));
  return pieces;
}
