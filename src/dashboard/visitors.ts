import type { Place } from '../accounts/passkeys.ts';
import { PROVIDER_SIGN_IN_MS } from '../accounts/provider-sign-in.ts';
import { AccountRefusal, type Reception, type RefusalCode } from '../accounts/reception.ts';
import type { Found, Visit } from '../accounts/sessions.ts';
import type { Actor } from '../control/door.ts';
import { clientAddress, type Exchange } from '../http/exchange.ts';
import { Problem } from '../http/problem.ts';
import { Budget } from '../lib/budget.ts';
import { type CidrSet, sourceGroup } from '../lib/network.ts';
import type { Event, Events } from '../observe/events.ts';
import { readJson } from './calls.ts';
import type { CallName, SessionCalls } from './contract.ts';
import {
  CALLS,
  type CallDeps,
  type Caller,
  type CallResult,
  callOf,
  readRequest,
  type Surroundings,
  sessionView,
} from './session-calls.ts';

/** The users of the dashboard, as its routes see them. */
export interface Visitors {
  /** The actor of the session in the cookie; null if nobody is signed in. Counts as use of the session. */
  actorOf(exchange: Exchange): Promise<Actor | null>;
  /** Answers `GET /api/session`. */
  show(exchange: Exchange): Promise<void>;
  /** Answers `POST /api/session/<name>`. The caller has checked host, origin and content type. */
  answer(exchange: Exchange, name: string): Promise<void>;
  /** Who asks, and from where. */
  visitOf(exchange: Exchange): Visit;
  /**
   * Calls the listener with the ids of sessions that end, so that what they hold open can be closed, until the returned
   * function is called.
   */
  onEnded(listener: (sessionId: string) => void): () => void;
}

export interface VisitorsOptions extends CallDeps, Surroundings {
  readonly reception: Reception;
  readonly events: Pick<Events, 'emit'>;
  /** Identifies this installation in its cookie: letters and digits. */
  readonly instance: string;
  /** `webui.trusted_proxies` */
  readonly trustedProxies: () => CidrSet;
}

/** A header of the page's own background requests: they keep no session alive. */
const BY_ITSELF = 'waybill-background';
/** Browsers reconnect it by themselves, and cannot add a header. */
const EVENTS = '/api/events';
const MAX_REQUEST_BYTES = 16 * 1024;
/** Bytes of all requests in memory; each source has its share. */
const REQUEST_MEMORY = { capacity: 1024 * 1024, maxWaiters: 64 };

/** The HTTP status of each refusal. */
const STATUSES: Readonly<Record<RefusalCode, number>> = {
  sign_in_refused: 401,
  code_refused: 401,
  password_refused: 403,
  signed_out: 401,
  user_disabled: 403,
  link_refused: 403,
  name_taken: 409,
  password_unfit: 400,
  sign_in_slowed: 429,
  sign_in_busy: 503,
  second_factor_unreadable: 503,
  second_factor_missing: 409,
  passkey_refused: 401,
  passkey_unfit: 409,
  passkey_missing: 409,
  secrets_unreadable: 503,
  provider_missing: 409,
  provider_elsewhere: 409,
  provider_failed: 503,
  provider_denied: 403,
  provider_refused: 401,
  not_admitted: 403,
  users_full: 409,
  story_refused: 404,
  view_missing: 409,
  view_name_taken: 409,
  views_full: 409,
};

type SignIn = Extract<Event, { type: 'signed_in' }>;

/** The calls of a sign-in, by its way. One that only begins it ends it when it is refused. */
const WAYS: { readonly [Name in CallName]?: SignIn['way'] } = {
  login: 'password',
  second_factor: 'password',
  passkey_begin: 'passkey',
  passkey: 'passkey',
  provider_begin: 'provider',
  provider: 'provider',
};

/** The users of the dashboard, by the session in a cookie. */
export function createVisitors(options: VisitorsOptions): Visitors {
  const { reception, trustedProxies, resident } = options;
  const cookie = new HostCookie(`waybill-${options.instance}`, 'Strict');
  // Those who come back were sent here by another site.
  const leaving = new HostCookie(`waybill-${options.instance}-leaving`, 'Lax');
  const budget = new Budget(REQUEST_MEMORY);

  const visitOf = (exchange: Exchange): Visit => ({
    sourceAddress: clientAddress(exchange, trustedProxies()),
    agent: exchange.headers['user-agent'] ?? '',
  });
  const findOf = async (exchange: Exchange, token: string | null): Promise<Found | null> =>
    (token === null ? null : await reception.sessions.find(token, isUse(exchange))) ?? resident;

  const show = async (exchange: Exchange, found: Found | null, signOutUrl: string | null = null) =>
    exchange.json(200, await sessionView(found, placeOf(exchange), options, signOutUrl));

  const respond = responder(options, cookie, leaving, show);

  const answer = async <Name extends CallName>(exchange: Exchange, name: Name): Promise<void> => {
    const visit = visitOf(exchange);
    const body = await readJson(exchange, MAX_REQUEST_BYTES, budget.share(sourceGroup(visit.sourceAddress)));
    const request = readRequest(name, body);
    const token = cookie.read(exchange);
    const kept = leaving.read(exchange);
    const found = await findOf(exchange, token);
    const caller: Caller = { visit, token, kept, place: placeOf(exchange), found };
    // Sound because name and request belong together, which the table's type cannot express.
    const call = CALLS[name] as (
      request: SessionCalls[Name]['request'],
      caller: Caller,
      deps: CallDeps,
    ) => Promise<CallResult<SessionCalls[Name]['answer']>>;
    const way = WAYS[name];
    const done = call(request, caller, options);
    const result = await asProblems(way === undefined ? done : counted(way, done, options));
    await respond(exchange, result, () => findOf(exchange, token));
  };

  return {
    actorOf: async (exchange) => {
      const found = await findOf(exchange, cookie.read(exchange));
      if (found === null || found.session.stage !== 'full') return null;
      const { session, user } = found;
      const { sourceAddress } = visitOf(exchange);
      const { name, role } = user;
      return { kind: 'user', name, role, sourceAddress, sessionId: session.id, ...placeOf(exchange) };
    },
    show: async (exchange) => {
      const token = cookie.read(exchange);
      const found = await findOf(exchange, token);
      if (token !== null && found === null) cookie.take(exchange);
      await show(exchange, found);
    },
    answer: async (exchange, name) => {
      const call = callOf(name);
      if (call === null) throw new Problem(404, 'not_found', 'There is nothing here.');
      await answer(exchange, call);
    },
    visitOf,
    onEnded: (listener) => reception.sessions.onEnded(listener),
  };
}

/** What makes an answer of the result of a call, with the cookies that follow from it. */
function responder(
  options: VisitorsOptions,
  cookie: HostCookie,
  leaving: HostCookie,
  show: (exchange: Exchange, found: Found | null, signOutUrl?: string | null) => Promise<void>,
) {
  return async <Answer>(
    exchange: Exchange,
    result: CallResult<Answer>,
    found: () => Promise<Found | null>,
  ): Promise<void> => {
    switch (result.kind) {
      case 'answer':
        return exchange.json(200, result.answer);
      case 'leaves':
        leaving.give(exchange, result.kept, PROVIDER_SIGN_IN_MS);
        return exchange.json(200, result.answer);
      case 'same':
        return await show(exchange, await found());
      case 'ended':
        cookie.take(exchange);
        return await show(exchange, options.resident, result.signOutUrl);
      case 'opened':
        cookie.give(exchange, result.opened.token);
        return await show(exchange, result.opened);
      case 'returned':
        cookie.give(exchange, result.opened.token);
        leaving.take(exchange);
        exchange.json(200, result.answer(await sessionView(result.opened, placeOf(exchange), options)));
    }
  };
}

function isUse({ headers, path }: Exchange): boolean {
  return headers[BY_ITSELF] === undefined && path !== EVENTS;
}

/** The host name that the browser used, without a port; the routes have checked it. */
function hostOf({ headers }: Exchange): string {
  return (headers.host ?? '').toLowerCase().replace(/:\d{1,5}$/, '');
}

/** The address of the page, as its browser signs it: without the default port. */
function placeOf(exchange: Exchange): Place {
  const host = (exchange.headers.host ?? '').toLowerCase();
  return {
    host: hostOf(exchange),
    origin: new URL(`${exchange.secure ? 'https' : 'http'}://${host}`).origin,
  };
}

/** Tells how a sign-in ends; one that still waits for a code, or for the provider, has not ended. */
async function counted<Answer>(
  way: SignIn['way'],
  call: Promise<CallResult<Answer>>,
  { events }: Pick<VisitorsOptions, 'events'>,
): Promise<CallResult<Answer>> {
  try {
    const result = await call;
    const isIn = 'opened' in result && result.opened.session.stage === 'full';
    if (isIn) events.emit({ type: 'signed_in', way, result: 'done' });
    return result;
  } catch (error) {
    const status = error instanceof AccountRefusal ? STATUSES[error.code] : 503;
    const result = status === 429 ? 'slowed' : status === 503 ? 'failed' : 'refused';
    events.emit({ type: 'signed_in', way, result });
    throw error;
  }
}

/** A refused sign-in as the problem that it is. */
export async function asProblems<T>(done: Promise<T>): Promise<T> {
  try {
    return await done;
  } catch (error) {
    if (!(error instanceof AccountRefusal)) throw error;
    const status = STATUSES[error.code];
    const headers = {
      ...(error.waitMs === null ? {} : { 'Retry-After': String(Math.ceil(error.waitMs / 1000)) }),
      ...(status === 401 ? { 'WWW-Authenticate': 'Session' } : {}),
    };
    throw new Problem(status, error.code, error.message, { headers });
  }
}

/**
 * A cookie with a secret. `__Host-` binds it to exactly this host over TLS; the instance's name separates two
 * installations on one host, since cookies ignore ports.
 */
export class HostCookie {
  readonly #name: string;
  readonly #attributes: string;

  constructor(name: string, sameSite: 'Strict' | 'Lax') {
    this.#name = `__Host-${name}`;
    this.#attributes = `Path=/; Secure; HttpOnly; SameSite=${sameSite}`;
  }

  /** The value in a request's cookie; null without one. */
  read({ headers }: Pick<Exchange, 'headers'>): string | null {
    for (const pair of (headers.cookie ?? '').split(';')) {
      const [name, value] = pair.trim().split('=', 2);
      if (name === this.#name) return value ?? null;
    }
    return null;
  }

  /** Makes the browser keep a value for so long; null: until it is closed. */
  give(exchange: Pick<Exchange, 'setHeader'>, value: string, ms: number | null = null): void {
    const age = ms === null ? '' : `; Max-Age=${Math.ceil(ms / 1000)}`;
    exchange.setHeader('Set-Cookie', `${this.#name}=${value}; ${this.#attributes}${age}`);
  }

  /** Makes the browser delete it. */
  take(exchange: Pick<Exchange, 'setHeader'>): void {
    exchange.setHeader('Set-Cookie', `${this.#name}=; ${this.#attributes}; Max-Age=0`);
  }
}
