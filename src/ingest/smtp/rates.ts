import { ownerOf } from '../../domain/source.ts';
import { sourceGroup } from '../../lib/network.ts';
import type { RateLimiter, RateVerdict } from '../rate.ts';
import type { IngestShared } from '../shared.ts';
import type { SmtpOptions } from './options.ts';
import type { Origin } from './origin.ts';
import { deny, type Refusal } from './refusal.ts';

/**
 * Recipients a minute that strangers may reach, each of them and all together: `<postmaster>` again and again. Enough
 * for reports of trouble, too few to fill a disk or a mailbox with.
 */
const STRANGER_PER_MINUTE = 5;
const STRANGERS_PER_MINUTE = 30;
const STRANGERS = 'strangers';

/**
 * Messages a minute (contract §6). Each MAIL counts, a stranger's too, also one that is refused later: a key's in the
 * window of its other sends, a named source's for all its addresses together where it has a rate of its own, and any
 * other's by address, IPv6 by /64.
 */
export class Rates {
  readonly #keys: RateLimiter;
  readonly #sources: RateLimiter;
  readonly #options: SmtpOptions;

  /** `limiter`: the windows that the API counts in too. */
  constructor({ limiter, sources }: Pick<IngestShared, 'limiter' | 'sources'>, options: SmtpOptions) {
    this.#keys = limiter;
    this.#sources = sources;
    this.#options = options;
  }

  /** Counts a message; refuses it when there were too many. */
  take({ key, source, address }: Origin, nowMs: number): Refusal | null {
    const { limits, settings } = this.#options;
    if (key !== null) {
      const limit = key.rateLimit ?? limits.rateLimitPerKey;
      return refusalOf(this.#keys.take(key.id, 'send', limit, nowMs), 'This key may send');
    }
    if (source !== null && source.ratePerMinute > 0)
      return refusalOf(
        this.#keys.take(ownerOf(source), 'send', source.ratePerMinute, nowMs),
        `The source ${source.name} may send`,
      );
    const group = sourceGroup(address);
    return refusalOf(
      this.#sources.take(group, 'send', settings.rateLimitPerSource, nowMs),
      `${group} may send`,
    );
  }

  /** Counts a recipient of somebody who may not relay; refuses it when there were too many. */
  takeOfStranger(address: string, nowMs: number): Refusal | null {
    const own = this.#sources.take(`stranger ${sourceGroup(address)}`, 'send', STRANGER_PER_MINUTE, nowMs);
    const verdict = own?.allowed ? this.#sources.take(STRANGERS, 'send', STRANGERS_PER_MINUTE, nowMs) : own;
    const who = own?.allowed ? 'Strangers together' : address;
    return refusalOf(verdict, `${who} may send only to <postmaster>, and`);
  }
}

function refusalOf(verdict: RateVerdict | null, who: string): Refusal | null {
  if (verdict === null || verdict.allowed) return null;
  const { limit, resetSeconds } = verdict;
  return deny(
    'rate_limited',
    450,
    '4.7.1',
    `${who} ${limit} messages a minute; try again in ${resetSeconds} seconds`,
  );
}
