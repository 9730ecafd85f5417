/** One mail transaction over an open session. */
import type { Outcome, Reply } from '../../domain/outcome.ts';
import type { Release } from '../../lib/budget.ts';
import type { Clock } from '../../lib/clock.ts';
import type { StopSignal } from '../../lib/stop.ts';
import type { SmtpReply } from '../../smtp/reply.ts';
import { Sender, type SenderAction, type SessionState } from '../../smtp/sender.ts';
import type { TransportContent, TransportJob } from '../transport.ts';
import type { Behind, Follower } from './behind.ts';
import type { SmtpConnection } from './connection.ts';
import { type ContentEnd, type ContentSender, WHOLE_WRITE_BYTES, writeContent } from './content-writer.ts';
import { ABORTED, LEASE_LOST, lostReply } from './failure.ts';
import type { Fitted, HopForms } from './hop-forms.ts';
import type { Trace } from './trace.ts';

/** How a transaction ended. */
export interface TransactionEnd {
  readonly outcomes: readonly Outcome[];
  readonly hopFailed: boolean;
  /** `spent`: in step, but no longer useful. */
  readonly session: SessionState | 'spent';
  /** The connection was dead, closing or spent before this message was mentioned. */
  readonly stillborn: boolean;
}

export interface TransactionSettings {
  readonly clock: Clock;
  /** Converts contents into a form that the hop accepts. */
  readonly forms: HopForms;
  /** Takes the connection back, once, before the end is reported. */
  readonly giveBack: (session: TransactionEnd['session']) => void;
  /** The connection is another's, which waits for the last reply; null: it is this transaction's own. */
  readonly behind: Behind | null;
  /** Lets another transaction begin behind this one, which has sent everything, where that is useful. */
  readonly lend: (sent: () => void) => void;
}

/**
 * Runs a transaction to its end. Throws, or rejects, only when the content cannot be read, and closes the connection.
 */
export function transact(
  connection: SmtpConnection,
  job: TransportJob,
  trace: Trace,
  settings: TransactionSettings,
  signal: StopSignal,
): Promise<TransactionEnd> {
  // Our own work must not count against the peer.
  if (settings.behind === null) connection.calm();
  const run = (fitted: Fitted) => runFitted(connection, job, trace, settings, signal, fitted);
  const fail = (error: unknown): never => {
    settings.giveBack('close');
    throw error;
  };
  let fitted: Fitted | Promise<Fitted>;
  try {
    fitted = settings.forms.fit(job.content, job.envelope, connection.capabilities);
  } catch (error) {
    return fail(error);
  }
  return fitted instanceof Promise ? fitted.then(run, fail) : run(fitted);
}

function runFitted(
  connection: SmtpConnection,
  job: TransportJob,
  trace: Trace,
  settings: TransactionSettings,
  signal: StopSignal,
  fitted: Fitted,
): Promise<TransactionEnd> {
  if (!fitted.ok) {
    settings.giveBack('clean');
    const outcomes = job.envelope.recipients.map(() => fitted.outcome);
    return Promise.resolve({ outcomes, hopFailed: false, session: 'clean', stillborn: false });
  }
  const { content, release } = fitted;
  return new Promise((resolve, reject) => {
    const told = { resolve, reject, release };
    new Transaction(connection, job, content, trace, settings, signal, told).start();
  });
}

/** Receives the end. */
interface Told {
  readonly resolve: (end: TransactionEnd) => void;
  readonly reject: (error: unknown) => void;
  readonly release: Release;
}

class Transaction implements Follower, ContentSender {
  readonly #connection: SmtpConnection;
  readonly #job: TransportJob;
  readonly #content: TransportContent;
  readonly #trace: Trace;
  readonly #settings: TransactionSettings;
  readonly #signal: StopSignal;
  readonly #chunking: boolean;
  readonly #sender: Sender;
  readonly #told: Told;
  readonly #onAbort = (): void => this.#breakOff(ABORTED);
  readonly #onRefused = (): void => this.#withdraw();
  #answered = false;
  #spent = false;
  #ended = false;
  /** Called when every chunk is answered. */
  #onChunked: (() => void) | null = null;
  #begunAt = 0;
  #envelopeAt = 0;
  #contentBegun = false;
  #dotAt: number | null = null;

  constructor(
    connection: SmtpConnection,
    job: TransportJob,
    content: TransportContent,
    trace: Trace,
    settings: TransactionSettings,
    signal: StopSignal,
    told: Told,
  ) {
    this.#connection = connection;
    this.#job = job;
    this.#content = content;
    this.#trace = trace;
    this.#settings = settings;
    this.#signal = signal;
    this.#told = told;
    this.#chunking = connection.capabilities.chunking && !settings.forms.refusesChunks(connection.host);
    this.#sender = new Sender(planOf(job, content, this.#chunking), connection.capabilities);
  }

  get ended(): boolean {
    return this.#ended;
  }

  start(): void {
    const { behind } = this.#settings;
    if (this.#isBehind) behind?.begin(this);
    else this.#connection.user = this;
    this.#connection.transactions++;
    this.#signal.addEventListener('abort', this.#onAbort);
    this.#job.refused.addEventListener('abort', this.#onRefused);
    this.#begunAt = this.#settings.clock.mono();
    this.#envelopeAt = this.#begunAt;
    if (this.#signal.aborted) this.#breakOff(ABORTED);
    else if (this.#job.refused.aborted) this.#endUnsaid();
    // It may have died while it had no user.
    else if (!this.#connection.usable) this.lost(lostReply(this.#connection.host, null));
    else this.#act(this.#sender.begin());
  }

  /** The connection is this transaction's own now. */
  follow(): void {
    this.#begunAt = this.#settings.clock.mono();
    this.#envelopeAt = this.#begunAt;
    this.#connection.expect(this.#sender.awaiting);
  }

  reply(raw: SmtpReply): void {
    const reply = this.#connection.conceal(raw);
    const { awaiting } = this.#sender;
    this.#trace.replied(this.#stepName(), reply);
    if (awaiting === 'mail' || awaiting === 'rcpt') {
      this.#envelopeAt = this.#settings.clock.mono();
      this.#trace.mailMs = Math.round(this.#envelopeAt - this.#begunAt);
    }
    // Some servers limit the messages of a session, and say so at the next MAIL. 4.3.1 means a lack of storage.
    const saysSpent = reply.code === 452 && reply.enhanced !== '4.3.1';
    if (awaiting === 'mail' && saysSpent && this.#connection.transactions > 1) this.#spent = true;
    // A server that closes idle connections may have sent it just before this message began.
    if (reply.code !== 421) this.#answered = true;
    this.#act(this.#sender.receive(reply));
  }

  lost(reason: Reply): void {
    this.#sender.lost(reason);
    this.#end('close');
  }

  contentBegun(): void {
    this.#sender.contentBegun();
  }

  /** With PIPELINING the next chunk need not wait for the answer (RFC 3030 §4.2). */
  async chunkSent(): Promise<void> {
    this.#sender.chunkSent();
    this.#connection.expect('content');
    if (!this.#connection.capabilities.pipelining) await this.#chunked();
  }

  #act(action: SenderAction): void {
    switch (action.kind) {
      case 'send':
        if (this.#isBehind) this.#settings.behind?.write();
        else this.#connection.expect(this.#sender.awaiting);
        this.#connection.write(action.text);
        return;
      case 'wait':
        this.#connection.expect(this.#sender.awaiting);
        return;
      case 'held':
        this.#connection.calm();
        this.#asked(this.#job.gate('content'), (isOpen) =>
          isOpen ? this.#act(this.#sender.permitted()) : this.#withdraw(),
        );
        return;
      case 'content':
        this.#contentBegun = true;
        this.#sendContent();
        return;
      case 'chunked':
        this.#onChunked?.();
        return;
      case 'end':
        this.#end(action.session);
    }
  }

  /** Continues with the gate's answer: before DATA, where a refusal leaves the session intact; and before the end. */
  #asked(open: boolean | Promise<boolean>, then: (isOpen: boolean) => void): void {
    const goOn = (isOpen: boolean) => {
      if (!this.#ended) then(isOpen);
    };
    if (open instanceof Promise) open.then(goOn).catch((error: unknown) => this.#fail(error));
    else goOn(open);
  }

  #sendContent(): void {
    let last: ContentEnd | Promise<ContentEnd>;
    try {
      last = writeContent(this.#content, this.#chunking, this.#connection, this);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (!(last instanceof Promise)) {
      this.#askToEnd(last);
      return;
    }
    last
      .then(async (end) => {
        // A message with a refused part must not be completed.
        if (!this.#ended) await this.#chunked();
        if (!this.#ended) this.#askToEnd(end);
      })
      .catch((error: unknown) => this.#fail(error));
  }

  /** Everything is sent but the part that makes the peer accept the message. */
  #askToEnd(last: ContentEnd): void {
    this.#connection.calm();
    this.#asked(this.#job.gate(), (isOpen) => (isOpen ? this.#sendEnd(last) : this.#refuseContent()));
  }

  #sendEnd({ pieces, end }: ContentEnd): void {
    if (!this.#connection.usable) return;
    this.#dotAt = this.#settings.clock.mono();
    this.#trace.transferMs = Math.round(this.#dotAt - this.#envelopeAt);
    this.#sender.dotSent();
    this.#connection.expect('dot');
    this.#connection.inOneGo(() => {
      this.#connection.writeWhole(pieces, end);
      if (this.#job.sent !== undefined) this.#settings.lend(this.#job.sent);
    });
  }

  /** Resolves when every chunk sent is answered with 2xx, or the transaction has ended. */
  #chunked(): Promise<void> {
    if (this.#sender.unansweredChunks === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onChunked = resolve;
    });
  }

  /** The peer waits for content that may not be sent. */
  #refuseContent(): void {
    const action = this.#sender.withdraw(LEASE_LOST);
    if (action.kind === 'end') this.#act(action);
    else this.#breakOff(LEASE_LOST);
  }

  /** The gate will never open. Once the peer waits for content, only the gate itself can end this. */
  #withdraw(): void {
    const { awaiting } = this.#sender;
    if (this.#ended || awaiting === 'content' || awaiting === 'dot') return;
    const action = this.#sender.withdraw(LEASE_LOST);
    if (action.kind === 'end') this.#act(action);
  }

  /** Refused before the message was mentioned to the peer. */
  #endUnsaid(): void {
    this.#sender.lost(LEASE_LOST);
    this.#end('clean');
  }

  /** Ends it from our side. The connection is closed too, so that nothing begun can ever be completed. */
  #breakOff(reason: Reply): void {
    // The message in front may have been accepted: its answer is awaited.
    if (!this.#isBehind) this.#connection.destroy();
    this.#sender.lost(reason);
    this.#end('close');
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    if (!this.#isBehind) this.#connection.destroy();
    this.#detach('close');
    this.#told.reject(error);
  }

  #end(session: SessionState): void {
    if (this.#ended) return;
    const left = this.#spent && session !== 'close' ? 'spent' : session;
    const now = this.#settings.clock.mono();
    if (this.#dotAt !== null) this.#trace.replyMs = Math.round(now - this.#dotAt);
    else if (this.#contentBegun) this.#trace.transferMs = Math.round(now - this.#envelopeAt);
    if (this.#sender.chunkingRefused) this.#settings.forms.chunksRefused(this.#connection.host);
    const unheard = session === 'close' && !this.#answered && !this.#signal.aborted;
    // A peer that disappears in mid-message may choke on it; one that does so before hearing of it has failed.
    const hopFailed = this.#sender.hopFailed || unheard;
    this.#detach(left);
    this.#told.resolve({
      outcomes: this.#sender.outcomes(),
      hopFailed,
      session: left,
      stillborn: unheard || this.#spent,
    });
  }

  #detach(session: TransactionEnd['session']): void {
    this.#ended = true;
    this.#onChunked?.();
    if (!this.#isBehind) this.#connection.user = null;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#job.refused.removeEventListener('abort', this.#onRefused);
    this.#told.release();
    this.#settings.giveBack(session);
  }

  /** The connection is another's, or was when it was lost. */
  get #isBehind(): boolean {
    return this.#settings.behind?.isOwn === false;
  }

  /** The name of the step that the current reply answers. */
  #stepName(): string {
    const { awaiting } = this.#sender;
    const isContent = awaiting === 'content' || awaiting === 'dot';
    return this.#chunking && isContent ? 'BDAT' : STEP_NAME[awaiting];
  }
}

const STEP_NAME = { mail: 'MAIL', rcpt: 'RCPT', data: 'DATA', content: 'CONTENT', dot: 'DOT' } as const;

function planOf({ envelope, tls }: TransportJob, content: TransportContent, chunking: boolean) {
  const { sizeBytes, flags } = content;
  const requireTls = tls === 'required';
  return { envelope, sizeBytes, flags, requireTls, chunking, holdsData: sizeBytes > WHOLE_WRITE_BYTES };
}
