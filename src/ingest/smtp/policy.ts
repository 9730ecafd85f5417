import { type ApiKey, ownerOf } from '../../domain/key.ts';
import { suppressionKeys } from '../../domain/suppressed-address.ts';
import { stoppedBy } from '../../domain/suppression.ts';
import { isStoppedForTest } from '../../domain/test-outcome.ts';
import type { Intake } from '../../engine/contract.ts';
import type { Clock } from '../../lib/clock.ts';
import { sourceGroup } from '../../lib/network.ts';
import type { Credentials } from '../../smtp/receiver/auth-exchange.ts';
import type { ForwardPath, ReversePath } from '../../smtp/receiver/effect.ts';
import type { RateLimiter, RateVerdict } from '../rate.ts';
import type { IngestShared, RecentSources } from '../shared.ts';
import { KeyCheck } from './key-check.ts';
import type { MessageLimits, SmtpDeps, SmtpOptions } from './options.ts';
import { type Client, maySendAs, type Origin, ownerIdOf } from './origin.ts';
import { deny, type Refusal, senderNotAllowed, suspended } from './refusal.ts';

/** How long the greeting waits for a recent HTTP client, in ms: on a busy machine its request may come this late. */
const HTTP_SOURCE_DELAY_MS = 250;

/** Decides who may send what, from where and how often (contract §6, §9, §10). Its refusals say how to be let in. */
export class Policy {
  readonly #clock: Clock;
  readonly #intake: Pick<Intake, 'suspended'>;
  readonly #suppressions: SmtpDeps['suppressions'];
  readonly #options: SmtpOptions;
  readonly #keyCheck: KeyCheck;
  readonly #rates: Rates;
  readonly #completed: RecentSources;
  readonly #spokeHttp: RecentSources;

  constructor({ clock, intake, suppressions, shared }: SmtpDeps, options: SmtpOptions) {
    this.#clock = clock;
    this.#intake = intake;
    this.#suppressions = suppressions;
    this.#options = options;
    this.#keyCheck = new KeyCheck(shared.authenticator, clock);
    this.#rates = new Rates(shared, options);
    this.#completed = shared.completed;
    this.#spokeHttp = shared.spokeHttp;
  }

  /** The origin of a new connection (address normalised), before the client has said anything. */
  origin({ address, isHidden }: Client): Origin {
    const { sources, allowedCidrs, keyless } = this.#options;
    const allowed = !isHidden && allowedCidrs.contains(address);
    // A row names and limits a client that may send; it admits nobody.
    const row = allowed ? sources.find(({ cidrs }) => cidrs.contains(address)) : undefined;
    return {
      address,
      isHidden,
      source: row?.source ?? null,
      allowed,
      key: allowed ? keyless : null,
      box: null,
    };
  }

  /**
   * The origin as it is now, checked before each message and at its end: keys are revoked and settings changed during a
   * session. A refusal ends the session.
   */
  renew({ key, box, ...client }: Origin): Origin | Promise<Origin | Refusal> {
    const origin = this.origin(client);
    if (key === null || key === origin.key) return origin;
    const again = this.#keyCheck.again(key, client);
    const withKey = (found: ApiKey | Refusal) => ('reply' in found ? found : { ...origin, key: found, box });
    return again instanceof Promise ? again.then(withKey) : { ...origin, key: again, box };
  }

  /**
   * May a message from this sender begin? Strangers may use any sender, if the message is not large: they may send to
   * the postmaster, and learn at RCPT what else is refused.
   */
  mail(origin: Origin, { mailbox, sizeBytes }: ReversePath): Refusal | null {
    const tooMany = this.#rates.take(origin, this.#clock.mono());
    if (tooMany !== null) return tooMany;
    const suspension = this.#intake.suspended(ownerIdOf(origin));
    if (suspension !== null) return suspended(suspension);
    if (isStranger(origin) && (sizeBytes ?? 0) > MAX_STRANGER_BYTES) return tooLargeForStranger(origin);
    if (mailbox === null || maySendAs(origin, mailbox.domain)) return null;
    return senderNotAllowed(origin, mailbox.domain);
  }

  /**
   * May it go to this recipient? Anybody may send to `<postmaster>` (RFC 5321 §4.5.1), if not too often. `postmaster@`
   * our own name is an ordinary address, which is relayed: no domain is local, and the domain's owner decides where its
   * mail goes.
   */
  rcpt(origin: Origin, { mailbox }: ForwardPath): Refusal | null {
    if (!isStranger(origin)) return null;
    if (mailbox === null) return this.#rates.takeOfStranger(origin.address, this.#clock.mono());
    return deny('relay_not_allowed', 550, '5.7.1', `${nameOf(origin)} may not relay here; ${wayIn(origin)}`);
  }

  /**
   * Whether nothing would be sent to this recipient, because of the suppression list (`listener.suppressed`). Only who
   * has authenticated hears it; From is not known yet, so the reverse-path stands for it. Rejects with `StoreError`.
   */
  async suppressed(
    { key }: Origin,
    recipient: ForwardPath,
    reversePath: ReversePath,
  ): Promise<Refusal | null> {
    const { mailbox } = recipient;
    if (key === null || mailbox === null || this.#options.settings.suppressed === 'accept') return null;
    const found = await this.#suppressions.suppressionsUnder(suppressionKeys(mailbox.address));
    const fromDomain = reversePath.mailbox?.domain ?? null;
    const asking = { fromDomain, keyId: key.id, test: key.mode === 'test', stream: null, ignores: false };
    const isPlayed = isStoppedForTest(mailbox.address, asking);
    const reason = isPlayed ? 'hard_bounce' : stoppedBy(found, asking, this.#clock.wall())?.reason;
    if (reason === undefined) return null;
    return deny('suppressed', 550, '5.7.1', `<${mailbox.address}> is suppressed: ${reason}`);
  }

  /** The key of these credentials, or a refusal. */
  authenticate(origin: Origin, credentials: Credentials): Promise<ApiKey | Refusal> {
    return this.#keyCheck.authenticate(origin, credentials);
  }

  /** How long the greeting waits for early talkers, in ms (contract §1). */
  greetDelayMs(address: string): number {
    const { greetDelayMs, firstContactDelayMs } = this.#options.settings;
    const now = this.#clock.mono();
    if (this.#spokeHttp.has(address, now)) return Math.max(firstContactDelayMs, HTTP_SOURCE_DELAY_MS);
    return this.#completed.has(address, now) ? greetDelayMs : firstContactDelayMs;
  }

  /** Records that a message of this source was accepted. */
  completed(address: string): void {
    this.#completed.add(address, this.#clock.mono());
  }

  /**
   * Records that this source speaks HTTP, such as a health check beside a mailer. On a busy machine its requests may
   * come a little late, and the next one must arrive before the greeting.
   */
  spokeHttp(address: string): void {
    this.#spokeHttp.add(address, this.#clock.mono());
  }
}

/**
 * Largest message of a stranger: enough for a report of trouble with the headers of its subject. With the thirty
 * messages a minute that reach `<postmaster>`, they fill at most 8 MiB of disk a minute.
 */
export const MAX_STRANGER_BYTES = 256 * 1024;
/** One holder for the memory of all strangers' messages: many addresses must not mean more memory. */
export const STRANGERS_HOLDER = 'strangers';

/** Whether it may send to `<postmaster>` only. */
export function isStranger({ allowed, key }: Origin): boolean {
  return !allowed && key === null;
}

/** How a refusal names a stranger. */
function nameOf({ address, isHidden }: Client): string {
  return isHidden ? `The client of ${address}` : address;
}

/** How a stranger may be let in. */
function wayIn({ isHidden }: Client): string {
  const way = isHidden ? 'let the proxy pass on its address' : 'allow it in listener.allowed_cidrs';
  return `${way}, or authenticate with an API key`;
}

/** The largest message that it may send, in bytes. */
export function maxMessageBytesOf(origin: Origin, { maxMessageBytes }: MessageLimits): number {
  return isStranger(origin) ? Math.min(maxMessageBytes, MAX_STRANGER_BYTES) : maxMessageBytes;
}

/** Refuses a stranger's message as too large, and says how it could be accepted. */
export function tooLargeForStranger(origin: Origin): Refusal {
  return deny(
    'relay_not_allowed',
    552,
    '5.3.4',
    `${nameOf(origin)} may send only to <postmaster>, at most ${MAX_STRANGER_BYTES} bytes; ${wayIn(origin)}`,
  );
}

/**
 * Recipients a minute that strangers may reach, each and all together, always `<postmaster>`: enough for reports of
 * trouble, too few to fill a disk or a mailbox.
 */
const STRANGER_PER_MINUTE = 5;
const STRANGERS_PER_MINUTE = 30;
const STRANGERS = 'strangers';

/**
 * Messages a minute (contract §6). Each MAIL counts, even a stranger's or one refused later; where there is a bounce
 * domain, that of a client without a key counts at its first recipient elsewhere. A key's counts in the window of its
 * other sends, a named source's for all its addresses together where it has its own rate, and any other's by address,
 * IPv6 by /64.
 */
class Rates {
  readonly #keys: RateLimiter;
  readonly #sources: RateLimiter;
  readonly #options: SmtpOptions;

  /** `limiter`: the windows that the API uses too. */
  constructor({ limiter, sources }: Pick<IngestShared, 'limiter' | 'sources'>, options: SmtpOptions) {
    this.#keys = limiter;
    this.#sources = sources;
    this.#options = options;
  }

  /** Counts a message; refuses it if there were too many. */
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

  /** Counts a recipient of a client that may not relay; refuses it if there were too many. */
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
