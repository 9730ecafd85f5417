/** The relays that use a provider's API, for every provider (`provider.ts`). */
import type { Outcome, Reply } from '../../domain/outcome.ts';
import { localReply } from '../../domain/outcome.ts';
import type { ProviderSettings, Relay } from '../../domain/relay.ts';
import type { Budget, Release } from '../../lib/budget.ts';
import type { Clock } from '../../lib/clock.ts';
import { inSlices, turnFor } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { StopSignal } from '../../lib/stop.ts';
import type { ProbeResult, TokenResult, Transport, TransportJob, TransportResult } from '../transport.ts';
import { type Call, callsOver } from './calls.ts';
import { Connections } from './connections.ts';
import { type Resolve, systemResolve } from './dial.ts';
import type { Exchanged } from './exchange.ts';
import { findingOf, formsOf, judge } from './judge.ts';
import {
  MEMORY_FACTOR,
  MEMORY_WAIT_MS,
  PROVIDER_TIMEOUTS,
  type ProviderTimeouts,
  steeringRefusal,
} from './limits.ts';
import type { Prepared, Provider, ProviderRequest } from './provider.ts';
import { Tokens } from './tokens.ts';
import { ProviderTrace } from './trace.ts';
import { ABORTED, LEASE_LOST } from './trouble.ts';

/** What the transport is made from. */
export interface ProviderTransportOptions {
  /** With `provider` set. */
  readonly relay: Relay;
  /** From the relay's settings (`provider-for.ts`). */
  readonly provider: Provider;
  readonly clock: Clock;
  readonly log: Log;
  /** Bytes of messages on their way to providers, shared by all such relays ({@link PROVIDER_MEMORY}). */
  readonly memory: Budget;
  /** Override {@link PROVIDER_TIMEOUTS}. */
  readonly timeouts?: Partial<ProviderTimeouts>;
  /** Overrides the system's resolver. */
  readonly resolve?: Resolve;
}

/** The result of an attempt, the same for every recipient except those refused. */
interface End {
  readonly outcome: Outcome;
  /** Recipients that the provider refused, in lower case, and the reply for them. */
  readonly refused?: { readonly addresses: ReadonlySet<string>; readonly outcome: Outcome };
  readonly hopFailed: boolean;
  readonly restMs: number | null;
  readonly unspoken?: true;
}

/** Makes the transport of a provider's relay. It connects only when there is mail to deliver. */
export function createProviderTransport(options: ProviderTransportOptions): Transport {
  const { provider: settings } = options.relay;
  if (!settings) throw new Error(`relay ${options.relay.name} has no provider`);
  return new ProviderTransport(options, settings);
}

class ProviderTransport implements Transport {
  readonly #options: ProviderTransportOptions;
  readonly #provider: Provider;
  readonly #settings: ProviderSettings;
  readonly #host: string;
  readonly #connections: Connections;
  readonly #call: Call;
  readonly #tokens: Tokens | null;
  readonly probe?: (signal: AbortSignal) => Promise<ProbeResult>;

  constructor(options: ProviderTransportOptions, settings: ProviderSettings) {
    const { relay, provider, clock, log } = options;
    const timeouts = { ...PROVIDER_TIMEOUTS, ...options.timeouts };
    const resolve = options.resolve ?? systemResolve;
    this.#options = options;
    this.#provider = provider;
    this.#settings = settings;
    this.#host = new URL(settings.endpoint).hostname;
    this.#connections = new Connections(relay.limits.maxConcurrency, {
      allowPrivate: settings.allowPrivate,
      resolve,
      clock,
      timeouts,
    });
    const onStale = () => log.debug('provider.connection_stale', { relay: relay.name });
    this.#call = callsOver({ connections: this.#connections, secret: () => settings.secret, onStale });
    const source = provider.tokens;
    this.#tokens = source ? new Tokens({ source, call: this.#call, clock }) : null;
    if (provider.check({ now: clock.wall(), token: '' }) !== null)
      this.probe = async (signal) => ({ host: this.#host, trouble: await this.#troubleOf(signal) });
  }

  async deliver(job: TransportJob, signal: StopSignal): Promise<TransportResult> {
    const trace = new ProviderTrace(this.#host, this.#options.clock);
    const end = new AbortController();
    const abort = () => end.abort();
    const causes = [signal, job.refused];
    for (const cause of causes) cause.addEventListener('abort', abort);
    if (causes.some(({ aborted }) => aborted)) abort();
    try {
      const { outcome, refused, ...rest } = await this.#attempt(job, trace, end.signal);
      const outcomes = job.envelope.recipients.map(({ address }) =>
        refused?.addresses.has(address.toLowerCase()) ? refused.outcome : outcome,
      );
      return { outcomes, evidence: trace.evidence(), ...rest };
    } finally {
      for (const cause of causes) cause.removeEventListener('abort', abort);
    }
  }

  connections(): number {
    return this.#connections.size;
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  async #attempt(job: TransportJob, trace: ProviderTrace, signal: AbortSignal): Promise<End> {
    const refusal = this.#refusal(job);
    if (refusal !== null) return notOffered(refusal);
    if (signal.aborted) return givenUp(ABORTED);
    const release = await this.#memory(job.content.sizeBytes * MEMORY_FACTOR, signal);
    if (release === null) return givenUp(signal.aborted ? ABORTED : BUSY);
    try {
      return await this.#send(job, trace, signal);
    } finally {
      release();
    }
  }

  /** Why the provider cannot be given the message, judged by envelope and size. */
  #refusal({ envelope, content }: TransportJob): Reply | null {
    const { maxMessageBytes, maxRecipients, expressesNullReversePath } = this.#provider;
    if (content.sizeBytes > maxMessageBytes)
      return localReply(
        'message_too_large',
        '5.3.4',
        `The provider accepts at most ${maxMessageBytes} bytes; the message has ${content.sizeBytes}`,
      );
    const { length } = envelope.recipients;
    if (length > maxRecipients)
      return localReply(
        'too_many_recipients',
        '5.5.3',
        `The provider accepts at most ${maxRecipients} recipients at once; the message has ${length}`,
      );
    if (envelope.reversePath === '' && expressesNullReversePath !== true) return NULL_REVERSE_PATH;
    return null;
  }

  async #memory(bytes: number, signal: AbortSignal): Promise<Release | null> {
    const { memory, clock, relay } = this.#options;
    const share = memory.share(relay.name);
    const now = share.tryAcquire(bytes);
    if (now !== null) return now;
    const over = new AbortController();
    const give = () => over.abort();
    signal.addEventListener('abort', give, { once: true });
    const done = new AbortController();
    void clock.sleep(MEMORY_WAIT_MS, done.signal).then(give);
    const release = await share.acquire(bytes, over.signal);
    done.abort();
    signal.removeEventListener('abort', give);
    return release;
  }

  async #send(job: TransportJob, trace: ProviderTrace, signal: AbortSignal): Promise<End> {
    const token = await this.#token(signal);
    if (!token.ok) return signal.aborted ? givenUp(ABORTED) : ill(token.reply, token.restMs);
    const prepared = await this.#prepare(job, token.token);
    if (!prepared.ok) return notOffered(prepared.reply);
    if (!(await opens(job.gate, signal))) return givenUp(LEASE_LOST);
    const exchanged = await this.#call(prepared.request, trace, signal);
    const end = this.#judged(prepared.request, exchanged, signal);
    if (exchanged.kind === 'answer' && exchanged.answer.status === 401) this.#tokens?.drop(token.token);
    return end;
  }

  async #token(signal: AbortSignal): Promise<TokenResult> {
    return (await this.#tokens?.get(signal)) ?? { ok: true, token: '' };
  }

  async #prepare({ messageId, envelope, content }: TransportJob, token: string): Promise<Prepared> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content.chunks()) chunks.push(chunk);
    const message = { id: messageId, envelope, flags: content.flags, content: Buffer.concat(chunks) };
    const steering = steeringRefusal(message.content, this.#settings.type);
    if (steering !== null) return { ok: false, reply: steering };
    const prepared = this.#provider.prepare(message, { now: this.#options.clock.wall(), token });
    return await inSlices(prepared, turnFor(content.sizeBytes));
  }

  #judged(request: ProviderRequest, exchanged: Exchanged, signal: AbortSignal): End {
    if (exchanged.kind === 'none') {
      const { reply } = exchanged.trouble;
      if (reply === ABORTED && !exchanged.isBegun) return givenUp(reply);
      const kind = exchanged.isWhole ? 'unknown' : 'deferred';
      return { outcome: { kind, reply }, hopFailed: !signal.aborted, restMs: null };
    }
    const { answer, phrase, isWhole } = exchanged;
    const facts = this.#provider.read(answer);
    const { meaning, reply, messageId, restMs } = judge(this.#provider.answers, {
      answer,
      phrase,
      isWhole,
      facts,
      secrets: formsOf(this.#settings.secret, request.headers),
      now: this.#options.clock.wall(),
    });
    switch (meaning) {
      case 'done':
        return delivered(reply, messageId, facts.refused ?? []);
      case 'never':
        return end({ kind: 'rejected', reply });
      case 'later':
        return deferred(reply);
      case 'relay_ill':
        return ill(reply, restMs);
      case 'unknown':
        this.#options.log.warn('provider.answer_unclear', {
          relay: this.#options.relay.name,
          code: reply.cause,
          status: answer.status,
        });
        // A single message may cause this, such as one that crashes the receiver: it does not prove a failed relay.
        return end({ kind: 'unknown', reply });
    }
  }

  async #troubleOf(signal: AbortSignal): Promise<Reply | null> {
    const { clock } = this.#options;
    const token = await this.#token(signal);
    if (!token.ok) return token.reply;
    const request = this.#provider.check({ now: clock.wall(), token: token.token });
    if (request === null) return null;
    const exchanged = await this.#call(request, new ProviderTrace(this.#host, clock), signal);
    if (exchanged.kind === 'none') return exchanged.trouble.reply;
    if (exchanged.answer.status === 401) this.#tokens?.drop(token.token);
    const secrets = formsOf(this.#settings.secret, request.headers);
    const { good, code, text } = findingOf(this.#provider, { ...exchanged, secrets, now: clock.wall() });
    return good ? null : { ...localReply(code, '4.3.0', text), code: exchanged.answer.status };
  }
}

const BUSY = localReply(
  'provider_busy',
  '4.3.1',
  'Too many large messages are being sent to providers; this one waits for its turn',
);

const NULL_REVERSE_PATH = localReply(
  'null_reverse_path',
  '5.7.1',
  'The message has no sender to return it to (a report), which the provider cannot express',
);

/** Whether the gate opens; false as soon as we are told to stop. */
async function opens(gate: TransportJob['gate'], signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<false>();
  const stop = () => resolve(false);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return !signal.aborted && (await Promise.race([gate(), promise])) && !signal.aborted;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function end(outcome: Outcome): End {
  return { outcome, hopFailed: false, restMs: null };
}

function delivered(reply: Reply, providerMessageId: string | null, refused: readonly string[]): End {
  const outcome = { kind: 'delivered', captured: false, reply, providerMessageId, dsnPassed: false } as const;
  if (refused.length === 0) return end(outcome);
  const addresses = new Set(refused.map((address) => address.toLowerCase()));
  const own = { ...reply, enhanced: '5.7.1', cause: 'provider_recipient_refused' };
  return { ...end(outcome), refused: { addresses, outcome: { kind: 'rejected', reply: own } } };
}

function deferred(reply: Reply): End {
  return end({ kind: 'deferred', reply });
}

/** Stopped before anything was sent. */
function givenUp(reply: Reply): End {
  return { ...deferred(reply), unspoken: true };
}

function ill(reply: Reply, restMs: number | null): End {
  return { outcome: { kind: 'deferred', reply }, hopFailed: true, restMs };
}

/** Another relay may take it. */
function notOffered(reply: Reply): End {
  return { ...end({ kind: 'rejected', reply, hopBound: true }), unspoken: true };
}
