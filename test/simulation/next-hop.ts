import { NO_EVIDENCE } from '../../src/domain/attempt.ts';
import { localReply, type Outcome, type Reply } from '../../src/domain/outcome.ts';
import type { Random } from '../../src/lib/random.ts';
import type { Transport, TransportJob, TransportResult } from '../../src/transport/transport.ts';
import type { NodeLife, VirtualTime } from './virtual-clock.ts';

/** How ill the mail world is: chances in [0, 1]. */
export interface HopFaults {
  readonly refuseConnection: number;
  readonly defer: number;
  readonly reject: number;
  /** Lost before the final dot: proven not taken. */
  readonly dropBeforeDot: number;
  /** Lost after the final dot: taken or not, nobody tells us. */
  readonly dropAfterDot: number;
  readonly deferAfterDot: number;
}

/** A world without trouble. */
export const HEALTHY: HopFaults = {
  refuseConnection: 0,
  defer: 0,
  reject: 0,
  dropBeforeDot: 0,
  dropAfterDot: 0,
  deferAfterDot: 0,
};

/** A relay that nobody can connect to. */
export const DEAD: HopFaults = { ...HEALTHY, refuseConnection: 1 };

const MAX_STEP_MS = 400;

/** The mail world behind the relays: takes messages, remembers every one it took, and misbehaves by the dice. */
export class NextHop {
  /** Of every relay that has none of its own. */
  faults: HopFaults = HEALTHY;
  /** Of single relays, by name. */
  readonly faultsOf = new Map<string, HopFaults>();
  /** `token recipient` → how often the world took responsibility for it. */
  readonly taken = new Map<string, number>();
  /** Names that were taken since this was last emptied. */
  readonly takenNow: string[] = [];
  readonly #time: VirtualTime;
  readonly #dice: Random;

  constructor(time: VirtualTime, dice: Random) {
    this.#time = time;
    this.#dice = dice;
  }

  /** The world as one node sees it through a relay: what the node does stops when the node does. */
  transportOf(life: NodeLife, relay = 'out'): Transport {
    return {
      deliver: (job, signal) => this.#converse(life, relay, job, signal),
      probe: async () => {
        await this.#pass(life);
        return !this.#happens((this.faultsOf.get(relay) ?? this.faults).refuseConnection);
      },
      connections: () => 0,
      close: async () => {},
    };
  }

  async #converse(
    life: NodeLife,
    relay: string,
    job: TransportJob,
    signal: AbortSignal,
  ): Promise<TransportResult> {
    const faults = () => this.faultsOf.get(relay) ?? this.faults;
    const { recipients } = job.envelope;
    await this.#pass(life);
    if (this.#happens(faults().refuseConnection))
      return all(recipients.length, 'deferred', 'connect_refused', true);
    const verdicts = recipients.map(() => this.#verdict(faults()));
    await this.#pass(life);
    if (this.#happens(faults().dropBeforeDot))
      return all(recipients.length, 'deferred', 'connection_lost', false);
    if (!verdicts.includes('take')) return result(verdicts.map((verdict) => outcomeOf(verdict)));
    if (!(await job.gate()) || signal.aborted)
      return all(recipients.length, 'deferred', 'gate_closed', false);
    await life.running();
    return this.#finalDot(life, faults(), job, verdicts);
  }

  /** From here on the peer may have the message whatever we learn. */
  async #finalDot(
    life: NodeLife,
    faults: HopFaults,
    job: TransportJob,
    verdicts: readonly Verdict[],
  ): Promise<TransportResult> {
    const lost = this.#happens(faults.dropAfterDot);
    const taken = lost ? this.#happens(0.5) : !this.#happens(faults.deferAfterDot);
    if (taken)
      for (const [place, { address }] of job.envelope.recipients.entries())
        if (verdicts[place] === 'take') this.#take(await tokenOf(job), address);
    await this.#pass(life);
    const kind = lost ? 'unknown' : taken ? 'delivered' : 'deferred';
    return result(verdicts.map((verdict) => (verdict === 'take' ? ending(kind) : outcomeOf(verdict))));
  }

  #take(token: string, address: string): void {
    const name = `${token} ${address}`;
    this.taken.set(name, (this.taken.get(name) ?? 0) + 1);
    this.takenNow.push(name);
  }

  #verdict(faults: HopFaults): Verdict {
    if (this.#happens(faults.reject)) return 'reject';
    return this.#happens(faults.defer) ? 'defer' : 'take';
  }

  #happens(chance: number): boolean {
    return this.#dice.next() < chance;
  }

  async #pass(life: NodeLife): Promise<void> {
    await this.#time.sleep(1 + this.#dice.next() * MAX_STEP_MS);
    await life.running();
  }
}

type Verdict = 'take' | 'defer' | 'reject';

/** Simulated contents are their token, or have it in their Message-ID, as reports have their id: the hop knows what it got. */
async function tokenOf(job: TransportJob): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of job.content.chunks()) parts.push(chunk);
  const text = Buffer.concat(parts).toString('latin1');
  return /^Message-ID: <([^@>]+)@/m.exec(text)?.[1] ?? text;
}

function reply(cause: string): Reply {
  return localReply(cause, '4.0.0', cause);
}

function outcomeOf(verdict: Verdict): Outcome {
  return { kind: verdict === 'reject' ? 'rejected' : 'deferred', reply: reply(verdict) };
}

function ending(kind: 'unknown' | 'delivered' | 'deferred'): Outcome {
  if (kind === 'delivered')
    return { kind, captured: false, reply: reply('taken'), providerMessageId: null, dsnPassed: false };
  return { kind, reply: reply(kind) };
}

function all(count: number, kind: 'deferred', cause: string, hopFailed: boolean): TransportResult {
  const outcome: Outcome = { kind, reply: reply(cause) };
  return { ...result(Array.from({ length: count }, () => outcome)), hopFailed };
}

function result(outcomes: readonly Outcome[]): TransportResult {
  return { outcomes, evidence: NO_EVIDENCE, hopFailed: false, restMs: null };
}
