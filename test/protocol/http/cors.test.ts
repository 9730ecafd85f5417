import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cidrs } from '../../support/cidrs.ts';
import { type Answer, MAIL, World } from './world.ts';

/** Pages of configured origins may call the API from a browser (contract §1). */

const APP = 'https://app.example.com';
const PREFLIGHT = { Origin: APP, 'Access-Control-Request-Method': 'POST' };

/** What browsers show of any answer, and what is about the connection or is for browsers themselves. */
const PLAIN =
  /^(?:cache-control|content-(?:language|length|type)|expires|last-modified|pragma|date|connection|keep-alive|transfer-encoding|vary|x-content-type-options|www-authenticate|access-control-.*)$/;

const SENDGRID = {
  personalizations: [{ to: [{ email: 'bob@example.org' }] }],
  from: { email: 'jane@example.com' },
  subject: 'Hello',
  content: [{ type: 'text/plain', value: 'Hi.' }],
};

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start({ limits: { corsOrigins: [APP, 'http://localhost:3000'] } });
  key = await world.key();
});
afterAll(() => world.close());

function corsHeaders({ headers }: Answer): string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'));
}

describe('a preflight', () => {
  test.each(['/api/v1/messages', '/api/v1/messages/msg_1', '/api/v1/ready', '/v3/x.test/messages'])(
    'of an allowed origin is answered without a key at %s',
    async (path) => {
      const { status, headers, text } = await world.ask({ method: 'OPTIONS', path, headers: PREFLIGHT });
      expect([status, text]).toEqual([204, '']);
      expect(headers).toMatchObject({
        'access-control-allow-origin': APP,
        'access-control-allow-methods': headers.allow,
        'access-control-allow-headers':
          'authorization, content-type, idempotency-key, x-request-id, from, to, if-none-match, last-event-id, x-postmark-server-token, x-batch-validation',
        'access-control-max-age': '600',
        vary: 'Origin',
      });
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    },
  );

  test.each([
    'https://evil.example',
    'https://app.example.com.evil.example',
    'null',
    'https://APP.example.com',
  ])('of the origin %s gets no word of CORS', async (origin) => {
    const answer = await world.ask({ method: 'OPTIONS', headers: { ...PREFLIGHT, Origin: origin } });
    expect([answer.status, corsHeaders(answer)]).toEqual([204, []]);
  });

  test('of an unknown path is 404, and of a source that is not allowed 403', async () => {
    expect((await world.ask({ method: 'OPTIONS', path: '/x', headers: PREFLIGHT })).status).toBe(404);
    const strict = await World.start({ allowedCidrs: cidrs('10.0.0.0/8'), limits: { corsOrigins: [APP] } });
    expect((await strict.ask({ method: 'OPTIONS', headers: PREFLIGHT })).status).toBe(403);
    await strict.close();
  });
});

describe('an answer', () => {
  test.each([
    ['202', 202, { method: 'POST', body: MAIL }],
    ['400', 400, { method: 'POST', body: {} }],
    ['401', 401, { key: 'wb_live_wrong' }],
    ['404', 404, { path: '/x' }],
    ['405', 405, { method: 'PUT' }],
  ])('%s may be read by the page that asked', async (_, status, ask) => {
    const answer = await world.ask({ key, headers: { Origin: 'http://localhost:3000' }, ...ask });
    expect(answer.status).toBe(status);
    expect(answer.headers['access-control-allow-origin']).toBe('http://localhost:3000');
    expect(answer.headers.vary).toBe('Origin');
    const exposed = answer.headers['access-control-expose-headers'] ?? '';
    for (const name of [
      'location',
      'link',
      'retry-after',
      'ratelimit-remaining',
      'idempotency-replayed',
      'etag',
    ])
      expect(exposed.split(', ')).toContain(name);
    expect(answer.headers['access-control-allow-methods']).toBeUndefined();
  });

  test.each([
    [
      'SendGrid',
      '/v3/mail/send',
      { ...SENDGRID, asm: { group_id: 1 } },
      202,
      ['x-message-id', 'x-waybill-ignored'],
    ],
    ['Resend', '/emails', { ...MAIL, topic_id: 'x' }, 200, ['x-waybill-ignored']],
    ['SES', '/v2/email/outbound-emails', {}, 403, ['x-amzn-requestid', 'x-amzn-errortype']],
  ])('in the form of %s may be read with all that it says', async (_, path, body, status, said) => {
    const headers = { Origin: APP, 'Idempotency-Key': 'once' };
    const answer = await world.ask({ method: 'POST', path, key, body, headers });
    expect([answer.status, Object.keys(answer.headers)]).toEqual([status, expect.arrayContaining(said)]);
    const exposed = String(answer.headers['access-control-expose-headers']).split(', ');
    const hidden = Object.keys(answer.headers).filter((name) => !exposed.includes(name) && !PLAIN.test(name));
    expect(hidden).toEqual([]);
  });

  test('to another origin, or to none, has no word of CORS, and caches are told that it varies', async () => {
    for (const headers of [{ Origin: 'https://evil.example' }, {}]) {
      const answer = await world.ask({ key, headers });
      expect([answer.status, corsHeaders(answer), answer.headers.vary]).toEqual([200, [], 'Origin']);
    }
  });

  test('follows the setting while the server runs', async () => {
    const live = await World.start();
    const ask = () => live.ask({ method: 'OPTIONS', headers: PREFLIGHT });
    const before = await ask();
    expect([corsHeaders(before), before.headers.vary]).toEqual([[], undefined]);
    live.options.limits.corsOrigins = [APP];
    expect(corsHeaders(await ask())).toHaveLength(5);
    await live.close();
  });
});
