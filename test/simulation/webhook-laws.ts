import { HEALTHY, type WebhookHealth, type WebhookPost, type WebhookTry } from '../../src/domain/webhook.ts';
import type { NewDelivery, SettledDelivery, Webhooks } from '../../src/store/webhooks.ts';

/** What must hold of every history of webhooks, held against each call and each request (contract-2 §B3). */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The pauses before each try, as the contract has them. */
const PAUSES = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  DAY,
];
const MOST_ASKED = HOUR;
const AT_ONCE = 4;
const DISABLED_AFTER = 5 * DAY;
/** What looking every second, and calls to the store, may add. */
const SLACK_MS = 3 * SECOND;
/** What came so shortly before the end may still be pending. */
const FRESH_MS = 5 * MINUTE;
const PAGE = 200;

const NEVER = Number.NEGATIVE_INFINITY;
const UNTOLD = { teller: null, endedAt: NEVER, lostAt: NEVER };

/** What a try says that we ended. */
export const STOPPED = 'stopped';

interface Told {
  readonly endpoint: Endpoint;
  readonly sequence: number;
  state: 'pending' | 'delivered' | 'failed' | 'dropped';
  attempts: number;
  dueAt: number;
  /** When the end of a try was last written, and by which node. */
  settledAt: number | null;
  settler: number | null;
  /** How often two nodes made a try at the same time: each counts, and takes a step of the schedule. */
  doubled: number;
  last: WebhookTry | null;
  firstAt: number | null;
  bytes: string | null;
  hasSucceeded: boolean;
  /** The node that is telling it, and when the last try ended or was lost. */
  teller: number | null;
  endedAt: number;
  lostAt: number;
}

interface Endpoint {
  readonly id: string;
  readonly isWitness: boolean;
  health: WebhookHealth;
  /** Since when it is as it is, and which node wrote that. */
  since: number;
  writer: number | null;
  /** Whether it was disabled, by its own doing or an operator's, and when that last changed. */
  switchedAt: number;
  /** The first failure since a success. */
  failingSince: number | null;
  goneAt: number | null;
  readonly told: Map<number, Told>;
  /** By node, the requests that are under way. */
  readonly underWay: Map<number, number>;
  /** When it last could not be given one more. */
  fullAt: number;
}

/** Watches a history. Times are ms of the world. */
export class WebhookLaws {
  readonly #now: () => number;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #happened = new Map<number, { readonly id: string; readonly at: number }>();
  #cursor = 0;
  #outages: { readonly from: number; readonly to: number }[] = [];
  #tries = 0;
  #disabled = 0;
  #lagMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  added(id: string, isWitness: boolean): void {
    const told = new Map<number, Told>();
    const never = Number.NEGATIVE_INFINITY;
    const times = {
      since: 0,
      writer: null,
      switchedAt: never,
      failingSince: null,
      goneAt: null,
      fullAt: never,
    };
    this.#endpoints.set(id, { id, isWitness, health: HEALTHY, ...times, told, underWay: new Map() });
  }

  happened(sequence: number, id: string): void {
    this.#happened.set(sequence, { id, at: this.#now() });
  }

  /** Nobody can be told anything then. */
  outage(from: number, to: number): void {
    this.#outages.push({ from, to });
  }

  /** A node is dead, and all that it had under way. */
  died(node: number): void {
    for (const { underWay, told } of this.#endpoints.values()) {
      underWay.delete(node);
      for (const one of told.values())
        if (one.teller === node)
          Object.assign(one, { teller: null, endedAt: this.#now(), lostAt: this.#now() });
    }
  }

  /** An operator switched it on. */
  enabled(id: string): void {
    const endpoint = this.#of(id);
    Object.assign(endpoint, { health: HEALTHY, since: this.#now(), writer: null, switchedAt: this.#now() });
    Object.assign(endpoint, { failingSince: null, goneAt: null });
  }

  /** The next moment at which something may be due: now, if something is. Null: nothing is pending. */
  nextDue(): number | null {
    const now = this.#now();
    if ([...this.#happened.keys()].some((sequence) => sequence > this.#cursor)) return now;
    const times = [...this.#endpoints.values()].flatMap(({ health, told, underWay }) => {
      const sum = [...underWay.values()].reduce((all, one) => all + one, 0);
      // The end of one wakes the room.
      if (sum >= (health.state === 'failing' ? 1 : AT_ONCE)) return [];
      const pending = [...told.values()].filter(({ state }) => state === 'pending');
      if (health.state !== 'failing') return pending.map(({ dueAt }) => dueAt);
      const oldest = pending.sort((one, other) => one.sequence - other.sequence)[0];
      return oldest === undefined ? [] : [oldest.dueAt];
    });
    return times.length === 0 ? null : Math.min(...times);
  }

  fannedOut(to: number, deliveries: readonly NewDelivery[]): void {
    const now = this.#now();
    const between = [...this.#happened].filter(([sequence]) => sequence > this.#cursor && sequence <= to);
    for (const { endpoint: id, sequence } of deliveries) {
      const endpoint = this.#of(id);
      holds(!endpoint.told.has(sequence), `${sequence} is fanned out to ${id} once`);
      const told = {
        endpoint,
        sequence,
        state: 'pending',
        attempts: 0,
        dueAt: now,
        settledAt: null,
        settler: null,
        doubled: 0,
      } as const;
      endpoint.told.set(sequence, {
        ...told,
        last: null,
        firstAt: null,
        bytes: null,
        hasSucceeded: false,
        ...UNTOLD,
      });
    }
    for (const endpoint of this.#endpoints.values())
      for (const [sequence, { at }] of between)
        if (endpoint.health.state !== 'disabled' && endpoint.switchedAt < at)
          holds(
            endpoint.told.has(sequence),
            `${endpoint.id} is told of ${sequence}, as it was on all the time`,
          );
    this.#cursor = to;
  }

  /** A request begins; what it returns is called with what came of it. */
  begins(node: number, { endpoint: { id }, id: eventId, body }: WebhookPost): (one: WebhookTry) => void {
    const now = this.#now();
    const endpoint = this.#of(id);
    const sequence = [...this.#happened].find(([, event]) => event.id === eventId)?.[0] ?? -1;
    const told = endpoint.told.get(sequence);
    if (told === undefined) throw new Error(`${id} was not to be told of ${eventId}`);
    this.#tries++;
    const bytes = Buffer.from(body).toString();
    told.bytes ??= bytes;
    holds(bytes === told.bytes, `the body of ${sequence} is the same on every try`);
    told.firstAt ??= now;
    const underWay = endpoint.underWay.get(node) ?? 0;
    holds(underWay < AT_ONCE, `${id} gets at most four requests at once`);
    this.#isAsItFares(endpoint, node, sequence);
    if (told.state !== 'pending' && !this.#isUnseen(told, node))
      holds(this.#wasTroubled(now - MINUTE), `${sequence} is told ${id} again`);
    this.#isPunctual(told, node, now);
    if (endpoint.failingSince !== null)
      holds(
        now - endpoint.failingSince < DISABLED_AFTER + 1.1 * DAY + SLACK_MS,
        `${id} is disabled when it has failed for five days`,
      );
    if (endpoint.goneAt !== null)
      holds(this.#wasTroubled(endpoint.goneAt - MINUTE), `${id} is disabled when it is gone`);
    told.teller = node;
    endpoint.underWay.set(node, underWay + 1);
    if (underWay + 1 >= AT_ONCE) endpoint.fullAt = now;
    return (one) => this.#ended(node, told, one);
  }

  /** A node knows at once what it wrote itself, and of what another wrote at its next look. */
  #isAsItFares(
    { id, health: { state }, since, writer, underWay, told }: Endpoint,
    node: number,
    sequence: number,
  ) {
    if (writer !== node && this.#now() - since <= SLACK_MS) return;
    holds(state !== 'disabled', `${id} is told nothing while it is disabled`);
    if (state !== 'failing') return;
    holds((underWay.get(node) ?? 0) === 0, `${id} gets one at a time while it fails`);
    const isOldest = [...told.values()].every((one) => one.state !== 'pending' || one.sequence >= sequence);
    holds(isOldest, `${id} is asked about its oldest event while it fails`);
  }

  settled(
    node: number,
    { endpoint: id, sequence, attempts, one, state, nextTryAt }: SettledDelivery,
    epoch: number,
  ): void {
    const now = this.#now();
    const endpoint = this.#of(id);
    const told = endpoint.told.get(sequence);
    if (told === undefined) throw new Error(`${id} was not to be told of ${sequence}`);
    holds(one.error !== STOPPED, `a try of ${sequence} that we stopped says nothing`);
    const isOlder = state !== 'delivered' && told.attempts !== attempts;
    const hasOtherEnded = (told.settledAt ?? NEVER) >= one.at - epoch - SLACK_MS;
    told.attempts++;
    told.settledAt = now;
    told.settler = node;
    told.last = one;
    if (isOlder) {
      told.doubled++;
      // Its schedule holds.
      holds(hasOtherEnded, `another try of ${sequence} has ended since this one began`);
      return;
    }
    told.state = state;
    if (state === 'failed') {
      holds(told.attempts >= PAUSES.length, `${sequence} is given up after ten tries`);
      const span = now - (told.firstAt ?? now);
      // No pause is longer than a day.
      holds(span >= 0.9 * (3 - told.doubled) * DAY, `${sequence} is tried over three days`);
    }
    if (state !== 'pending') return;
    told.dueAt = (nextTryAt ?? 0) - epoch;
    const pause = PAUSES[told.attempts] ?? 0;
    const asked = Math.min(one.retryAfterMs ?? 0, MOST_ASKED);
    const least = Math.max(0.9 * pause, asked);
    const most = Math.max(1.1 * pause, asked);
    // The time is of before the call.
    const isKept = told.dueAt - now >= least - SLACK_MS && told.dueAt - now <= most + 1;
    holds(isKept, `try ${told.attempts + 1} of ${sequence} keeps to the schedule`);
  }

  became(node: number, id: string, health: WebhookHealth): void {
    const now = this.#now();
    const endpoint = this.#of(id);
    const before = endpoint.health.state;
    if (before === 'disabled')
      holds(health.state === 'disabled', `${id} stays disabled until somebody enables it`);
    if (before !== health.state) Object.assign(endpoint, { since: now, writer: node });
    endpoint.health = health;
    if (health.state !== 'disabled' || before === 'disabled') return;
    this.#disabled++;
    const failedFor = now - (endpoint.failingSince ?? now);
    holds(
      endpoint.goneAt !== null || failedFor >= DISABLED_AFTER,
      `${id} is disabled after 410 or five days, not after ${failedFor} ms`,
    );
    endpoint.switchedAt = now;
    for (const told of endpoint.told.values()) if (told.state === 'pending') told.state = 'dropped';
  }

  /** Held against what is stored, in the end: everybody is well by then. */
  async atTheEnd(webhooks: Webhooks): Promise<void> {
    const now = this.#now();
    const isFresh = (sequence: number) => now - (this.#happened.get(sequence)?.at ?? 0) < FRESH_MS;
    for (const sequence of this.#happened.keys())
      holds(sequence <= this.#cursor || isFresh(sequence), `${sequence} is fanned out`);
    for (const endpoint of this.#endpoints.values()) {
      const stored = new Map<number, string>();
      for (let before: number | null = null, more = true; more; ) {
        const page = await webhooks.deliveries({
          endpoint: endpoint.id,
          state: null,
          before,
          from: 0,
          limit: PAGE,
        });
        for (const { sequence, state } of page.deliveries) stored.set(sequence, state);
        before = page.next;
        more = before !== null;
      }
      for (const { sequence, state, hasSucceeded } of endpoint.told.values()) {
        const kept = stored.get(sequence) ?? 'dropped';
        holds(kept === state, `${sequence} is ${state} for ${endpoint.id}, not ${kept}`);
        if (state === 'delivered') holds(hasSucceeded, `${endpoint.id} took ${sequence}`);
        if (state === 'pending') holds(isFresh(sequence), `${sequence} is told or given up in the end`);
        if (state === 'dropped') holds(endpoint.switchedAt > 0, `${endpoint.id} lost ${sequence}`);
      }
      holds(stored.size <= endpoint.told.size, `${endpoint.id} is told of nothing else`);
    }
  }

  figures() {
    const all = [...this.#endpoints.values()].flatMap(({ told }) => [...told.values()]);
    const count = (state: Told['state']) => all.filter((one) => one.state === state).length;
    return {
      tries: this.#tries,
      delivered: count('delivered'),
      failed: count('failed'),
      disabled: this.#disabled,
      lagMs: this.#lagMs,
    };
  }

  #ended(node: number, told: Told, one: WebhookTry): void {
    const now = this.#now();
    const { endpoint } = told;
    const underWay = endpoint.underWay.get(node) ?? 0;
    if (underWay >= AT_ONCE) endpoint.fullAt = now;
    endpoint.underWay.set(node, underWay - 1);
    Object.assign(told, { teller: null, endedAt: now });
    if (one.error === STOPPED) {
      told.lostAt = now;
      return;
    }
    const isTaken = one.error === null && one.status !== null && one.status >= 200 && one.status < 300;
    if (isTaken) endpoint.failingSince = null;
    else endpoint.failingSince ??= now - one.durationMs;
    if (one.status === 410) endpoint.goneAt = now;
    if (isTaken && endpoint.isWitness && !told.hasSucceeded) this.#isSoon(told, now);
    told.hasSucceeded ||= isTaken;
  }

  /** A healthy endpoint is told at once, whatever the others do. */
  #isSoon({ sequence, lostAt }: Told, now: number): void {
    const { at } = this.#happened.get(sequence) ?? { at: now };
    const lag = now - this.#free(Math.max(at, lostAt));
    this.#lagMs = Math.max(this.#lagMs, lag);
    holds(lag <= 2 * SLACK_MS, `a healthy endpoint is told of ${sequence} at once, not after ${lag} ms`);
  }

  /** Not before it is due, and soon after, unless something else keeps it. */
  #isPunctual(told: Told, node: number, now: number): void {
    const { endpoint, sequence, dueAt, state, endedAt, teller } = told;
    if (state !== 'pending') return;
    holds(now >= dueAt || this.#isUnseen(told, node), `${sequence} is not told again before it is due`);
    // A node that becomes the first tells again what the one before is telling.
    if (endpoint.health.state === 'failing' || teller !== null) return;
    const from = this.#free(Math.max(dueAt, endedAt, endpoint.fullAt, endpoint.since));
    holds(now - from <= SLACK_MS, `${sequence} is told when it is due, not ${now - from} ms later`);
  }

  /** Whether a node may have looked before another wrote what came of the last try. */
  #isUnseen({ settledAt, settler }: Told, node: number): boolean {
    return settler !== null && settler !== node && this.#now() - (settledAt ?? NEVER) <= SLACK_MS;
  }

  /** That moment, or the end of the outage in which it is. */
  #free(from: number): number {
    return this.#outages.reduce(
      (free, { from: start, to }) => (start <= free + SLACK_MS && to > free ? to : free),
      from,
    );
  }

  #wasTroubled(since: number): boolean {
    return this.#outages.some(({ to }) => to >= since);
  }

  #of(id: string): Endpoint {
    const endpoint = this.#endpoints.get(id);
    if (endpoint === undefined) throw new Error(`no endpoint ${id}`);
    return endpoint;
  }
}

function holds(isSo: boolean, law: string): void {
  if (!isSo) throw new Error(`broken: ${law}`);
}
