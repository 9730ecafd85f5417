import type { ApiKey } from '../../domain/key.ts';
import type { Intake } from '../../engine/contract.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Credentials } from '../../smtp/receiver/auth-exchange.ts';
import type { ForwardPath, ReversePath } from '../../smtp/receiver/effect.ts';
import type { RecentSources } from '../recent-sources.ts';
import { KeyCheck } from './key-check.ts';
import type { SmtpDeps, SmtpOptions } from './options.ts';
import { type Client, maySendAs, type Origin, ownerIdOf } from './origin.ts';
import { Rates } from './rates.ts';
import { deny, type Refusal, senderNotAllowed, suspended } from './refusal.ts';
import { isStranger, MAX_STRANGER_BYTES, nameOf, tooLargeForStranger, wayIn } from './strangers.ts';

/** Who spoke HTTP a short while ago will again; on a busy machine a request may come this long after its connection. */
const HTTP_SOURCE_DELAY_MS = 250;

/** Who may send what, from where and how often (contract §6, §9, §10). What it refuses says how to be let in. */
export class Policy {
  readonly #clock: Clock;
  readonly #intake: Pick<Intake, 'suspended'>;
  readonly #options: SmtpOptions;
  readonly #keyCheck: KeyCheck;
  readonly #rates: Rates;
  readonly #completed: RecentSources;
  readonly #spokeHttp: RecentSources;

  constructor({ clock, intake, shared }: SmtpDeps, options: SmtpOptions) {
    this.#clock = clock;
    this.#intake = intake;
    this.#options = options;
    this.#keyCheck = new KeyCheck(shared.authenticator, clock);
    this.#rates = new Rates(shared, options);
    this.#completed = shared.completed;
    this.#spokeHttp = shared.spokeHttp;
  }

  /** Who comes from there (address normalised), before it has said anything. */
  origin({ address, isHidden }: Client): Origin {
    const { sources, allowedCidrs } = this.#options;
    const allowed = !isHidden && allowedCidrs.contains(address);
    // A row gives a name and limits to somebody who may send; it lets nobody in.
    const row = allowed ? sources.find(({ cidrs }) => cidrs.contains(address)) : undefined;
    return { address, isHidden, source: row?.source ?? null, allowed, key: null };
  }

  /**
   * Who that is now, asked before each message and at its end: keys are revoked, and settings changed, while a session
   * goes on. What refuses it ends the session.
   */
  renew({ key, ...client }: Origin): Origin | Promise<Origin | Refusal> {
    const origin = this.origin(client);
    if (key === null) return origin;
    const again = this.#keyCheck.again(key, client);
    const withKey = (found: ApiKey | Refusal) => ('reply' in found ? found : { ...origin, key: found });
    return again instanceof Promise ? again.then(withKey) : { ...origin, key: again };
  }

  /**
   * May a message from this sender begin? Strangers may, whatever they name, if it is not large: they may send to the
   * postmaster, and learn what else they may not at RCPT.
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
   * May it go to this recipient? To `<postmaster>` from anybody (RFC 5321 §4.5.1), if not too often. `postmaster@` our
   * own name is an address like any other, which is relayed: no domain is ours, and who has that one knows where its
   * mail goes.
   */
  rcpt(origin: Origin, { mailbox }: ForwardPath): Refusal | null {
    if (!isStranger(origin)) return null;
    if (mailbox === null) return this.#rates.takeOfStranger(origin.address, this.#clock.mono());
    return deny('relay_not_allowed', 550, '5.7.1', `${nameOf(origin)} may not relay here; ${wayIn(origin)}`);
  }

  /** Whose key this is, or why it is none. */
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

  /** A message of this source was taken. */
  completed(address: string): void {
    this.#completed.add(address, this.#clock.mono());
  }

  /**
   * This source speaks HTTP: a health check beside a mailer, say. On a busy machine its requests may come a little
   * late, and its next one must find the greeting still unsaid.
   */
  spokeHttp(address: string): void {
    this.#spokeHttp.add(address, this.#clock.mono());
  }
}
