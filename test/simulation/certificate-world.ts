import type { Asked } from '../../src/acme/https.ts';
import { CertificateKeeper } from '../../src/acme/keeper.ts';
import { createVault } from '../../src/config/secrets.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { type Random, seededRandom } from '../../src/lib/random.ts';
import type { Issuing } from '../../src/store/issuing.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { StoreError } from '../../src/store/store.ts';
import { ChallengeDesk } from '../../src/tls/challenge-desk.ts';
import { DIRECTORY, NEW_ORDER, SimulatedAuthority, TEMPERS, type Temper } from './certificate-authority.ts';
import { CertificateLaws, RENEW_PERCENT, WELL_MS, WRONG_MS } from './certificate-laws.ts';
import { NodeLife, VirtualTime } from './virtual-clock.ts';

/** Nodes over one store whose certificate an authority renews, in virtual time, with everything that may go wrong. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const EPOCH = Date.UTC(2026, 10, 20);
const TROUBLE_MS = 20 * DAY;
/** After the trouble, and now and then within, all is well for so long. */
const PEACE_MS = WELL_MS + 9 * HOUR;
/** Nodes look every few seconds. While nobody orders this is the same, and costs less. */
const LOOK_MS = 5 * SECOND;
const IDLE_MS = 5 * MINUTE;
const NODES = 3;
const NAMES: readonly string[] = ['mail.example.com', 'smtp.example.com'];
/** So often a node that begins to order dies, or stands still, before it has ended. */
const DIES = 0.2;
const FREEZES = 0.1;
/** So often the authority is another at the next request. */
const CHANGES = 0.1;
/** So often it has too much to do when it is asked for an order. */
const BUSY = 0.2;

/** What a history came to. */
export type CertificateHistory = Readonly<Record<string, number>>;

/** Plays the history of a seed. Throws what breaks a law. */
export async function playCertificates(seed: number): Promise<CertificateHistory> {
  const world = new CertificateWorld(seed);
  try {
    return await world.play();
  } finally {
    await world.close();
  }
}

interface Node {
  readonly number: number;
  readonly bornAt: number;
  readonly life: NodeLife;
  readonly desk: ChallengeDesk;
  readonly keeper: CertificateKeeper;
  readonly stopping: AbortController;
  /** What it waits for in virtual time, or in the store: while it is none of it, it works, and no time passes. */
  readonly waits: { count: number; hasEnded: boolean };
}

class CertificateWorld {
  readonly #time = new VirtualTime();
  readonly #dice: Random;
  readonly #stores = openSqlite(':memory:');
  readonly #laws = new CertificateLaws(() => this.#time.now, EPOCH);
  readonly #authority: SimulatedAuthority;
  #nodes: Node[] = [];
  readonly #counts = {
    deaths: 0,
    restarts: 0,
    freezes: 0,
    outages: 0,
    'clocks set': 0,
    'ill authorities': 0,
    'renewals hurried': 0,
  };
  #born = 0;
  #awayUntil = 0;
  #wrongMs = 0;
  #isTroubled = true;
  #broken: unknown = null;

  constructor(seed: number) {
    this.#dice = seededRandom(seed);
    this.#authority = new SimulatedAuthority({
      dice: this.#dice,
      laws: this.#laws,
      now: () => EPOCH + this.#time.now,
      validate: (token) => this.#anyNode()?.desk.textFor(`/.well-known/acme-challenge/${token}`) ?? null,
    });
  }

  async play(): Promise<CertificateHistory> {
    for (let count = 0; count < NODES; count++) this.#start();
    while (this.#time.now < TROUBLE_MS) {
      const isPeace = this.#dice.next() < 0.1;
      if (isPeace) this.#makePeace();
      // It may have to revoke what it issued while nothing else is wrong.
      if (isPeace && this.#dice.next() < 0.3) this.#hurry();
      await this.#pass(isPeace ? PEACE_MS : this.#dice.next() * 6 * HOUR);
      this.#isTroubled = true;
      this.#act();
    }
    this.#makePeace();
    await this.#pass(PEACE_MS);
    return { ...this.#laws.figures(), ...this.#counts };
  }

  async close(): Promise<void> {
    for (const { life } of this.#nodes) life.dead = true;
    await this.#stores.store.close();
  }

  async #pass(ms: number): Promise<void> {
    const end = this.#time.now + ms;
    this.#time.after(ms, () => {});
    do {
      await this.#worked();
      this.#broken ??= this.#laws.broken;
      if (this.#broken !== null) throw this.#broken;
      if (!this.#isWell) this.#laws.unwell();
    } while (await this.#time.step(end));
    this.#laws.passed(this.#nodes.filter(({ life }) => !life.isFrozen));
  }

  /** Waits until every node waits for something: keys and signatures are made in real time. */
  async #worked(): Promise<void> {
    do await new Promise((resolve) => void setImmediate(resolve));
    while (this.#nodes.some(({ life, waits }) => !life.dead && !waits.hasEnded && waits.count === 0));
  }

  get #isWell(): boolean {
    return this.#authority.temper === 'well' && this.#time.now >= this.#awayUntil && this.#wrongMs === 0;
  }

  #makePeace(): void {
    this.#isTroubled = false;
    this.#authority.temper = 'well';
    this.#awayUntil = this.#time.now;
    if (this.#wrongMs !== 0) this.#setClocks(0);
    this.#laws.unwell();
  }

  #act(): void {
    const roll = this.#dice.next();
    if (roll < 0.55) this.#changeTemper();
    else if (roll < 0.6) this.#hurry();
    else if (roll < 0.7) this.#die(this.#anyNode());
    else if (roll < 0.8) this.#restart();
    else if (roll < 0.9) this.#away();
    else this.#setClocks(this.#dice.next() < 0.4 ? 0 : Math.floor((this.#dice.next() - 0.5) * 2 * WRONG_MS));
  }

  #changeTemper(): void {
    const drawn = TEMPERS[Math.floor(this.#dice.next() * TEMPERS.length)] ?? 'well';
    this.#becomes(this.#dice.next() < 0.4 ? 'well' : drawn);
  }

  #hurry(): void {
    if (this.#authority.hurry()) this.#counts['renewals hurried']++;
  }

  /** The authority may be another by the time it hears a request. */
  #beforeRequest({ url }: Asked): void {
    if (url === NEW_ORDER && this.#dice.next() < BUSY) this.#becomes('busy');
    else if (this.#dice.next() < CHANGES) this.#changeTemper();
  }

  #becomes(temper: Temper): void {
    this.#authority.temper = temper;
    if (temper !== 'well') this.#counts['ill authorities']++;
  }

  /** The process is killed, with all that is under way; another starts some time later. */
  #die(node: Node | undefined): void {
    if (node === undefined || node.life.dead) return;
    this.#counts.deaths++;
    node.life.dead = true;
    this.#gone(node);
    this.#time.after(this.#dice.next() * 5 * MINUTE, () => this.#start());
  }

  /** A process is told to end, and its successor starts beside it. */
  #restart(): void {
    const node = this.#anyNode();
    if (node === undefined) return;
    this.#counts.restarts++;
    this.#laws.disturbed();
    node.stopping.abort();
    this.#start();
  }

  #freeze({ life }: Node): void {
    this.#counts.freezes++;
    this.#laws.disturbed();
    const ms = this.#dice.next() * 40 * MINUTE;
    life.freeze(ms);
    this.#time.after(ms, () => this.#laws.disturbed());
  }

  #gone(node: Node): void {
    this.#nodes = this.#nodes.filter((one) => one !== node);
    this.#laws.ended(node.number);
    this.#laws.disturbed();
  }

  #away(): void {
    this.#counts.outages++;
    const ms = this.#dice.next() * 20 * MINUTE;
    this.#awayUntil = this.#time.now + ms;
    this.#laws.disturbed();
    this.#time.after(ms, () => this.#laws.disturbed());
  }

  #setClocks(wrongMs: number): void {
    this.#counts['clocks set']++;
    for (const { life } of this.#nodes) life.jump(wrongMs - this.#wrongMs);
    this.#wrongMs = wrongMs;
    this.#laws.clocksSet();
  }

  #anyNode(): Node | undefined {
    return this.#nodes[Math.floor(this.#dice.next() * this.#nodes.length)];
  }

  /** Some do not come to the end of what they have begun. */
  #begins(node: Node): void {
    const roll = this.#isTroubled ? this.#dice.next() : 1;
    const soon = this.#dice.next() * 20 * SECOND;
    if (roll < DIES) this.#time.after(soon, () => this.#die(node));
    else if (roll < DIES + FREEZES) this.#time.after(soon, () => this.#freeze(node));
  }

  #start(): void {
    const number = ++this.#born;
    const life = new NodeLife(this.#time, EPOCH, this.#wrongMs);
    const waits = { count: 0, hasEnded: false };
    const stopping = new AbortController();
    const clock = clockOf(life, waits, () => this.#laws.isOrdering);
    const desk = new ChallengeDesk(clock, this.#dice);
    const vault = createVault(new Uint8Array(32).fill(7), this.#dice);
    const keeper = new CertificateKeeper({
      issuing: this.#asSeenBy(number, life, waits),
      desk,
      clock,
      random: this.#dice,
      log: silentLog,
      node: `n${number}`,
      isShared: true,
      connect: () => ({
        ask: (asked) => {
          if (this.#isTroubled) this.#beforeRequest(asked);
          return waiting(waits, this.#authority.ask(number, life, asked));
        },
        close: () => this.#laws.ended(number),
      }),
      terms: () => TERMS,
      isOverruled: () => false,
      vault: () => vault,
      changed: () => this.#laws.uses(number, keeper.pair),
      stopping: stopping.signal,
    });
    const node = { number, bornAt: this.#time.now, life, desk, keeper, stopping, waits };
    this.#nodes.push(node);
    this.#laws.unwell();
    void keeper.run().then(() => {
      waits.hasEnded = true;
      this.#gone(node);
    });
  }

  #asSeenBy(number: number, life: NodeLife, waits: Node['waits']): Issuing {
    const { issuing } = this.#stores;
    const reach = <T>(work: () => Promise<T>) => waiting(waits, this.#reach(life, work));
    return {
      issuing: () => reach(() => issuing.issuing()),
      leaseIssuing: (...args) => reach(() => issuing.leaseIssuing(...args)),
      endIssuing: (...args) => reach(() => issuing.endIssuing(...args)),
      acmeAccount: (...args) => reach(() => issuing.acmeAccount(...args)),
      putAcmeAccount: (...args) => reach(() => issuing.putAcmeAccount(...args)),
      putRenewal: (...args) =>
        reach(async () => {
          const isPut = await issuing.putRenewal(...args);
          const { advice } = args[1];
          if (isPut && advice !== null) this.#laws.advised(advice.window);
          return isPut;
        }),
      putChallenges: async (...args) => {
        const isPut = await reach(() => issuing.putChallenges(...args));
        for (const other of this.#nodes)
          if (other.number === number) this.#begins(other);
          // They would have looked within that time.
          else this.#time.after(this.#dice.next() * LOOK_MS, () => other.keeper.wake());
        return isPut;
      },
      putIssued: (...args) =>
        reach(async () => {
          const isPut = await issuing.putIssued(...args);
          if (isPut) this.#laws.stored(args[1].certificate);
          return isPut;
        }),
    };
  }

  /** A call takes a moment, never returns to the dead, and fails while the store is away, before its work or after it. */
  async #reach<T>(life: NodeLife, work: () => Promise<T>): Promise<T> {
    await this.#time.sleep(1);
    await life.running();
    const isAway = this.#time.now < this.#awayUntil;
    if (isAway && this.#dice.next() < 0.5) throw new StoreError('store_unavailable', 'simulated: before');
    const answer = await this.#time.outside(work);
    if (isAway) throw new StoreError('store_unavailable', 'simulated: after');
    await life.running();
    return answer;
  }
}

const TERMS = {
  names: NAMES,
  directory: DIRECTORY,
  caFile: null,
  challenge: 'http-01',
  keyType: 'ec-256',
  renewPercent: RENEW_PERCENT,
  agreesToTerms: true,
  contact: null,
  binding: null,
} as const;

/** The node's clock, by which the world knows when it waits. */
function clockOf(life: NodeLife, waits: Node['waits'], isOrdering: () => boolean): Clock {
  return {
    wall: () => life.wall(),
    mono: () => life.mono(),
    sleep: (ms, signal) => waiting(waits, life.sleep(ms === LOOK_MS && !isOrdering() ? IDLE_MS : ms, signal)),
  };
}

async function waiting<T>(waits: Node['waits'], work: Promise<T>): Promise<T> {
  waits.count++;
  try {
    return await work;
  } finally {
    waits.count--;
  }
}
