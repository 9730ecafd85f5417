/** Requests made of the OpenAPI document: its examples, sent to a running API. */
import { OPERATIONS } from '../../../src/ingest/http/openapi/document.ts';
import type { Operation } from '../../../src/ingest/http/openapi/operation.ts';
import { eventId } from '../../../src/lib/id.ts';
import { EVERY_EVENT } from '../../../src/store/events.ts';
import { isJson } from '../../support/openapi.ts';
import { TELL_RULES, telling } from '../../support/telling.ts';
import { attempt, CAPTURED, REJECTED } from './deliver.ts';
import { type Answer, encodeForm, MAIL, type World } from './world.ts';

/** Who sends. */
export interface Sender {
  readonly world: World;
  readonly key: string;
}

/** A body of the document, and where it goes. */
interface RequestExample {
  readonly operation: Operation;
  readonly type: string;
  readonly value: unknown;
}

/** Every example of a body, by name. */
export function requestExamples(): [string, RequestExample][] {
  return OPERATIONS.flatMap((operation) =>
    Object.entries(operation.body?.content ?? {}).flatMap(([type, { examples }]) =>
      Object.entries(examples).map(([name, { value }]): [string, RequestExample] => [
        `${operation.operationId} ${type} ${name}`,
        { operation, type, value },
      ]),
    ),
  );
}

/** Every operation that takes no body, by name. */
export function operationsWithoutBody(): [string, Operation][] {
  return OPERATIONS.filter(({ body }) => body === null).map((operation) => [
    operation.operationId,
    operation,
  ]);
}

/** Parameters without which an operation does nothing, with a body of one type where they belong to that. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'checkMessage message/rfc822': { from: 'jane@example.com', to: 'bob@example.org' },
  sendRaw: { from: 'jane@example.com', to: 'bob@example.org' },
  listEvents: { after: '0' },
  removeAllCaptured: { tag: 'receipts' },
  explainRoute: { from: 'jane@example.com', to: 'bob@example.org' },
};

/** Sends an example to an operation, with what else it needs. */
export async function sendExample(
  { world, key }: Sender,
  operation: Operation,
  type: string | null,
  value: unknown,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { operationId: id } = operation;
  const query = new URLSearchParams({
    ...('all' in parameters ? {} : (NEEDED[id] ?? NEEDED[`${id} ${type}`])),
    ...parameters,
  });
  const target = `${await pathOf(operation, { world, key })}${query.size === 0 ? '' : `?${query}`}`;
  const { headers, body } = await encode(type, value);
  const { headers: authorization } = credentials(operation, key);
  return world.ask({
    method: operation.method,
    path: target,
    headers: { ...headers, ...authorization },
    ...(body !== null && { body }),
  });
}

async function encode(type: string | null, value: unknown) {
  if (type === null) return { headers: {}, body: null };
  if (type === 'multipart/form-data') return encodeForm(toForm(value));
  const headers = { 'Content-Type': type };
  if (type === 'application/json') return { headers, body: JSON.stringify(value) };
  if (type === 'application/x-www-form-urlencoded')
    return { headers, body: new URLSearchParams(fieldsOf(value)).toString() };
  return { headers, body: String(value) };
}

function toForm(value: unknown): FormData {
  const form = new FormData();
  for (const [name, text] of fieldsOf(value))
    form.append(name, name === 'attachment' ? new File([text], 'invoice.txt') : text);
  return form;
}

function fieldsOf(value: unknown): [string, string][] {
  return Object.entries(isJson(value) ? value : {}).flatMap(([name, given]) =>
    (Array.isArray(given) ? given : [given]).map((text): [string, string] => [name, String(text)]),
  );
}

/** A path for an operation, with a message that fits it. */
async function pathOf({ path, operationId }: Operation, { world, key }: Sender): Promise<string> {
  if (path.includes('{address}')) {
    const body = { address: 'bob@example.org' };
    await world.ask({ method: 'POST', path: '/api/v1/suppressions', key, body });
    return path.replace('{address}', body.address);
  }
  if (path.includes('{template}')) {
    await saveTemplate(world, key, operationId === 'saveTemplate' ? 'another' : 'welcome');
    return path.replace('{template}', 'welcome');
  }
  if (path.includes('{webhook}')) {
    const { webhook, event } = await toldOf(world, key);
    return path.replace('{webhook}', webhook).replace('{event}', event);
  }
  if (path.startsWith('/api/v1/inbox/')) {
    const attachments = [{ filename: 'a.txt', content: 'SGVsbG8K' }];
    const box = 'worker-1';
    const mail = {
      ...MAIL,
      text: 'Your code',
      subject: 'Your invoice',
      tags: ['receipts'],
      box,
      attachments,
    };
    const { json } = await world.post(key, mail);
    await attempt(world, CAPTURED);
    return path.replace('{id}', String(json['id'])).replace('{index}', '0');
  }
  if (operationId === 'listEvents') await world.post(key, MAIL);
  if (path.includes('{feedback}')) return path.replace('{feedback}', await tellOf(world, key));
  if (!path.includes('{id}')) return path.replace('{domain}', 'example.com').replace('{operation}', 'hold');
  const sendAt = new Date(world.clock.wall() + 60_000).toISOString();
  const { headers } = await world.post(key, operationId === 'rescheduleMessage' ? { ...MAIL, sendAt } : MAIL);
  if (operationId === 'retryMessage' || operationId === 'getMessage') await attempt(world, REJECTED);
  return path.replace('/api/v1/messages/{id}', String(headers.location));
}

/** Saves two versions of a template. */
async function saveTemplate(world: Sender['world'], key: string, alias: string): Promise<void> {
  const path = `/api/v1/templates/${alias}`;
  const texts = { name: 'Welcome', subject: 'Hello {{name}}', html: null };
  for (const [basedOn, text] of [
    [null, 'Hello.'],
    [1, 'Hello {{name}}.'],
  ])
    await world.ask({ method: 'PUT', path, key, body: { ...texts, text, basedOn } });
}

/** Adds an endpoint, whose URL leads nowhere, and an event that it is told of; their ids. */
export async function toldOf(
  world: Sender['world'],
  key: string,
): Promise<{ webhook: string; event: string }> {
  const body = { url: 'https://127.0.0.1/waybill' };
  const { json } = await world.ask({ method: 'POST', path: '/api/v1/webhooks', key, body });
  await world.post(key, MAIL);
  const { events } = await world.stores.views.events({ ...EVERY_EVENT, from: { before: null }, limit: 1 });
  const [event] = events;
  return { webhook: String(json['id']), event: event === undefined ? '' : eventId(event.at, event.sequence) };
}

/** Keeps something that was told of a message of the key; its id. */
async function tellOf(world: Sender['world'], key: string): Promise<string> {
  const { json } = await world.post(key, MAIL);
  const told = telling(String(json['id']));
  await world.stores.store.tell([told], TELL_RULES, { node: 'a', now: world.clock.wall() });
  return told.id;
}

/** A key as the operation wants it. */
export function credentials({ access }: Operation, secret: string): { headers: Record<string, string> } {
  if (access === null) return { headers: {} };
  const basic = `Basic ${Buffer.from(`api:${secret}`).toString('base64')}`;
  return { headers: { Authorization: access.scheme === 'basic' ? basic : `Bearer ${secret}` } };
}
