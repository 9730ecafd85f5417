/** A small authority that follows RFC 8555 and RFC 9773, and misbehaves on demand: what Pebble does not do. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { calculateJwkThumbprint, type FlattenedJWS, flattenedVerify, importJWK, type JWK } from 'jose';
import { systemRandom } from '../../src/lib/random.ts';
import { createSelfSigned } from '../../src/tls/self-signed.ts';
import { keyRequested, TestIssuer } from './acme-issuer.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Of the certificates that it issues. */
const LIFE_MS = 90 * DAY_MS;

/** What it does other than it should. */
export interface Misbehaviour {
  /** How many requests to come have their good nonces refused. */
  badNonces: number;
  /** Refuses new orders, with this `Retry-After`. */
  rateLimited: string | null;
  /** Accounts that exist now are closed. */
  closesAccounts: boolean;
  /** The fault of every challenge, by its type. */
  challengeError: string | null;
  /** Gives orders up once they are finalized. */
  givesUp: boolean;
  /** Certifies a key of its own. */
  otherKey: boolean;
  /** Certifies another name. */
  otherName: string | null;
  /** Answers nothing at all. */
  silent: boolean;
  /** Answers with more than anybody reads. */
  endless: boolean;
  /** Offers no challenge but this. */
  onlyOffers: string | null;
  /** Refuses orders that replace a certificate. */
  refusesReplaces: boolean;
}

/** When it suggests to renew; null: it does not. */
export interface Suggestion {
  window: { readonly start: number; readonly end: number };
  retryAfter: string;
  explanation?: string;
}

/** An authority, running. */
export interface TestAuthority {
  readonly directory: string;
  /** The root of its own server: PEM. */
  readonly ca: string;
  readonly faults: Misbehaviour;
  suggestion: Suggestion | null;
  /** What was asked of it, such as `new-order`. */
  readonly asked: string[];
  /** The payloads of new orders. */
  readonly orders: Record<string, unknown>[];
  readonly accounts: Map<string, unknown>;
  stop(): Promise<void>;
}

/** What the world answers to a challenge with a token; null: nothing. */
type Validate = (token: string) => string | null | Promise<string | null>;

/** Starts it; it believes what `validate` says. */
export async function startAuthority(validate: Validate, now: () => number): Promise<TestAuthority> {
  const authority = new Authority(validate, now);
  await authority.start();
  return authority;
}

interface Account {
  readonly jwk: JWK;
  readonly url: string;
  isClosed: boolean;
}

interface Order {
  readonly number: number;
  readonly names: readonly string[];
  readonly tokens: ReadonlyMap<string, string>;
  readonly proven: Set<string>;
  error: object | null;
  certificate: string | null;
}

class Authority implements TestAuthority {
  readonly faults: Misbehaviour = {
    badNonces: 0,
    rateLimited: null,
    closesAccounts: false,
    challengeError: null,
    givesUp: false,
    otherKey: false,
    otherName: null,
    silent: false,
    endless: false,
    onlyOffers: null,
    refusesReplaces: false,
  };
  suggestion: Suggestion | null = null;
  readonly asked: string[] = [];
  readonly orders: Record<string, unknown>[] = [];
  readonly accounts = new Map<string, Account>();
  readonly ca: string;
  readonly #validate: Validate;
  readonly #now: () => number;
  readonly #server: ReturnType<typeof createServer>;
  readonly #nonces = new Set<string>();
  readonly #orders: Order[] = [];
  readonly #issuer = new TestIssuer();
  #origin = '';

  constructor(validate: Validate, now: () => number) {
    this.#validate = validate;
    this.#now = now;
    const real = Date.now();
    const own = { hosts: ['localhost'], notBefore: real - DAY_MS, notAfter: real + DAY_MS };
    const pair = createSelfSigned({ ...own, random: systemRandom });
    this.ca = pair.cert;
    this.#server = createServer(pair, (request, response) => {
      void this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
  }

  get directory(): string {
    return `${this.#origin}/directory`;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    // A server that listens has such an address.
    this.#origin = `https://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, what = '', id = ''] = (request.url ?? '').split('/');
    this.asked.push(what);
    if (this.faults.silent) return;
    if (this.faults.endless) {
      response.writeHead(200).end(Buffer.alloc(400_000));
      return;
    }
    const nonce = randomBytes(12).toString('base64url');
    this.#nonces.add(nonce);
    response.setHeader('replay-nonce', nonce);
    if (what === 'directory') this.#json(response, 200, this.#directory());
    else if (what === 'nonce') response.writeHead(200).end();
    else if (what === 'renewal') this.#suggest(response);
    else await this.#signed(request, response, what, Number(id));
  }

  #directory(): object {
    const to = (path: string) => `${this.#origin}/${path}`;
    return {
      newNonce: to('nonce'),
      newAccount: to('account'),
      newOrder: to('order-new'),
      ...(this.suggestion === null ? {} : { renewalInfo: to('renewal') }),
    };
  }

  #suggest(response: ServerResponse): void {
    const { window, retryAfter, explanation } = this.suggestion ?? {
      window: { start: 0, end: 0 },
      retryAfter: '',
    };
    response.setHeader('retry-after', retryAfter);
    const suggestedWindow = {
      start: new Date(window.start).toISOString(),
      end: new Date(window.end).toISOString(),
    };
    this.#json(response, 200, {
      suggestedWindow,
      ...(explanation === undefined ? {} : { explanationURL: explanation }),
    });
  }

  async #signed(request: IncomingMessage, response: ServerResponse, what: string, id: number): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const jws = JSON.parse(Buffer.concat(chunks).toString()) as FlattenedJWS;
    const head = JSON.parse(Buffer.from(jws.protected ?? '', 'base64url').toString()) as {
      jwk?: JWK;
      kid?: string;
      nonce: string;
      url: string;
    };
    if (!this.#nonces.delete(head.nonce) || this.faults.badNonces-- > 0)
      return this.#refuse(response, 400, 'badNonce', 'the nonce is not good');
    this.faults.badNonces = Math.max(0, this.faults.badNonces);
    if (head.url !== `${this.#origin}${request.url}`)
      return this.#refuse(response, 400, 'malformed', 'wrong url');
    const account = [...this.accounts.values()].find(({ url }) => url === head.kid);
    const jwk = head.jwk ?? account?.jwk;
    if (jwk === undefined) return this.#refuse(response, 400, 'accountDoesNotExist', 'no such account');
    const { payload } = await flattenedVerify(jws, await importJWK(jwk, 'ES256'));
    const asked =
      payload.length === 0 ? {} : (JSON.parse(Buffer.from(payload).toString()) as Record<string, unknown>);
    if (what === 'account') return await this.#signIn(response, jwk, asked);
    if (account === undefined || head.jwk !== undefined || account.isClosed)
      return this.#refuse(response, 401, 'unauthorized', 'the account is not valid');
    if (what === 'order-new') return this.#order(response, asked);
    const order = this.#orders[id];
    if (order === undefined) return this.#refuse(response, 404, 'malformed', 'there is no such order');
    const name = (request.url ?? '').split('/')[3] ?? '';
    if (what === 'authorization') return this.#json(response, 200, this.#authorization(order, name));
    if (what === 'challenge') return await this.#prove(response, order, name, account);
    if (what === 'finalize') this.#finalize(order, String(asked['csr']));
    if (what === 'certificate') return void response.writeHead(200).end(order.certificate);
    this.#json(response, 200, this.#orderBody(order));
  }

  async #signIn(response: ServerResponse, jwk: JWK, asked: Record<string, unknown>): Promise<void> {
    const print = await calculateJwkThumbprint(jwk);
    const known = this.accounts.get(print);
    if (this.faults.closesAccounts && known !== undefined) known.isClosed = true;
    if (known?.isClosed) return this.#refuse(response, 403, 'unauthorized', 'the account is deactivated');
    if (known === undefined && asked['onlyReturnExisting'] === true)
      return this.#refuse(response, 400, 'accountDoesNotExist', 'there is no such account');
    if (known === undefined && asked['termsOfServiceAgreed'] !== true)
      return this.#refuse(response, 403, 'userActionRequired', 'agree to the terms');
    const account = known ?? {
      jwk,
      url: `${this.#origin}/account/${this.accounts.size + 1}`,
      isClosed: false,
    };
    this.accounts.set(print, account);
    response.setHeader('location', account.url);
    this.#json(response, known === undefined ? 201 : 200, { status: 'valid' });
  }

  #order(response: ServerResponse, asked: Record<string, unknown>): void {
    const { rateLimited, refusesReplaces } = this.faults;
    if (rateLimited !== null) {
      response.setHeader('retry-after', rateLimited);
      this.#refuse(response, 429, 'rateLimited', 'too many certificates for this name');
      return;
    }
    this.orders.push(asked);
    if (refusesReplaces && 'replaces' in asked) {
      this.#refuse(response, 409, 'alreadyReplaced', 'it was replaced before');
      return;
    }
    const names = (asked['identifiers'] as { value: string }[]).map(({ value }) => value);
    const tokens = new Map(names.map((name) => [name, randomBytes(16).toString('base64url')]));
    const number = this.#orders.length;
    const order: Order = { number, names, tokens, proven: new Set(), error: null, certificate: null };
    this.#orders.push(order);
    response.setHeader('location', `${this.#origin}/order/${number}`);
    this.#json(response, 201, this.#orderBody(order));
  }

  #orderBody({ number, names, proven, error, certificate }: Order): object {
    const to = (path: string) => `${this.#origin}/${path}`;
    const isReady = proven.size === names.length;
    const status =
      error !== null ? 'invalid' : certificate !== null ? 'valid' : isReady ? 'ready' : 'pending';
    return {
      status,
      ...(error === null ? {} : { error }),
      authorizations: names.map((name) => to(`authorization/${number}/${name}`)),
      finalize: to(`finalize/${number}`),
      ...(certificate === null ? {} : { certificate: to(`certificate/${number}`) }),
    };
  }

  #authorization(order: Order, name: string): object {
    const { challengeError, onlyOffers } = this.faults;
    const kinds = onlyOffers === null ? ['http-01', 'tls-alpn-01', 'dns-01'] : [onlyOffers];
    const error =
      order.error === null ? {} : { error: problem(challengeError ?? 'unauthorized', 'it is not yours') };
    return {
      status: order.error !== null ? 'invalid' : order.proven.has(name) ? 'valid' : 'pending',
      identifier: { type: 'dns', value: name },
      challenges: kinds.map((type) => ({
        type,
        token: order.tokens.get(name),
        url: `${this.#origin}/challenge/${order.number}/${name}/${type}`,
        ...error,
      })),
    };
  }

  async #prove(response: ServerResponse, order: Order, name: string, { jwk }: Account): Promise<void> {
    const token = order.tokens.get(name) ?? '';
    const isRight = (await this.#validate(token)) === `${token}.${await calculateJwkThumbprint(jwk)}`;
    if (isRight && this.faults.challengeError === null) order.proven.add(name);
    else order.error = problem('unauthorized', 'it is not yours');
    this.#json(response, 200, { status: 'processing' });
  }

  #finalize(order: Order, csr: string): void {
    if (this.faults.givesUp) {
      order.error = problem('serverInternal', 'we gave up');
      return;
    }
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    const key = this.faults.otherKey ? other.export({ type: 'spki', format: 'der' }) : keyRequested(csr);
    const { otherName } = this.faults;
    const notBefore = this.#now() - HOUR_MS;
    const life = { notBefore, notAfter: notBefore + LIFE_MS };
    order.certificate = this.#issuer.certify(key, otherName === null ? order.names : [otherName], life);
  }

  #refuse(response: ServerResponse, status: number, type: string, detail: string): void {
    response.writeHead(status, { 'content-type': 'application/problem+json' });
    response.end(JSON.stringify(problem(type, detail)));
  }

  #json(response: ServerResponse, status: number, body: object): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }
}

function problem(type: string, detail: string): object {
  return { type: `urn:ietf:params:acme:error:${type}`, detail };
}
