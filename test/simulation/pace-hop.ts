import { NO_EVIDENCE } from '../../src/domain/attempt.ts';
import { localReply, type Outcome } from '../../src/domain/outcome.ts';
import { dayOf } from '../../src/domain/quota.ts';
import type { Random } from '../../src/lib/random.ts';
import { abortSignalOf } from '../../src/lib/stop.ts';
import type { Transport, TransportJob, TransportResult } from '../../src/transport/transport.ts';
import type { NodeLife, VirtualTime } from './virtual-clock.ts';

/** How a relay's next hop answers. */
export interface Temper {
  /** How long an attempt takes, in ms. */
  readonly takesMs: number;
  /** By how much that varies: a share of it, up or down. */
  readonly spread: number;
  /** Attempts at once that it bears, over all nodes; what is beyond is told 4.7.1. */
  readonly bears: number;
  /** The code it refuses with then: 421 ends the connection, 451 only the transaction. */
  readonly refusesWith: 421 | 451;
  /** The MX host that mail to a domain is handed to; null: not known. */
  readonly hostOf: (domain: string) => string | null;
  /** Share of recipients that it puts off at RCPT, with 451 4.7.1, when it first hears of them. */
  readonly greylists: number;
  /** What it says to a single message, whatever the pace; null: it is taken. */
  readonly verdict: (token: string, address: string) => 'rejected' | 'deferred' | null;
}

/** A hop that takes everything, in a tenth of a second. */
export const WELL: Temper = {
  takesMs: 100,
  spread: 0,
  bears: Number.POSITIVE_INFINITY,
  refusesWith: 451,
  greylists: 0,
  hostOf: () => null,
  verdict: () => null,
};

/** How long it takes to find out that a hop cannot be reached, in ms. */
const CONNECT_MS = 2_000;

/** An attempt as the hop saw it begin. Times are ms of world time. */
export interface Start {
  readonly at: number;
  readonly node: string;
  readonly relay: string;
  readonly domain: string;
  readonly token: string;
  readonly recipients: number;
  /** Attempts of this node under way on the relay, this one included; the same of all nodes. */
  readonly atOnce: number;
  readonly atOnceOverall: number;
  /** The same of this node and the recipient's domain. */
  readonly ofDomain: number;
}

/** The world behind the relays of a pace world: it counts, and answers by its temper. */
export class PaceHop {
  /** By relay. */
  readonly tempers = new Map<string, Temper>();
  readonly starts: Start[] = [];
  /** `token address` → how often it was taken. */
  readonly taken = new Map<string, number>();
  /** Nodes that cannot reach any hop. */
  readonly cutOff = new Set<string>();
  /** Relay → UTC day on which the attempt began, by its node's clock → recipients taken. */
  readonly takenOn = new Map<string, Map<number, number>>();
  readonly #time: VirtualTime;
  readonly #dice: Random;
  /** `token` of messages that were greylisted once. */
  readonly #greylisted = new Set<string>();
  readonly #counts = new Map<string, number>();
  readonly #lives = new Map<string, NodeLife>();

  constructor(time: VirtualTime, dice: Random) {
    this.#time = time;
    this.#dice = dice;
  }

  /** The world as a node sees it through a relay. */
  transportOf(node: string, life: NodeLife, relay: string): Transport {
    this.#lives.set(node, life);
    return {
      deliver: (job, stop) => this.#converse(node, life, relay, job, abortSignalOf(stop)),
      connections: () => 0,
      close: async () => {},
    };
  }

  /** How many a relay's hop took of what began on a UTC day. */
  tookOn(relay: string, day: number): number {
    return this.takenOn.get(relay)?.get(day) ?? 0;
  }

  /** Attempts under way with a relay's hop, over all nodes that live. */
  underWay(relay: string): number {
    let sum = 0;
    for (const [node, { dead }] of this.#lives) if (!dead) sum += this.#counts.get(`${node} ${relay}`) ?? 0;
    return sum;
  }

  async #converse(
    node: string,
    life: NodeLife,
    relay: string,
    job: TransportJob,
    signal: AbortSignal,
  ): Promise<TransportResult> {
    if (this.cutOff.has(node)) return await this.#unreachable(life, job);
    const day = dayOf(life.wall());
    const at = this.#time.now;
    const domain = job.envelope.recipients[0]?.address.replace(/^.*@/, '') ?? '';
    const keys = [`${node} ${relay}`, `${node} ${relay} ${domain}`];
    const [atOnce = 0, ofDomain = 0] = keys.map((key) => this.#count(key, 1));
    const atOnceOverall = this.underWay(relay);
    const token = await tokenOf(job);
    const { recipients } = job.envelope;
    const asked = { at, node, relay, domain, token, recipients: recipients.length };
    this.starts.push({ ...asked, atOnce, atOnceOverall, ofDomain });
    const temper = this.tempers.get(relay) ?? WELL;
    if (temper.greylists > 0 && this.#isNew(token, temper.greylists))
      return await this.#greylist(temper, life, job, keys);
    const halfMs = (temper.takesMs / 2) * (1 + temper.spread * (2 * this.#dice.next() - 1));
    try {
      await this.#time.sleep(halfMs);
      await life.running();
      if (atOnceOverall > temper.bears) return tooMuch(recipients.length, temper.refusesWith);
      if (!(await job.gate()) || signal.aborted)
        return result(
          recipients.map(() => ({ kind: 'deferred', reply: localReply('gate_closed', '4.0.0', '') })),
        );
      await life.running();
      const outcomes = recipients.map(({ address }) => this.#answer(temper, relay, day, token, address));
      await this.#time.sleep(halfMs);
      await life.running();
      return { ...result(outcomes), evidence: { ...NO_EVIDENCE, host: temper.hostOf(domain) } };
    } finally {
      for (const key of keys) this.#count(key, -1);
    }
  }

  #isNew(token: string, share: number): boolean {
    if (this.#greylisted.has(token) || this.#dice.next() >= share) return false;
    this.#greylisted.add(token);
    return true;
  }

  /** RCPT is the first of three waits for the hop: the second is for the content, the third for its disk. */
  async #greylist(
    temper: Temper,
    life: NodeLife,
    job: TransportJob,
    keys: readonly string[],
  ): Promise<TransportResult> {
    try {
      await this.#time.sleep(temper.takesMs / 3);
      await life.running();
      const reply = { code: 451, enhanced: '4.7.1', cause: 'smtp_reply', text: 'Greylisted' };
      return result(job.envelope.recipients.map(() => ({ kind: 'deferred', reply, ofRecipient: true })));
    } finally {
      for (const key of keys) this.#count(key, -1);
    }
  }

  #answer(temper: Temper, relay: string, day: number, token: string, address: string): Outcome {
    const kind = temper.verdict(token, address);
    const reply = {
      code: kind === null ? 250 : kind === 'rejected' ? 550 : 450,
      enhanced: null,
      cause: 'smtp_reply',
      text: '',
    };
    if (kind === 'rejected') return { kind, reply };
    if (kind === 'deferred') return { kind, reply, ofRecipient: true };
    const name = `${token} ${address}`;
    this.taken.set(name, (this.taken.get(name) ?? 0) + 1);
    const days = this.takenOn.get(relay) ?? new Map<number, number>();
    this.takenOn.set(relay, days.set(day, (days.get(day) ?? 0) + 1));
    return { kind: 'delivered', captured: false, reply, providerMessageId: null, dsnPassed: false };
  }

  async #unreachable(life: NodeLife, job: TransportJob): Promise<TransportResult> {
    await this.#time.sleep(CONNECT_MS);
    await life.running();
    const reply = localReply('connect_timeout', '4.4.1', 'no answer');
    return {
      ...result(job.envelope.recipients.map(() => ({ kind: 'deferred', reply }))),
      hopFailed: true,
    };
  }

  #count(key: string, change: number): number {
    const count = (this.#counts.get(key) ?? 0) + change;
    this.#counts.set(key, count);
    return count;
  }
}

function tooMuch(recipients: number, code: 421 | 451): TransportResult {
  const reply = { code, enhanced: '4.7.1', cause: 'smtp_reply', text: 'Too many connections' };
  const outcomes = Array.from({ length: recipients }, () => ({ kind: 'deferred' as const, reply }));
  // As of a real connection: 421 closes it, and the lane is told that its hop is ill.
  return { ...result(outcomes), hopFailed: code === 421 };
}

function result(outcomes: readonly Outcome[]): TransportResult {
  return { outcomes, evidence: NO_EVIDENCE, hopFailed: false, restMs: null };
}

async function tokenOf(job: TransportJob): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of job.content.chunks()) parts.push(chunk);
  return Buffer.concat(parts).toString('latin1');
}
