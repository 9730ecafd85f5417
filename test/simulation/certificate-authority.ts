import { createHash } from 'node:crypto';
import type { Answered, Asked } from '../../src/acme/https.ts';
import { AcmeError } from '../../src/acme/problem.ts';
import type { Random } from '../../src/lib/random.ts';
import { keyRequested, TestIssuer } from '../peers/acme-issuer.ts';
import { type CertificateLaws, LIFE_MS, type Suggestion } from './certificate-laws.ts';
import type { NodeLife } from './virtual-clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** A node waits no longer for an answer; see `Connection`. */
const PATIENCE_MS = 30 * SECOND;
const USUAL_MS = 400;
/** The longest that it wants to be left alone. */
const LONGEST_REST_S = 6 * 3_600;
/** The longest that its advice is to be believed; now and then it says ten days, which is more than anybody should. */
const LONGEST_ADVICE_S = 11 * 3_600;
const TEN_DAYS_S = 10 * 24 * 3_600;
/** How long the time is in which it wants a certificate to be renewed. */
const WINDOW_MS = 7 * HOUR;
/** In so many histories it says when that is. */
const ADVISES = 0.7;
const ORIGIN = 'https://authority.example';
/** Where nodes find what it offers. */
export const DIRECTORY = `${ORIGIN}/directory`;
/** Where they ask for an order. */
export const NEW_ORDER = `${ORIGIN}/order-new`;

/** What it is like at a time; all but `well` are wrong in one way. */
export const TEMPERS = [
  'well',
  'slow',
  'down',
  'busy',
  'refusing',
  'giving up',
  'other key',
  'other name',
  'forgetting nonces',
  'cut off',
] as const;
/** See {@link TEMPERS}. */
export type Temper = (typeof TEMPERS)[number];

/** What it is made of. */
export interface AuthorityParts {
  readonly dice: Random;
  readonly laws: CertificateLaws;
  /** True time, wall ms. */
  readonly now: () => number;
  /** What a listener, of any node, answers a challenge with a token; null: nothing. */
  readonly validate: (token: string) => string | null;
}

interface Order {
  readonly number: number;
  readonly names: readonly string[];
  readonly print: string;
  /** The id of the certificate that it is to replace; null: none is named. */
  readonly replaces: string | null;
  readonly proven: Set<string>;
  isInvalid: boolean;
  certificate: string | null;
}

/** What a signed request says. */
interface Signed {
  readonly head: { readonly nonce: string; readonly jwk?: Record<string, string>; readonly kid?: string };
  readonly payload: Record<string, unknown>;
}

/** An authority (RFC 8555) in virtual time, without a socket. It believes signatures: tests over real sockets hold them. */
export class SimulatedAuthority {
  temper: Temper = 'well';
  readonly #parts: AuthorityParts;
  readonly #issuer = new TestIssuer();
  readonly #nonces = new Set<string>();
  /** URL of an account → the thumbprint of its key. */
  readonly #accounts = new Map<string, string>();
  readonly #orders: Order[] = [];
  /** When to renew what it issued: the certificate's id → the window it suggests. Null: it does not say. */
  readonly #windows: Map<string, Suggestion> | null;
  readonly #replaced = new Set<string>();
  #restsUntil = 0;
  /** That the last certificate was asked for. */
  #lastKey: Buffer | null = null;
  #given = 0;

  constructor(parts: AuthorityParts) {
    this.#parts = parts;
    this.#windows = parts.dice.next() < ADVISES ? new Map() : null;
    if (this.#windows !== null) parts.laws.advises();
  }

  /** Everything that it issued is to be replaced within hours, as where it must revoke it. False: it has no way to say so. */
  hurry(): boolean {
    const { dice, now } = this.#parts;
    if (this.#windows === null) return false;
    const start = Math.floor(now()) - 2 * HOUR;
    const end = start + HOUR + Math.floor(dice.next() * 4 * HOUR);
    for (const id of this.#windows.keys()) this.#windows.set(id, { start, end });
    return true;
  }

  /** A node asks. Rejects with `AcmeError` where it gets no answer; never returns to the dead. */
  async ask(node: number, life: NodeLife, asked: Asked): Promise<Answered> {
    const { dice } = this.#parts;
    const ms = this.temper === 'slow' ? dice.next() * 2 * PATIENCE_MS : dice.next() * USUAL_MS;
    if (this.temper === 'down') throw await after(life, SECOND, 'authority_away');
    if (ms > PATIENCE_MS) throw await after(life, PATIENCE_MS, 'authority_slow');
    await life.sleep(ms / 2);
    const answer = this.#answer(node, asked);
    // It has heard, and done, what it was asked for.
    if (this.temper === 'cut off' && dice.next() < 0.2) throw await after(life, ms / 2, 'authority_away');
    await life.sleep(ms / 2);
    return answer;
  }

  #answer(node: number, { url, body }: Asked): Answered {
    const [what = '', id = '', name = ''] = url.slice(ORIGIN.length + 1).split('/');
    if (what === 'directory')
      return this.#says(
        200,
        this.#windows === null ? RESOURCES : { ...RESOURCES, renewalInfo: `${ORIGIN}/renewal` },
      );
    if (what === 'renewal') return this.#advise(id);
    if (what === 'nonce' || body === null) return this.#says(200, {});
    const { head, payload } = signedIn(body);
    const { dice } = this.#parts;
    const isForgotten = this.temper === 'forgetting nonces' && dice.next() < 0.5;
    if (!this.#nonces.delete(head.nonce) || isForgotten) return this.#refuses(400, 'badNonce');
    if (what === 'account') return this.#signIn(head.jwk ?? {}, payload);
    const print = this.#accounts.get(head.kid ?? '');
    if (print === undefined) return this.#refuses(401, 'unauthorized');
    if (url === NEW_ORDER) return this.#order(node, print, payload);
    const order = this.#orders[Number(id)];
    if (order === undefined || order.print !== print) return this.#refuses(404, 'malformed');
    if (what === 'challenge') return this.#prove(order, name);
    if (what === 'authorization') return this.#says(200, authorizationOf(order, name));
    if (what === 'finalize') this.#finalize(order, String(payload['csr']));
    if (what === 'certificate') return this.#says(200, order.certificate ?? '');
    return this.#says(200, orderBody(order));
  }

  #advise(id: string): Answered {
    const { dice, laws } = this.#parts;
    const window = this.#windows?.get(id);
    if (this.temper === 'busy') return this.#refuses(503, 'serverInternal');
    if (window === undefined || this.temper === 'refusing') return this.#refuses(404, 'malformed');
    const roll = dice.next();
    const seconds = roll < 0.1 ? TEN_DAYS_S : Math.ceil(dice.next() * LONGEST_ADVICE_S);
    const retryAfterMs = roll > 0.7 ? null : seconds * SECOND;
    const [start, end] = [new Date(window.start).toISOString(), new Date(window.end).toISOString()];
    // One in which nothing can be renewed.
    const backwards = { suggestedWindow: { start: end, end: start } };
    if (this.temper === 'other name') return { ...this.#says(200, backwards), retryAfterMs };
    laws.tells(id, window, retryAfterMs);
    return { ...this.#says(200, { suggestedWindow: { start, end } }), retryAfterMs };
  }

  #signIn(jwk: Record<string, string>, { onlyReturnExisting }: Record<string, unknown>): Answered {
    const print = thumbprintOf(jwk);
    const url = `${ORIGIN}/account/${print}`;
    if (!this.#accounts.has(url) && onlyReturnExisting === true)
      return this.#refuses(400, 'accountDoesNotExist');
    this.#accounts.set(url, print);
    return { ...this.#says(201, { status: 'valid' }), location: url };
  }

  #order(node: number, print: string, payload: Record<string, unknown>): Answered {
    const { dice, now, laws } = this.#parts;
    const replaces = (payload['replaces'] as string | undefined) ?? null;
    // RFC 9773 §5: nobody is told of this but by a request that names it.
    if (replaces !== null && this.#replaced.has(replaces)) return this.#refuses(409, 'alreadyReplaced');
    laws.asksForOrder(node, replaces);
    if (this.temper === 'busy' || now() < this.#restsUntil) {
      const seconds = Math.ceil(
        this.#restsUntil > now() ? (this.#restsUntil - now()) / SECOND : dice.next() * LONGEST_REST_S,
      );
      this.#restsUntil = now() + seconds * SECOND;
      laws.refuses(seconds * SECOND);
      return { ...this.#refuses(429, 'rateLimited'), retryAfterMs: seconds * SECOND };
    }
    const names = (payload['identifiers'] as { readonly value: string }[]).map(({ value }) => value);
    const order: Order = {
      number: this.#orders.length,
      names,
      print,
      replaces,
      proven: new Set(),
      isInvalid: false,
      certificate: null,
    };
    this.#orders.push(order);
    return { ...this.#says(201, orderBody(order)), location: `${ORIGIN}/order/${order.number}` };
  }

  #prove(order: Order, name: string): Answered {
    const token = tokenOf(order, name);
    if (this.#parts.validate(token) === `${token}.${order.print}` && this.temper !== 'refusing')
      order.proven.add(name);
    else this.#giveUp(order);
    return this.#says(200, { status: 'processing' });
  }

  #finalize(order: Order, csr: string): void {
    if (this.temper === 'giving up') {
      this.#giveUp(order);
      return;
    }
    const { dice, now, laws } = this.#parts;
    const isOtherKey = this.temper === 'other key' && this.#lastKey !== null;
    const key = isOtherKey ? (this.#lastKey ?? Buffer.of()) : keyRequested(csr);
    this.#lastKey = keyRequested(csr);
    const isOtherName = this.temper === 'other name';
    const notBefore = Math.floor((now() - HOUR) / SECOND) * SECOND;
    const life = { notBefore, notAfter: notBefore + LIFE_MS };
    order.certificate = this.#issuer.certify(key, isOtherName ? ['other.example'] : order.names, life);
    const id = this.#issuer.idOf(order.certificate);
    const { certificate, replaces } = order;
    laws.issued({ certificate, id, isFit: !isOtherKey && !isOtherName, replaces });
    if (replaces !== null) this.#replaced.add(replaces);
    // Sooner or later than it would be renewed otherwise; now and then after its end.
    const left = dice.next() < 0.1 ? -0.2 : 0.1 + dice.next() * 0.5;
    const start = Math.floor(life.notAfter - left * LIFE_MS);
    this.#windows?.set(id, { start, end: start + WINDOW_MS });
  }

  #giveUp(order: Order): void {
    order.isInvalid = true;
    this.#parts.laws.refuses(0);
  }

  #refuses(status: number, type: string): Answered {
    return { ...this.#says(status, problem(type)), type: 'application/problem+json' };
  }

  #says(status: number, body: object | string): Answered {
    const nonce = `n${++this.#given}`;
    this.#nonces.add(nonce);
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    return { status, type: 'application/json', body: bytes, nonce, location: null, retryAfterMs: null };
  }
}

const RESOURCES = {
  newNonce: `${ORIGIN}/nonce`,
  newAccount: `${ORIGIN}/account`,
  newOrder: NEW_ORDER,
};

async function after(
  life: NodeLife,
  ms: number,
  code: 'authority_away' | 'authority_slow',
): Promise<AcmeError> {
  await life.sleep(ms);
  return new AcmeError(code, 'simulated: no answer');
}

function signedIn(body: string): Signed {
  const jws = JSON.parse(body) as { readonly protected: string; readonly payload: string };
  const text = (part: string) => Buffer.from(part, 'base64url').toString();
  return { head: JSON.parse(text(jws.protected)), payload: JSON.parse(text(jws.payload) || '{}') };
}

/** RFC 7638. */
function thumbprintOf({ crv, kty, x, y }: Record<string, string>): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

function tokenOf({ number }: Order, name: string): string {
  return `t${number}-${name.replaceAll('.', '_')}`;
}

function problem(type: string): object {
  return { type: `urn:ietf:params:acme:error:${type}`, detail: `simulated: ${type}` };
}

function orderBody({ number, names, proven, isInvalid, certificate }: Order): object {
  const isReady = proven.size === names.length;
  const status = isInvalid ? 'invalid' : certificate !== null ? 'valid' : isReady ? 'ready' : 'pending';
  return {
    status,
    authorizations: names.map((name) => `${ORIGIN}/authorization/${number}/${name}`),
    finalize: `${ORIGIN}/finalize/${number}`,
    ...(isInvalid && { error: problem('serverInternal') }),
    ...(certificate !== null && { certificate: `${ORIGIN}/certificate/${number}` }),
  };
}

function authorizationOf(order: Order, name: string): object {
  const url = `${ORIGIN}/challenge/${order.number}/${name}`;
  const error = order.isInvalid ? { error: problem('unauthorized') } : {};
  return {
    status: order.isInvalid ? 'invalid' : order.proven.has(name) ? 'valid' : 'pending',
    identifier: { type: 'dns', value: name },
    challenges: [{ type: 'http-01', token: tokenOf(order, name), url, ...error }],
  };
}
