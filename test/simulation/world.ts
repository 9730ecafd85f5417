import type { Relay } from '../../src/domain/relay.ts';
import { NO_SIGNER } from '../../src/engine/contract.ts';
import { createEngine } from '../../src/engine/engine.ts';
import { type Random, seededRandom } from '../../src/lib/random.ts';
import { Events } from '../../src/observe/events.ts';
import type { Erasures } from '../../src/store/erasing.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { SuppressionList } from '../../src/store/suppressions.ts';
import type { Views } from '../../src/store/views.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { checkCounters } from './counters.ts';
import { ERASED_MS, PSEUDONYM_KEY } from './erasers.ts';
import { faultySpool } from './faulty-spool.ts';
import { faultyStore } from './faulty-store.ts';
import type { History } from './history.ts';
import { domainsTransport, MAIL_HOSTS } from './hop-domains.ts';
import { Watch } from './invariants.ts';
import { Ledger } from './ledger.ts';
import { Limits } from './limits.ts';
import { doorOf, MemoryCluster } from './memory-cluster.ts';
import { createMemorySpool } from './memory-spool.ts';
import { NextHop } from './next-hop.ts';
import { Operators, type Process } from './operators.ts';
import { People } from './people.ts';
import { checkReports } from './reports.ts';
import { MAX_AGE_MS, SETTINGS } from './scene.ts';
import { type Kind, Seen } from './seen.ts';
import { InvariantBroken } from './statuses.ts';
import { type Nodes, Troubles } from './troubles.ts';
import { NodeLife, readingOutside, VirtualTime } from './virtual-clock.ts';
import { DIRECT_RULE, RELAYS } from './world-relays.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** An hour before midnight UTC: quotas begin anew while there is trouble. */
const EPOCH = Date.UTC(2026, 10, 20, 23);
/** How long there is trouble, in ms of world time. */
const TROUBLE_MS = 60 * MINUTE;
/** How many nodes a world may have. */
const NODE_COUNTS: readonly number[] = [1, 1, 2, 2, 3];
/** Nodes over one store go by one clock, and notice within so many ms that it was set. */
const NOTICED_MS = 10 * SECOND;
/** By so much their clocks differ, either way, in ms. */
const SKEW_MS = 2 * SECOND;
/** What is under way has so long when a process is told to end, in ms. */
const STOP_MS = 20 * SECOND;
/** After the trouble everything that has time left ends within so long, in ms: an answer takes ten minutes, a retry six. */
const PEACE_MS = 18 * MINUTE;
/** Then so long goes by between two settings of the clock, in ms, and so often it is set. */
const ROUND_MS = 2 * MINUTE;
const MAX_ROUNDS = 30;
const STEPS_A_TURN = 16;
/** A step that does nothing but fire timers: far beyond what a healthy history takes. */
const MAX_STEPS = 4_000_000;

/** A store, empty, and its reading side. Closing the store closes both. */
interface Stores {
  readonly store: Store;
  readonly views: Views;
  readonly suppressions: SuppressionList;
  readonly erasures: Erasures;
  holdPseudonymKey(key: Uint8Array): Promise<void>;
}

/** Plays a seeded history: an hour of mail and trouble, then peace until everything has ended. */
export async function play(
  seed: number,
  stores: Stores = openSqlite(':memory:'),
  troubleMs = TROUBLE_MS,
): Promise<History> {
  const world = new World(seed, stores, troubleMs);
  await stores.holdPseudonymKey(PSEUDONYM_KEY);
  return world.run(troubleMs);
}

class World implements Nodes {
  readonly #time = new VirtualTime(STEPS_A_TURN);
  readonly #dice: Random;
  readonly #hop: NextHop;
  readonly #store: Store;
  readonly #views: Views;
  readonly #spool = createMemorySpool();
  readonly #seen = new Seen();
  readonly #ledger = new Ledger(this.#time, () => this.#wall(), MAIL_HOSTS);
  readonly #watch: Watch;
  readonly #limits: Limits;
  readonly #operators: Operators;
  readonly #troubles: Troubles;
  readonly #people: People;
  /** Those that take mail. */
  readonly #nodes: Process[] = [];
  /** All that run, those that are told to end, too. */
  readonly #processes = new Set<Process>();
  readonly #seed: number;
  /** One alone is the store's only user, as over SQLite. */
  readonly #nodeCount: number;
  readonly #cluster: MemoryCluster;
  #clockWrongMs = 0;
  #born = 0;
  #trouble: unknown = null;

  constructor(seed: number, stores: Stores, troubleMs: number) {
    const { store, views } = stores;
    this.#seed = seed;
    this.#dice = seededRandom(seed);
    this.#store = store;
    this.#views = readingOutside(views, this.#time);
    this.#watch = new Watch(views, this.#ledger);
    this.#nodeCount = NODE_COUNTS[Math.floor(this.#dice.next() * NODE_COUNTS.length)] ?? 1;
    this.#cluster = new MemoryCluster(views, () => this.#wall());
    const shared = { time: this.#time, dice: this.#dice, seen: this.#seen };
    this.#hop = new NextHop(this.#time, this.#dice);
    this.#hop.note = (kind) => this.#seen.note(kind);
    this.#hop.books = this.#ledger;
    const spawn = (actor: Promise<void>) => this.#spawn(actor);
    const relays = RELAYS.map(({ name }) => name);
    const { routing } = SETTINGS;
    this.#troubles = new Troubles(
      { ...shared, hop: this.#hop, nodes: this, relays, spawn },
      { routing: { ...routing, rules: [...routing.rules, DIRECT_RULE] } },
    );
    this.#operators = new Operators(RELAYS, {
      ...shared,
      dice: seededRandom(-3000 - seed),
      ledger: this.#ledger,
      live: this.#troubles,
      processes: () => this.#processes,
      transportOf: (life, relay) => this.#transportOf(life, relay),
      waysChanged: () => this.waysChanged(),
      spawn,
    });
    this.#limits = new Limits(this.#operators, this.#time, this.#seen);
    this.#hop.watch = this.#limits;
    this.#people = new People({
      ...shared,
      seed,
      troubleMs,
      stores,
      watch: this.#watch,
      ledger: this.#ledger,
      hop: this.#hop,
      faults: this.#troubles.store,
      nodes: this.#nodes,
      wall: () => Math.floor(EPOCH + this.#time.now),
      spawn,
    });
  }

  async run(troubleMs: number): Promise<History> {
    for (let i = 0; i < this.#nodeCount; i++) this.#spawn(this.#bear());
    this.#people.begin();
    this.#spawn(this.#troubles.make(troubleMs));
    this.#spawn(this.#operators.apply(troubleMs));
    await this.#advance(troubleMs);
    this.#troubles.end();
    this.#operators.end();
    for (const { life } of this.#processes) life.isCutOff = false;
    await this.#settle(troubleMs);
    await this.#watch.ended(this.#hop.taken);
    await checkCounters(this.#views, this.#watch.happened, this.#watch.flagged, this.#wall());
    await this.#people.check(this.#views);
    await this.#watch.story.check(this.#views);
    await checkReports(this.#views, this.#spool, this.#watch.failed);
    await this.#store.close();
    return this.#history();
  }

  /** Nothing goes wrong any more: everything ends, if only by its age. In the end clocks are set forward, so that it is soon. */
  async #settle(beganAt: number): Promise<void> {
    const isOver = () => this.#watch.isOver && this.#people.areQuiet;
    const peaceEnds = beganAt + PEACE_MS;
    await this.#advance(peaceEnds, isOver);
    await this.#watch.settledSince(beganAt, (relay, priority) =>
      this.#limits.isSpent(relay, priority, this.#wall()),
    );
    const free = this.#people.erasers.free();
    await this.#advance(peaceEnds + ERASED_MS, isOver);
    await this.#people.erasers.mustBeDone(free);
    for (let round = 1; round <= MAX_ROUNDS && !isOver(); round++) {
      this.setClock(this.#clockWrongMs + MAX_AGE_MS);
      await this.#advance(peaceEnds + ERASED_MS + round * ROUND_MS, isOver);
    }
  }

  #history(): History {
    const copies = [...this.#hop.taken.values()];
    const counts = this.#seen.counts();
    return {
      hash: this.#watch.fingerprint(),
      virtualMinutes: Math.floor(this.#time.now / MINUTE),
      acknowledged: this.#watch.acknowledged.size,
      taken: copies.length,
      duplicates: copies.filter((times) => times > 1).length,
      reports: this.#watch.reports,
      ...this.#people.customers.acts,
      seen: {
        ...counts,
        expired: this.#watch.expired,
        bounced: this.#people.aftermaths.bounced,
        'stopped by the suppression list': this.#people.aftermaths.stopped,
        'failure of mail without a sender': this.#watch.failedUnsent,
      },
    };
  }

  async #advance(end: number, enough: () => boolean = () => false): Promise<void> {
    for (let steps = 0; !enough() && (await this.#time.step(end)); steps++) {
      this.#trouble ??= this.#limits.broken ?? this.#people.broken;
      if (this.#trouble) throw this.#trouble;
      if (steps > MAX_STEPS) throw new InvariantBroken('the history does not come to an end');
      if (this.#hop.takenNow.length > 0)
        await this.#time.outside(() => this.#watch.took(this.#hop.takenNow.splice(0), this.#hop.taken));
    }
    if (this.#trouble) throw this.#trouble;
  }

  #spawn(actor: Promise<void>): void {
    actor.catch((error: unknown) => {
      this.#trouble ??= error;
    });
  }

  /** A process starts, and a supervisor starts another should it fail: each has a name that was never used before. */
  async #bear(): Promise<void> {
    for (;;) {
      const node = this.#conceive();
      try {
        await node.engine.start({ seize: this.#nodeCount === 1 });
        this.#nodes.push(node);
        return;
      } catch {
        this.#end(node);
        await this.#time.sleep(SECOND);
      }
    }
  }

  #conceive(): Process {
    const name = `node-${++this.#born}`;
    const skewMs = this.#nodeCount === 1 ? 0 : Math.floor((this.#dice.next() - 0.5) * 2 * SKEW_MS);
    const life = new NodeLife(this.#time, EPOCH, skewMs + this.#clockWrongMs);
    const random = seededRandom(this.#seed * 1000 + this.#born);
    const events = this.#eventsOf(name);
    const note = (kind: Kind) => this.#seen.note(kind);
    const world = { life, time: this.#time, dice: this.#dice };
    const books = { watch: this.#watch, ledger: this.#ledger, limits: this.#limits, seen: this.#seen };
    const store = faultyStore({ ...world, ...books, inner: this.#store, faults: this.#troubles.store });
    const engine = createEngine({
      store,
      spool: faultySpool({ ...world, inner: this.#spool, faults: this.#troubles.spool, note }),
      views: this.#views,
      clock: life,
      random,
      events,
      node: name,
      signer: NO_SIGNER,
      cluster: this.#nodeCount === 1 ? null : doorOf(this.#cluster, life, this.#time),
      self: { name, roles: ['delivery'], version: '1', startedAt: life.wall(), report: () => '{}' },
      settings: () => this.#troubles.settings,
    });
    const process = { life, engine };
    this.#processes.add(process);
    this.#operators.equip(process);
    this.#spawn(this.#people.erasers.keep(process, store, name));
    return process;
  }

  #transportOf(life: NodeLife, relay: Relay): Transport {
    if (relay.mx === null) return this.#hop.transportOf(life, relay.name);
    const dnsFaults = () => this.#troubles.dns;
    const note = (kind: Kind) => this.#seen.note(kind);
    return domainsTransport({ hop: this.#hop, life, random: this.#dice, relay, dnsFaults, note });
  }

  #eventsOf(name: string): Events {
    const events = new Events();
    events.on((event) => {
      if (event.type === 'report_unwritten') this.#watch.leftUntold(event.messageId);
      if (event.type === 'quota' && event.news === 'used_up') this.#seen.note('daily quota used up');
      // A broken invariant surfaces inside the engine, which reports it like any fault of its store.
      const expected = event.type !== 'fault' || event.code === 'not_recorded';
      if (!expected && !event.message.startsWith('simulated:'))
        this.#trouble ??= new InvariantBroken(`${name}: ${event.code}: ${event.message}`);
    });
    return events;
  }

  /** See {@link Nodes.crash}. */
  crash(): boolean {
    const node = this.#leaves();
    if (node === undefined) return false;
    this.#end(node);
    this.#spawn(this.#time.sleep(this.#dice.next() * MINUTE).then(() => this.#bear()));
    return true;
  }

  /** See {@link Nodes.stop}. */
  stop(): boolean {
    const node = this.#leaves();
    if (node === undefined) return false;
    const deadline = new AbortController();
    this.#time.after(STOP_MS, () => deadline.abort());
    const ended = node.engine.stop(deadline.signal);
    const lost = this.#time.sleep(4 * STOP_MS);
    this.#spawn(
      Promise.race([ended, lost]).then(() => {
        this.#end(node);
        return this.#bear();
      }),
    );
    return true;
  }

  /** The process is no more. */
  #end(process: Process): void {
    process.life.dead = true;
    this.#processes.delete(process);
  }

  /** See {@link Nodes.freeze}. */
  freeze(ms: number): boolean {
    const node = this.#anyNode();
    node?.life.freeze(ms);
    return node !== undefined;
  }

  /** See {@link Nodes.cutOff}. */
  cutOff(ms: number): boolean {
    const node = this.#anyNode();
    if (node === undefined) return false;
    node.life.isCutOff = true;
    this.#time.after(ms, () => {
      node.life.isCutOff = false;
    });
    return true;
  }

  /** See {@link Nodes.setClock}. */
  setClock(wrongMs: number): number {
    const ms = wrongMs - this.#clockWrongMs;
    if (ms === 0) return 0;
    this.#clockWrongMs = wrongMs;
    this.#ledger.clocksSet();
    this.#limits.clockSet();
    this.#people.aftermaths.clocksSet();
    if (ms < 0) this.#watch.clockSetBack(this.#time.now + NOTICED_MS);
    for (const { life } of this.#processes)
      this.#time.after(this.#nodeCount === 1 ? 0 : this.#dice.next() * NOTICED_MS, () => life.jump(ms));
    return ms;
  }

  /** See {@link Nodes.waysChanged}. */
  waysChanged(): void {
    for (const { engine } of this.#nodes) engine.waysChanged();
  }

  #wall(): number {
    return EPOCH + this.#time.now + this.#clockWrongMs;
  }

  #anyNode(): Process | undefined {
    return this.#nodes[Math.floor(this.#dice.next() * this.#nodes.length)];
  }

  /** One of the nodes, which is none of them any more. */
  #leaves(): Process | undefined {
    const node = this.#anyNode();
    if (node !== undefined) this.#nodes.splice(this.#nodes.indexOf(node), 1);
    return node;
  }
}
