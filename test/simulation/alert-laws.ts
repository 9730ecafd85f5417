import type { Telling } from '../../src/alerts/shapes.ts';
import type { Alert } from '../../src/domain/alert.ts';
import { InvariantBroken } from './statuses.ts';

/** What must hold of every history of alerts (docs/alerts.md), held against each try to tell a channel. */

const SECOND = 1_000;
/** The rule: for how long it is so until an alert fires, and how long after that nobody is told of the next. */
export const FOR_MS = 120 * SECOND;
export const COOL_DOWN_MS = 900 * SECOND;
/** How often a node looks. */
const LOOK_MS = 15 * SECOND;
/** Two looks, and what else a channel is told before, in ms. */
const BUSY_MS = 2 * LOOK_MS + 30 * SECOND;
/** A channel that fails so often is not told: six tries over three hours. */
const MOST_TRIES = 6;
/** What happened so long ago has nothing to do with what is told now. */
const SINCE_MS = 600 * SECOND;

/** A try to tell a channel. */
export interface AlertTry {
  readonly channel: string;
  readonly kind: Telling['kind'];
  readonly alert: Alert;
  readonly hasHeard: boolean;
}

/** The last time that something was so. */
interface Spell {
  readonly from: number;
  /** Infinite: it still is. */
  readonly to: number;
}

/** What a channel heard of one alert, and how often that was tried. */
interface Heard {
  readonly number: number;
  fired: number;
  resolved: number;
  readonly tries: { fired: number; resolved: number };
  /** What the last try told, if that was heard. */
  last: Telling['kind'] | null;
}

/** What a channel was last tried to be told of a subject, whether or not it heard it. */
interface Tried {
  readonly of: Heard;
  readonly kind: Telling['kind'];
  /** When it was last told that something fires. */
  readonly firedAt: number;
}

/** Watches a history. Times are ms of the world. */
export class AlertLaws {
  broken: InvariantBroken | null = null;
  readonly #now: () => number;
  readonly #channels: readonly string[];
  readonly #spells = new Map<string, Spell>();
  /** `channel subject` → what it was told last of the newest alert. */
  readonly #tries = new Map<string, Tried>();
  /** `channel alert` → what was heard of it, in the order of its first sign. */
  readonly #heard = new Map<string, Heard>();
  /** `channel subject` → what it heard last of the newest alert, or would have if it had not failed too often. */
  readonly #last = new Map<string, { readonly of: Heard; readonly kind: Telling['kind'] }>();
  /** Who reads alerts until then may find that they were told in the future: as far as is known, just now. */
  #mayCoolFrom = Number.NEGATIVE_INFINITY;
  /** When a process was last in the way of its successor: it died, handed over, or could not write. */
  #disturbedAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number, channels: readonly string[]) {
    this.#now = now;
    this.#channels = channels;
  }

  /** From now on it is so of a subject, or is not. */
  turned(subject: string, isSo: boolean): void {
    const now = this.#now();
    const from = isSo ? now : (this.#spells.get(subject)?.from ?? now);
    this.#spells.set(subject, { from, to: isSo ? Number.POSITIVE_INFINITY : now });
  }

  /** Time has passed: what has been so for long enough was told to every channel. */
  passed(): void {
    const now = this.#now();
    const disturbed = Math.max(this.#disturbedAt + SINCE_MS, 0);
    for (const [subject, { from, to }] of this.#spells)
      for (const channel of to < now ? [] : this.#channels) {
        const tried = this.#tries.get(`${channel} ${subject}`);
        const firedAt = tried?.firedAt ?? Number.NEGATIVE_INFINITY;
        const coolsUntil = Math.max(firedAt, this.#mayCoolFrom) + COOL_DOWN_MS;
        const due = Math.max(from + FOR_MS, coolsUntil, disturbed) + BUSY_MS;
        if (tried?.kind !== 'fired' && now > due)
          this.#breaks(`${channel} is not told of ${subject}, which has been so since ${from} ms`);
      }
  }

  /** A process could not tell its successor everything, or works beside it. */
  disturbed(): void {
    this.#disturbedAt = this.#now();
  }

  /** The clock was set while nobody watched, or could read and write; somebody does within so many ms. */
  clockSetUnseen(untilMs: number): void {
    this.#mayCoolFrom = this.#now() + untilMs;
  }

  /** A channel is told, whether or not it hears it. */
  told({ channel, kind, alert, hasHeard }: AlertTry): void {
    const key = `${channel} ${alert.id}`;
    const number = this.#heard.size + 1;
    const unheard = { number, fired: 0, resolved: 0, tries: { fired: 0, resolved: 0 }, last: null };
    const heard: Heard = this.#heard.get(key) ?? unheard;
    this.#heard.set(key, heard);
    if (kind === 'test') return;
    const isFirst = heard.tries.fired + heard.tries.resolved === 0;
    heard.tries[kind]++;
    // Twice only where somebody could not write down that it was told; a try of that which fails is made again hours later.
    if (heard.last === kind && this.#isUndisturbed) this.#breaks(`${key} has ${kind}, and is told again`);
    heard.last = hasHeard ? kind : null;
    if (kind === 'resolved' && isFirst) this.#breaks(`${key} is over, and was never told`);
    const isNew = kind === 'fired' && isFirst;
    if (isNew && this.#isUndisturbed && !this.#isSo(alert.subject, FOR_MS - LOOK_MS))
      this.#breaks(`${key} fires, and ${alert.subject} has not been so for long enough`);
    const name = `${channel} ${alert.subject}`;
    const tried = this.#tries.get(name);
    const firedAt = kind === 'fired' ? this.#now() : (tried?.firedAt ?? Number.NEGATIVE_INFINITY);
    const isOlder = tried !== undefined && tried.of.number > heard.number;
    this.#tries.set(name, isOlder ? { ...tried, firedAt } : { of: heard, kind, firedAt });
    if (!hasHeard && heard.tries[kind] < MOST_TRIES) return;
    if (hasHeard) heard[kind]++;
    // That an older one is over may be told after a newer one fired.
    if ((this.#last.get(name)?.of.number ?? 0) <= heard.number) this.#last.set(name, { of: heard, kind });
  }

  /** Of each relay, every channel heard this last; of one that never rested for long enough, nothing. */
  mustHaveHeard(channels: readonly string[], kind: Telling['kind'], relays: readonly string[]): void {
    for (const channel of channels)
      for (const relay of relays) {
        const last = this.#last.get(`${channel} relay:${relay}`)?.kind;
        if (last !== kind && (kind === 'fired' || last !== undefined))
          throw new InvariantBroken(`${channel} heard ${last} of ${relay} last, and it has long ${kind}`);
      }
  }

  /** What was heard in all. Throws where somebody heard of an alert, and was not told, or not often enough, that it is over. */
  figures() {
    const figures = { fired: 0, resolved: 0, again: 0 };
    for (const [name, { fired, resolved, tries }] of this.#heard) {
      if (fired > 0 && resolved === 0 && tries.resolved < MOST_TRIES)
        throw new InvariantBroken(`${name} was told, and never that it is over`);
      figures.fired += fired;
      figures.resolved += resolved;
      figures.again += Math.max(0, fired - 1) + Math.max(0, resolved - 1);
    }
    return figures;
  }

  /** Whether it has been so of a subject for so many ms, at the last look: what was seen then is told now. */
  #isSo(subject: string, forMs: number): boolean {
    const { from, to } = this.#spells.get(subject) ?? { from: 0, to: 0 };
    const now = this.#now();
    return Math.min(now, to) - from >= forMs && now - to <= BUSY_MS;
  }

  get #isUndisturbed(): boolean {
    return this.#now() - this.#disturbedAt > SINCE_MS;
  }

  #breaks(what: string): void {
    this.broken ??= new InvariantBroken(`${what} (at ${this.#now()} ms)`);
  }
}
