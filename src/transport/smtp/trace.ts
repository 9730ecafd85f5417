import type { AttemptStep, DnsLookup, Evidence, TransportSecurity } from '../../domain/attempt.ts';
import type { Clock } from '../../lib/clock.ts';
import { describeReply, type SmtpReply } from '../../smtp/reply.ts';
import { Story } from './story.ts';

/** Characters of a reply that are kept. */
const MAX_STEP_TEXT = 256;
/** Questions to the DNS kept of one attempt. */
const MAX_LOOKUPS = 24;

/** What is told of a session. */
export interface UsedSession {
  readonly host: string;
  readonly address: string | null;
  readonly localAddress: string | null;
  readonly tls: string | null;
  readonly verdict: NonNullable<TransportSecurity['verdict']>;
  /** Transactions over it until now. */
  readonly transactions: number;
}

/** Records what one attempt does, for its evidence. */
export class Trace {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #story = new Story();
  readonly #observe: ((step: AttemptStep) => void) | null;
  readonly #lookups: DnsLookup[] = [];
  /** The host spoken to now, or last; null while there is none. */
  host: string | null;
  address: string | null = null;
  localAddress: string | null = null;
  tls: string | null = null;
  /** What the certificate proved; null while there is no session. */
  verdict: TransportSecurity['verdict'] = null;
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

  /** `observe` is told of each step as it happens. */
  constructor(host: string | null, clock: Clock, observe: ((step: AttemptStep) => void) | null = null) {
    this.host = host;
    this.#clock = clock;
    this.#startedAt = clock.mono();
    this.#observe = observe;
  }

  /** The peer answered `verb`. */
  replied(verb: string, reply: SmtpReply): void {
    this.happened(verb, describeReply(reply, MAX_STEP_TEXT));
  }

  /** Something else happened. */
  happened(verb: string, text: string): void {
    const step = { verb, reply: text, atMs: Math.round(this.#clock.mono() - this.#startedAt) };
    this.#story.add(step);
    this.#observe?.(step);
  }

  /** Another host is tried: what was known of the one before is of no matter. */
  turnTo(host: string): void {
    this.host = host;
    this.address = null;
    this.localAddress = null;
    this.tls = null;
    this.verdict = null;
    this.reused = false;
  }

  /** The session that is used. */
  over(session: UsedSession): void {
    this.host = session.host;
    this.address = session.address;
    this.localAddress = session.localAddress;
    this.tls = session.tls;
    this.verdict = session.verdict;
    this.reused = session.transactions > 0;
  }

  /** The DNS was asked. */
  asked(lookup: DnsLookup): void {
    if (this.#lookups.length < MAX_LOOKUPS) this.#lookups.push(lookup);
  }

  /** What is to be kept. */
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
