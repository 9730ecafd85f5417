import type { Session, User } from '../domain/account.ts';
import { hashSecret } from '../lib/id.ts';
import type { LinkMail, SetupLink } from '../store/accounts.ts';
import { PasswordsBusy, passwordFault } from './passwords.ts';
import { AccountRefusal, attempt, type Reception, signedOut } from './reception.ts';
import { openFactor } from './second-factor.ts';
import { isToken, matchCode, newToken, readRecoveryCode } from './secrets.ts';
import type { Found, Opened, Visit } from './sessions.ts';

/** Codes that may be tried after one password. */
const TRIES_AT_A_CODE = 5;
const LONGEST_NAME = 64;

/** A request to sign in. */
export interface Login {
  readonly name: string;
  readonly password: string;
}

/**
 * Signs a user in by name and password; with a second factor, only until a code is required. `before`: the token of the
 * user's earlier session, which ends: nobody can choose the token of another's session. Rejects with `AccountRefusal`,
 * `StoreError`.
 */
export async function logIn(
  reception: Reception,
  { name, password }: Login,
  visit: Visit,
  before: string | null,
): Promise<Opened> {
  const account = readName(name);
  const user = await reception.accounts.user(account, reception.clock.wall());
  await attempt(
    reception,
    { guess: 'password', account, user: user?.name ?? null, visit },
    () => isPassword(reception, password, user, visit),
    {
      code: 'sign_in_refused',
      message: 'The name or the password is wrong.',
      halfWay: user !== null && user.secondFactor !== null,
    },
  );
  if (user === null) throw wrongName();
  refuseDisabled(user);
  const stage = user.secondFactor === null ? 'full' : 'second_factor';
  const opened = await reception.sessions.open(user, stage, visit, replaced(before));
  if (opened === null) throw wrongName();
  if (stage === 'full') await reception.note({ action: 'signIn', user: user.name }, visit);
  return opened;
}

/**
 * Opens the session of a user who has proven everything in another way than by a password. `before`: as for {@link
 * logIn}. `how` is for the activity. Rejects as {@link logIn}.
 */
export async function openFull(
  reception: Reception,
  user: User,
  visit: Visit,
  before: string | null,
  how: Readonly<Record<string, string>>,
): Promise<Opened> {
  refuseDisabled(user);
  const opened = await reception.sessions.open(user, 'full', visit, replaced(before));
  if (opened === null) throw signedOut();
  await reception.note({ action: 'signIn', user: user.name, detail: how }, visit);
  return opened;
}

function refuseDisabled({ disabled }: User): void {
  if (disabled) throw userDisabled();
}

/** The refusal of a user whom an administrator has disabled. */
export function userDisabled(): AccountRefusal {
  return new AccountRefusal('user_disabled', 'This user is disabled. An administrator can change that.');
}

/** Completes a sign-in by a code of the second factor, or a recovery code. Rejects as {@link logIn}. */
export async function giveCode(
  reception: Reception,
  found: Found,
  code: string,
  visit: Visit,
): Promise<Opened> {
  const { accounts, sessions } = reception;
  const { session, user } = found;
  if (session.stage !== 'second_factor') throw signedOut();
  const recovery = readRecoveryCode(code);
  const isRight = async () => {
    // A refusal by the throttle is not a try.
    if ((await accounts.countTry(session.hash)) > TRIES_AT_A_CODE) throw await tooOften(reception, session);
    return recovery === null
      ? await isFreshCode(reception, user, code)
      : await accounts.spendRecoveryCode(user.name, hashSecret(recovery));
  };
  const guess = recovery === null ? 'code' : 'recovery';
  await attempt(reception, { guess, account: user.name, user: user.name, visit }, isRight, {
    code: 'code_refused',
    message: 'That is not a code that can be used now: each works once, for about a minute.',
  });
  const opened = await sessions.open(user, 'full', visit, session.hash);
  if (opened === null) throw signedOut();
  reception.throttle.wentThrough(user.name, visit.sourceAddress, reception.now());
  const left = user.recoveryCodesLeft - (recovery === null ? 0 : 1);
  await reception.note(
    { action: 'signIn', user: user.name, detail: { by: recovery === null ? 'code' : 'recovery code' } },
    visit,
  );
  return { ...opened, user: { ...opened.user, recoveryCodesLeft: left } };
}

/** Ends a sign-in with too many wrong codes. */
async function tooOften({ accounts, sessions }: Reception, { id }: Session): Promise<AccountRefusal> {
  await accounts.endSession(id);
  sessions.forget([id]);
  return new AccountRefusal('signed_out', 'That was the wrong code too often. Sign in anew.');
}

/** The user's choice by a set-up link. */
export interface Chosen {
  readonly token: string;
  /** The name of the first administrator; null if the link has the name. */
  readonly name: string | null;
  readonly password: string;
}

/** The result of a set-up link. `isFirst`: nobody had claimed the dashboard before. */
export interface SetUp {
  readonly opened: Opened;
  readonly isFirst: boolean;
}

/**
 * Sets a password by a set-up link, which is used up, and signs in, with a second factor if any. Rejects as {@link
 * logIn}.
 */
export async function setUp(
  reception: Reception,
  chosen: Chosen,
  visit: Visit,
  before: string | null,
): Promise<SetUp> {
  const { accounts, clock, sessions, passwords } = reception;
  const link = await findLink(reception, chosen.token);
  if (link === null) throw linkRefused();
  const name = link.user ?? chosen.name;
  if (name === null) throw new AccountRefusal('link_refused', 'Choose a name, too.');
  refuseUnfit(chosen.password, name);
  const passwordHash = await busyAsRefusal(passwords.hash(chosen.password, visit.sourceAddress));
  const answer = await accounts.redeemLink(hashSecret(chosen.token), { name, passwordHash }, clock.wall());
  if (answer.kind === 'taken') throw new AccountRefusal('name_taken', `There is already a user ${name}.`);
  if (answer.kind !== 'done') throw linkRefused();
  sessions.forget(answer.ended);
  sessions.refresh();
  reception.claimed();
  await reception.note({ action: 'setUp', user: name }, visit);
  const user = await accounts.user(name, clock.wall());
  if (user === null || user.disabled) throw linkRefused();
  const stage = user.secondFactor === null ? 'full' : 'second_factor';
  const opened = await sessions.open(user, stage, visit, replaced(before));
  if (opened === null) throw linkRefused();
  return { opened, isFirst: link.user === null };
}

/** Changes the user's own password; all other sessions end, and this one gets a new token. Rejects as {@link logIn}. */
export async function changePassword(
  reception: Reception,
  { user }: Found,
  change: { readonly current: string; readonly next: string },
  visit: Visit,
): Promise<Opened> {
  const { accounts, clock, sessions, passwords } = reception;
  await confirmPassword(reception, user, change.current, visit);
  refuseUnfit(change.next, user.name);
  const hash = await busyAsRefusal(passwords.hash(change.next, visit.sourceAddress));
  const expected = user.passwordHash;
  const answer = await accounts.setPassword(user.name, { hash, expected, keep: null });
  if (answer.kind !== 'done') throw signedOut();
  sessions.forget(answer.ended);
  await reception.note({ action: 'changePassword', user: user.name }, visit);
  const fresh = await accounts.user(user.name, clock.wall());
  const opened = fresh === null ? null : await sessions.open(fresh, 'full', visit, null);
  if (opened === null) throw signedOut();
  return opened;
}

/** Checks a signed-in user's password again. Rejects with `AccountRefusal`. */
export async function confirmPassword(
  reception: Reception,
  user: User,
  password: string,
  visit: Visit,
): Promise<void> {
  await attempt(
    reception,
    { guess: 'password', account: user.name, user: user.name, visit },
    () => isPassword(reception, password, user, visit),
    { code: 'password_refused', message: 'That is not your present password.' },
  );
}

/** Ends the session. Nothing is written down of one that has ended, or of a user who never signed in. */
export async function logOut(reception: Reception, { session, user }: Found, visit: Visit): Promise<void> {
  const ended = await reception.accounts.endSession(session.id);
  reception.sessions.forget([session.id]);
  if (ended?.stage === 'full') await reception.note({ action: 'signOut', user: user.name }, visit);
}

/** Throws `AccountRefusal` for an unfit password. */
function refuseUnfit(password: string, name: string): void {
  const fault = passwordFault(password, name);
  if (fault !== null) throw new AccountRefusal('password_unfit', `The password ${fault}.`);
}

/** A name in its stored form, however typed. */
function readName(text: string): string {
  return text.trim().toLowerCase().slice(0, LONGEST_NAME);
}

/** The hash of the session to replace. */
function replaced(before: string | null): string | null {
  return before !== null && isToken(before) ? hashSecret(before) : null;
}

async function isPassword(
  { passwords }: Reception,
  password: string,
  user: User | null,
  { sourceAddress }: Visit,
): Promise<boolean> {
  return await busyAsRefusal(passwords.verify(password, user?.passwordHash ?? null, sourceAddress));
}

async function isFreshCode(reception: Reception, user: User, code: string): Promise<boolean> {
  const step = matchCode(openFactor(reception, user), code.replace(/\s/g, ''), reception.clock.wall());
  return step !== null && (await reception.accounts.spendStep(user.name, step));
}

async function busyAsRefusal<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof PasswordsBusy)) throw error;
    throw new AccountRefusal('sign_in_busy', `${error.message} Try again in a moment.`, 1000);
  }
}

function wrongName(): AccountRefusal {
  return new AccountRefusal('sign_in_refused', 'The name or the password is wrong.');
}

/** The refusal of an invalid link. */
export function linkRefused(): AccountRefusal {
  return new AccountRefusal(
    'link_refused',
    'This link was used, or has ended. Make a new one with: waybill admin setup-link',
  );
}

/** How long a set-up link works unless its maker says otherwise (contract §14). */
const LINK_MS = 60 * 60_000;

/** A new link's token, and when it expires (wall ms). */
export interface NewLink {
  readonly token: string;
  readonly expiresAt: number;
}

/** How long a link works, and how it is sent. */
interface LinkTerms {
  readonly lifeMs?: number;
  readonly mail?: LinkMail | null;
}

type LinkDeps = Pick<Reception, 'accounts' | 'clock' | 'random' | 'linkMade'>;

/** Makes a link by which a user, or (null) the first administrator, chooses a password; their earlier link ends. */
export async function makeLink(
  { accounts, clock, random, linkMade }: LinkDeps,
  user: string | null,
  { lifeMs = LINK_MS, mail = null }: LinkTerms = {},
): Promise<NewLink> {
  const token = newToken(random);
  const now = clock.wall();
  const expiresAt = now + lifeMs;
  await accounts.putLink({ hash: hashSecret(token), user, expiresAt, mail }, now);
  // Links for others are passed on by someone who already uses a host name of ours.
  if (user === null) linkMade(expiresAt);
  return { token, expiresAt };
}

/** The link of a token; null if it was used, has expired, or never existed. */
export async function findLink(
  { accounts, clock }: Pick<LinkDeps, 'accounts' | 'clock'>,
  token: string,
): Promise<SetupLink | null> {
  return isToken(token) ? await accounts.link(hashSecret(token), clock.wall()) : null;
}

/** The dashboard's path of a link: the part after # never leaves the browser. */
export function linkPath({ token }: NewLink): string {
  return `/setup#${token}`;
}
