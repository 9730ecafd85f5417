/** The OpenAPI document against the API: what it says is served, and what is served it says. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { describeApi, OPERATIONS } from '../../../src/ingest/http/openapi/document.ts';
import {
  BATCH,
  BATCH_RECEIPT,
  CAPTURED_RECEIPT,
  SMALL_SUBMISSION,
  VERDICT,
} from '../../../src/ingest/http/openapi/examples.ts';
import type { Operation } from '../../../src/ingest/http/openapi/operation.ts';
import { holdAgainst, isJson, member, schemaFaults } from '../../support/openapi.ts';
import { attempt, REJECTED } from './deliver.ts';
import { type Answer, cidrs, encodeForm, faultsOf, MAIL, World } from './world.ts';

const PATH = '/api/v1/openapi.json';
const ROUTES = new URL('../../../src/ingest/http/routes.ts', import.meta.url);

let world: World;
let key: string;

beforeEach(async () => {
  world = await World.start();
  key = await world.key({ scopes: ['messages:send', 'messages:read', 'messages:content'] });
});
afterEach(() => world.close());

describe('the document', () => {
  test('is served without a key, to HEAD as well', async () => {
    const answer = await world.ask({ path: PATH });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.json).toEqual(describeApi('0.0.0'));
    const head = await world.ask({ method: 'HEAD', path: PATH });
    expect([head.status, head.headers['content-length']]).toEqual([200, answer.headers['content-length']]);
  });
  test('is not sent again to who has it', async () => {
    const etag = String((await world.ask({ path: PATH })).headers.etag);
    for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await world.ask({ path: PATH, headers: { 'If-None-Match': given } });
      expect([given, answer.status, answer.text, answer.headers.etag]).toEqual([given, 304, '', etag]);
    }
    const other = await world.ask({ path: PATH, headers: { 'If-None-Match': '"other"' } });
    expect(other.status).toBe(200);
  });
  test('is not for sources that may not use the API', async () => {
    world.options.allowedCidrs = cidrs('192.0.2.0/24');
    expect((await world.ask({ path: PATH })).json['code']).toBe('source_not_allowed');
  });
  test('takes no parameters', async () => {
    expect(faultsOf(await world.ask({ path: `${PATH}?pretty=1` }))).toEqual(['/pretty unknown_parameter']);
  });
});

describe('what is served', () => {
  test('is described: every path of the routes', () => {
    const routes = [...readFileSync(ROUTES, 'utf8').matchAll(/method: '(\w+)', path: '([^']+)'/g)];
    const served = routes.map(([, method = '', path = '']) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    const described = OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(described.toSorted()).toEqual(served.toSorted());
  });
  test.each(OPERATIONS.map((operation) => [operation.operationId, operation] as const))(
    '%s asks for the scopes that are described',
    async (_, operation) => {
      const { access, path } = operation;
      const secret = await world.key({ scopes: [] });
      const answer = await world.ask({
        ...methodAndPath(operation, path),
        ...credentials(operation, secret),
      });
      if (access === null) return expect(answer.status).toBe(200);
      expect(answer.status).toBe(403);
      expect(answer.text).toContain(`scope ${access.scopes.join(' or ')}.`);
      return undefined;
    },
  );
});

describe('an example', () => {
  test.each(requestExamples())('%s is taken', async (_, { operation, type, value }) => {
    const answer = await send(operation, type, value);
    expect([200, 202], answer.text).toContain(answer.status);
  });
  test.each(operationsWithoutBody())('of %s is taken', async (_, operation) => {
    const answer = await send(operation, null, null);
    expect(answer.status, answer.text).toBe(200);
  });
  test.each(
    OPERATIONS.flatMap((operation) =>
      Object.entries(operation.query)
        // A cursor is good for one list only, and made by it.
        .filter(([name]) => name !== 'cursor')
        .map(
          ([name, { example }]) => [`${operation.operationId} ${name}`, operation, name, example] as const,
        ),
    ),
  )('of the parameter %s is taken', async (_, operation, name, example) => {
    key = await world.key({ scopes: ['messages:send', 'messages:read', 'messages:read_all'] });
    const [type, media] = Object.entries(operation.body?.content ?? {})[0] ?? [null, null];
    const value = Object.values(media?.examples ?? {})[0]?.value;
    const answer = await send(operation, type, value, { [name]: example });
    expect([200, 202], answer.text).toContain(answer.status);
  });
});

describe('an example of an answer is what is really answered', () => {
  const example = (name: string) => member(['components', 'examples', name])?.value['value'];
  test('to a batch', async () => {
    world.intake.relay = 'ses';
    const answer = await world.ask({ method: 'POST', path: '/api/v1/messages/batch', key, body: BATCH });
    const { results } = answer.json;
    const [accepted, refused, checked] = Array.isArray(results) ? results : [];
    const [first, second, third] = BATCH_RECEIPT.results;
    expect({ ...accepted, id: '' }).toEqual({ ...first, id: '' });
    expect(refused).toEqual(second);
    expect({ ...checked, verdict: { ...checked.verdict, sizeBytes: 0 } }).toEqual({
      ...third,
      verdict: { ...VERDICT, sizeBytes: 0 },
    });
  });
  test('to a test key', async () => {
    const test = await world.key({ mode: 'test' });
    const answer = await world.post(test, SMALL_SUBMISSION);
    expect({ ...answer.json, id: '' }).toEqual({ ...CAPTURED_RECEIPT, id: '' });
  });
  test('to a faulty submission', async () => {
    const body = {
      ...SMALL_SUBMISSION,
      to: ['a@example.org', 'bob(at)example.org'],
      sendAt: '2099-01-01T00:00:00Z',
    };
    const answer = await world.post(key, body);
    expect(example('invalid_submission')).toMatchObject({ errors: answer.json.errors });
  });
  test('to a faulty query', async () => {
    const answer = await world.ask({ key, path: '/api/v1/messages?limit=500' });
    expect(example('invalid_query')).toMatchObject({ errors: answer.json.errors });
  });
});

describe('the schema of a submission', () => {
  test('names every field that is taken as JSON, and no other', async () => {
    const { properties } = member(['components', 'schemas', 'Submission'])?.value ?? {};
    for (const name of Object.keys(isJson(properties) ? properties : {}))
      expect([name, faultsOf(await world.post(key, { ...MAIL, [name]: null }))]).toEqual([
        name,
        name === 'from'
          ? ['/from required']
          : name === 'to'
            ? ['/to required']
            : name === 'text'
              ? ['/text required']
              : [],
      ]);
    expect(schemaFaults(['components', 'schemas', 'Submission'], { ...MAIL, reply: 'x' })).toHaveLength(1);
  });
  test.each(['SubmissionForm', 'MailgunForm'])('as %s names only fields that are taken', async (name) => {
    const { properties } = member(['components', 'schemas', name])?.value ?? {};
    const unknown: string[] = [];
    for (const field of [...Object.keys(isJson(properties) ? properties : {}), 'h:X-Order', 'v:order']) {
      const form = new FormData();
      form.append(field, field === 'attachment' || field === 'inline' ? new File(['x'], 'x.txt') : 'no');
      const answer = await world.postForm(key, form);
      unknown.push(...faultsOf(answer).filter((fault) => fault.endsWith('unknown_field')));
    }
    expect(unknown).toEqual([]);
  });
});

describe('an answer that is not as described is found out', () => {
  const good = { 'x-request-id': 'x', 'content-type': 'application/json', location: '/x' };
  const text = JSON.stringify({ id: 'msg_01k9f5y7f0e2c4a8b6d0e2f4g6', message: 'x', status: 'queued' });
  const hold = (answer: object) => () =>
    holdAgainst('POST', '/api/v1/messages', { status: 202, headers: good, text, ...answer });
  test('and a good one passes', () => expect(hold({})).not.toThrow());
  test.each([
    ['a status', { status: 203 }, 'this status is not described'],
    ['a missing header field', { headers: { ...good, location: undefined } }, 'header Location is missing'],
    [
      'a strange header field',
      { headers: { ...good, 'x-powered-by': 'y' } },
      'header x-powered-by is not described',
    ],
    [
      'a header field’s value',
      { headers: { ...good, 'ratelimit-limit': 'many' } },
      'header ratelimit-limit: / must be integer',
    ],
    [
      'a media type',
      { headers: { ...good, 'content-type': 'text/html' } },
      'content type text/html is not described',
    ],
    ['an added member', { text: text.replace('{', '{"extra":1,') }, 'must NOT have additional properties'],
    ['a missing member', { text: '{}' }, "must have required property 'id'"],
    ['a member’s value', { text: text.replace('msg_', 'id_') }, '/id must match pattern'],
  ])('%s', (_, answer, fault) => expect(hold(answer)).toThrow(fault));
  test('a code of another operation', () => {
    const problem = {
      type: 'x',
      title: 'x',
      status: 409,
      detail: 'x',
      error: 'x',
      errors: [],
      requestId: 'x',
    };
    const answer = (code: string) => () =>
      holdAgainst('POST', '/api/v1/messages', {
        status: 409,
        headers: { 'x-request-id': 'x', 'content-type': 'application/problem+json' },
        text: JSON.stringify({ ...problem, code }),
      });
    expect(answer('idempotency_mismatch')).not.toThrow();
    expect(answer('not_cancellable')).toThrow('/code must be equal to one of the allowed values');
  });
});

type RequestExample = {
  readonly operation: Operation;
  readonly type: string;
  readonly value: unknown;
};

function requestExamples(): [string, RequestExample][] {
  return OPERATIONS.flatMap((operation) =>
    Object.entries(operation.body?.content ?? {}).flatMap(([type, { examples }]) =>
      Object.entries(examples).map(([name, { value }]): [string, RequestExample] => [
        `${operation.operationId} ${type} ${name}`,
        { operation, type, value },
      ]),
    ),
  );
}

function operationsWithoutBody(): [string, Operation][] {
  return OPERATIONS.filter(({ body }) => body === null).map((operation) => [
    operation.operationId,
    operation,
  ]);
}

/** Parameters without which an operation does nothing. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sendRaw: { from: 'jane@example.com', to: 'bob@example.org' },
};

async function send(
  operation: Operation,
  type: string | null,
  value: unknown,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const query = new URLSearchParams({ ...NEEDED[operation.operationId], ...parameters });
  const target = `${await pathOf(operation)}${query.size === 0 ? '' : `?${query}`}`;
  const { headers, body } = await encode(type, value);
  const { headers: authorization } = credentials(operation, key);
  return world.ask({
    ...methodAndPath(operation, target),
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
async function pathOf({ path, operationId }: Operation): Promise<string> {
  if (!path.includes('{id}')) return path.replace('{domain}', 'example.com');
  const { headers } = await world.post(key, MAIL);
  if (operationId === 'retryMessage' || operationId === 'getMessage') await attempt(world, REJECTED);
  return path.replace('/api/v1/messages/{id}', String(headers.location));
}

function methodAndPath({ method }: Operation, path: string) {
  return { method: method.toUpperCase(), path };
}

function credentials({ access }: Operation, secret: string): { headers: Record<string, string> } {
  if (access === null) return { headers: {} };
  const basic = `Basic ${Buffer.from(`api:${secret}`).toString('base64')}`;
  return { headers: { Authorization: access.scheme === 'basic' ? basic : `Bearer ${secret}` } };
}
