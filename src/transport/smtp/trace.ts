import type { AttemptStep, DnsLookup, Evidence, TransportSecurity } from '../../domain/attempt.ts';
import type { Clock } from '../../lib/clock.ts';
import { describeReply, type SmtpReply } from '../../smtp/reply.ts';

/** Characters of a reply to keep. */
const MAX_STEP_TEXT = 256;
/** DNS queries of one attempt to keep. */
const MAX_LOOKUPS = 24;

/** What evidence says of a session. */
interface UsedSession {
  readonly host: string;
  readonly address: string | null;
  readonly localAddress: string | null;
  readonly tls: string | null;
  readonly verdict: NonNullable<TransportSecurity['verdict']>;
  /** Transactions made over it so far. */
  readonly transactions: number;
}

/** Records the steps of one attempt as evidence. */
export class Trace {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #story = new Story();
  readonly #observe: ((step: AttemptStep) => void) | null;
  readonly #lookups: DnsLookup[] = [];
  /** The current or last host; null while there is none. */
  host: string | null;
  address: string | null = null;
  localAddress: string | null = null;
  tls: string | null = null;
  /** What the certificate proved; null while there is no session. */
  verdict: TransportSecurity['verdict'] = null;
  /** Why the certificate was not verified, as OpenSSL or Node.js calls it; null: it was, or nobody looked. */
  certificateFault: string | null = null;
  /** Why the connection is in clear although the host offers TLS; null: that is not so. */
  handshakeFault: string | null = null;
  /** See {@link TransportSecurity}. */
  mtaSts: string | null = null;
  dane: string | null = null;
  reused = false;
  dnsMs: number | null = null;
  connectMs: number | null = null;
  tlsMs: number | null = null;
  mailMs: number | null = null;
  transferMs: number | null = null;
  replyMs: number | null = null;

  /** `observe` gets each step as it happens. */
  constructor(host: string | null, clock: Clock, observe: ((step: AttemptStep) => void) | null = null) {
    this.host = host;
    this.#clock = clock;
    this.#startedAt = clock.mono();
    this.#observe = observe;
  }

  /** Records the peer's answer to `verb`. */
  replied(verb: string, reply: SmtpReply): void {
    this.happened(verb, describeReply(reply, MAX_STEP_TEXT));
  }

  happened(verb: string, text: string): void {
    const step = { verb, reply: text, atMs: Math.round(this.#clock.mono() - this.#startedAt) };
    this.#story.add(step);
    this.#observe?.(step);
  }

  /** Another host is tried: evidence of the one before is dropped. */
  turnTo(host: string): void {
    this.host = host;
    this.address = null;
    this.localAddress = null;
    this.tls = null;
    this.verdict = null;
    this.certificateFault = null;
    this.handshakeFault = null;
    this.reused = false;
  }

  /** Records the session in use. */
  over(session: UsedSession): void {
    this.host = session.host;
    this.address = session.address;
    this.localAddress = session.localAddress;
    this.tls = session.tls;
    this.verdict = session.verdict;
    this.reused = session.transactions > 0;
  }

  asked(lookup: DnsLookup): void {
    if (this.#lookups.length < MAX_LOOKUPS) this.#lookups.push(lookup);
  }

  evidence(): Evidence {
    const { host, address, localAddress, tls, reused } = this;
    const { dnsMs, connectMs, tlsMs, mailMs, transferMs, replyMs } = this;
    const totalMs = Math.round(this.#clock.mono() - this.#startedAt);
    return {
      host,
      address,
      tls,
      reused,
      localAddress,
      security: this.#security(),
      dns: this.#lookups,
      timings: { queueMs: null, dnsMs, connectMs, tlsMs, mailMs, transferMs, replyMs, totalMs },
      steps: this.#story.steps(),
    };
  }

  #security(): TransportSecurity | null {
    const { verdict, mtaSts, dane } = this;
    if (verdict === null && mtaSts === null && dane === null) return null;
    return { verdict, mtaSts, dane };
  }
}

/** Steps of one attempt to keep, including the one that counts those left out. */
export const MAX_STEPS = 20;
/** Bytes of all their texts to keep. */
export const MAX_STORY_BYTES = 4096;
/** Bytes of one text. */
const MAX_TEXT_BYTES = 256;
/** The first steps, which are always kept, show how the connection was opened. */
const BEGINNING = 6;

/**
 * The steps of one attempt, within bounds: the beginning, and as much of the end as fits. An endless peer, or a
 * thousand recipients, loses the middle.
 */
export class Story {
  readonly #beginning: AttemptStep[] = [];
  readonly #end: AttemptStep[] = [];
  #bytes = 0;
  #leftOut = 0;

  /** Adds a step with its text cut. */
  add(step: AttemptStep): void {
    const kept = { ...step, reply: cut(step.reply) };
    this.#bytes += sizeOf(kept);
    if (this.#beginning.length < BEGINNING) {
      this.#beginning.push(kept);
      return;
    }
    this.#end.push(kept);
    // One place is reserved for the count of steps left out.
    while (BEGINNING + this.#end.length > MAX_STEPS - 1 || this.#bytes > MAX_STORY_BYTES) {
      const dropped = this.#end.shift();
      if (!dropped) return;
      this.#bytes -= sizeOf(dropped);
      this.#leftOut++;
    }
  }

  /** The steps kept, in order. */
  steps(): readonly AttemptStep[] {
    if (this.#leftOut === 0) return [...this.#beginning, ...this.#end];
    const atMs = this.#end[0]?.atMs ?? this.#beginning.at(-1)?.atMs ?? 0;
    const gap = { verb: '…', reply: `${this.#leftOut} more`, atMs };
    return [...this.#beginning, gap, ...this.#end];
  }
}

function sizeOf({ verb, reply }: AttemptStep): number {
  return verb.length + Buffer.byteLength(reply);
}

/** Cuts to {@link MAX_TEXT_BYTES} in UTF-8, between characters. */
function cut(text: string): string {
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  const bytes = Buffer.from(text);
  let end = MAX_TEXT_BYTES;
  // The first byte left out must not continue a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
