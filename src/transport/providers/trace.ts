import type { AttemptStep, Evidence } from '../../domain/attempt.ts';
import type { Clock } from '../../lib/clock.ts';

/** Most steps of one attempt to keep. */
const MAX_STEPS = 24;

/** What evidence says of a connection. */
export interface ConnectionFacts {
  readonly address: string | null;
  readonly localAddress: string | null;
  /** Protocol and cipher; null in clear. */
  readonly tls: string | null;
  readonly verdict: 'none' | 'verified' | 'unverified';
}

/** Records the steps of one attempt as evidence. It never receives a secret. */
export class ProviderTrace {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #observe: ((step: AttemptStep) => void) | null;
  readonly #steps: AttemptStep[] = [];
  readonly #host: string;
  #facts: ConnectionFacts | null = null;
  #reused = false;
  dnsMs: number | null = null;
  connectMs: number | null = null;
  tlsMs: number | null = null;
  transferMs: number | null = null;
  replyMs: number | null = null;

  /** `observe` gets each step as it happens. */
  constructor(host: string, clock: Clock, observe: ((step: AttemptStep) => void) | null = null) {
    this.#host = host;
    this.#clock = clock;
    this.#startedAt = clock.mono();
    this.#observe = observe;
  }

  happened(verb: string, reply: string): void {
    const step = { verb, reply, atMs: this.#since() };
    if (this.#steps.length < MAX_STEPS) this.#steps.push(step);
    this.#observe?.(step);
  }

  /** Records the connection in use. */
  over(facts: ConnectionFacts, reused: boolean): void {
    this.#facts = facts;
    this.#reused = reused;
  }

  evidence(): Evidence {
    const { dnsMs, connectMs, tlsMs, transferMs, replyMs } = this;
    const facts = this.#facts;
    return {
      host: this.#host,
      address: facts?.address ?? null,
      localAddress: facts?.localAddress ?? null,
      tls: facts?.tls ?? null,
      security: facts === null ? null : { verdict: facts.verdict, mtaSts: null, dane: null },
      dns: [],
      reused: this.#reused,
      timings: {
        queueMs: null,
        dnsMs,
        connectMs,
        tlsMs,
        mailMs: null,
        transferMs,
        replyMs,
        totalMs: this.#since(),
      },
      steps: this.#steps,
    };
  }

  #since(): number {
    return Math.round(this.#clock.mono() - this.#startedAt);
  }
}
