import {
  addPasskey,
  beginPasskey,
  beginPasskeySignIn,
  canHavePasskeys,
  type Place,
  passkeySignIn,
  removePasskey,
} from '../accounts/passkeys.ts';
import { beginProviderSignIn, providerAt, providerSignIn } from '../accounts/provider-sign-in.ts';
import { type Reception, signedOut } from '../accounts/reception.ts';
import type { SavedViews } from '../accounts/saved-views.ts';
import { giveUpFactor, offerFactor, takeUpFactor } from '../accounts/second-factor.ts';
import type { Found, Opened, Visit } from '../accounts/sessions.ts';
import {
  changePassword,
  confirmPassword,
  findLink,
  giveCode,
  linkRefused,
  logIn,
  logOut,
  setUp,
} from '../accounts/sign-in.ts';
import type { User } from '../domain/account.ts';
import { Problem } from '../http/problem.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { SavedView } from '../store/sharing.ts';
import {
  type CallName,
  type FirstSteps,
  type SavedViewRow,
  SESSION_REQUESTS,
  type SessionCalls,
  type SessionUser,
  type SessionView,
} from './contract.ts';
import type { SharedStories } from './shared-stories.ts';

/** The caller. */
export interface Caller {
  readonly visit: Visit;
  /** The address of the page that asks. */
  readonly place: Place;
  /** The presented token, valid or not. */
  readonly token: string | null;
  /** What the browser keeps of a sign-in that it began with the identity provider. */
  readonly kept: string | null;
  /** The caller's session, if valid. */
  readonly found: Found | null;
}

/** The result of a call: the change of the session, if the answer is a view; otherwise the answer itself. */
export type CallResult<Answer> =
  /** A new session, whose token is to be sent. */
  | { readonly kind: 'opened'; readonly opened: Opened }
  /** `signOutUrl`: see {@link SessionView}. */
  | { readonly kind: 'ended'; readonly signOutUrl: string | null }
  /** The browser leaves for the identity provider, and is to keep this meanwhile. */
  | { readonly kind: 'leaves'; readonly kept: string; readonly answer: Answer }
  /** It has come back, and has a new session. */
  | { readonly kind: 'returned'; readonly opened: Opened; readonly answer: (view: SessionView) => Answer }
  /** The same session, read again. */
  | { readonly kind: 'same' }
  | { readonly kind: 'answer'; readonly answer: Answer };

/** What the calls need. */
export interface CallDeps {
  readonly reception: Reception;
  readonly firstSteps: FirstStepsBook;
  readonly savedViews: SavedViews;
  readonly stories: Pick<SharedStories, 'read'>;
  /** Allows the host name by which the dashboard was claimed. Returns whether that changed anything. */
  readonly allowHost: (host: string) => Promise<boolean>;
}

type Calls = {
  readonly [Name in CallName]: (
    request: SessionCalls[Name]['request'],
    caller: Caller,
    deps: CallDeps,
  ) => Promise<CallResult<SessionCalls[Name]['answer']>>;
};

/** All calls. They reject with `AccountRefusal`, `StoreError`. */
export const CALLS: Calls = {
  link: async ({ token }, _caller, { reception }) => {
    const link = await findLink(reception, token);
    if (link === null) throw linkRefused();
    return answer({ name: link.user, expiresAt: formatTimestamp(link.expiresAt) });
  },
  setup: async (request, { visit, token, place: { host } }, { reception, allowHost }) => {
    const { opened, isFirst } = await setUp(reception, request, visit, token);
    // Only then: a later link makes no administrator, and must not let its holder choose an allowed host name.
    if (isFirst && (await allowHost(host)))
      await reception.note({ action: 'allowHost', user: opened.user.name, subject: host }, visit);
    return { kind: 'opened', opened };
  },
  login: async (request, { visit, token }, { reception }) => ({
    kind: 'opened',
    opened: await logIn(reception, request, visit, token),
  }),
  second_factor: async ({ code }, { visit, found }, { reception }) => {
    if (found === null) throw signedOut();
    return { kind: 'opened', opened: await giveCode(reception, found, code, visit) };
  },
  logout: async (_request, { visit, found }, { reception }) => {
    if (found !== null) await logOut(reception, found, visit);
    const ofProvider = found?.user.provider != null ? reception.provider() : null;
    return { kind: 'ended', signOutUrl: (await ofProvider?.signOutUrl()) ?? null };
  },
  password: async (request, caller, { reception }) => ({
    kind: 'opened',
    opened: await changePassword(reception, signedIn(caller), request, caller.visit),
  }),
  totp_begin: async ({ password }, caller, { reception }) => {
    const found = signedIn(caller);
    await confirmPassword(reception, found.user, password, caller.visit);
    return answer(await offerFactor(reception, found));
  },
  totp_confirm: async ({ code }, caller, { reception }) =>
    answer({ recoveryCodes: await takeUpFactor(reception, signedIn(caller), code, caller.visit) }),
  totp_remove: async ({ password }, caller, { reception }) => {
    const found = signedIn(caller);
    await confirmPassword(reception, found.user, password, caller.visit);
    await giveUpFactor(reception, found, caller.visit);
    return { kind: 'same' };
  },
  passkey_begin: async (_request, { place }, { reception }) =>
    answer(await beginPasskeySignIn(reception, place)),
  passkey: async (request, { visit, token, place }, { reception }) => ({
    kind: 'opened',
    opened: await passkeySignIn(reception, place, request, visit, token),
  }),
  provider_begin: async ({ returnTo }, { place }, { reception }) => {
    const { url, kept } = await beginProviderSignIn(reception, place, returnTo);
    return { kind: 'leaves', kept, answer: { url } };
  },
  provider: async ({ search }, { visit, token, kept }, { reception }) => {
    const { opened, returnTo } = await providerSignIn(reception, { search, kept }, visit, token);
    return { kind: 'returned', opened, answer: (view) => ({ view, returnTo }) };
  },
  passkeys: async (_request, caller, { reception }) => {
    const passkeys = await reception.accounts.passkeys(signedIn(caller).user.name);
    return answer(
      passkeys.map(({ id, label, host, createdAt, lastUsedAt }) => ({
        id,
        label,
        host,
        createdAt: formatTimestamp(createdAt),
        lastUsedAt: lastUsedAt === null ? null : formatTimestamp(lastUsedAt),
      })),
    );
  },
  passkey_add_begin: async ({ password }, caller, { reception }) => {
    const found = signedIn(caller);
    await confirmPassword(reception, found.user, password, caller.visit);
    return answer(await beginPasskey(reception, caller.place, found));
  },
  passkey_add: async (request, caller, { reception }) => {
    await addPasskey(reception, caller.place, signedIn(caller), request, caller.visit);
    return { kind: 'same' };
  },
  passkey_remove: async ({ id, password }, caller, { reception }) => {
    const { user } = signedIn(caller);
    await confirmPassword(reception, user, password, caller.visit);
    await removePasskey(reception, user, id, caller.visit);
    return { kind: 'same' };
  },
  sessions: async (_request, caller, { reception }) => {
    const { session, user } = signedIn(caller);
    const all = await reception.sessions.list(user.name);
    return answer(
      all.map(({ id, user: name, sourceAddress, agent, createdAt, lastSeenAt, expiresAt }) => ({
        id,
        name,
        sourceAddress,
        agent,
        current: id === session.id,
        createdAt: formatTimestamp(createdAt),
        lastSeenAt: formatTimestamp(lastSeenAt),
        expiresAt: formatTimestamp(expiresAt),
      })),
    );
  },
  end_session: async ({ id }, caller, { reception }) => {
    const { user } = signedIn(caller);
    const isOwn = (await reception.sessions.list(user.name)).some((session) => session.id === id);
    const ended = isOwn ? await reception.accounts.endSession(id) : null;
    if (ended !== null) {
      reception.sessions.forget([id]);
      await noteEnded(1, user.name, caller, reception);
    }
    return answer({ ended: ended === null ? 0 : 1 });
  },
  sign_out_others: async (_request, caller, { reception }) => {
    const { session, user } = signedIn(caller);
    const ended = await reception.accounts.endSessions(user.name, session.id);
    reception.sessions.forget(ended);
    if (ended.length > 0) await noteEnded(ended.length, user.name, caller, reception);
    return answer({ ended: ended.length });
  },
  first_steps: async ({ skipped }, caller, { firstSteps }) => {
    signedIn(caller);
    await firstSteps.skip(skipped);
    return { kind: 'same' };
  },
  saved_views: async (_request, caller, { savedViews }) => {
    const { user } = signedIn(caller);
    return answer((await savedViews.list(user.name)).map((view) => viewRow(view, user)));
  },
  save_view: async (request, caller, { savedViews }) => {
    const { user } = signedIn(caller);
    return answer(viewRow(await savedViews.add(user.name, request), user));
  },
  change_view: async ({ id, ...change }, caller, { savedViews }) => {
    const { user } = signedIn(caller);
    return answer(viewRow(await savedViews.change(user.name, id, change), user));
  },
  // Without a session, and whoever has one learns no more.
  story: async ({ token }, { visit }, { stories }) => answer(await stories.read(token, visit)),
  remove_view: async ({ id }, caller, { savedViews }) => {
    const { user } = signedIn(caller);
    return answer(viewRow(await savedViews.remove(user.name, id), user));
  },
};

function viewRow({ id, page, name, search, isShared, user }: SavedView, { name: own }: User): SavedViewRow {
  return { id, page, name, search, shared: isShared, user, own: user === own };
}

async function noteEnded(
  others: number,
  user: string,
  { visit }: Caller,
  reception: Reception,
): Promise<void> {
  await reception.note({ action: 'signOut', user, detail: { others } }, visit);
}

function answer<Answer>(value: Answer): { readonly kind: 'answer'; readonly answer: Answer } {
  return { kind: 'answer', answer: value };
}

/** The caller's fully signed-in session. Throws `AccountRefusal`. */
function signedIn({ found }: Caller): Found {
  if (found?.session.stage !== 'full') throw signedOut();
  return found;
}

/** The call with this name; null if there is none. */
export function callOf(name: string): CallName | null {
  return (Object.keys(SESSION_REQUESTS) as CallName[]).find((known) => known === name) ?? null;
}

/** Validates the request of a call. Throws the problem 400, which never repeats the input. */
export function readRequest<Name extends CallName>(name: Name, body: unknown): SessionCalls[Name]['request'] {
  const parsed = SESSION_REQUESTS[name].safeParse(body);
  if (parsed.success) return parsed.data as SessionCalls[Name]['request'];
  const errors = parsed.error.issues.map(({ path, message }) => ({
    pointer: `/${path.join('/')}`,
    code: 'invalid',
    detail: message,
  }));
  const [first] = errors;
  throw new Problem(400, 'invalid', `${first?.pointer ?? '/'}: ${first?.detail ?? 'is wrong'}.`, { errors });
}

/** Facts about this installation for signed-in users. */
export interface Surroundings {
  readonly version: string;
  /** Who is signed in without having signed in: the developer whose machine this is. Null: nobody. */
  readonly resident: Found | null;
  /** `webui.session_timeout_minutes` */
  readonly idleMs: () => number;
  /** How a user of this host name reaches the API and the SMTP listener. */
  readonly pointers: (host: string) => Pointers;
  readonly firstSteps: FirstStepsBook;
  /** Whether anybody has chosen a password yet. */
  readonly isClaimed: () => Promise<boolean>;
  /** Whether anybody has a passkey for this host name. */
  readonly hasPasskey: (host: string) => Promise<boolean>;
  readonly reception: Pick<Reception, 'provider'>;
}

/** See {@link Surroundings.pointers}. */
export interface Pointers {
  readonly apiUrl: string | null;
  readonly smtp: { readonly host: string; readonly port: number } | null;
}

/** The installation's progress on the guided path. */
export interface FirstStepsBook {
  read(): Promise<FirstSteps>;
  skip(skipped: boolean): Promise<void>;
}

/** The answer to `GET /api/session` for this session, on this page. */
export async function sessionView(
  found: Found | null,
  place: Place,
  surroundings: Surroundings,
  signOutUrl: string | null = null,
): Promise<SessionView> {
  const { version, resident, idleMs, pointers, firstSteps, isClaimed, hasPasskey, reception } = surroundings;
  const { host } = place;
  if (found === null) {
    if (!(await isClaimed())) return { state: 'setup' };
    const passkeys = canHavePasskeys(host) && (await hasPasskey(host));
    const at = providerAt(reception, place);
    const provider = at === null ? null : { name: at.provider.name, elsewhere: at.elsewhere };
    return { state: 'anonymous', passkeys, provider, signOutUrl };
  }
  if (found.session.stage === 'second_factor') return { state: 'second_factor' };
  return {
    state: 'signed_in',
    version,
    user: userView(found, surroundings),
    resident: found === resident,
    idleMs: idleMs(),
    ...pointers(host),
    firstSteps: await firstSteps.read(),
  };
}

function userView({ user, session }: Found, { reception }: Pick<Surroundings, 'reception'>): SessionUser {
  const { name, role, secondFactor, recoveryCodesLeft, passkeys } = user;
  return {
    name,
    role,
    secondFactor: secondFactor !== null,
    recoveryCodesLeft,
    passkeys,
    provider: user.provider === null ? null : (reception.provider()?.name ?? user.provider.issuer),
    session: session.id,
  };
}
