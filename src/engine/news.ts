import type { Clock } from '../lib/clock.ts';
import { WakeUp } from '../lib/clock.ts';
import type { Cluster } from '../store/cluster.ts';
import type { Dispatch } from './dispatch.ts';
import type { Lane } from './lanes.ts';

/** How long lanes are collected before others are told of them, in ms: a flood of mail is told of once. */
const GATHER_MS = 50;
/** Most lanes told of at once; the holders of the rest find out by themselves. */
const MAX_TOLD = 1_000;
/** How often to check lanes for due work that nobody told us of, in ms. */
const LOOK_MS = 1_000;
/** Lanes checked at a time, in turn. */
const LOOKED_AT = 2_000;

/** What news between nodes takes. */
export interface NewsDeps {
  readonly clock: Clock;
  /** Null or absent: there are no other nodes. */
  readonly cluster?: Cluster | null;
  readonly fault: (code: string, error: unknown) => void;
}

/** Tells other nodes of work that waits in their lanes, and hears of work in ours. */
export class News {
  readonly #deps: NewsDeps;
  readonly #cluster: Cluster | null;
  readonly #lanes: ReadonlyMap<string, Lane>;
  readonly #dispatch: Dispatch;
  readonly #wakeUp = new WakeUp();
  readonly #gathered = new Set<string>();
  #telling: Promise<void> | null = null;
  /** News of any lane may have been missed. */
  #all = false;
  #turn: Iterator<Lane> | null = null;
  #isFailing = false;

  constructor(deps: NewsDeps, lanes: ReadonlyMap<string, Lane>, dispatch: Dispatch) {
    this.#deps = deps;
    this.#cluster = deps.cluster ?? null;
    this.#lanes = lanes;
    this.#dispatch = dispatch;
  }

  /** Work waits in a lane that is not ours: tells its holder. */
  tell(lane: string): void {
    if (this.#cluster === null || this.#gathered.size >= MAX_TOLD) return;
    this.#gathered.add(lane);
    this.#telling ??= this.#tellAll(this.#cluster);
  }

  /** Ends a wait, so that the loop checks whether to stop. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /**
   * Listens, and looks for work that nobody told of, until `stopping` aborts and `wake` is called. Resolves when
   * stopped.
   */
  async run(stopping: AbortSignal): Promise<void> {
    if (this.#cluster === null) return;
    const end = this.#cluster.listen((lanes) => this.#told(lanes));
    while (!stopping.aborted) {
      await this.#look(this.#cluster);
      if (!stopping.aborted) await this.#wakeUp.wait(this.#deps.clock, LOOK_MS);
    }
    end();
    await this.#telling;
  }

  #told(lanes: readonly string[] | null): void {
    if (lanes === null) {
      this.#all = true;
      this.#wakeUp.wake();
    } else this.#dueIn(lanes);
  }

  #dueIn(lanes: readonly string[]): void {
    const now = this.#deps.clock.wall();
    for (const lane of lanes) this.#dispatch.expect(lane, now);
  }

  async #tellAll(cluster: Cluster): Promise<void> {
    await this.#deps.clock.sleep(GATHER_MS);
    const lanes = [...this.#gathered];
    this.#gathered.clear();
    try {
      await cluster.tell(lanes);
    } catch {
      // A lost hint: holders look once a second anyway. Others already report an unavailable store.
    }
    this.#telling = this.#gathered.size > 0 ? this.#tellAll(cluster) : null;
  }

  async #look(cluster: Cluster): Promise<void> {
    const { clock, fault } = this.#deps;
    let left = this.#all ? this.#lanes.size : Math.min(LOOKED_AT, this.#lanes.size);
    this.#all = false;
    try {
      while (left > 0) {
        const lanes = this.#some(Math.min(left, LOOKED_AT));
        left -= LOOKED_AT;
        if (lanes.length > 0) this.#dueIn(await cluster.dueLanes(lanes, clock.wall()));
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) fault('look_failed', error);
      this.#isFailing = true;
    }
  }

  /** Of the next lanes in turn, those not known to have waiting work. */
  #some(count: number): string[] {
    const some: string[] = [];
    for (; count > 0; count--) {
      let next = this.#turn?.next();
      if (next === undefined || next.done) {
        this.#turn = this.#lanes.values();
        next = this.#turn.next();
      }
      if (!next.done && !next.value.waiting && !next.value.isEnding) some.push(next.value.name);
    }
    return some;
  }
}
