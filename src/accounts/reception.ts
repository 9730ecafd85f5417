import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Accounts } from '../store/accounts.ts';
import type { Journal, NewJournalEntry } from '../store/journal.ts';
import { type Guess, type Suspicion, SuspicionBook, Throttle, type Try } from './guessing.ts';
import { Passwords } from './passwords.ts';
import { type SessionLimits, Sessions, type Visit } from './sessions.ts';

/** How often what was counted of strangers is looked at. */
const SETTLE_EVERY_MS = 60_000;

/** Seals what must be read again, such as the secret of a second factor. */
export interface SecretBox {
  seal(secret: string, owner: string): string;
  /** Null: it was sealed under another key. */
  open(sealed: string, owner: string): string | null;
}

/** What the reception is made of. */
export interface ReceptionDeps {
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Pick<Journal, 'record'>;
  /** Null where the key is not there. */
  readonly box: () => SecretBox | null;
  readonly limits: () => SessionLimits;
  /** Default: {@link Passwords} at its full cost. */
  readonly passwords?: Passwords;
}

/** Those who use the dashboard, and what is known of them: one for the whole process. */
export interface Reception {
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly random: Random;
  readonly box: () => SecretBox | null;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  /** Has what strangers do noted, some of it together. */
  readonly suspicions: SuspicionBook;
  /** Does what is to be done every minute until `signal` aborts, and once more. */
  keep(signal: AbortSignal): Promise<void>;
  /** Tells the log and the journal what happened. */
  note(what: AccountEvent, visit: Visit): Promise<void>;
  /** Remembers that the first administrator's set-up link works until then (wall ms). */
  linkMade(expiresAt: number): void;
  /** Somebody has a password now: that link works no more. */
  claimed(): void;
  /** Whether that link, if this process made it, may still work. */
  isLinkOut(): boolean;
  /** A time that only goes forward, for the throttle. */
  now(): number;
}

/** What is written down. */
export interface AccountEvent {
  readonly action: 'signIn' | 'signOut' | 'setUp' | 'allowHost' | 'changePassword' | 'changeSecondFactor';
  readonly user: string;
  /** What it was done to, where that is not the user. */
  readonly subject?: string;
  /** What there is to say of it. */
  readonly detail?: Readonly<Record<string, string | number>>;
}

/** Makes the reception. */
export function createReception(deps: ReceptionDeps): Reception {
  const { accounts, clock, random, box } = deps;
  let linkUntil = 0;
  const sessions = new Sessions(deps);
  const suspicions = new SuspicionBook((suspicion) => noteSuspicion(deps, suspicion));
  return {
    ...{ accounts, clock, random, box, sessions, suspicions },
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
 * The log never has a name that was tried (contract §16). The journal has that of a user there is: for them it may be the only
 * sign that somebody guesses. Who did it is not known: it may be anybody.
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
    // The right password signs in, and signing out works, even where neither can be written down.
    log.warn('sign_in.not_recorded', { code: error instanceof Error ? error.name : 'unknown' });
  }
}

/** Notes what was counted of strangers, every minute and at the end. */
async function settle(suspicions: SuspicionBook, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(SETTLE_EVERY_MS, signal);
    await suspicions.settle(clock.mono(), signal.aborted);
  }
}

/** What is tried, by whom, from where. */
export interface Guessing {
  readonly guess: Guess;
  readonly account: string;
  /** A user there is; null for a name that nobody has. */
  readonly user: string | null;
  readonly visit: Visit;
}

/**
 * Lets someone try. Rejects with `AccountRefusal`: `sign_in_slowed` before anything was tried, else `code` with `message`
 * where `isRight` says no. `halfWay`: what is right is not enough, so it is counted like what is wrong until a code comes too.
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

/** Something about an account that was not done. The message is for the user. */
export class AccountRefusal extends Error {
  readonly code: RefusalCode;
  /** After how long it may be tried again; null where waiting does not help. */
  readonly waitMs: number | null;
  constructor(code: RefusalCode, message: string, waitMs: number | null = null) {
    super(message);
    this.name = 'AccountRefusal';
    this.code = code;
    this.waitMs = waitMs;
  }
}

/**
 * - `sign_in_refused`: name and password do not go together.
 * - `code_refused`: not a code of the second factor, or used before.
 * - `password_refused`: the present password is wrong.
 * - `signed_out`: there is no session, or not one that goes so far.
 * - `user_disabled`: an administrator has disabled the user.
 * - `link_refused`: the link was used, has ended, or never was.
 * - `name_taken`: another user has the name.
 * - `password_unfit`: too short, too long, or the name itself.
 * - `sign_in_slowed`: too many tries; later.
 * - `sign_in_busy`: too many passwords are being checked; shortly.
 * - `second_factor_unreadable`: the key that opens it is not there.
 * - `second_factor_missing`: there is none to confirm or to remove.
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
  | 'second_factor_missing';

/** Nobody is signed in, or not far enough. */
export function signedOut(): AccountRefusal {
  return new AccountRefusal('signed_out', 'Sign in first; the session may have ended.');
}

/** Too many tries. */
function slowed(waitMs: number): AccountRefusal {
  const seconds = Math.ceil(waitMs / 1000);
  const when = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return new AccountRefusal('sign_in_slowed', `Too many tries from here. Try again in ${when}.`, waitMs);
}
