import { passwordFault } from '../accounts/passwords.ts';
import type { Reception } from '../accounts/reception.ts';
import { linkPath, makeLink } from '../accounts/sign-in.ts';
import type { Session, User } from '../domain/account.ts';
import { formatTimestamp } from '../lib/clock.ts';
import {
  type AccountOperations,
  type SessionRow,
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
import { dashboardUrl } from './own-url.ts';

type Deps = Pick<LocalDeps, 'reception' | 'resolution' | 'running' | 'dataDir'>;

/** See {@link AccountOperations}. */
export function accountOperations(deps: Deps): AccountOperations {
  const { reception } = deps;
  const { accounts, clock, sessions } = reception;
  return {
    users: async () => (await accounts.users(clock.wall())).map(userView),
    createUser: (request) => createUser(request, deps),
    updateUser: (request) => updateUser(request, reception),
    removeUser: async ({ name }) => {
      const user = await findUser(name, reception);
      done(await accounts.removeUser(name), name, reception);
      return { ...userView(user), sessions: 0 };
    },
    setupLink: ({ name }) => setupLink(name, deps),
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

async function createUser({ name, role }: RequestOf<'createUser'>, deps: Deps): Promise<UserLink> {
  const { accounts, clock } = deps.reception;
  if (!(await hasPassword(deps.reception)))
    throw new OperationError(
      'refused',
      'Nobody has set up the dashboard yet: the first user will be its administrator. See: waybill admin setup-link',
    );
  const answer = await accounts.addUser({ name, role, createdAt: clock.wall() });
  if (answer === 'taken') throw new OperationError('refused', `There is already a user ${name}.`);
  if (answer === 'full')
    throw new OperationError('refused', `There are already ${MAX_USERS} users, the maximum.`);
  return await linkFor(name, deps);
}

async function updateUser(request: RequestOf<'updateUser'>, reception: Reception): Promise<UserView> {
  const { name, role, disabled } = request;
  if (role !== null) await findLocal(name, reception);
  done(await reception.accounts.changeUser(name, { role, disabled }), name, reception);
  return userView(await findUser(name, reception));
}

async function setupLink(name: string | null, deps: Deps): Promise<UserLink> {
  if (name !== null) {
    const user = await findLocal(name, deps.reception);
    if (user.disabled)
      throw new OperationError('refused', `${name} is disabled: a link would not let them in.`);
  } else if (await hasPassword(deps.reception)) {
    throw new OperationError(
      'refused',
      'The dashboard already has an administrator. Name the user who is to choose a password: waybill admin setup-link NAME',
    );
  }
  return await linkFor(name, deps);
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

async function linkFor(name: string | null, deps: Deps): Promise<UserLink> {
  const link = await makeLink(deps.reception, name);
  const path = linkPath(link);
  return { name, path, url: dashboardUrl(path, deps), expiresAt: formatTimestamp(link.expiresAt) };
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
