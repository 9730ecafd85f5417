import type { ApiKey } from '../../domain/key.ts';
import type { Headers } from '../../http/answer.ts';
import { whereHealthIs } from '../../http/bad-request.ts';
import { clientAddress, type Exchange } from '../../http/exchange.ts';
import { internalError, Problem, quote } from '../../http/problem.ts';
import { type Match, Router, targetOf } from '../../http/router.ts';
import type { Handler } from '../../http/server.ts';
import type { CidrSet } from '../../lib/network.ts';
import { StoreError } from '../../store/store.ts';
import type { AuthResult } from '../authenticator.ts';
import type { RateVerdict } from '../rate.ts';
import {
  type Access,
  type AuthScheme,
  type Call,
  rateHeaders,
  retryAfter,
  type Secret,
  secretOf,
  unauthorized,
} from './call.ts';
import { isOfNoPage } from './mailpit/account.ts';
import { isMailpitPath } from './mailpit/mailpit.ts';
import { refuseAsMailpit } from './mailpit/refusals.ts';
import type { IngestDeps, IngestOptions } from './options.ts';
import { POSTMARK_TEST_TOKEN, POSTMARK_TESTER } from './providers/postmark/tester.ts';
import { refusalAt } from './providers/providers.ts';
import { type SignedDeps, signedCaller } from './providers/ses/access.ts';
import type { RequestNote } from './request-log.ts';
import { routes, type Target } from './routes.ts';
import { limitStranger } from './strangers.ts';

/**
 * The ingestion API as one handler, for plain HTTP and TLS alike. It checks in the order of contract §5: path, source,
 * method, key, scope, rate. The endpoint continues from there.
 */
export function createIngestApi(deps: IngestDeps, options: IngestOptions): Handler {
  const api = new IngestApi(deps, options);
  return (exchange) => api.handle(exchange);
}

class IngestApi {
  readonly #deps: IngestDeps;
  readonly #options: IngestOptions;
  readonly #router: Router<Target>;
  readonly #signed: SignedDeps;

  constructor(deps: IngestDeps, options: IngestOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#router = new Router(routes(deps, options));
    this.#signed = { ...deps.shared, clock: deps.clock, options };
  }

  async handle(exchange: Exchange): Promise<void> {
    const { trustedProxies, limits } = this.#options;
    const match = this.#router.match(exchange.path);
    const sourceAddress = clientAddress(exchange, trustedProxies);
    const note = isNoted(exchange, match) ? this.#deps.recorder.begin(sourceAddress) : null;
    const asking: Pick<RequestNote, 'keyId'> = note ?? { keyId: undefined };
    // Answers contain text from strangers: no browser may render them as a page.
    exchange.setHeader('X-Content-Type-Options', 'nosniff');
    markForOrigin(exchange, limits.corsOrigins);
    try {
      if (match === null) {
        const isKnown = (path: string) => {
          const known = this.#router.match(path);
          // What is wrong with a path that has a secret is not told.
          return known !== null && !isForStrangers(known);
        };
        throw nothingHere(exchange.path, { isKnown, webuiPort: this.#deps.webuiPort() });
      }
      const list = isForStrangers(match) ? 'hooks' : 'api';
      if (!this.#sourcesOf(list).contains(sourceAddress)) throw sourceNotAllowed(sourceAddress, list);
      if (exchange.method === 'OPTIONS') return answerOptions(exchange, match.allow, limits.corsOrigins);
      const target = targetOf(match, exchange.method);
      if ('open' in target) return await target.open(exchange);
      if ('stranger' in target) {
        limitStranger(this.#deps.shared.sources, match.pattern, sourceAddress, this.#deps.clock.mono());
        return await target.stranger({ exchange, sourceAddress, params: match.params });
      }
      const { access, handle, door } = target;
      const caller = await this.#admit(exchange, access, sourceAddress, asking);
      const checkKey = async () => void (await this.#callerOf(exchange, access, sourceAddress));
      await handle({ exchange, caller, sourceAddress, door, params: match.params, checkKey });
    } catch (error) {
      const problem = toProblem(error);
      if (note !== null) note.problem = problem;
      const asProvider = isMailpitPath(exchange.path)
        ? refuseAsMailpit
        : refusalAt(exchange, this.#options.dropIn);
      if (problem === null) {
        if (asProvider !== null && !exchange.answered && !exchange.over)
          asProvider(exchange, internalError());
        // The server logs it, and answers if nothing was sent yet.
        throw error;
      }
      this.#report(
        problem,
        exchange,
        sourceAddress,
        match !== null && isForStrangers(match) ? 'hooks' : 'api',
        asking.keyId ?? null,
      );
      if (asProvider === null) exchange.problem(problem);
      else asProvider(exchange, problem);
    } finally {
      if (note !== null) this.#deps.recorder.end(note, exchange, match);
    }
  }

  #sourcesOf(list: 'api' | 'hooks'): CidrSet {
    return list === 'api' ? this.#options.allowedCidrs : this.#options.strangerCidrs;
  }

  /** Checks the key, its allowed sources, scope and rate. */
  async #admit(
    exchange: Exchange,
    access: Access,
    sourceAddress: string,
    asking: Pick<RequestNote, 'keyId'>,
  ): Promise<Call['caller']> {
    const found = await this.#callerOf(exchange, access, sourceAddress);
    const caller = administeringNothing(found);
    const { key, sources } = caller;
    if (found !== POSTMARK_TESTER) asking.keyId = key.id;
    const limit = key.rateLimit ?? this.#options.limits.rateLimitPerKey;
    const verdict = this.#deps.shared.limiter.take(key.id, access.window, limit, this.#deps.clock.mono());
    // Sent with every answer, refusals included.
    if (verdict !== null)
      for (const [name, value] of Object.entries(rateHeaders(verdict))) exchange.setHeader(name, value);
    if (sources !== null && !sources.contains(sourceAddress)) throw keySourceNotAllowed(sourceAddress);
    if (!isEnough(key, access)) throw isEnough(found.key, access) ? testKey() : scopeMissing(access);
    if (verdict !== null && !verdict.allowed) throw rateLimited(verdict);
    return caller;
  }

  /** The caller, looked up now. Throws the problem 401; where requests are signed, as {@link signedCaller}. */
  async #callerOf(exchange: Exchange, { scheme }: Access, sourceAddress: string): Promise<Call['caller']> {
    if (scheme === 'aws4') return await signedCaller(exchange, this.#signed);
    const found = await this.#authenticate(exchange, scheme);
    if (found.ok) return found.caller;
    const { requestId } = exchange;
    this.#deps.log.info('api.key_refused', { code: found.reason, source: sourceAddress, requestId });
    throw unauthorized(scheme);
  }

  async #authenticate(
    { headers }: Exchange,
    scheme: AuthScheme,
  ): Promise<AuthResult | Extract<Secret, { ok: false }>> {
    const given = secretOf(headers, scheme);
    if (!given.ok) {
      const { keyless } = this.#options;
      const isAdmitted = scheme === 'mailpit' && given.reason === 'missing' && isOfNoPage(headers);
      return keyless !== null && isAdmitted ? { ok: true, caller: { key: keyless, sources: null } } : given;
    }
    if (scheme === 'postmark' && given.secret === POSTMARK_TEST_TOKEN)
      return { ok: true, caller: POSTMARK_TESTER };
    return this.#deps.shared.authenticator.authenticate(given.secret);
  }

  /** Reports a refusal once: a 401, 403 or 429 as an event, for metrics and log; any other only in the log. */
  #report(
    { status, code }: Problem,
    { requestId, over }: Exchange,
    sourceAddress: string,
    port: 'api' | 'hooks',
    keyId: string | null,
  ): void {
    if (status === 401 || status === 403 || status === 429)
      this.#deps.events.emit({
        type: 'denied',
        reason: code,
        sourceAddress,
        requestId,
        keyId,
        count: 1,
        ...(code === 'source_not_allowed' ? { port } : {}),
      });
    // The server has already reported a request that turned out to be malformed HTTP.
    else if (!over)
      this.#deps.log.info('api.request_refused', { code, status, requestId, source: sourceAddress });
  }
}

/** Whether the log of requests has it: what strangers ask for, and what needs no key, are no business of any key. */
function isNoted({ method }: Exchange, match: Match<Target> | null): boolean {
  if (method === 'OPTIONS') return false;
  return match === null || [...match.targets.values()].some((target) => 'access' in target);
}

function answerOptions(exchange: Exchange, allow: string, origins: readonly string[]): void {
  exchange.empty(204, { Allow: allow, ...preflightHeaders(exchange, origins, allow) });
}

/** The error as a refusal; null for a bug of ours or a client that has gone. */
function toProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (!(error instanceof StoreError) || error.code === 'store_bug') return null;
  // Even a read may come after messages that find no room in the database.
  const isFull = error.code === 'store_full';
  return isFull
    ? busy('disk_full', 'The server has no room at the moment.', 30)
    : busy('store_unavailable', 'The store cannot be used now; try again soon.', 1);
}

function busy(code: string, detail: string, retryAfterSeconds: number): Problem {
  return new Problem(503, code, detail, { headers: { 'Retry-After': String(retryAfterSeconds) } });
}

function sourceNotAllowed(address: string, list: 'api' | 'hooks'): Problem {
  const what = list === 'api' ? 'this API' : 'this path';
  return new Problem(
    403,
    'source_not_allowed',
    `${address} may not use ${what}; allow it in ${list}.allowed_cidrs.`,
  );
}

function isForStrangers({ targets }: Match<Target>): boolean {
  return [...targets.values()].some((target) => 'stranger' in target);
}

function keySourceNotAllowed(address: string): Problem {
  return new Problem(403, 'key_source_not_allowed', `This key may not be used from ${address}.`);
}

/** The caller; a test key without the scope `admin`, for test keys are in many hands. */
function administeringNothing(caller: Call['caller']): Call['caller'] {
  const { key } = caller;
  if (key.mode !== 'test' || !key.scopes.includes('admin')) return caller;
  return { ...caller, key: { ...key, scopes: key.scopes.filter((scope) => scope !== 'admin') } };
}

function isEnough(key: Pick<ApiKey, 'scopes'>, { scopes }: Access): boolean {
  return scopes.some((scope) => key.scopes.includes(scope));
}

function testKey(): Problem {
  return new Problem(409, 'test_key', 'A test key, whose mail never leaves, may administer nothing.');
}

function scopeMissing({ scopes }: Access): Problem {
  return new Problem(403, 'scope_missing', `This needs a key with the scope ${scopes.join(' or ')}.`);
}

function rateLimited(verdict: RateVerdict): Problem {
  return new Problem(429, 'rate_limited', `This key may make ${verdict.limit} requests a minute.`, {
    headers: retryAfter(verdict),
  });
}

// Cross-origin requests (the Fetch standard's CORS protocol), for pages of the origins in `api.cors_origins` only. The
// browser's own credentials, such as cookies, are never allowed: a page supplies its key itself.

const REQUEST_HEADERS =
  'authorization, content-type, idempotency-key, x-request-id, from, to, if-none-match, last-event-id, x-postmark-server-token, x-batch-validation';
/** Headers that a page may read besides those that browsers always expose. */
const ANSWER_HEADERS = [
  'location',
  'link',
  'retry-after',
  'allow',
  'idempotency-replayed',
  'x-request-id',
  // Of providers' APIs.
  'x-message-id',
  'x-waybill-ignored',
  'x-amzn-requestid',
  'x-amzn-errortype',
  'etag',
  'content-disposition',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'ratelimit-policy',
  'ratelimit',
].join(', ');
/** How long a browser may cache a preflight; a changed setting applies everywhere after that. */
const MAX_AGE_SECONDS = 600;

/** Lets a page of an allowed origin read the answer, even a refusal. */
function markForOrigin(exchange: Exchange, origins: readonly string[]): void {
  if (origins.length === 0) return;
  exchange.setHeader('Vary', 'Origin');
  const origin = allowedOrigin(exchange, origins);
  if (origin === null) return;
  exchange.setHeader('Access-Control-Allow-Origin', origin);
  exchange.setHeader('Access-Control-Expose-Headers', ANSWER_HEADERS);
}

/** Extra headers of the answer to `OPTIONS`; none unless it is the preflight of an allowed origin. */
function preflightHeaders(exchange: Exchange, origins: readonly string[], allow: string): Headers {
  const isPreflight = exchange.headers['access-control-request-method'] !== undefined;
  if (!isPreflight || allowedOrigin(exchange, origins) === null) return {};
  return {
    'Access-Control-Allow-Methods': allow,
    'Access-Control-Allow-Headers': REQUEST_HEADERS,
    'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
  };
}

function allowedOrigin({ headers }: Exchange, origins: readonly string[]): string | null {
  const { origin } = headers;
  return origin !== undefined && origins.includes(origin) ? origin : null;
}

/** Paths of `webui.port` that people look for here. */
const ELSEWHERE = new Set(['/', '/health', '/metrics', '/livez', '/readyz']);
/** Prefixes that people leave out of paths. */
const LEFT_OUT = ['/api', '/api/v1'];

/** What the hint for an unknown path needs. */
interface Surroundings {
  /** Whether the API has this path. */
  readonly isKnown: (path: string) => boolean;
  /** The dashboard's bound port; null where this server has none. */
  readonly webuiPort: number | null;
}

/** The refusal of an unknown path. */
function nothingHere(path: string, surroundings: Surroundings): Problem {
  return new Problem(404, 'not_found', `There is nothing at this path.${hint(path, surroundings)}`);
}

/** The refusal of a path that only the dashboard's port serves, whatever the method; null for any other path. */
export function onDashboardOnly(path: string, webuiPort: number | null): Problem | null {
  return path === '/health' || path === '/metrics'
    ? nothingHere(path, { isKnown: () => false, webuiPort })
    : null;
}

function hint(path: string, { isKnown, webuiPort }: Surroundings): string {
  if (ELSEWHERE.has(path)) return ` ${whereHealthIs(webuiPort)}`;
  const bare = path.replace(/(?<!\/)\/+$/, '');
  const meant = ['', ...LEFT_OUT].map((start) => start + bare).find(isKnown);
  return meant === undefined ? '' : ` Did you mean ${quote(meant)}?`;
}
