import type { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import { decodeJson } from '../lib/decode.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Accounts } from '../store/accounts.ts';
import type { Journal, NewJournalEntry } from '../store/journal.ts';
import { type Guess, type Suspicion, SuspicionBook, Throttle, type Try } from './guessing.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { Passwords } from './passwords.ts';
import { type SessionLimits, Sessions, type Visit } from './sessions.ts';

/** How often the counts of strangers' tries are recorded. */
const SETTLE_EVERY_MS = 60_000;

/** Encrypts secrets that must be read again, such as that of a second factor. */
export interface SecretBox {
  seal(secret: string, owner: string): string;
  /** Null if it was sealed under another key. */
  open(sealed: string, owner: string): string | null;
}

/** What the reception is made from. */
export interface ReceptionDeps {
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Pick<Journal, 'record'>;
  /** Null if the key is missing. */
  readonly box: () => SecretBox | null;
  readonly limits: () => SessionLimits;
  /** The identity provider that users may sign in with; null: none. */
  readonly provider: () => IdentityProvider | null;
  /** Default: {@link Passwords} at its full cost. */
  readonly passwords?: Passwords;
}

/** The users of the dashboard, and their state: one instance for the whole process. */
export interface Reception {
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly box: () => SecretBox | null;
  readonly provider: () => IdentityProvider | null;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  /** Records strangers' tries, some of them together. */
  readonly suspicions: SuspicionBook;
  /** Does the work of every minute until `signal` aborts, and once more. */
  keep(signal: AbortSignal): Promise<void>;
  /** Records an event in the log and the journal. */
  note(what: AccountEvent, visit: Visit): Promise<void>;
  /** Records that the first administrator's set-up link works until then (wall ms). */
  linkMade(expiresAt: number): void;
  /** A user has a password now: that link no longer works. */
  claimed(): void;
  /** Whether that link, if this process made it, may still work. */
  isLinkOut(): boolean;
  /** A monotonic time, for the throttle. */
  now(): number;
}

/** An event to record. */
export interface AccountEvent {
  readonly action:
    | 'signIn'
    | 'signOut'
    | 'setUp'
    | 'allowHost'
    | 'changePassword'
    | 'changeSecondFactor'
    | 'addPasskey'
    | 'removePasskey';
  readonly user: string;
  /** The object, if it is not the user. */
  readonly subject?: string;
  /** Details of the event. */
  readonly detail?: Readonly<Record<string, string | number>>;
}

/** Makes the reception. */
export function createReception(deps: ReceptionDeps): Reception {
  const { accounts, clock, random, log, box, provider } = deps;
  let linkUntil = 0;
  const sessions = new Sessions(deps);
  const suspicions = new SuspicionBook((suspicion) => noteSuspicion(deps, suspicion));
  return {
    accounts,
    clock,
    random,
    log,
    box,
    provider,
    sessions,
    suspicions,
    passwords: deps.passwords ?? new Passwords(random),
    throttle: new Throttle(),
    keep: async (signal) =>
      void (await Promise.all([sessions.keep(signal), settle(suspicions, clock, signal)])),
    note: (what, visit) => note(deps, what, visit),
    now: () => clock.mono(),
    linkMade: (expiresAt) => {
      linkUntil = Math.max(linkUntil, expiresAt);
    },
    claimed: () => {
      linkUntil = 0;
    },
    isLinkOut: () => clock.wall() < linkUntil,
  };
}

async function note(deps: ReceptionDeps, event: AccountEvent, visit: Visit): Promise<void> {
  const { action, user, subject = user, detail = null } = event;
  const { sourceAddress: source } = visit;
  if (action === 'signIn' || action === 'signOut')
    deps.log.info(action === 'signIn' ? 'sign_in.done' : 'sign_in.ended', { user, source });
  else deps.log.info('sign_in.changed', { user, source, what: action });
  await record(deps, { actorKind: 'user', actor: user, sourceAddress: source, action, subject }, detail);
}

/**
 * The log never has a name that was tried (contract §16). The journal has that of an existing user, for whom it may be
 * the only sign of guessing. The actor is unknown: it may be anybody.
 */
async function noteSuspicion(
  deps: ReceptionDeps,
  { action, guess, user, source, tries }: Suspicion,
): Promise<void> {
  if (action === 'signInFailed') deps.log.warn('sign_in.failed', { source, tries });
  const entry = {
    actorKind: 'service',
    actor: '',
    sourceAddress: source,
    action,
    subject: user ?? '',
  } as const;
  await record(deps, entry, { guess, tries });
}

async function record(
  { log, journal, clock }: ReceptionDeps,
  entry: Omit<NewJournalEntry, 'at' | 'before' | 'after'>,
  detail: AccountEvent['detail'] | null,
): Promise<void> {
  try {
    const after = detail === null ? null : JSON.stringify(detail);
    await journal.record([{ ...entry, at: clock.wall(), before: null, after }]);
  } catch (error) {
    // Signing in with the right password, and signing out, work even if they cannot be recorded.
    log.warn('sign_in.not_recorded', { code: error instanceof Error ? error.name : 'unknown' });
  }
}

/** Records the counts of strangers' tries, every minute and at the end. */
async function settle(suspicions: SuspicionBook, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(SETTLE_EVERY_MS, signal);
    await suspicions.settle(clock.mono(), signal.aborted);
  }
}

/** A try: of what, by whom, from where. */
export interface Guessing {
  readonly guess: Guess;
  readonly account: string;
  /** An existing user; null for an unknown name. */
  readonly user: string | null;
  readonly visit: Visit;
}

/**
 * Allows a try. Rejects with `AccountRefusal`: `sign_in_slowed` before anything was tried, otherwise `code` with
 * `message` if `isRight` says no. `halfWay`: being right does not suffice, so it counts as failed until a code comes
 * too.
 */
export async function attempt(
  reception: Reception,
  guessing: Guessing,
  isRight: () => Promise<boolean>,
  refusal: { readonly code: RefusalCode; readonly message: string; readonly halfWay?: boolean },
): Promise<void> {
  const { throttle, suspicions } = reception;
  const { guess, account, user, visit } = guessing;
  const answer = throttle.begin(guess, account, visit.sourceAddress, reception.now());
  if (!answer.ok) throw slowed(answer.waitMs);
  const right = await triedWell(reception, answer.attempt, isRight);
  if (right && refusal.halfWay !== true) return throttle.succeeded(answer.attempt);
  const action = right ? 'secondFactorAsked' : 'signInFailed';
  await suspicions.add({ action, guess, user, source: visit.sourceAddress }, reception.now());
  if (!right) throw new AccountRefusal(refusal.code, refusal.message);
}

async function triedWell(
  { throttle }: Reception,
  begun: Try,
  isRight: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await isRight();
  } catch (error) {
    throttle.takeBack(begun);
    throw error;
  }
}

/** What seals secrets. `undone`: what cannot be done without it. Throws `AccountRefusal`. */
export function requireBox({ box }: Pick<Reception, 'box'>, undone: string): SecretBox {
  const found = box();
  if (found !== null) return found;
  throw new AccountRefusal(
    'secrets_unreadable',
    `${undone}: the key for secrets (secrets.key_file) cannot be read.`,
  );
}

/**
 * What a browser was given to keep until it answers, sealed as JSON of this shape for this purpose; null if it is
 * something else, or older than `forMs`.
 */
export function resumed<Begun extends { readonly at: number }>(
  { box, clock }: Pick<Reception, 'box' | 'clock'>,
  kept: string,
  how: { readonly shape: z.ZodType<Begun>; readonly purpose: string; readonly forMs: number },
): Begun | null {
  const opened = box()?.open(kept, how.purpose) ?? null;
  const read = how.shape.safeParse(opened === null ? null : decodeJson(opened));
  if (!read.success) return null;
  const age = clock.wall() - read.data.at;
  return age >= 0 && age < how.forMs ? read.data : null;
}

/** A refused act on an account. The message is for the user. */
export class AccountRefusal extends Error {
  readonly code: RefusalCode;
  /** When it may be tried again, in ms; null if waiting does not help. */
  readonly waitMs: number | null;
  constructor(code: RefusalCode, message: string, waitMs: number | null = null) {
    super(message);
    this.name = 'AccountRefusal';
    this.code = code;
    this.waitMs = waitMs;
  }
}

/**
 * - `sign_in_refused`: name and password do not match.
 * - `code_refused`: not a code of the second factor, or used before.
 * - `password_refused`: the present password is wrong.
 * - `signed_out`: there is no session, or it is not fully signed in.
 * - `user_disabled`: an administrator has disabled the user.
 * - `link_refused`: the link was used, has expired, or never existed.
 * - `name_taken`: another user has the name.
 * - `password_unfit`: too short, too long, or the name itself.
 * - `sign_in_slowed`: too many tries; later.
 * - `sign_in_busy`: too many passwords are being checked; shortly.
 * - `second_factor_unreadable`: the key that opens it is missing.
 * - `second_factor_missing`: there is none to confirm or to remove.
 * - `passkey_refused`: the passkey signs nobody in here, or its answer came too late.
 * - `passkey_unfit`: it cannot be added.
 * - `passkey_missing`: the user has no such passkey.
 * - `secrets_unreadable`: the key for secrets is missing.
 * - `provider_missing`: there is no identity provider to sign in with.
 * - `provider_elsewhere`: it returns to another address of the dashboard.
 * - `provider_failed`: it cannot be asked now.
 * - `provider_denied`: it lets nobody in.
 * - `provider_refused`: its answer signs nobody in.
 * - `not_admitted`: it vouches for somebody who may not come in.
 * - `users_full`: there are as many users as there can be.
 * - `story_refused`: the link to a story has ended, or never existed.
 * - `view_missing`: the user has no such saved view.
 * - `view_name_taken`: another of the user's views of that page has the name.
 * - `views_full`: the user has as many views as there can be.
 */
export type RefusalCode =
  | 'sign_in_refused'
  | 'code_refused'
  | 'password_refused'
  | 'signed_out'
  | 'user_disabled'
  | 'link_refused'
  | 'name_taken'
  | 'password_unfit'
  | 'sign_in_slowed'
  | 'sign_in_busy'
  | 'second_factor_unreadable'
  | 'second_factor_missing'
  | 'passkey_refused'
  | 'passkey_unfit'
  | 'passkey_missing'
  | 'secrets_unreadable'
  | 'provider_missing'
  | 'provider_elsewhere'
  | 'provider_failed'
  | 'provider_denied'
  | 'provider_refused'
  | 'not_admitted'
  | 'users_full'
  | 'story_refused'
  | 'view_missing'
  | 'view_name_taken'
  | 'views_full';

/** The refusal without a fully signed-in session. */
export function signedOut(): AccountRefusal {
  return new AccountRefusal('signed_out', 'Sign in first; the session may have ended.');
}

/** The refusal of whoever asks too often. */
export function slowed(waitMs: number): AccountRefusal {
  const seconds = Math.ceil(waitMs / 1000);
  const when = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return new AccountRefusal('sign_in_slowed', `Too many tries from here. Try again in ${when}.`, waitMs);
}
