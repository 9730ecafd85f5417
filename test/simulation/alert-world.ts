import type { Telling } from '../../src/alerts/shapes.ts';
import { AlertWatch } from '../../src/alerts/watch.ts';
import type { AlertFacts } from '../../src/domain/alert-measures.ts';
import { createIdSource } from '../../src/lib/id.ts';
import { type Random, seededRandom } from '../../src/lib/random.ts';
import { Events } from '../../src/observe/events.ts';
import type { Alerts } from '../../src/store/alerts.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { StoreError } from '../../src/store/store.ts';
import { alertChannel, alertFacts } from '../support/alerts.ts';
import { AlertLaws, COOL_DOWN_MS, FOR_MS } from './alert-laws.ts';
import { calledBy, NodeLife, VirtualTime } from './virtual-clock.ts';

/** Nodes that watch relays over one store, in virtual time, while they die, hand over, and clocks are set. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const EPOCH = Date.UTC(2026, 10, 20);
const TROUBLE_MS = 5 * HOUR;
/** All tries of a channel take three hours; what is told then is told by then, whoever had to do it. */
const PEACE_MS = 4 * HOUR;
/** No relay comes back for less than a look notices. */
const SHORTEST_MS = 40 * SECOND;
const RELAYS: readonly string[] = ['out', 'other', 'third'];
const CHANNELS: readonly string[] = ['ops', 'chat'];
const RESTING = { isTried: true, cause: null, quota: null };

/** What a history came to. */
export interface AlertHistory {
  readonly fired: number;
  readonly resolved: number;
  readonly again: number;
  readonly deaths: number;
  readonly handovers: number;
  readonly outages: number;
  readonly 'clocks set': number;
  readonly 'tries that failed': number;
}

interface Relay {
  readonly name: string;
  rests: boolean;
}

/** Plays the history of a seed. Throws what breaks a promise of docs/alerts.md. */
export async function playAlerts(seed: number): Promise<AlertHistory> {
  const world = new AlertWorld(seed);
  try {
    return await world.play();
  } finally {
    await world.close();
  }
}

class AlertWorld {
  readonly #time = new VirtualTime();
  readonly #dice: Random;
  readonly #stores = openSqlite(':memory:');
  readonly #relays = RELAYS.map((name): Relay => ({ name, rests: false }));
  readonly #nodes: { readonly life: NodeLife; readonly duty: { isFirst: boolean } }[] = [];
  readonly #laws = new AlertLaws(() => this.#time.now, CHANNELS);
  readonly #counts = { deaths: 0, handovers: 0, outages: 0, 'clocks set': 0, 'tries that failed': 0 };
  #failing = 0;
  #awayUntil = 0;
  #wrongMs = 0;
  #broken: unknown = null;

  constructor(seed: number) {
    this.#dice = seededRandom(seed);
  }

  async play(): Promise<AlertHistory> {
    const { alerts } = this.#stores;
    // Nodes tell of their own database from memory: a story of its own.
    await alerts.setAlertRule('database', { enabled: false });
    await alerts.setAlertRule('relay_resting', {
      forSeconds: FOR_MS / SECOND,
      coolDownSeconds: COOL_DOWN_MS / SECOND,
    });
    for (const name of CHANNELS) {
      const stored = { channel: alertChannel({ id: `alc_${name}`, name }), secret: null };
      await alerts.addAlertChannel(stored, 9);
    }
    this.#start(true);
    await this.#until(TROUBLE_MS, () => this.#act());
    this.#failing = 0;
    this.#set('out', true);
    this.#set('other', false);
    this.#set('third', false);
    await this.#until(TROUBLE_MS + PEACE_MS);
    this.#laws.mustHaveHeard(CHANNELS, 'fired', ['out']);
    this.#laws.mustHaveHeard(CHANNELS, 'resolved', ['other', 'third']);
    this.#set('out', false);
    await this.#until(TROUBLE_MS + 2 * PEACE_MS);
    this.#laws.mustHaveHeard(CHANNELS, 'resolved', RELAYS);
    return { ...this.#laws.figures(), ...this.#counts };
  }

  async close(): Promise<void> {
    for (const { life } of this.#nodes) life.dead = true;
    await this.#stores.store.close();
  }

  async #until(end: number, act: () => void = () => {}): Promise<void> {
    while (this.#time.now < end) {
      const next = Math.min(end, this.#time.now + SHORTEST_MS + this.#dice.next() * 6 * MINUTE);
      this.#time.after(next - this.#time.now, () => {});
      while (await this.#time.step(next));
      this.#laws.passed();
      this.#broken ??= this.#laws.broken;
      if (this.#broken !== null) throw this.#broken;
      if (this.#time.now < end) act();
    }
  }

  #act(): void {
    const roll = this.#dice.next();
    const relay = this.#relays[Math.floor(this.#dice.next() * RELAYS.length)];
    if (roll < 0.6 && relay !== undefined) this.#set(relay.name, !relay.rests);
    else if (roll < 0.7) this.#failing = this.#dice.next() < 0.5 ? 0 : this.#dice.next();
    else if (roll < 0.78) this.#replace(true);
    else if (roll < 0.86) this.#replace(false);
    else if (roll < 0.93) this.#away();
    else this.#setClocks();
  }

  #set(name: string, rests: boolean): void {
    const relay = this.#relays.find((one) => one.name === name);
    if (relay === undefined || relay.rests === rests) return;
    relay.rests = rests;
    this.#laws.turned(`relay:${name}`, rests);
  }

  /** The node that watches is killed, or hands over; another goes on, in a while or a little early. */
  #replace(isKilled: boolean): void {
    const first = this.#nodes.find(({ duty, life }) => duty.isFirst && !life.dead);
    if (first === undefined) return;
    this.#counts[isKilled ? 'deaths' : 'handovers']++;
    this.#laws.disturbed();
    if (isKilled) first.life.dead = true;
    const ms = this.#dice.next() * MINUTE;
    this.#time.after(isKilled ? ms : 0, () => this.#start(true));
    this.#time.after(isKilled ? 0 : ms / 4, () => {
      first.duty.isFirst = false;
      this.#laws.disturbed();
    });
  }

  #away(): void {
    this.#counts.outages++;
    this.#awayUntil = this.#time.now + this.#dice.next() * 5 * MINUTE;
    this.#laws.disturbed();
    this.#time.after(this.#awayUntil - this.#time.now, () => this.#laws.disturbed());
  }

  #setClocks(): void {
    this.#counts['clocks set']++;
    const ms = Math.floor((this.#dice.next() - 0.5) * 6 * HOUR);
    this.#wrongMs += ms;
    const isWatched = this.#nodes.some(({ duty, life }) => duty.isFirst && !life.dead);
    const awayMs = Math.max(0, this.#awayUntil - this.#time.now);
    if (!isWatched || awayMs > 0) this.#laws.clockSetUnseen(MINUTE + awayMs);
    for (const { life } of this.#nodes) life.jump(ms);
  }

  #start(isFirst: boolean): void {
    const life = new NodeLife(this.#time, EPOCH, this.#wrongMs);
    const duty = { isFirst };
    const node = `n${this.#nodes.length}`;
    this.#nodes.push({ life, duty });
    const watch = new AlertWatch({
      alerts: this.#asSeenBy(life),
      clock: life,
      events: new Events(),
      gather: async () => this.#facts(node),
      tell: (telling, { channel }) => this.#told(life, telling, channel.name),
      server: () => 'mail.example.com',
      newId: createIdSource(life, this.#dice, 'alr_'),
      isFirst: () => duty.isFirst,
      keepDays: () => 30,
      fault: (_, error) => {
        if (!(error instanceof StoreError)) this.#broken ??= error;
      },
    });
    void watch.run(new AbortController().signal);
  }

  #facts(node: string): AlertFacts {
    const now = EPOCH + this.#time.now + this.#wrongMs;
    const relays = this.#relays.map(({ name, rests }) => ({ ...RESTING, name, rests }));
    return { ...alertFacts(now, node), databaseWell: this.#time.now >= this.#awayUntil, relays };
  }

  /** A channel takes its time, and fails now and then. */
  async #told(life: NodeLife, { kind, alert }: Telling, channel: string): Promise<string | null> {
    const isFailing = this.#dice.next() < this.#failing;
    this.#laws.told({ channel, kind, alert, hasHeard: !isFailing });
    if (isFailing) this.#counts['tries that failed']++;
    await life.sleep(this.#dice.next() * 3 * SECOND);
    return isFailing ? 'It answered 500.' : null;
  }

  #asSeenBy(life: NodeLife): Alerts {
    return calledBy(this.#stores.alerts, async (work) => {
      await this.#time.sleep(1);
      await life.running();
      const isAway = this.#time.now < this.#awayUntil;
      if (isAway && this.#dice.next() < 0.5) throw new StoreError('store_unavailable', 'simulated: before');
      const answer = await work();
      if (isAway) throw new StoreError('store_unavailable', 'simulated: after');
      await life.running();
      return answer;
    });
  }
}
