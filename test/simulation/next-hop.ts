import { NO_EVIDENCE } from '../../src/domain/attempt.ts';
import type { Outcome, Reply } from '../../src/domain/outcome.ts';
import type { Random } from '../../src/lib/random.ts';
import { abortSignalOf, type StopSignal } from '../../src/lib/stop.ts';
import { Opening, type OpeningVerb } from '../../src/smtp/opening.ts';
import type { SmtpReply } from '../../src/smtp/reply.ts';
import { Sender, type SenderAction } from '../../src/smtp/sender.ts';
import type { SenderVerb } from '../../src/smtp/verdict.ts';
import { TIMEOUTS } from '../../src/transport/smtp/deadline.ts';
import {
  ABORTED,
  connectFailure,
  HopFailure,
  LEASE_LOST,
  lostReply,
  openingFailure,
  timeoutReply,
} from '../../src/transport/smtp/failure.ts';
import type { ProbeResult, Transport, TransportJob, TransportResult } from '../../src/transport/transport.ts';
import { HEALTHY, type HopFaults, HopSession } from './hop-session.ts';
import type { Ledger } from './ledger.ts';
import type { Copy } from './receivers.ts';
import { checkMail, promisesTls, requiresTls } from './requiretls.ts';
import type { Kind } from './seen.ts';
import { InvariantBroken } from './statuses.ts';
import type { NodeLife, VirtualTime } from './virtual-clock.ts';

const HOST = 'hop.example';
const PORT = 25;
/** The field in which a recipient's own copy names the recipient. */
export const COPY_FOR = 'Copy-For';
const COPY_LINE = new RegExp(`^${COPY_FOR}: (\\S+)\r\n`);
/** Contents above some size are not begun before the gate is open: here, of so many messages one. */
const HELD_SHARE = 0.2;

/** Who counts what the world is given and takes. */
export interface HopWatch {
  /** A conversation begins; the function given ends it. */
  began(relay: string, life: NodeLife, job: TransportJob): () => void;
  /** The message was taken for so many recipients. */
  took(relay: string, job: TransportJob, recipients: number): void;
}

/** Who writes down what becomes of messages, whatever their senders make of it. */
export type HopBooks = Pick<Ledger, 'given' | 'refused' | 'doubtful' | 'nowhere' | 'unsigned'>;

const NO_BOOKS: HopBooks = {
  given: () => {},
  refused: () => {},
  doubtful: () => {},
  nowhere: () => {},
  unsigned: () => {},
};

/** What one session came to. */
export interface SessionEnd {
  readonly outcomes: readonly Outcome[];
  readonly hopFailed: boolean;
}

/**
 * The mail world behind the relays: takes messages, remembers every one it took, and misbehaves by the dice. The client's
 * side of each session is the real one, down to the commands; there are no sockets.
 */
export class NextHop {
  /** Of every relay that has none of its own. */
  faults: HopFaults = HEALTHY;
  /** Of single relays, by name. */
  readonly faultsOf = new Map<string, HopFaults>();
  /** `token recipient` → how often the world took responsibility for it. */
  readonly taken = new Map<string, number>();
  /** Names that were taken since this was last emptied. */
  readonly takenNow: string[] = [];
  /** Told of what happens. */
  note: (kind: Kind) => void = () => {};
  /** What hops answer to a recipient whatever else they do; null: nothing. */
  refusal: (recipient: string) => SmtpReply | null = () => null;
  /** Told of each copy that the world takes. */
  onTaken: (copy: Copy) => void = () => {};
  #queued = 0;
  watch: HopWatch = { began: () => () => {}, took: () => {} };
  books: HopBooks = NO_BOOKS;
  readonly #time: VirtualTime;
  readonly #dice: Random;

  constructor(time: VirtualTime, dice: Random) {
    this.#time = time;
    this.#dice = dice;
  }

  /** The world as one node sees it through a relay: what the node does stops when the node does. */
  transportOf(life: NodeLife, relay = 'out'): Transport {
    return {
      deliver: (job, stop) =>
        this.conversing(relay, life, job, (told) => this.#deliver(life, relay, told, abortSignalOf(stop))),
      probe: (signal) => this.#probe(life, relay, signal),
      connections: () => 0,
      close: async () => {},
    };
  }

  /** Counts `work` as one conversation of a relay, until all is sent: from then on another may take its place. */
  async conversing<T>(
    relay: string,
    life: NodeLife,
    job: TransportJob,
    work: (job: TransportJob) => Promise<T>,
  ): Promise<T> {
    const ended = this.watch.began(relay, life, job);
    let isCounted = true;
    const end = () => {
      if (isCounted) ended();
      isCounted = false;
    };
    const sent = () => {
      end();
      job.sent?.();
    };
    try {
      return await work({ ...job, sent });
    } finally {
      end();
    }
  }

  /** One session about one message. Rejects with `HopFailure` where none comes about, as the real exchange does. */
  async session(life: NodeLife, relay: string, job: TransportJob, signal: AbortSignal): Promise<SessionEnd> {
    const takeLater = (ms: number, recipients: readonly string[]) => {
      const names = [...recipients];
      this.#time.after(ms, () => this.#take(relay, job, { token, relay, queueId }, names));
    };
    const queueId = `H${++this.#queued}`;
    const { refusal } = this;
    const begunAt = this.#time.now;
    const promised = promisesTls(relay, this.#queued);
    const all = job.envelope.recipients.map(({ address }) => address);
    const refused = (recipient: string | null) =>
      this.books.refused(known, recipient === null ? all : [recipient]);
    const parts = { ...this.#parts(relay), takeLater, refused, refusal, queueId, promisesTls: promised };
    const server = new HopSession(parts);
    const client = new Client(server, life, signal, this.note);
    const capabilities = await client.open(job.refused);
    const { token, bytes } = await contentOf(job);
    const known = { life, token, begunAt };
    client.onMail = (line) => checkMail(token, line, server.hasPromisedTls);
    client.onUnanswered = () => this.books.doubtful(known, server.recipients);
    client.onSent = () => this.books.given(known, server.recipients, bytes);
    if (requiresTls(token)) {
      this.note(server.hasPromisedTls ? 'TLS required, promised' : 'TLS required in vain');
      if (!server.hasPromisedTls) this.books.refused(known, all);
    }
    const holdsData = this.#dice.next() < HELD_SHARE;
    const { sizeBytes, flags } = job.content;
    const requireTls = job.tls === 'required';
    const plan = { envelope: job.envelope, sizeBytes, flags, requireTls, chunking: false, holdsData };
    return await client.send(job, new Sender(plan, capabilities));
  }

  async #deliver(
    life: NodeLife,
    relay: string,
    job: TransportJob,
    signal: AbortSignal,
  ): Promise<TransportResult> {
    try {
      return resultOf(await this.session(life, relay, job, signal));
    } catch (error) {
      if (!(error instanceof HopFailure)) throw error;
      const outcome: Outcome = { kind: 'deferred', reply: error.reply };
      const outcomes = job.envelope.recipients.map(() => outcome);
      return resultOf({ outcomes, hopFailed: !signal.aborted && !job.refused.aborted });
    }
  }

  async #probe(life: NodeLife, relay: string, signal: AbortSignal): Promise<ProbeResult> {
    const server = new HopSession({ ...this.#parts(relay), takeLater: () => {} });
    const client = new Client(server, life, signal, this.note);
    return await client.open(signal).then(
      () => ({ host: relay, trouble: null }),
      (error: unknown) => {
        if (!(error instanceof HopFailure)) throw error;
        return { host: relay, trouble: error.reply };
      },
    );
  }

  #parts(relay: string) {
    const faults = () => this.faultsOf.get(relay) ?? this.faults;
    return { faults, dice: this.#dice, note: (kind: Kind) => this.note(kind) };
  }

  #take(relay: string, job: TransportJob, copy: Omit<Copy, 'address'>, recipients: readonly string[]): void {
    this.watch.took(relay, job, recipients.length);
    for (const address of recipients) {
      const name = `${copy.token} ${address}`;
      this.taken.set(name, (this.taken.get(name) ?? 0) + 1);
      this.takenNow.push(name);
      this.onTaken({ ...copy, address });
    }
  }
}

/** What commands are called where they are answered. */
const VERBS: ReadonlyMap<string, SenderVerb> = new Map([
  ['MAIL', 'mail'],
  ['RCPT', 'rcpt'],
  ['DATA', 'data'],
]);

/** The client's side of one session: the real state machines, over a server without a socket. */
class Client {
  readonly #server: HopSession;
  readonly #life: NodeLife;
  readonly #signal: AbortSignal;
  readonly #note: (kind: Kind) => void;
  /** What the server was sent of the transaction, and has yet to answer, in order; of RCPT, for whom. */
  readonly #asked: { readonly verb: SenderVerb; readonly recipient: string | null }[] = [];
  #hasAnswered = false;
  /** All of the message: from then on the server may have it. */
  #isSent = false;
  /** Told of MAIL, without its line's end. */
  onMail: (line: string) => void = () => {};
  /** Everything is sent, and only the hop's answer is missing. */
  onSent: () => void = () => {};
  /** There will be no answer to it that the client could hear. */
  onUnanswered: () => void = () => {};

  constructor(server: HopSession, life: NodeLife, signal: AbortSignal, note: (kind: Kind) => void) {
    this.#server = server;
    this.#life = life;
    this.#signal = signal;
    this.#note = note;
  }

  /** Connects and says hello. Rejects with `HopFailure`, also when `refused` or the attempt's signal aborts. */
  async open(refused: StopSignal) {
    const stop = new AbortController();
    const abort = () => stop.abort();
    for (const signal of [refused, this.#signal]) {
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort);
    }
    try {
      return await this.#open(stop.signal);
    } finally {
      for (const signal of [refused, this.#signal]) signal.removeEventListener('abort', abort);
    }
  }

  async #open(stop: AbortSignal) {
    const { afterMs, kind } = this.#server.connect();
    await this.#life.sleep(Math.min(afterMs, TIMEOUTS.connect), stop);
    if (stop.aborted) throw new HopFailure(ABORTED);
    if (kind === 'ignored') throw new HopFailure(timeoutReply('connect', HOST, TIMEOUTS.connect));
    if (kind === 'refused')
      throw connectFailure(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), HOST, PORT);
    const opening = new Opening({
      hostname: 'relay.example',
      tls: 'none',
      credentials: null,
      peer: { host: 'next.example', port: 25 },
    });
    for (;;) {
      const reply = await this.#hear({ verb: opening.awaiting }, stop);
      if ('cause' in reply) throw new HopFailure(reply);
      const action = opening.receive(reply);
      if (action.kind === 'failed') throw openingFailure(action, HOST);
      if (action.kind === 'ready') return action.capabilities;
    }
  }

  /** Sends one message over the open session. */
  async send(job: TransportJob, sender: Sender): Promise<SessionEnd> {
    let action = this.#signal.aborted ? lost(sender, ABORTED) : sender.begin();
    while (action.kind !== 'end') {
      if (action.kind === 'send') this.#write(action.text);
      action = await this.#next(action, job, sender);
    }
    const isStillborn = action.session === 'close' && !this.#hasAnswered && !this.#signal.aborted;
    return { outcomes: sender.outcomes(), hopFailed: sender.hopFailed || isStillborn };
  }

  async #next(action: SenderAction, job: TransportJob, sender: Sender): Promise<SenderAction> {
    if (action.kind === 'held') {
      const isOpen = await this.#passes(job);
      if (this.#signal.aborted) return lost(sender, ABORTED);
      return isOpen ? sender.permitted() : sender.withdraw(LEASE_LOST);
    }
    if (action.kind === 'content') {
      if (!(await this.#passes(job))) return lost(sender, this.#signal.aborted ? ABORTED : LEASE_LOST);
      sender.dotSent();
      this.#asked.push({ verb: 'dot', recipient: null });
      this.#isSent = true;
      this.onSent();
      job.sent?.();
    }
    const { awaiting } = sender;
    if (job.refused.aborted && awaiting !== 'content' && awaiting !== 'dot') {
      const end = sender.withdraw(LEASE_LOST);
      if (end.kind === 'end') return end;
    }
    const reply = await this.#hear(this.#nextAsked(awaiting), this.#signal);
    if ('cause' in reply) {
      if (this.#isSent) this.onUnanswered();
      return lost(sender, reply);
    }
    if (reply.code !== 421) this.#hasAnswered = true;
    return sender.receive(reply);
  }

  /** As the real ones, it waits no longer than until it is told to stop: the gate may wait for a store that is away. */
  async #passes(job: TransportJob): Promise<boolean> {
    const stopped = Promise.withResolvers<false>();
    const stop = () => stopped.resolve(false);
    this.#signal.addEventListener('abort', stop);
    const isOpen = await Promise.race([job.gate(), stopped.promise]);
    this.#signal.removeEventListener('abort', stop);
    await this.#life.running();
    return isOpen && !this.#signal.aborted;
  }

  #write(text: string): void {
    for (const [line] of text.matchAll(/[^\r\n]+/g)) {
      const [, verb = '', address = null] = /^(MAIL|RCPT|DATA)\b(?: TO:<([^>]*)>)?/.exec(line) ?? [];
      if (verb === 'MAIL') this.onMail(line);
      const asked = VERBS.get(verb);
      if (asked === undefined) throw new InvariantBroken(`a hop is told ${line}`);
      this.#asked.push({ verb: asked, recipient: address });
    }
  }

  /** What the server answers next: it answers what it was sent, whatever the client waits for. */
  #nextAsked(awaiting: SenderVerb) {
    const next = this.#asked.shift();
    if (next?.verb !== awaiting)
      throw new InvariantBroken(`an answer to ${awaiting} is awaited, and the next is to ${next?.verb}`);
    return next;
  }

  /** The server's answer, or why there is none. */
  async #hear(
    {
      verb,
      recipient = null,
    }: { readonly verb: OpeningVerb | SenderVerb; readonly recipient?: string | null },
    stop: AbortSignal,
  ): Promise<SmtpReply | Reply> {
    const { afterMs, reply } = this.#server.answer(verb, recipient);
    const limit = TIMEOUTS[verb];
    await this.#life.sleep(Math.min(afterMs, limit), stop);
    if (stop.aborted) return ABORTED;
    if (afterMs <= limit) return reply ?? lostReply(HOST, null);
    this.#note('answer past its time-out');
    return timeoutReply(verb, HOST, limit);
  }
}

function lost(sender: Sender, reason: Reply): SenderAction {
  sender.lost(reason);
  return { kind: 'end', session: 'close' };
}

/**
 * What the hop got, and the token in it: simulated contents are their token, or have it in their Message-ID, as reports
 * have their id.
 */
async function contentOf(job: TransportJob): Promise<{ token: string; bytes: Uint8Array }> {
  const parts: Uint8Array[] = [];
  for await (const chunk of job.content.chunks()) parts.push(chunk);
  const bytes = Buffer.concat(parts);
  const text = bytes.toString('latin1');
  refuseForeignCopy(job, text);
  return { token: /^Message-ID: <([^@>]+)@/m.exec(text)?.[1] ?? text, bytes };
}

/** Throws where a copy goes to anybody but the recipient that it names. */
function refuseForeignCopy({ envelope }: TransportJob, text: string): void {
  const [, copyFor] = COPY_LINE.exec(text) ?? [];
  if (copyFor === undefined) return;
  const sentTo = envelope.recipients.map(({ address }) => address).join(' ');
  const copies = text.split(COPY_FOR).length - 1;
  if (sentTo !== copyFor || copies !== 1)
    throw new InvariantBroken(`${copies} copies, the first for ${copyFor}, were sent to ${sentTo}`);
}

/** As a transport tells it. */
export function resultOf({ outcomes, hopFailed }: SessionEnd): TransportResult {
  return { outcomes, evidence: NO_EVIDENCE, hopFailed, restMs: null };
}
