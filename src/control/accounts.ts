import { passwordFault } from '../accounts/passwords.ts';
import type { Reception } from '../accounts/reception.ts';
import { linkPath, makeLink, type NewLink } from '../accounts/sign-in.ts';
import type { Session, User } from '../domain/account.ts';
import type { Mailbox } from '../domain/mailbox.ts';
import type { MessageRecord } from '../domain/message.ts';
import { formatTimestamp } from '../lib/clock.ts';
import {
  type AccountOperations,
  type ListedUser,
  type SessionRow,
  USUAL_HOURS,
  type UserLink,
  type UserView,
  userName,
} from '../operations/accounts.ts';
import { OperationError } from '../operations/call.ts';
import type { RequestOf } from '../operations/table.ts';
import type { UserAnswer } from '../store/accounts.ts';
import { MAX_USERS } from '../store/accounts.ts';
import type { LocalDeps } from './deps.ts';
import { ASKING } from './door.ts';
import { readInvited, requireReachable, sendInvitation } from './invitations.ts';
import { dashboardUrl } from './own-url.ts';

type Deps = Pick<
  LocalDeps,
  'reception' | 'resolution' | 'running' | 'dataDir' | 'views' | 'intake' | 'clock' | 'random'
>;

const HOUR_MS = 3_600_000;

/** See {@link AccountOperations}. */
export function accountOperations(deps: Deps): AccountOperations {
  const { reception } = deps;
  const { accounts, sessions } = reception;
  return {
    users: () => users(deps),
    createUser: (request) => createUser(request, deps),
    updateUser: (request) => updateUser(request, reception),
    removeUser: async ({ name }) => {
      const user = await findUser(name, reception);
      done(await accounts.removeUser(name), name, reception);
      return { ...userView(user), sessions: 0 };
    },
    setupLink: (request) => setupLink(request, deps),
    resetPassword: (request) => resetPassword(request, reception),
    resetSecondFactor: async ({ name }) => {
      await findUser(name, reception);
      await accounts.removeSecondFactor(name);
      sessions.refresh();
      return userView(await findUser(name, reception));
    },
    removePasskeys: async ({ name }) => {
      await findUser(name, reception);
      // Whoever has the lost device may be signed in on it.
      const ended = await accounts.removePasskeys(name);
      sessions.refresh();
      sessions.forget(ended);
      return userView(await findUser(name, reception));
    },
    sessions: async ({ name }) => {
      if (name !== null) await findUser(name, reception);
      return (await sessions.list(name)).map(sessionRow);
    },
    endSession: async ({ id }) => {
      const ended = await accounts.endSession(id);
      if (ended === null) throw new OperationError('not_found', 'That session has already ended.');
      sessions.forget([id]);
      return sessionRow(ended);
    },
    endSessions: async ({ name }) => {
      await findUser(name, reception);
      const ended = await accounts.endSessions(name, null);
      sessions.forget(ended);
      return { ended: ended.length };
    },
  };
}

async function createUser({ name, role, ...terms }: RequestOf<'createUser'>, deps: Deps): Promise<UserLink> {
  const { accounts, clock } = deps.reception;
  if (!(await hasPassword(deps.reception)))
    throw new OperationError(
      'refused',
      'Nobody has set up the dashboard yet: the first user will be its administrator. See: waybill admin setup-link',
    );
  const mailTo = readMailTo(terms, deps);
  const answer = await accounts.addUser({ name, role, createdAt: clock.wall() });
  if (answer === 'taken') throw new OperationError('refused', `There is already a user ${name}.`);
  if (answer === 'full')
    throw new OperationError('refused', `There are already ${MAX_USERS} users, the maximum.`);
  return await linkFor({ name, isNew: true, ...terms, mailTo }, deps);
}

async function updateUser(request: RequestOf<'updateUser'>, reception: Reception): Promise<UserView> {
  const { name, role, disabled } = request;
  if (role !== null) await findLocal(name, reception);
  done(await reception.accounts.changeUser(name, { role, disabled }), name, reception);
  return userView(await findUser(name, reception));
}

async function setupLink({ name, ...terms }: RequestOf<'setupLink'>, deps: Deps): Promise<UserLink> {
  if (name !== null) {
    const user = await findLocal(name, deps.reception);
    if (user.disabled)
      throw new OperationError('refused', `${name} is disabled: a link would not let them in.`);
    const isNew = user.passwordHash === null;
    return await linkFor({ name, isNew, ...terms, mailTo: readMailTo(terms, deps) }, deps);
  }
  if (await hasPassword(deps.reception)) {
    throw new OperationError(
      'refused',
      'The dashboard already has an administrator. Name the user who is to choose a password: waybill admin setup-link NAME',
    );
  }
  // While it works, the dashboard answers to any host name.
  if ((terms.hours ?? USUAL_HOURS) > USUAL_HOURS || (terms.mailTo ?? null) !== null)
    throw new OperationError(
      'invalid',
      'name: the link of the first administrator works for an hour, and is not sent. Name a user.',
    );
  return await linkFor({ name, isNew: true, mailTo: null }, deps);
}

async function resetPassword(
  { name, password }: RequestOf<'resetPassword'>,
  reception: Reception,
): Promise<UserView> {
  const { accounts, clock, passwords, throttle } = reception;
  const fault = passwordFault(password, name);
  if (fault !== null) throw new OperationError('invalid', `The password ${fault}.`);
  const user = await accounts.user(name, clock.wall());
  if (user !== null) refuseOfProvider(user);
  const isFirst = !(await hasPassword(reception));
  if (user === null && (!isFirst || !userName.safeParse(name).success)) throw unknownUser(name);
  const hash = await passwords.hash(password);
  if (!isFirst) done(await accounts.setPassword(name, { hash, expected: null, keep: null }), name, reception);
  else if (!(await accounts.claimFirst(name, hash, clock.wall())))
    throw new OperationError(
      'refused',
      'Somebody else has set up the dashboard meanwhile. Nothing was done.',
    );
  reception.claimed();
  // Earlier failures were with another password.
  throttle.pardon(name);
  reception.sessions.refresh();
  return userView(await findUser(name, reception));
}

/** A link to be made. */
interface LinkWanted {
  readonly name: string | null;
  /** The user has no password yet. */
  readonly isNew: boolean;
  readonly hours?: number | undefined;
  readonly mailTo: Mailbox | null;
}

/** Whom the link is to be sent to, before anything is done. Throws `OperationError` where it could not be. */
function readMailTo(
  { mailTo = null }: { readonly mailTo?: string | null | undefined },
  deps: Deps,
): Mailbox | null {
  if (mailTo === null) return null;
  requireReachable(dashboardUrl('/', deps));
  return readInvited(mailTo);
}

async function linkFor(
  { name, isNew, hours = USUAL_HOURS, mailTo }: LinkWanted,
  deps: Deps,
): Promise<UserLink> {
  const { reception, intake } = deps;
  const lifeMs = hours * HOUR_MS;
  if (name === null || mailTo === null)
    return linkView(name, await makeLink(reception, name, { lifeMs }), deps);
  const mail = { to: mailTo.address, message: intake.newId() };
  const link = await makeLink(reception, name, { lifeMs, mail });
  const view = linkView(name, link, deps);
  const { message } = mail;
  const invitation = { message, to: mailTo, user: name, isNew, expiresAt: link.expiresAt };
  const fault = await sendInvitation({ ...invitation, url: requireReachable(view.url) }, deps);
  if (fault === null) return { ...view, mail: { to: mail.to, id: message } };
  // It was made, and is handed over.
  await reception.accounts.forgetLinkMail(name);
  return { ...view, mailFault: fault };
}

function linkView(name: string | null, link: NewLink, deps: Deps): UserLink {
  const path = linkPath(link);
  const expiresAt = formatTimestamp(link.expiresAt);
  return { name, path, url: dashboardUrl(path, deps), expiresAt, mail: null, mailFault: null };
}

/** Every user, with the link that each may use now, and what became of the message that sent it. */
async function users({ reception: { accounts, clock }, views }: Deps): Promise<ListedUser[]> {
  const now = clock.wall();
  const [all, links] = await Promise.all([accounts.users(now), accounts.links(now)]);
  const sent = await views.messages(links.flatMap(({ mail }) => (mail === null ? [] : [mail.message])));
  // Its record may be gone.
  const statuses = new Map(sent.map((message) => [message.id, statusOf(message)] as const));
  const shown = new Map<string, ListedUser['link']>();
  for (const { user, expiresAt, mail } of links)
    if (user !== null)
      shown.set(user, {
        expiresAt: formatTimestamp(expiresAt),
        mail: mail && { to: mail.to, id: mail.message, status: statuses.get(mail.message) ?? null },
      });
  return all.map((user) => ({ ...userView(user), link: shown.get(user.name) ?? null }));
}

function statusOf({ outcome, status }: Pick<MessageRecord, 'outcome' | 'status'>) {
  return outcome === 'captured' ? 'captured' : status;
}

async function hasPassword({ accounts, clock }: Reception): Promise<boolean> {
  return (await accounts.users(clock.wall())).some(({ passwordHash }) => passwordHash !== null);
}

async function findUser(name: string, reception: Reception): Promise<User> {
  const user = await reception.accounts.user(name, reception.clock.wall());
  if (user === null) throw unknownUser(name);
  return user;
}

/** A user who signs in here. Their provider decides about all others, each time. */
async function findLocal(name: string, reception: Reception): Promise<User> {
  const user = await findUser(name, reception);
  refuseOfProvider(user);
  return user;
}

function refuseOfProvider({ name, provider }: User): void {
  if (provider !== null)
    throw new OperationError(
      'refused',
      `${name} signs in with ${provider.issuer}: role and password are decided there. A role follows from groups (sign_in.oidc.roles).`,
    );
}

function unknownUser(name: string): OperationError {
  return new OperationError('not_found', `There is no user ${name}.`);
}

/** Carries out the consequences of a change. Throws `OperationError` if nothing was changed. */
function done(answer: UserAnswer, name: string, { sessions }: Reception): void {
  switch (answer.kind) {
    case 'done':
      sessions.refresh();
      sessions.forget(answer.ended);
      return;
    case 'last_admin':
      throw new OperationError(
        'refused',
        `${name} is the last administrator who can sign in. Make another user administrator first.`,
      );
    default:
      throw new OperationError('not_found', `There is no user ${name}.`);
  }
}

function userView(user: User): UserView {
  return {
    name: user.name,
    role: user.role,
    disabled: user.disabled,
    provider: user.provider?.issuer ?? null,
    sessions: user.sessions,
    hasPassword: user.passwordHash !== null,
    secondFactor: user.secondFactor !== null,
    passkeys: user.passkeys,
    createdAt: formatTimestamp(user.createdAt),
    lastSignInAt: user.lastSignInAt === null ? null : formatTimestamp(user.lastSignInAt),
  };
}

function sessionRow({ id, user, sourceAddress, agent, ...times }: Session): SessionRow {
  return {
    id,
    name: user,
    sourceAddress,
    agent,
    createdAt: formatTimestamp(times.createdAt),
    lastSeenAt: formatTimestamp(times.lastSeenAt),
    expiresAt: formatTimestamp(times.expiresAt),
    current: ASKING.getStore()?.sessionId === id,
  };
}
