/** An order from its beginning to the certificate (RFC 8555 §7.4). */
import { X509Certificate } from 'node:crypto';
import type { ChallengeAnswer, ChallengeKind, KeyType } from '../domain/certificate.ts';
import type { Clock } from '../lib/clock.ts';
import { memberOf, textOf } from '../lib/decode.ts';
import { namesIn, uploadFault } from '../tls/pair.ts';
import { createRequest } from '../tls/request.ts';
import type { KeyAndCertificate } from '../tls/self-signed.ts';
import type { AcmeClient, Resource } from './client.ts';
import { AcmeError, refusal } from './problem.ts';

/** What is ordered, and how. */
export interface OrderAsk {
  readonly client: AcmeClient;
  readonly names: readonly string[];
  readonly kind: ChallengeKind;
  readonly keyType: KeyType;
  /** The id of the certificate that it replaces; null: none. */
  readonly replaces: string | null;
  /** Resolves once every listener gives these answers. */
  readonly publish: (answers: readonly ChallengeAnswer[]) => Promise<void>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const ORDER = 'to order';
/** How long an authority may take for all of an order. */
const ORDER_MS = 10 * 60_000;
const FIRST_LOOK_MS = 250;
const LONGEST_LOOK_MS = 10_000;
const MAX_URL = 2000;
const MAX_TOKEN = 200;
/** RFC 8555 §8.3: nothing that could be anything but a part of a path. */
const TOKEN = /^[\w-]+$/;

/** Orders a certificate. Rejects with {@link AcmeError}. The client has signed in. */
export async function obtain(ask: OrderAsk): Promise<KeyAndCertificate> {
  const { client, names, keyType, clock } = ask;
  const deadline = clock.mono() + ORDER_MS;
  const order = await client.newOrder(names, ask.replaces);
  await prove(order, ask, deadline);
  const ready = await settled(ask, order.url, ['pending'], deadline, ORDER);
  const { key, request } = await createRequest(names, keyType);
  const finalize = urlOf(ready.body, 'finalize');
  if (statusOf(ready.body) === 'ready')
    await client.post(finalize, { csr: request.toString('base64url') }, 'to finalize the order');
  const done = await settled(ask, order.url, ['ready', 'processing', 'pending'], deadline, ORDER);
  const cert = await client.certificate(urlOf(done.body, 'certificate'));
  return checked({ key, cert }, names, clock.wall());
}

/** Proves that the names are ours, all at the same time. */
async function prove(order: Resource, ask: OrderAsk, deadline: number): Promise<void> {
  const { client, publish } = ask;
  const urls = [memberOf(order.body, 'authorizations')].flat().filter((url) => typeof url === 'string');
  if (urls.length === 0 && statusOf(order.body) === 'pending')
    throw new AcmeError('authority_failed', 'the order names no authorizations');
  const open: { readonly url: string; readonly name: string }[] = [];
  const challenges: string[] = [];
  const answers: ChallengeAnswer[] = [];
  for (const url of urls) {
    const authorization = await client.post(url, null, 'to read an authorization');
    if (statusOf(authorization.body) === 'valid') continue;
    const { challenge, answer } = await answerTo(authorization, ask);
    open.push({ url, name: answer.name });
    challenges.push(challenge);
    answers.push(answer);
  }
  if (open.length === 0) return;
  await publish(answers);
  for (const url of challenges) await client.post(url, {}, 'to take the challenge');
  for (const { url, name } of open) {
    const authorization = await settled(ask, url, ['pending'], deadline, name);
    if (statusOf(authorization.body) !== 'valid') throw failureOf(authorization, name, ask);
  }
}

async function answerTo(
  { body }: Resource,
  { client, kind }: OrderAsk,
): Promise<{ readonly challenge: string; readonly answer: ChallengeAnswer }> {
  const name = textOf(memberOf(body, 'identifier'), 'value', 300) ?? '';
  const offered = [memberOf(body, 'challenges')].flat();
  const ours = offered.find((one) => textOf(one, 'type', 100) === kind);
  const token = textOf(ours, 'token', MAX_TOKEN);
  if (token === null || !TOKEN.test(token)) {
    const kinds = offered.map((one) => textOf(one, 'type', 100) ?? '').join(', ');
    throw new AcmeError(
      'challenge_not_offered',
      `${name}: no challenge of kind ${kind} is offered, only ${kinds}`,
    );
  }
  const keyAuthorization = await client.keyAuthorization(token);
  return { challenge: urlOf(ours, 'url'), answer: { kind, name, token, keyAuthorization } };
}

/** Asks until a resource has left these states, or the deadline (monotonic ms) has passed. */
async function settled(
  { client, clock, signal }: OrderAsk,
  url: string,
  underWay: readonly string[],
  deadline: number,
  during: string,
): Promise<Resource> {
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 2, LONGEST_LOOK_MS)) {
    const resource = await client.post(url, null, during);
    const status = statusOf(resource.body);
    if (status === 'invalid' && memberOf(resource.body, 'error') !== null)
      throw refusal(memberOf(resource.body, 'error'), during, resource.retryAfterMs);
    if (status === 'invalid' && during === ORDER)
      throw new AcmeError('order_failed', `${during}: the authority gave the order up`);
    if (!underWay.includes(status)) return resource;
    const wait = Math.min(Math.max(pause, resource.retryAfterMs ?? 0), ORDER_MS);
    if (clock.mono() + wait > deadline)
      throw new AcmeError('authority_slow', `${during}: still ${status} after ${ORDER_MS / 60_000} minutes`);
    await clock.sleep(wait, signal);
    if (signal.aborted) throw new AcmeError('order_failed', `${during}: this server was stopped`);
  }
}

function failureOf({ body, retryAfterMs }: Resource, name: string, { kind }: OrderAsk): AcmeError {
  const challenge = [memberOf(body, 'challenges')].flat().find((one) => textOf(one, 'type', 100) === kind);
  const error = memberOf(challenge, 'error');
  if (error !== null) return refusal(error, name, retryAfterMs);
  return new AcmeError('challenge_failed', `${name}: the authorization is ${statusOf(body)}`);
}

/** Nothing that an authority issues is used unread. */
function checked(pair: KeyAndCertificate, names: readonly string[], now: number): KeyAndCertificate {
  const fault = uploadFault(pair, now);
  if (fault !== null) throw new AcmeError('certificate_unfit', fault);
  const certified = namesIn(new X509Certificate(pair.cert)).map((name) => name.toLowerCase());
  const missing = names.filter((name) => !certified.includes(name.toLowerCase()));
  if (missing.length > 0)
    throw new AcmeError('certificate_unfit', `certificate: it is not for ${missing.join(', ')}`);
  return pair;
}

function statusOf(body: unknown): string {
  return textOf(body, 'status', 100) ?? '';
}

function urlOf(body: unknown, name: string): string {
  const url = textOf(body, name, MAX_URL);
  if (url === null) throw new AcmeError('authority_failed', `the authority names no ${name}`);
  return url;
}
