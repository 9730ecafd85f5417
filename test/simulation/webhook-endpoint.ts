import type { WebhookTry } from '../../src/domain/webhook.ts';
import type { Random } from '../../src/lib/random.ts';
import { tryOf } from '../support/webhooks.ts';

/** How simulated endpoints of webhooks behave: each has moods, which the world changes at random. */

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** What an endpoint does with a request. */
export interface Behaviour {
  readonly takesMs: number;
  readonly answer: Partial<WebhookTry>;
}

const failing = (error: string, takesMs: number): Behaviour => ({
  takesMs,
  answer: { status: null, error, answer: '' },
});
const answering = (status: number, takesMs: number, retryAfterMs: number | null = null): Behaviour => ({
  takesMs,
  answer: { status, retryAfterMs },
});
const between = (random: Random, least: number, most: number) =>
  Math.round(least + random.next() * (most - least));

/** The moods, and what becomes of a request in each. */
export const MOODS = {
  well: (random: Random) => answering(200, between(random, 5, 200)),
  slow: (random: Random) => answering(204, between(random, 5 * SECOND, 19 * SECOND)),
  refusing: () => failing('refused', 2),
  silent: () => failing('no answer within 20 s', 20 * SECOND),
  hostile: (random: Random) => (random.next() < 0.5 ? answering(302, 10) : failing('no HTTP', 20 * SECOND)),
  broken: (random: Random) => answering(500, between(random, 5, 2 * SECOND)),
  fickle: (random: Random) =>
    random.next() < 0.5 ? answering(200, 50) : answering(random.next() < 0.5 ? 500 : 404, 50),
  busy: (random: Random) => answering(random.next() < 0.5 ? 429 : 503, 20, between(random, SECOND, 3 * HOUR)),
  leaving: (random: Random) =>
    random.next() < 0.3 ? answering(410, 3 * SECOND) : answering(200, between(random, SECOND, 19 * SECOND)),
  gone: () => answering(410, 10),
} as const;

/** See {@link MOODS}. */
export type Mood = keyof typeof MOODS;

/** A try with what an endpoint did. */
export function triedAs({ takesMs, answer }: Behaviour, at: number): WebhookTry {
  return tryOf({ at, durationMs: takesMs, ...answer });
}
