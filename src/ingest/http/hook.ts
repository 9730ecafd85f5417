import type { HookType } from '../../domain/relay.ts';
import type { RelayHook } from '../../domain/relay-hook.ts';
import type { FeedbackDesk, FeedbackItem } from '../../engine/contract.ts';
import { readWholeBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Budget } from '../../lib/budget.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Events } from '../../observe/events.ts';
import type { Hooks } from '../hooks/hooks.ts';
import { type HookRequest, isSame, type Proof } from '../hooks/proof.ts';
import type { HookEvent } from '../hooks/reading.ts';
import { MAX_STRANGER_BYTES, type Visit } from './strangers.ts';

/**
 * `POST /hooks/{relay}/{token}`: a provider tells what became of mail (contract-2 §A4). A refusal is a status without a
 * body, so that it teaches nothing; the log says why. Neither tokens nor bodies are ever logged.
 */

/** What the endpoint needs. */
export interface HookDeps {
  /** The hook of a relay in force; null for a relay that is none of a provider's, or none at all. */
  readonly findHook: (relay: string) => RelayHook | null;
  readonly hooks: Pick<Hooks, 'prove' | 'read' | 'confirm'>;
  readonly desk: Pick<FeedbackDesk, 'tell'>;
  readonly budget: Budget;
  readonly events: Events;
  readonly clock: Clock;
  readonly log: Log;
}

/** How soon a provider is to repeat what could not be proven now, in seconds. */
const RETRY_AFTER = '60';
/** What a client must be told with 401 (RFC 9110 §11.6.1). Postmark alone authenticates by it. */
const CHALLENGES: Readonly<Partial<Record<HookType, string>>> = { postmark: 'Basic realm="waybill"' };
const OTHER_CHALLENGE = 'Signature';

/** Takes the events of a provider, and answers once they are durable. */
export async function answerHook(visit: Visit, deps: HookDeps): Promise<void> {
  const { exchange, params } = visit;
  const { relay = '', token = '' } = params;
  const hook = deps.findHook(relay);
  if (hook === null || !opens(token, hook, deps.clock.wall())) {
    deps.log.info('hook.unknown', placeOf(visit, deps));
    exchange.empty(404);
    return;
  }
  const request = { headers: exchange.headers, body: await bodyOf(exchange, relay, deps) };
  const proof = await deps.hooks.prove(hook.type, request, hook.settings, deps.clock.wall());
  if (proof.kind !== 'proven') return refuse(proof, hook, visit, deps);
  const reading = deps.hooks.read(hook.type, request, relay);
  if (!reading.ok) return refuse({ kind: 'bad', ...reading }, hook, visit, deps);
  await take(reading.events, request, relay, deps);
  deps.events.emit({ type: 'hook', relay, proven: true });
  deps.log.info('hook.taken', { ...placeOf(visit, deps), events: reading.events.length });
  exchange.onSent(() => void confirm(hook.type, request, visit, deps));
  exchange.json(200, { accepted: reading.events.length });
}

function opens(token: string, { current, former }: RelayHook, now: number): boolean {
  const counting = [current, ...former.filter(({ until }) => now < until).map((one) => one.token)];
  // All are compared, so that the time tells nothing.
  return counting.filter((one) => isSame(token, one)).length > 0;
}

function bodyOf(exchange: Exchange, relay: string, { budget }: HookDeps): Promise<Buffer> {
  return readWholeBody(exchange, { maxBytes: MAX_STRANGER_BYTES, budget: budget.share(`hook ${relay}`) });
}

/** Tells what the events mean, and counts those that mean nothing here. */
async function take(
  events: readonly HookEvent[],
  { body }: HookRequest,
  relay: string,
  { desk, events: bus }: HookDeps,
): Promise<void> {
  const source = `webhook:${relay}` as const;
  const items = events.flatMap(({ id, feedback }): FeedbackItem[] =>
    feedback === null ? [] : [{ feedback, onceId: id }],
  );
  const ignored = events.length - items.length;
  if (ignored > 0) bus.emit({ type: 'feedback', source, result: 'ignored', count: ignored });
  if (items.length === 0) return;
  const evidence = { contentType: 'application/json', bytes: body };
  await desk.tell({ source, items, evidence, mayBeEarly: true });
}

/** Answers a request that is not proven, or is nothing that the provider sends. */
function refuse(
  proof: Exclude<Proof, { kind: 'proven' }>,
  { type }: RelayHook,
  visit: Visit,
  deps: HookDeps,
): void {
  const { exchange, params } = visit;
  const { relay = '' } = params;
  const status = proof.kind === 'bad' ? proof.status : 503;
  deps.log.info('hook.refused', { ...placeOf(visit, deps), code: status, why: proof.why });
  deps.events.emit({ type: 'hook', relay, proven: false });
  deps.events.emit({ type: 'feedback', source: `webhook:${relay}`, result: 'refused', count: 1 });
  if (status === 503) exchange.empty(503, { 'Retry-After': RETRY_AFTER });
  else if (status === 401) exchange.empty(401, { 'WWW-Authenticate': CHALLENGES[type] ?? OTHER_CHALLENGE });
  else exchange.empty(status);
}

/** SNS waits for the answer to its question before it takes the confirmation. */
async function confirm(type: HookType, request: HookRequest, visit: Visit, deps: HookDeps): Promise<void> {
  const answer = await deps.hooks.confirm(type, request);
  if (answer === null) return;
  if (answer.kind === 'answer') deps.log.info('hook.confirmed', placeOf(visit, deps));
  else deps.log.warn('hook.not_confirmed', { ...placeOf(visit, deps), why: answer.text });
}

/** What the log says of where a request came from. */
function placeOf({ exchange, sourceAddress, params }: Visit, { findHook }: HookDeps) {
  const { relay = '' } = params;
  // A relay that is none may be anything, even a token.
  const path = `/hooks/${findHook(relay) === null ? '?' : relay}/…`;
  return { path, source: sourceAddress, requestId: exchange.requestId };
}
