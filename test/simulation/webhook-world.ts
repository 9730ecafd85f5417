import { HEALTHY, type WebhookPost, type WebhookTry } from '../../src/domain/webhook.ts';
import { WebhookRoom } from '../../src/engine/webhooks.ts';
import { eventId } from '../../src/lib/id.ts';
import { type Random, seededRandom } from '../../src/lib/random.ts';
import { Events } from '../../src/observe/events.ts';
import { EVERY_EVENT } from '../../src/store/events.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { StoreError } from '../../src/store/store.ts';
import type { Webhooks } from '../../src/store/webhooks.ts';
import { at, message, T0 } from '../contract/store/fixtures.ts';
import { storedEndpoint } from '../support/webhooks.ts';
import { NodeLife, VirtualTime } from './virtual-clock.ts';
import { MOODS, type Mood, triedAs } from './webhook-endpoint.ts';
import { STOPPED, WebhookLaws } from './webhook-laws.ts';

/** Nodes that tell endpoints of events, over one real store, in virtual time, with everything that may go wrong. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TROUBLE_MS = 7 * DAY;
/** After the trouble everybody is well: what was pending is told within its longest pause. */
const PEACE_MS = 3 * DAY;
/** The share of endpoints whose mood never changes. */
const DOOMED = 0.3;
/** A real room looks every second; here it sleeps until something may be due, which is the same and costs less. */
const LOOK_MS = SECOND;
const LONGEST_SLEEP_MS = 6 * HOUR;

/** What a history came to. */
export interface WebhookHistory {
  readonly events: number;
  readonly tries: number;
  readonly delivered: number;
  readonly failed: number;
  readonly deaths: number;
  readonly handovers: number;
  readonly cuts: number;
  readonly disabled: number;
  readonly enabled: number;
  /** The longest that the healthy endpoint was not told of an event, outages of the nodes aside, in ms. */
  readonly lagMs: number;
}

interface Node {
  readonly life: NodeLife;
  readonly room: WebhookRoom;
  readonly stopping: AbortController;
  readonly duty: { isFirst: boolean };
}

/** Plays the history of a seed. Throws when a law is broken. */
export async function playWebhooks(seed: number): Promise<WebhookHistory> {
  const world = new WebhookWorld(seed);
  try {
    return await world.play();
  } finally {
    await world.close();
  }
}

class WebhookWorld {
  readonly #time = new VirtualTime(4);
  readonly #stores = openSqlite(':memory:');
  readonly #random: Random;
  readonly #moods = new Map<string, Mood>();
  /** Those that stay as they began. */
  readonly #doomed = new Set<string>();
  readonly #laws: WebhookLaws;
  readonly #nodes: Node[] = [];
  readonly #counts = { events: 0, deaths: 0, handovers: 0, cuts: 0, enabled: 0 };
  #cutUntil = 0;
  #nextAct = 0;
  #lastEvent = 0;
  #broken: unknown = null;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#laws = new WebhookLaws(() => this.#time.now);
  }

  async play(): Promise<WebhookHistory> {
    await this.#addEndpoints();
    this.#startNode(true);
    await this.#until(TROUBLE_MS, () => this.#act());
    await this.#makePeace();
    await this.#until(TROUBLE_MS + PEACE_MS, () => this.#happens(1), DAY);
    await this.#laws.atTheEnd(this.#stores.webhooks);
    return { ...this.#counts, ...this.#laws.figures() };
  }

  async close(): Promise<void> {
    for (const { life } of this.#nodes) life.dead = true;
    await this.#stores.store.close();
  }

  /** Lets time pass, with an act every now and then. */
  async #until(end: number, act: () => Promise<void>, everyMs = 6 * HOUR): Promise<void> {
    while (this.#time.now < end) {
      this.#nextAct = Math.min(end, this.#time.now + this.#random.next() * 2 * everyMs);
      this.#time.after(this.#nextAct - this.#time.now, () => {});
      while (await this.#time.step(this.#nextAct));
      if (this.#broken !== null) throw this.#broken;
      if (this.#time.now < end) await act();
    }
  }

  async #addEndpoints(): Promise<void> {
    const count = 1 + Math.floor(this.#random.next() * 3);
    for (let place = 0; place <= count; place++) {
      const stored = storedEndpoint({ keyId: null });
      const { id } = stored.endpoint;
      await this.#stores.webhooks.addWebhookEndpoint(stored, { ofKey: 20, all: 20 });
      // The first one is always well: it is what the others must not cost anything.
      this.#moods.set(id, place === 0 ? 'well' : this.#anyMood());
      if (place > 0 && this.#random.next() < DOOMED) this.#doomed.add(id);
      this.#laws.added(id, place === 0);
    }
  }

  #anyMood(): Mood {
    const moods = Object.keys(MOODS) as Mood[];
    // Being gone for good ends the story of an endpoint, so it is rare.
    const mood = moods[Math.floor(this.#random.next() * moods.length)] ?? 'well';
    return (mood === 'gone' || mood === 'leaving') && this.#random.next() < 0.7 ? 'broken' : mood;
  }

  async #act(): Promise<void> {
    const dice = this.#random.next();
    if (dice < 0.45) await this.#happens(1 + Math.floor(this.#random.next() ** 2 * 8));
    else if (dice < 0.75) this.#changeMood();
    else if (dice < 0.81) await this.#inTheMiddle(() => this.#die());
    else if (dice < 0.87) await this.#inTheMiddle(() => this.#handOver());
    else if (dice < 0.92) this.#cut();
    else await this.#enable();
  }

  async #happens(count: number): Promise<void> {
    await this.#stores.store.accept(
      Array.from({ length: count }, () => message()),
      at(Math.floor(this.#time.now)),
    );
    this.#counts.events += count;
    const { events } = await this.#stores.views.events({
      ...EVERY_EVENT,
      from: { after: this.#lastEvent },
      limit: 200,
    });
    for (const { sequence, at: happenedAt } of events) {
      this.#laws.happened(sequence, eventId(happenedAt, sequence));
      this.#lastEvent = sequence;
    }
    this.#wake();
  }

  #changeMood(): void {
    const [, ...all] = [...this.#moods.keys()];
    const others = all.filter((id) => !this.#doomed.has(id));
    const id = others[Math.floor(this.#random.next() * others.length)];
    if (id !== undefined) this.#moods.set(id, this.#anyMood());
  }

  /** While something is told. */
  async #inTheMiddle(act: () => void): Promise<void> {
    await this.#happens(2);
    this.#time.after(this.#random.next() * 10 * SECOND, act);
  }

  /** The process of the first node is killed, with all that is under way; another takes over some time later. */
  #die(): void {
    const first = this.#nodes.find(({ duty, life }) => duty.isFirst && !life.dead);
    if (first === undefined) return;
    this.#counts.deaths++;
    first.life.dead = true;
    this.#laws.died(this.#nodes.indexOf(first));
    first.duty.isFirst = false;
    const awayMs = this.#random.next() * 2 * MINUTE;
    this.#laws.outage(this.#time.now, this.#time.now + awayMs);
    this.#time.after(awayMs, () => this.#startNode(true));
  }

  /** Another node becomes the first; both believe it for a moment, or neither does. */
  #handOver(): void {
    const first = this.#nodes.find(({ duty, life }) => duty.isFirst && !life.dead);
    if (first === undefined) return;
    this.#counts.handovers++;
    const next = this.#startNode(false);
    const overlapMs = this.#random.next() < 0.5 ? this.#random.next() * 20 * SECOND : 0;
    const gapMs = overlapMs === 0 ? this.#random.next() * MINUTE : 0;
    if (gapMs > 0) {
      first.duty.isFirst = false;
      this.#laws.outage(this.#time.now, this.#time.now + gapMs);
    }
    this.#time.after(gapMs, () => {
      next.duty.isFirst = true;
      next.room.wake();
    });
    this.#time.after(overlapMs + gapMs, () => {
      first.duty.isFirst = false;
      first.stopping.abort();
      first.room.wake();
    });
  }

  /** The store cannot be reached for a while. */
  #cut(): void {
    this.#counts.cuts++;
    this.#cutUntil = this.#time.now + this.#random.next() * 3 * MINUTE;
    this.#laws.outage(this.#time.now, this.#cutUntil);
  }

  /** An operator switches a disabled endpoint on again. */
  async #enable(): Promise<void> {
    for (const { endpoint, health } of await this.#stores.webhooks.webhookEndpoints()) {
      if (health.state !== 'disabled') continue;
      this.#counts.enabled++;
      this.#moods.set(endpoint.id, 'well');
      await this.#stores.webhooks.setWebhookHealth(endpoint.id, HEALTHY, this.#time.now);
      this.#laws.enabled(endpoint.id);
    }
    this.#wake();
  }

  async #makePeace(): Promise<void> {
    for (const id of this.#moods.keys()) this.#moods.set(id, 'well');
    await this.#enable();
  }

  #wake(): void {
    for (const { room, life } of this.#nodes) if (!life.dead) room.wake();
  }

  #startNode(isFirst: boolean): Node {
    const life = new NodeLife(this.#time, T0, 0);
    const duty = { isFirst };
    const stopping = new AbortController();
    const self = this;
    const number = this.#nodes.length;
    const webhooks = this.#asSeenBy(number, life);
    const room = new WebhookRoom({
      webhooks,
      views: { events: (query) => this.#reach(life, () => this.#stores.views.events(query)) },
      clock: life,
      random: this.#random,
      events: new Events(),
      membership: duty,
      post: (post, signal) => this.#post(number, life, post, signal),
      fault: (_, error) => {
        if (!(error instanceof StoreError)) this.#broken ??= error;
      },
      get lookMs() {
        return self.#untilDue();
      },
    });
    const node = { life, room, stopping, duty };
    this.#nodes.push(node);
    void room.run(stopping.signal);
    return node;
  }

  /** How long nothing can come due. */
  #untilDue(): number {
    const now = this.#time.now;
    const next = Math.min(this.#nextAct, this.#laws.nextDue() ?? Number.POSITIVE_INFINITY);
    return Math.min(LONGEST_SLEEP_MS, Math.max(LOOK_MS, next - now));
  }

  /** A call takes a moment, never returns to the dead, and fails while the store is away, before its work or after it. */
  async #reach<T>(life: NodeLife, work: () => Promise<T>): Promise<T> {
    await this.#time.sleep(1);
    await life.running();
    const isAway = this.#time.now < this.#cutUntil;
    if (isAway && this.#random.next() < 0.5) throw new StoreError('store_unavailable', 'simulated: away');
    const answer = await work();
    if (isAway) throw new StoreError('store_unavailable', 'simulated: no answer');
    await life.running();
    return answer;
  }

  #asSeenBy(node: number, life: NodeLife): Webhooks {
    const { webhooks } = this.#stores;
    const reach =
      <A extends readonly unknown[], T>(
        work: (...args: A) => Promise<T>,
        then?: (answer: T, ...args: A) => void,
      ) =>
      (...args: A) =>
        this.#reach(life, async () => {
          const answer = await work(...args);
          then?.(answer, ...args);
          return answer;
        });
    const laws = this.#laws;
    return {
      ...webhooks,
      webhookEndpoints: reach(() => webhooks.webhookEndpoints()),
      webhookCursor: reach(() => webhooks.webhookCursor()),
      dueDeliveries: reach((...args) => webhooks.dueDeliveries(...args)),
      oldestDelivery: reach((id) => webhooks.oldestDelivery(id)),
      pendingDeliveries: reach(() => webhooks.pendingDeliveries()),
      forgetDeliveries: reach((...args) => webhooks.forgetDeliveries(...args)),
      fanOut: reach(
        (...args) => webhooks.fanOut(...args),
        (isDone, _from, to, deliveries) => {
          if (isDone) laws.fannedOut(to, deliveries);
        },
      ),
      settleDelivery: reach(
        (settled) => webhooks.settleDelivery(settled),
        (isDone, settled) => {
          if (!isDone) return;
          laws.settled(node, settled, T0);
          // They look every second, and would see it then.
          for (const other of this.#nodes) if (other.life !== life && !other.life.dead) other.room.wake();
        },
      ),
      setWebhookHealth: reach(
        (...args) => webhooks.setWebhookHealth(...args),
        (isDone, id, health) => {
          if (isDone) laws.became(node, id, health);
        },
      ),
    };
  }

  async #post(node: number, life: NodeLife, post: WebhookPost, signal: AbortSignal): Promise<WebhookTry> {
    const { id } = post.endpoint;
    const startedAt = this.#time.now;
    const end = this.#laws.begins(node, post);
    const behaviour = MOODS[this.#moods.get(id) ?? 'well'](this.#random);
    await life.sleep(behaviour.takesMs, signal);
    const isCut = signal.aborted && this.#time.now < startedAt + behaviour.takesMs;
    const one = isCut
      ? triedAs({ takesMs: 0, answer: { status: null, error: STOPPED } }, T0 + startedAt)
      : triedAs(behaviour, T0 + startedAt);
    end(one);
    return one;
  }
}
