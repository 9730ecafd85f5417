import type { AttemptStep, Evidence } from '../../domain/attempt.ts';
import type { Clock } from '../../lib/clock.ts';
import { describeReply, type SmtpReply } from '../../smtp/reply.ts';

/** Steps kept of one attempt. */
const MAX_STEPS = 20;
/** RCPTs stop being recorded here, so that the end of the story is always told. */
const MAX_RCPT_STEPS = MAX_STEPS - 4;
const MAX_STEP_TEXT = 256;

/** Records what one attempt does, for its evidence. */
export class Trace {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #steps: AttemptStep[] = [];
  readonly #observe: ((step: AttemptStep) => void) | null;
  readonly host: string;
  address: string | null = null;
  tls: string | null = null;
  reused = false;
  dnsMs: number | null = null;
  connectMs: number | null = null;
  tlsMs: number | null = null;
  transferMs: number | null = null;

  /** `observe` is told of each step as it happens. */
  constructor(host: string, clock: Clock, observe: ((step: AttemptStep) => void) | null = null) {
    this.host = host;
    this.#clock = clock;
    this.#startedAt = clock.mono();
    this.#observe = observe;
  }

  /** The peer answered `verb`. */
  replied(verb: string, reply: SmtpReply): void {
    if (this.#steps.length < (verb === 'RCPT' ? MAX_RCPT_STEPS : MAX_STEPS))
      this.happened(verb, describeReply(reply, MAX_STEP_TEXT));
  }

  /** Something else happened. */
  happened(verb: string, text: string): void {
    const step = { verb, reply: text, atMs: Math.round(this.#clock.mono() - this.#startedAt) };
    if (this.#steps.length < MAX_STEPS) this.#steps.push(step);
    this.#observe?.(step);
  }

  /** What is to be kept. */
  evidence(): Evidence {
    const { host, address, tls, reused, dnsMs, connectMs, tlsMs, transferMs } = this;
    const totalMs = Math.round(this.#clock.mono() - this.#startedAt);
    return {
      host,
      address,
      tls,
      reused,
      localAddress: null,
      security: null,
      dns: [],
      timings: { queueMs: null, dnsMs, connectMs, tlsMs, mailMs: null, transferMs, replyMs: null, totalMs },
      steps: this.#steps,
    };
  }
}
