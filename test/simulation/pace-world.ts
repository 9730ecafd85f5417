import type { Priority, Submission } from '../../src/domain/message.ts';
import { dayOf } from '../../src/domain/quota.ts';
import type { MxSettings, Relay, RelayLimits } from '../../src/domain/relay.ts';
import { type EngineSettings, NO_SIGNER } from '../../src/engine/contract.ts';
import { createEngine, type Engine } from '../../src/engine/engine.ts';
import { type Random, seededRandom } from '../../src/lib/random.ts';
import { type Event, Events } from '../../src/observe/events.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { type Store, StoreError } from '../../src/store/store.ts';
import { MemoryCluster, overWay, type StoreWay } from './memory-cluster.ts';
import { createMemorySpool } from './memory-spool.ts';
import { PaceHop } from './pace-hop.ts';
import { relayNamed, SETTINGS, submissionNamed } from './scene.ts';
import { NodeLife, VirtualTime } from './virtual-clock.ts';

/** Noon of a day. */
const NOON = Date.UTC(2026, 10, 20, 12);
/** The day before the first day of a schedule that begins at midnight after {@link NOON}. */
export const DAY = dayOf(NOON);
const DAY_MS = 86_400_000;
const SECOND = 1_000;
/** In ms: until a node that has come or gone is known to all, and sends or is not counted any more. */
export const KNOWN_MS = 6 * SECOND;
/** What is accepted in one call. */
const BATCH = 500;
const MAX_CALL_MS = 4;
/** So often what was refused is handed in again. */
const MAX_TRIES = 50;

/** A node while it lives. */
export interface PaceNode {
  readonly name: string;
  readonly life: NodeLife;
  readonly engine: Engine;
  readonly way: StoreWay;
}

/** What a world is made with. */
export interface PaceOptions {
  readonly seed?: number;
  /** In the order of the group that all mail goes by. */
  readonly relays: readonly Relay[];
  /** Calls of the store take time, and some fail: before they happen, or after. */
  readonly storeFaults?: { readonly before: number; readonly after: number } | null;
  readonly settings?: Partial<EngineSettings>;
  /** Wall time at the beginning. */
  readonly epoch?: number;
  /** The nodes know of each other, and each has a way of its own to the store, that can be cut. */
  readonly cluster?: boolean;
}

/** Some nodes over one store, hops that count, and days that can be skipped. */
export class PaceWorld {
  readonly time = new VirtualTime();
  readonly dice: Random;
  readonly hop: PaceHop;
  readonly nodes: PaceNode[] = [];
  readonly events: Event[] = [];
  readonly store: Store;
  readonly views;
  /** Every recipient that was accepted, as `token address`. */
  readonly accepted: string[] = [];
  /** See {@link isAllTaken}: all before this place in `accepted` are taken. */
  #firstMissing = 0;
  /** The ids of accepted messages, by their tokens. */
  readonly ids = new Map<string, string>();
  readonly cluster: MemoryCluster;
  readonly #spool = createMemorySpool();
  readonly #relays = new Map<string, Relay>();
  readonly #options: PaceOptions;
  readonly #settings: EngineSettings;
  #skippedMs = 0;
  #born = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.dice = seededRandom(options.seed ?? 1);
    this.hop = new PaceHop(this.time, seededRandom((options.seed ?? 1) + 1_000_000));
    const { store, views } = openSqlite(':memory:');
    this.store = store;
    this.views = views;
    this.cluster = new MemoryCluster(views, () => this.wall);
    for (const relay of options.relays) this.#relays.set(relay.name, relay);
    const via = options.relays.map(({ name }) => ({ relay: name, weight: 1 }));
    const rules = [{ name: 'all', match: {}, via, order: 'given' as const }];
    const routing = { version: 2, rules, defaultRelay: options.relays[0]?.name ?? '', postmaster: null };
    const retry = { ...SETTINGS.retry, maxAgeMs: 14 * DAY_MS };
    this.#settings = { ...SETTINGS, routing, retry, ...options.settings };
  }

  /** Wall ms by which nodes go whose clocks are right. */
  get wall(): number {
    return (this.#options.epoch ?? NOON) + this.#skippedMs + this.time.now;
  }

  /** A node starts; resolves when it accepts mail. */
  async bear(skewMs = 0, roles: readonly string[] = ['delivery']): Promise<PaceNode> {
    const name = `node-${++this.#born}`;
    const life = new NodeLife(this.time, (this.#options.epoch ?? NOON) + this.#skippedMs, skewMs);
    const events = new Events();
    events.on((event) => this.events.push(event));
    const way = { isCut: false, running: () => life.running(), sleep: (ms: number) => this.time.sleep(ms) };
    const random = seededRandom(this.#born);
    const base = { store: this.#storeOf(life, way), views: this.views, spool: this.#spool };
    const self = { name, roles, version: '1', startedAt: life.wall(), report: () => '{}' };
    const engine = createEngine({
      ...base,
      clock: life,
      random,
      events,
      node: name,
      self,
      signer: NO_SIGNER,
      cluster: this.#options.cluster === true ? overWay(this.cluster.door(), way) : null,
      settings: () => this.#settings,
    });
    const node = { name, life, engine, way };
    for (const relay of this.#relays.values()) this.#put(node, relay);
    let started = false;
    const starting = (async () => {
      while (!started && !life.dead)
        await engine.start({ seize: false }).then(
          () => {
            started = true;
          },
          () => life.sleep(SECOND),
        );
    })();
    for (let tries = 0; !started && tries < 60; tries++) await this.run(SECOND);
    await starting;
    this.nodes.push(node);
    return node;
  }

  /** A node's process ends without a word. */
  kill(node: PaceNode): void {
    node.life.dead = true;
    this.nodes.splice(this.nodes.indexOf(node), 1);
  }

  /** Adds or replaces a relay on all nodes, and those to come. */
  put(relay: Relay): void {
    this.#relays.set(relay.name, relay);
    for (const node of this.nodes) this.#put(node, relay);
  }

  /** Hands in so many messages, to one recipient each unless said otherwise, in virtual time; their ids. Their tokens begin with `prefix`. */
  async submit(prefix: string, count: number, options: Mail = {}): Promise<string[]> {
    const ids: string[] = [];
    for (let tries = 0; ids.length < count; tries++) {
      if (tries > MAX_TRIES) throw new Error('nothing is accepted');
      // What was refused may be ours after all: another try has another name.
      const from = `${prefix}${tries === 0 ? '' : `try${tries}-`}`;
      const missing = count - ids.length;
      for (let start = 0; start < missing; start += BATCH)
        ids.push(...(await this.#accept(from, start, Math.min(BATCH, missing - start), options)));
      if (ids.length < count) await this.run(SECOND);
    }
    return ids;
  }

  async #accept(prefix: string, from: number, count: number, options: Mail): Promise<string[]> {
    const node = options.at ?? this.nodes[Math.floor(this.dice.next() * this.nodes.length)];
    if (node === undefined) throw new Error('no node');
    const batch = Array.from({ length: count }, (_, place) =>
      submissionTo(`${prefix}${from + place}`, options),
    );
    const accepting = node.engine.intake.accept(batch);
    // Where the store takes its time, so does the acceptance.
    if (this.#options.storeFaults || this.#options.cluster) await this.run(10 * MAX_CALL_MS);
    const ids: string[] = [];
    for (const [place, answer] of (await accepting).entries()) {
      if (answer.kind === 'accepted') {
        ids.push(answer.id);
        this.ids.set(batch[place]?.header.subject ?? '', answer.id);
        for (const address of addressesOf(options))
          this.accepted.push(`${batch[place]?.header.subject} ${address}`);
      } else if (!this.#options.storeFaults) throw new Error(`not accepted: ${answer.kind}`);
    }
    return ids;
  }

  /** Lets so much time go by. */
  async run(ms: number, enough: () => boolean = () => false): Promise<void> {
    const end = this.time.now + ms;
    this.time.after(ms, () => {});
    while (!enough() && (await this.time.step(end)));
  }

  /** The clocks of all nodes go forward to a wall time; nothing that counts by their monotonic clocks notices. */
  skipTo(wallMs: number): void {
    const ms = wallMs - this.wall;
    if (ms < 0) throw new Error('time does not go back');
    this.#skippedMs += ms;
    for (const { life } of this.nodes) life.jump(ms);
  }

  /** To so many ms after the beginning of a UTC day. */
  skipToDay(day: number, ms = 0): void {
    this.skipTo(day * DAY_MS + ms);
  }

  /** Recipients accepted that no hop has taken, and those taken more than once. */
  missing(): string[] {
    return this.accepted.filter((name) => !this.hop.taken.has(name));
  }

  /** Whether none is missing, for whoever asks at each step: it looks again only at the first that was. */
  isAllTaken(): boolean {
    while (this.#firstMissing < this.accepted.length) {
      if (!this.hop.taken.has(this.accepted[this.#firstMissing] ?? '')) return false;
      this.#firstMissing++;
    }
    return true;
  }

  /** See {@link missing}. */
  doubled(): string[] {
    return [...this.hop.taken].filter(([, times]) => times > 1).map(([name]) => name);
  }

  /** A node that runs and can reach the store, for whoever wants an answer; one more if none does. */
  async well(): Promise<PaceNode> {
    return this.nodes.find(({ life, way }) => !life.isFrozen && !way.isCut) ?? (await this.bear());
  }

  /** A node's process is told to end, and has. */
  async end(node: PaceNode): Promise<void> {
    this.nodes.splice(this.nodes.indexOf(node), 1);
    let ended = false;
    void node.engine.stop(new AbortController().signal).then(() => {
      ended = true;
    });
    await this.run(5 * 60 * SECOND, () => ended);
    if (!ended) throw new Error(`${node.name} does not end`);
  }

  #storeOf(life: NodeLife, way: StoreWay): Store {
    const faults = this.#options.storeFaults ?? null;
    const store = faults === null ? this.store : shaky(this.store, life, this.time, this.dice, faults);
    return this.#options.cluster === true ? overWay(store, way) : store;
  }

  #put(node: PaceNode, relay: Relay): void {
    node.engine.relays.put(relay, this.hop.transportOf(node.name, node.life, relay.name));
  }
}

/** How a simulated message is sent. */
export interface Mail {
  readonly priority?: Priority;
  readonly domain?: string;
  /** How many it is for: one if it is not said. */
  readonly recipients?: number;
  readonly sendAt?: number | null;
  /** To whom it is handed in; any of the nodes if it is not said. */
  readonly at?: PaceNode;
}

function submissionTo(token: string, mail: Mail): Submission {
  const { priority = 'normal', sendAt = null } = mail;
  const base = submissionNamed(token, 1);
  const recipients = addressesOf(mail).map((address) => ({
    address,
    kind: 'to' as const,
    notify: null,
    orcpt: null,
  }));
  return { ...base, priority, sendAt, envelope: { ...base.envelope, recipients } };
}

function addressesOf({ recipients = 1, domain = 'example.net' }: Mail): string[] {
  return Array.from({ length: recipients }, (_, place) => `r${place === 0 ? '' : place}@${domain}`);
}

/** A smarthost with these limits. */
export function smarthost(name: string, limits: Partial<RelayLimits> = {}): Relay {
  const base = relayNamed(name);
  return { ...base, limits: { ...base.limits, maxRecipients: 1, ...limits } };
}

/** A provider whose API takes a message for all of its recipients or for none. */
export function wholeOnly(name: string, limits: Partial<RelayLimits> = {}): Relay {
  const provider = { endpoint: 'https://api.example', allowPrivate: false, secret: 's', messageStream: null };
  return {
    ...smarthost(name, { maxRecipients: 50, ...limits }),
    type: 'postmark',
    provider: { ...provider, type: 'postmark' },
  };
}

/** A relay that delivers directly. */
export function direct(name: string, limits: Partial<RelayLimits>, mx: Partial<MxSettings> = {}): Relay {
  const settings: MxSettings = {
    helo: null,
    sourceIps: [],
    ipFamily: 'any',
    returnPath: 'auto',
    port: 25,
    tls: 'opportunistic',
    allowPrivate: false,
    maxPerDomain: 20,
    presets: true,
    ...mx,
  };
  return { ...smarthost(name, limits), type: 'mx', mx: settings };
}

/** So many domains. */
export function domainsOf(count: number): string[] {
  return Array.from({ length: count }, (_, place) => `d${place}.example`);
}

/** The store as a node sees it: calls take time, may fail before or after, and never return to the dead. */
function shaky(
  inner: Store,
  life: NodeLife,
  time: VirtualTime,
  dice: Random,
  faults: { readonly before: number; readonly after: number },
): Store {
  const call = async (work: () => Promise<unknown>): Promise<unknown> => {
    await time.sleep(dice.next() * MAX_CALL_MS);
    await life.running();
    if (dice.next() < faults.before) throw new StoreError('store_unavailable', 'simulated: before');
    const answer = await work();
    await time.sleep(dice.next() * MAX_CALL_MS);
    await life.running();
    if (dice.next() < faults.after) throw new StoreError('store_unavailable', 'simulated: after');
    return answer;
  };
  return new Proxy(inner, {
    get: (target, verb) => {
      const method: unknown = Reflect.get(target, verb);
      if (typeof method !== 'function') return method;
      return (...args: readonly unknown[]) => call(() => Promise.resolve(method.apply(target, args)));
    },
  });
}
