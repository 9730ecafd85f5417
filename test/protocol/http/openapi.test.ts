/** The OpenAPI document against the API: what it says is served, and what is served it says. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { messageRecordSchema } from '../../../src/ingest/http/answers.ts';
import { describeApi, OPERATIONS } from '../../../src/ingest/http/openapi/document.ts';
import { messageJson } from '../../../src/ingest/http/record.ts';
import { cidrs } from '../../support/cidrs.ts';
import { holdAgainst, isJson, member, schemaFaults } from '../../support/openapi.ts';
import { credentials } from './send-example.ts';
import { faultsOf, MAIL, World } from './world.ts';

const PATH = '/api/v1/openapi.json';

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
    expect(answer.json).toEqual(describeApi());
    // Of the API: strangers are not told the program's.
    expect(answer.json).toMatchObject({ info: { version: 'v1' } });
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

/**
 * The scopes of which an endpoint asks for one, and the window it counts in. Written out here once more: one row in
 * `endpoints.ts` decides both what is served and what is described.
 */
const ASKED: Readonly<Record<string, readonly [scopes: string, window: 'send' | 'read']>> = {
  sendMessage: ['messages:send', 'send'],
  sendBatch: ['messages:send', 'send'],
  sendRaw: ['messages:send', 'send'],
  checkMessage: ['messages:send', 'send'],
  resendMessage: ['messages:send', 'send'],
  listMessages: ['messages:read or messages:read_all', 'read'],
  getMessage: ['messages:read or messages:read_all', 'read'],
  listAttempts: ['messages:read or messages:read_all', 'read'],
  getContent: ['messages:content', 'read'],
  listEvents: ['events:read', 'read'],
  listFeedback: ['messages:content', 'read'],
  getFeedback: ['messages:content', 'read'],
  listCaptured: ['messages:read or messages:read_all or messages:content', 'read'],
  getCaptured: ['messages:read or messages:read_all or messages:content', 'read'],
  getCapturedRaw: ['messages:read or messages:read_all or messages:content', 'read'],
  getCapturedFile: ['messages:read or messages:read_all or messages:content', 'read'],
  removeCaptured: ['messages:send', 'send'],
  removeAllCaptured: ['messages:send', 'send'],
  releaseCaptured: ['messages:send or admin', 'send'],
  waitForCaptured: ['messages:read or messages:read_all or messages:content', 'read'],
  tellFeedback: ['feedback:write', 'send'],
  listSuppressions: ['suppressions:read or admin', 'read'],
  exportSuppressions: ['suppressions:read or admin', 'read'],
  getSuppression: ['suppressions:read or admin', 'read'],
  addSuppression: ['suppressions:write or admin', 'send'],
  importSuppressions: ['suppressions:write or admin', 'send'],
  checkSuppressions: ['suppressions:read or admin', 'read'],
  removeSuppressions: ['suppressions:write or admin', 'send'],
  listRequests: ['messages:read or messages:read_all', 'read'],
  listTemplates: ['templates:read or admin', 'read'],
  getTemplate: ['templates:read or admin', 'read'],
  saveTemplate: ['templates:write or admin', 'send'],
  publishTemplate: ['templates:write or admin', 'send'],
  renderTemplate: ['templates:read or admin', 'read'],
  removeTemplate: ['templates:write or admin', 'send'],
  listWebhooks: ['webhooks:manage or admin', 'read'],
  addWebhook: ['webhooks:manage or admin', 'send'],
  getWebhook: ['webhooks:manage or admin', 'read'],
  changeWebhook: ['webhooks:manage or admin', 'send'],
  removeWebhook: ['webhooks:manage or admin', 'send'],
  rotateWebhook: ['webhooks:manage or admin', 'send'],
  testWebhook: ['webhooks:manage or admin', 'send'],
  listDeliveries: ['webhooks:manage or admin', 'read'],
  retryDelivery: ['webhooks:manage or admin', 'send'],
  replayWebhook: ['webhooks:manage or admin', 'send'],
  rescheduleMessage: ['messages:send', 'send'],
  cancelMessage: ['messages:send', 'send'],
  retryMessage: ['messages:send', 'send'],
  getQueue: ['admin', 'read'],
  pauseQueue: ['admin', 'send'],
  drainQueue: ['admin', 'send'],
  resumeQueue: ['admin', 'send'],
  retrySelection: ['admin', 'send'],
  cancelSelection: ['admin', 'send'],
  rerouteSelection: ['admin', 'send'],
  explainRoute: ['admin', 'read'],
  callOperation: ['admin', 'send'],
};

describe('what is served', () => {
  test.each(OPERATIONS.map((operation) => [operation.operationId, operation] as const))(
    '%s asks for the scopes that are described, and counts in its window',
    async (id, operation) => {
      const { access, method, path } = operation;
      const secret = await world.key({ scopes: [], rateLimit: 1 });
      const answer = await world.ask({
        method,
        path,
        ...credentials(operation, secret),
      });
      const [scopes, window] = ASKED[id] ?? [null, null];
      expect(access?.scopes.join(' or ') ?? null).toBe(scopes);
      if (scopes === null) return expect(answer.status).toBe(200);
      expect(answer.status).toBe(403);
      expect(answer.text).toContain(`scope ${scopes}.`);
      expect(answer.headers['ratelimit-policy']).toMatch(`"${window}";`);
      return undefined;
    },
  );
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
  test('as a form names only fields that are taken', async () => {
    const { properties } = member(['components', 'schemas', 'SubmissionForm'])?.value ?? {};
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

// The types cannot say it: a member that may be absent may also be forgotten.
test('the schema of a message names every member that is written, and no other', async () => {
  const { json } = await world.post(key, MAIL);
  const detail = await world.stores.views.message(String(json['id']));
  if (detail === null) throw new Error('the message is not there');
  const written = messageJson(detail.message, { now: 0, lanes: new Map() });
  expect(Object.keys(written).toSorted()).toEqual(Object.keys(messageRecordSchema.shape).toSorted());
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
