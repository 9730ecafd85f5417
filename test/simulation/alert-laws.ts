import type { Telling } from '../../src/alerts/shapes.ts';
import type { Alert } from '../../src/domain/alert.ts';
import { InvariantBroken } from './statuses.ts';

/** What must hold of every history of alerts (docs/alerts.md), held against each try to tell a channel. */

const SECOND = 1_000;
/** The rule, and how often a node looks. */
export const FOR_MS = 120 * SECOND;
const LOOK_MS = 15 * SECOND;
/** What happened so long ago has nothing to do with what is told now. */
const SINCE_MS = 600 * SECOND;

/** A try to tell a channel. */
export interface AlertTry {
  readonly channel: string;
  readonly kind: Telling['kind'];
  readonly alert: Alert;
  readonly hasHeard: boolean;
  /** How long what it says has been so, in ms; null: it is not. */
  readonly heldMs: number | null;
}

/** What a channel heard of one alert. */
interface Heard {
  readonly number: number;
  fired: number;
  resolved: number;
  tried: number;
}

/** Watches a history. Times are ms of the world. */
export class AlertLaws {
  broken: InvariantBroken | null = null;
  readonly #now: () => number;
  /** `channel alert` → what was heard of it, in the order of its first sign. */
  readonly #heard = new Map<string, Heard>();
  /** `channel subject` → what it heard last of the newest alert. */
  readonly #last = new Map<string, { readonly of: Heard; readonly kind: Telling['kind'] }>();
  /** When a process was last in the way of its successor: it died, handed over, or could not write. */
  #disturbedAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A process could not tell its successor everything, or works beside it. */
  disturbed(): void {
    this.#disturbedAt = this.#now();
  }

  /** A channel is told, whether or not it hears it. */
  told({ channel, kind, alert, hasHeard, heldMs }: AlertTry): void {
    const key = `${channel} ${alert.id}`;
    const heard = this.#heard.get(key) ?? { number: this.#heard.size + 1, fired: 0, resolved: 0, tried: 0 };
    this.#heard.set(key, heard);
    if (kind === 'test') return;
    // Twice only where somebody could not write down that it was told.
    if (heard[kind] > 0 && this.#isUndisturbed) this.#breaks(`${key} has ${kind}, and is told again`);
    if (kind === 'resolved' && heard.tried === 0) this.#breaks(`${key} is over, and was never told`);
    const isEarly = heldMs !== null && heldMs < FOR_MS - LOOK_MS;
    if (kind === 'fired' && heard.tried === 0 && isEarly && this.#isUndisturbed)
      this.#breaks(`${key} fires, and ${alert.subject} has been so for ${heldMs} ms`);
    heard.tried++;
    if (!hasHeard) return;
    heard[kind]++;
    const name = `${channel} ${alert.subject}`;
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

  /** What was heard in all. Throws where somebody heard of an alert, and not that it is over. */
  figures() {
    const figures = { fired: 0, resolved: 0, again: 0 };
    for (const [name, { fired, resolved }] of this.#heard) {
      if (fired > 0 && resolved === 0)
        throw new InvariantBroken(`${name} was told, and never that it is over`);
      figures.fired += fired;
      figures.resolved += resolved;
      figures.again += Math.max(0, fired - 1) + Math.max(0, resolved - 1);
    }
    return figures;
  }

  get #isUndisturbed(): boolean {
    return this.#now() - this.#disturbedAt > SINCE_MS;
  }

  #breaks(what: string): void {
    this.broken ??= new InvariantBroken(`${what} (at ${this.#now()} ms)`);
  }
}
