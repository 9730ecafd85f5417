import type { HoldKind } from '../../src/domain/hold.ts';
import type { Submission } from '../../src/domain/message.ts';
import type { Relay } from '../../src/domain/relay.ts';
import type { RouteRule } from '../../src/domain/route.ts';
import { createEngine, type Engine } from '../../src/engine/engine.ts';
import type { EngineSettings } from '../../src/engine/settings.ts';
import { NO_SIGNER } from '../../src/engine/signer.ts';
import { type Random, seededRandom } from '../../src/lib/random.ts';
import { Events } from '../../src/observe/events.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { type Store, StoreError } from '../../src/store/store.ts';
import type { Views } from '../../src/store/views.ts';
import { faultyStore, type StoreFaults } from './faulty-store.ts';
import { InvariantBroken, Watch } from './invariants.ts';
import { createMemorySpool } from './memory-spool.ts';
import { DEAD, type HopFaults, NextHop } from './next-hop.ts';
import { checkReports } from './reports.ts';
import { NodeLife, VirtualTime } from './virtual-clock.ts';

const EPOCH = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;
const NODES = 3;
const MAX_AGE_MS = 30 * MINUTE;
/** A step that does nothing but fire timers: far beyond what a healthy history takes. */
const MAX_STEPS = 2_000_000;

const RELAYS: readonly string[] = ['out', 'other', 'third'];

/** What a history came to. */
export interface History {
  readonly hash: string;
  readonly acknowledged: number;
  readonly taken: number;
  readonly duplicates: number;
  readonly crashes: number;
  /** How often a message was cancelled, and retried, by request. */
  readonly cancelled: number;
  readonly retried: number;
}

/** One node of the world, while it lives. */
interface Node {
  readonly life: NodeLife;
  readonly engine: Engine;
}

/** A store, empty, and its reading side. Closing the store closes both. */
interface Stores {
  readonly store: Store;
  readonly views: Views;
}

/** Plays a seeded history: half an hour of mail and trouble, then peace until everything has ended. */
export async function play(seed: number, stores: Stores = openSqlite(':memory:')): Promise<History> {
  const world = new World(seed, stores);
  return world.run();
}

class World {
  readonly #time = new VirtualTime();
  readonly #dice: Random;
  readonly #hop: NextHop;
  readonly #store: Store;
  readonly #views: Views;
  readonly #spool: Spool = createMemorySpool();
  readonly #watch: Watch;
  readonly #faults: StoreFaults;
  readonly #nodes: Node[] = [];
  readonly #seed: number;
  #born = 0;
  #crashes = 0;
  #trouble: unknown = null;
  #submitted = 0;
  /** Operators hold relays back, and turn the order of a rule around. */
  readonly #holds = new Map<string, HoldKind>();
  #settings: EngineSettings = { ...SETTINGS, holds: this.#holds };
  readonly #acts = { cancelled: 0, retried: 0 };

  constructor(seed: number, { store, views }: Stores) {
    this.#seed = seed;
    this.#dice = seededRandom(seed);
    this.#store = store;
    this.#views = outside(views, this.#time);
    this.#watch = new Watch(views);
    this.#hop = new NextHop(this.#time, this.#dice);
    for (const relay of RELAYS) this.#hop.faultsOf.set(relay, this.#rollHopFaults());
    this.#faults = { failBefore: this.#dice.next() * 0.05, failAfter: this.#dice.next() * 0.02 };
  }

  async run(): Promise<History> {
    for (let i = 0; i < NODES; i++) this.#spawn(this.#bear());
    this.#spawn(this.#submitMail());
    this.#spawn(this.#changeMinds());
    this.#spawn(this.#makeTrouble());
    await this.#advance(30 * MINUTE);
    this.#makePeace();
    await this.#advance(30 * MINUTE + 2 * MAX_AGE_MS, () => this.#watch.unfinished().length === 0);
    await this.#watch.ended(this.#hop.taken);
    await checkReports(this.#views, this.#spool, this.#watch.failed);
    await this.#store.close();
    const copies = [...this.#hop.taken.values()];
    return {
      hash: this.#watch.fingerprint(),
      acknowledged: this.#watch.acknowledged.size,
      taken: copies.length,
      duplicates: copies.filter((times) => times > 1).length,
      crashes: this.#crashes,
      ...this.#acts,
    };
  }

  async #advance(end: number, enough: () => boolean = () => false): Promise<void> {
    for (let steps = 0; !enough() && (await this.#time.step(end)); steps++) {
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

  /** A process starts. Its name, like a real one's, was never used before. */
  async #bear(): Promise<void> {
    const name = `node-${++this.#born}`;
    const life = new NodeLife(this.#time, EPOCH, Math.floor((this.#dice.next() - 0.5) * 2_000));
    const store = faultyStore(this.#store, life, this.#time, this.#dice, this.#faults, this.#watch);
    const events = new Events();
    events.on((event) => {
      // A broken invariant surfaces inside the engine, which reports it like any fault of its store.
      const expected = event.type !== 'fault' || event.code === 'not_recorded';
      if (!expected && !event.message.startsWith('simulated:'))
        this.#trouble ??= new InvariantBroken(`${name}: ${event.code}: ${event.message}`);
    });
    const random = seededRandom(this.#seed * 1000 + this.#born);
    const parts = { store, views: this.#views, spool: this.#spool, clock: life, random, events, node: name };
    const engine = createEngine({ ...parts, signer: NO_SIGNER, settings: () => this.#settings });
    for (const relay of RELAYS) engine.relays.put(relayNamed(relay), this.#hop.transportOf(life, relay));
    while (!life.dead) {
      try {
        await engine.start({ seize: false });
        this.#nodes.push({ life, engine });
        return;
      } catch {
        // The store failed while the node was starting: a supervisor starts it again.
        await life.sleep(1_000);
      }
    }
  }

  async #submitMail(): Promise<void> {
    while (this.#time.now < 30 * MINUTE) {
      await this.#time.sleep(this.#dice.next() * 40_000);
      const node = this.#anyNode();
      const burst = 1 + Math.floor(this.#dice.next() * 4);
      for (let i = 0; node && i < burst; i++) this.#spawn(this.#submit(node));
    }
  }

  async #submit(node: Node): Promise<void> {
    const token = `t${++this.#submitted}`;
    const [answer] = await node.engine.intake.accept([this.#submission(token)]);
    if (answer?.kind !== 'accepted') return;
    this.#watch.acknowledged.add(answer.id);
    // Some regret it at once, while it is under way.
    if (this.#dice.next() < 0.1) await this.#act(node, answer.id, 'cancel');
  }

  /** Customers cancel and retry what is under way or has long ended. */
  async #changeMinds(): Promise<void> {
    while (this.#time.now < 30 * MINUTE) {
      await this.#time.sleep(this.#dice.next() * 30_000);
      const node = this.#anyNode();
      const all = [...this.#watch.acknowledged];
      const ids = this.#dice.next() < 0.6 ? this.#watch.unfinished() : all;
      const id = ids[Math.floor(this.#dice.next() * ids.length)];
      const act = this.#dice.next() < 0.4 ? 'cancel' : 'retry';
      if (node && id !== undefined) this.#spawn(this.#act(node, id, act));
    }
  }

  async #act({ engine }: Node, id: string, act: 'cancel' | 'retry'): Promise<void> {
    try {
      if (act === 'retry') this.#acts.retried += (await engine.acts.retry(id)) === 'requeued' ? 1 : 0;
      else this.#acts.cancelled += (await engine.acts.cancel(id)) === 'cancelled' ? 1 : 0;
    } catch (error) {
      // The store failed: the customer is told so, and may ask again.
      if (!(error instanceof StoreError)) throw error;
    }
  }

  #submission(token: string): Submission {
    const count = 1 + Math.floor(this.#dice.next() * 4);
    const named = submissionNamed(token, count);
    // Reports name what they are about by its Message-ID.
    const text = Buffer.from(`Message-ID: ${named.header.messageId}\r\n\r\n`, 'latin1');
    const later = this.#dice.next() < 0.1 ? EPOCH + this.#time.now + this.#dice.next() * 5 * MINUTE : null;
    return {
      ...named,
      content: { ...named.content, chunks: [text], sizeBytes: text.length },
      reportable: true,
      sendAt: later === null ? null : Math.floor(later),
      priority: this.#dice.next() < 0.2 ? 'high' : 'normal',
    };
  }

  /** Crashes and freezes nodes and changes the weather, for as long as mail comes in. */
  async #makeTrouble(): Promise<void> {
    while (this.#time.now < 30 * MINUTE) {
      await this.#time.sleep(this.#dice.next() * 4 * MINUTE);
      const roll = this.#dice.next();
      const node = this.#anyNode();
      if (roll < 0.35 && node) {
        node.life.dead = true;
        this.#crashes++;
        this.#nodes.splice(this.#nodes.indexOf(node), 1);
        await this.#time.sleep(this.#dice.next() * MINUTE);
        this.#spawn(this.#bear());
      } else if (roll < 0.5) {
        this.#operate();
      } else if (roll < 0.65 && node) {
        node.life.freeze(this.#dice.next() * 2 * MINUTE);
      } else {
        const relay = RELAYS[Math.floor(this.#dice.next() * RELAYS.length)] ?? '';
        this.#hop.faultsOf.set(relay, this.#dice.next() < 0.3 ? DEAD : this.#rollHopFaults());
      }
    }
  }

  /** An operator lays or lifts a hold, or publishes another table. */
  #operate(): void {
    const relay = RELAYS[Math.floor(this.#dice.next() * RELAYS.length)] ?? '';
    const roll = this.#dice.next();
    if (roll < 0.4) this.#holds.delete(relay);
    else if (roll < 0.7) this.#holds.set(relay, roll < 0.55 ? 'pause' : 'drain');
    else this.#publish();
    for (const { engine } of this.#nodes) engine.waysChanged();
  }

  #publish(): void {
    const { routing } = this.#settings;
    const rules = routing.rules.map((rule) => ({ ...rule, via: [...rule.via].reverse() }));
    this.#settings = { ...this.#settings, routing: { ...routing, rules, version: routing.version + 1 } };
  }

  #makePeace(): void {
    this.#holds.clear();
    for (const { engine } of this.#nodes) engine.waysChanged();
    this.#hop.faultsOf.clear();
    this.#faults.failBefore = 0;
    this.#faults.failAfter = 0;
    if (this.#nodes.length === 0) this.#spawn(this.#bear());
  }

  #anyNode(): Node | undefined {
    return this.#nodes[Math.floor(this.#dice.next() * this.#nodes.length)];
  }

  #rollHopFaults(): HopFaults {
    const up_to = (most: number) => (this.#dice.next() < 0.3 ? 0 : this.#dice.next() * most);
    return {
      refuseConnection: this.#dice.next() < 0.15 ? 1 : up_to(0.3),
      defer: up_to(0.5),
      reject: up_to(0.1),
      dropBeforeDot: up_to(0.2),
      dropAfterDot: up_to(0.3),
      deferAfterDot: up_to(0.2),
    };
  }
}

/** What engines read is read in its turn, too. */
function outside(views: Views, time: VirtualTime): Views {
  return new Proxy(views, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function'
        ? (...args: unknown[]) => time.outside(async () => Reflect.apply(member, target, args))
        : member;
    },
  });
}

/** Mail to one domain leaves by two relays in order, to another by two that are drawn, the rest by one. */
const RULES: readonly RouteRule[] = [
  {
    name: 'ordered',
    match: { recipientDomain: new Set(['example.net']) },
    via: [
      { relay: 'out', weight: 1 },
      { relay: 'other', weight: 1 },
    ],
    order: 'given',
  },
  {
    name: 'drawn',
    match: { recipientDomain: new Set(['example.com']) },
    via: [
      { relay: 'other', weight: 3 },
      { relay: 'third', weight: 1 },
    ],
    order: 'weighted',
  },
];
/** Recipients take turns among these. */
const DOMAINS: readonly string[] = ['example.net', 'example.com', 'example.org'];

/** What simulated engines are told. */
export const SETTINGS: EngineSettings = {
  routing: { version: 2, rules: RULES, defaultRelay: 'out', postmaster: null },
  holds: new Map(),
  reports: { hostname: 'relay.example', relay: null, delayAfterMs: 4 * 60 * MINUTE, perHour: 1_000_000 },
  retry: { firstMs: 10_000, maxMs: 5 * MINUTE, maxAgeMs: MAX_AGE_MS, ambiguous: 'retry' },
  retention: {
    contentAgeMs: 7 * 24 * 60 * MINUTE,
    contentMaxBytes: 1e9,
    capturedAgeMs: 7 * 24 * 60 * MINUTE,
    capturedMaxBytes: 1e9,
    recordAgeMs: 90 * 24 * 60 * MINUTE,
  },
  compactBelowPercent: 25,
  queue: { maxBytes: null, maxMessagesPerKey: 1_000_000 },
  diskCriticalBytes: 1,
  shortWayBytes: 1e6,
};

/** A submission whose contents are its token, to so many recipients. */
export function submissionNamed(token: string, count: number): Submission {
  const recipients = Array.from({ length: count }, (_, i) => ({
    address: `r${i}@${DOMAINS[i % DOMAINS.length]}`,
    kind: 'to' as const,
    notify: null,
    orcpt: null,
  }));
  const bytes = Buffer.from(token, 'latin1');
  const flags = { eightBit: false, utf8: false, dotStuffing: false };
  return {
    envelope: { reversePath: 'a@example.com', recipients, ret: null, envid: null },
    content: { chunks: [bytes], sizeBytes: bytes.length, flags },
    header: { from: 'a@example.com', subject: token, messageId: `<${token}@example.com>` },
    tags: [],
    metadata: {},
    sendAt: null,
    priority: 'normal',
    source: 'api',
    sourceAddress: null,
    requestId: null,
    keyId: null,
    keyName: null,
    reportable: false,
    signing: [],
    test: false,
    idempotency: null,
  };
}

/** A relay of simulated engines. */
export function relayNamed(name: string): Relay {
  const limits = {
    maxConcurrency: 4,
    maxRatePerSecond: 0,
    maxMessageBytes: 0,
    maxRecipients: 3,
    maxPerDay: 0,
    reservePercent: 0,
    warmUp: null,
  };
  return {
    name,
    type: 'smtp',
    limits,
    origin: 'file',
    disabled: false,
    smtp: null,
    mx: null,
    provider: null,
  };
}
