import type { Intake } from '../../engine/intake.ts';
import { clientAddress } from '../../http/client-address.ts';
import type { Exchange } from '../../http/exchange.ts';
import { internalError, Problem } from '../../http/problem.ts';
import { type Route, Router, targetOf } from '../../http/router.ts';
import type { Handler } from '../../http/server.ts';
import type { CidrSet } from '../../lib/cidr.ts';
import type { Clock } from '../../lib/clock.ts';
import { createIdSource } from '../../lib/id.ts';
import type { Log } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import type { Events } from '../../observe/events.ts';
import type { Keyring } from '../../store/keyring.ts';
import { StoreError } from '../../store/store.ts';
import type { Views } from '../../store/views.ts';
import { Authenticator, unauthorized } from './auth.ts';
import type { Call, Endpoint } from './call.ts';
import { listEndpoint } from './list.ts';
import { answerAsMailgun, mailgunEndpoint } from './mailgun.ts';
import { RateLimiter, type RateVerdict, rateHeaders } from './rate.ts';
import { statusEndpoint } from './status.ts';
import { submitEndpoint } from './submit.ts';
import { Watchers } from './watchers.ts';

/** What the ingestion API stands on. */
export interface IngestDeps {
  readonly intake: Intake;
  readonly views: Views;
  readonly keyring: Keyring;
  readonly events: Events;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Aborts when the service stops: waiting readers are answered and the last uses of keys recorded. */
  readonly signal: AbortSignal;
}

/**
 * Settings of the ingestion API (contract §6, §12) and bounds on what it keeps in memory. The settings are
 * looked at with every request, so that they may change while it runs; the bounds only at the start.
 */
export interface IngestOptions {
  /** Our name, in `Message-ID` and `Received`. */
  readonly hostname: string;
  readonly allowedCidrs: CidrSet;
  readonly trustedProxies: CidrSet;
  readonly maxMessageBytes: number;
  readonly maxRecipients: number;
  /** Requests a minute of a key without a limit of its own; 0 is unlimited. */
  readonly rateLimitPerKey: number;
  /** Bytes of bodies in memory at once; what does not fit waits. */
  readonly maxBytesInFlight: number;
  /** Readers that may wait with `?wait=` at once; more are answered at once. */
  readonly maxWaitingReaders: number;
  /** Keys remembered between requests: their look-ups and their rate windows. */
  readonly maxKeysInMemory: number;
}

/** A path that needs no key. */
type Open = { readonly open: (exchange: Exchange) => void };
type Target = Endpoint | Open;

/** Requests for bodies that may wait for room in memory at once. */
const MAX_WAITING_BODIES = 1000;

/**
 * The ingestion API as one handler, for plain HTTP and TLS alike. Refusals come in the order of contract §5:
 * unknown path, source, method, key, scope, rate; the endpoint goes on from there.
 */
export function createIngestApi(deps: IngestDeps, options: IngestOptions): Handler {
  const api = new IngestApi(deps, options);
  return (exchange) => api.handle(exchange);
}

class IngestApi {
  readonly #deps: IngestDeps;
  readonly #options: IngestOptions;
  readonly #router: Router<Target>;
  readonly #authenticator: Authenticator;
  readonly #limiter: RateLimiter;

  constructor(deps: IngestDeps, options: IngestOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#limiter = new RateLimiter({ maxWindows: 2 * options.maxKeysInMemory });
    this.#authenticator = new Authenticator(deps, { maxCached: options.maxKeysInMemory });
    this.#router = new Router(routes(deps, options));
    void this.#authenticator.recordUses(deps.signal);
  }

  async handle(exchange: Exchange): Promise<void> {
    const match = this.#router.match(exchange.path);
    if (match === null) throw new Problem(404, 'not_found', 'There is nothing at this path.');
    const mailgun = match.pattern.startsWith('/v3/');
    const sourceAddress = clientAddress(exchange, this.#options.trustedProxies);
    try {
      if (!this.#options.allowedCidrs.contains(sourceAddress)) throw sourceNotAllowed(sourceAddress);
      if (exchange.method === 'OPTIONS') return exchange.empty(204, { Allow: match.allow });
      const target = targetOf(match, exchange.method);
      if ('open' in target) return target.open(exchange);
      const caller = await this.#admit(exchange, target, sourceAddress);
      await target.handle({ exchange, caller, sourceAddress, params: match.params });
    } catch (error) {
      const problem = toProblem(error);
      if (problem === null) {
        if (mailgun && !exchange.answered && !exchange.over) answerAsMailgun(exchange, internalError());
        // The server logs it, and answers where nobody has.
        throw error;
      }
      this.#report(problem, sourceAddress);
      if (mailgun) answerAsMailgun(exchange, problem);
      else exchange.problem(problem);
    }
  }

  /** Key, then where it may be used from, scope, rate. */
  async #admit(exchange: Exchange, endpoint: Endpoint, sourceAddress: string): Promise<Call['caller']> {
    const found = await this.#authenticator.authenticate(exchange.headers.authorization, endpoint.scheme);
    if (!found.ok) {
      const { requestId } = exchange;
      this.#deps.log.info('api.key_refused', { code: found.reason, source: sourceAddress, requestId });
      throw unauthorized(endpoint.scheme);
    }
    const { caller } = found;
    const { key, sources } = caller;
    const limit = key.rateLimit ?? this.#options.rateLimitPerKey;
    const verdict = this.#limiter.take(key.id, endpoint.window, limit, this.#deps.clock.mono());
    // Told with every answer, the refusals too.
    if (verdict !== null)
      for (const [name, value] of Object.entries(rateHeaders(verdict))) exchange.setHeader(name, value);
    if (sources !== null && !sources.contains(sourceAddress)) throw keySourceNotAllowed(sourceAddress);
    if (!endpoint.scopes.some((scope) => key.scopes.includes(scope))) throw scopeMissing(endpoint);
    if (verdict !== null && !verdict.allowed) throw rateLimited(verdict);
    return caller;
  }

  /** Tells of what was refused to someone who may not, or may not so often. */
  #report(problem: Problem, sourceAddress: string): void {
    if (problem.status !== 401 && problem.status !== 403 && problem.status !== 429) return;
    this.#deps.events.emit({ type: 'denied', reason: problem.code, sourceAddress, count: 1 });
  }
}

function routes(deps: IngestDeps, options: IngestOptions): Route<Target>[] {
  const { intake, views, clock, random, events, signal } = deps;
  const budget = new Semaphore({ capacity: options.maxBytesInFlight, maxWaiters: MAX_WAITING_BODIES });
  const watchers = new Watchers(events, { max: options.maxWaitingReaders, signal });
  const nextId = createIdSource(clock, random);
  // The message's own id is given later, by the engine; this must not be taken for it.
  const nextToken = () => nextId().slice('msg_'.length);
  const submitDeps = { intake, views, clock, random, budget, nextToken, limits: options };
  return [
    { method: 'POST', path: '/api/v1/messages', target: submitEndpoint(submitDeps) },
    { method: 'GET', path: '/api/v1/messages', target: listEndpoint(views) },
    { method: 'GET', path: '/api/v1/messages/:id', target: statusEndpoint({ views, watchers, clock }) },
    { method: 'POST', path: '/v3/:domain/messages', target: mailgunEndpoint(submitDeps) },
    { method: 'GET', path: '/api/v1/ready', target: { open: (exchange) => ready(exchange, intake) } },
  ];
}

/** For a balancer before us: whether a message would be taken now. No key, no details. */
function ready(exchange: Exchange, intake: Intake): void {
  const suspended = intake.suspended() !== null;
  exchange.text(suspended ? 503 : 200, suspended ? 'not ready\n' : 'ready\n');
}

/** A refusal as it will be told; null for what is a bug of ours or a client that has gone. */
function toProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (!(error instanceof StoreError) || error.code === 'store_bug') return null;
  return new Problem(503, 'store_unavailable', 'The store cannot be read now; try again soon.', {
    headers: { 'Retry-After': '1' },
  });
}

function sourceNotAllowed(address: string): Problem {
  return new Problem(
    403,
    'source_not_allowed',
    `${address} may not use this API; allow it in api.allowed_cidrs.`,
  );
}

function keySourceNotAllowed(address: string): Problem {
  return new Problem(403, 'key_source_not_allowed', `This key may not be used from ${address}.`);
}

function scopeMissing(endpoint: Endpoint): Problem {
  return new Problem(
    403,
    'scope_missing',
    `This needs a key with the scope ${endpoint.scopes.join(' or ')}.`,
  );
}

function rateLimited({ limit, resetSeconds }: RateVerdict): Problem {
  return new Problem(429, 'rate_limited', `This key may make ${limit} requests a minute.`, {
    headers: { 'Retry-After': String(resetSeconds) },
  });
}
