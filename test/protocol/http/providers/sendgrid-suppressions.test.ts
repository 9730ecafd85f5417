import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { World } from '../world.ts';
import { suppressing } from './listed-entries.ts';
import { caught, Sendgrid } from './sendgrid-sdk.ts';

/** SendGrid's lists of suppressed addresses, which are views of our one list (contract-2 §C4). */

const EPOCH = Date.UTC(2026, 10, 20, 11, 15);
const SECOND = EPOCH / 1000;

let world: World;
/** Of a key that sees and changes the whole list. */
let sendgrid: Sendgrid;

beforeAll(async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  world = await World.start({ epoch: EPOCH });
  const scopes = ['suppressions:read', 'suppressions:write', 'messages:read_all'] as const;
  sendgrid = new Sendgrid(world, await world.key({ id: 'all', scopes, rateLimit: 0 }));
});
afterAll(async () => {
  vi.restoreAllMocks();
  await world.close();
});

const suppress = suppressing(() => world, EPOCH);

test('each has the entries of its reasons, the newest first', async () => {
  const evidence = { messageId: null, at: EPOCH, code: 550, enhancedCode: '5.1.1', text: 'no such user' };
  await suppress('hard', 'hard_bounce', 1, { evidence });
  await suppress('complained', 'complaint', 2);
  await suppress('soft', 'soft_bounces', 3);
  await suppress('manual', 'manual', 4, { note: 'by phone' });
  await suppress('provider', 'provider', 5);
  await suppress('gone', 'unsubscribe', 6);
  expect(await sendgrid.ask('GET', '/v3/suppression/bounces')).toEqual([
    200,
    [
      { created: SECOND + 5, email: 'provider@example.org', reason: 'provider', status: '' },
      { created: SECOND + 3, email: 'soft@example.org', reason: 'soft_bounces', status: '' },
      { created: SECOND + 1, email: 'hard@example.org', reason: 'no such user', status: '5.1.1' },
    ],
  ]);
  expect(await sendgrid.ask('GET', '/v3/suppression/spam_reports')).toEqual([
    200,
    [{ created: SECOND + 2, email: 'complained@example.org', ip: '' }],
  ]);
  const unsubscribed = [
    { created: SECOND + 6, email: 'gone@example.org' },
    { created: SECOND + 4, email: 'manual@example.org' },
  ];
  for (const path of ['/v3/suppression/unsubscribes', '/v3/asm/suppressions/global'] as const)
    expect(await sendgrid.ask('GET', path)).toEqual([200, unsubscribed]);
  for (const name of ['blocks', 'invalid_emails'] as const)
    expect(await sendgrid.ask('GET', `/v3/suppression/${name}`)).toEqual([200, []]);
});

test.each([
  ['limit=1', ['provider']],
  ['limit=1&offset=1', ['soft']],
  ['offset=2', ['hard']],
  ['offset=3', []],
  [`start_time=${SECOND + 3}`, ['provider', 'soft']],
  [`end_time=${SECOND + 3}`, ['soft', 'hard']],
  [`start_time=${SECOND + 2}&end_time=${SECOND + 4}`, ['soft']],
])('a page of one is asked for with %s', async (query, names) => {
  const [, entries] = await sendgrid.ask('GET', `/v3/suppression/bounces?${query}`);
  expect(entries).toMatchObject(names.map((name) => ({ email: `${name}@example.org` })));
});

test.each(['limit=0', 'limit=501', 'offset=10001', 'start_time=now', 'end_time=999999999999', 'email=a'])(
  'a page is not asked for with %s',
  async (query) => {
    const asked = sendgrid.ask('GET', `/v3/suppression/bounces?${query}`);
    const [field] = query.split('=');
    expect(await caught(asked)).toMatchObject({ code: 400, response: { body: { errors: [{ field }] } } });
  },
);

test('a long list is told whole', async () => {
  for (let n = 0; n < 450; n++) await suppress(`many${n}`, 'complaint', 100 + n);
  const [, entries] = await sendgrid.ask('GET', '/v3/suppression/spam_reports?limit=440&offset=5');
  expect(entries).toHaveLength(440);
  expect(entries).toMatchObject({ 0: { email: 'many444@example.org' }, 439: { email: 'many5@example.org' } });
});

describe('an address', () => {
  test('is on the list of its reason alone, and is taken off that', async () => {
    await suppress('one', 'hard_bounce', 2000);
    const path = '/v3/suppression/bounces/one@example.org' as const;
    const entry = { created: SECOND + 2000, email: 'one@example.org', reason: 'hard_bounce', status: '' };
    expect(await sendgrid.ask('GET', path)).toEqual([200, [entry]]);
    expect(await sendgrid.ask('GET', '/v3/suppression/unsubscribes/one@example.org')).toEqual([200, []]);
    const elsewhere = sendgrid.ask('DELETE', '/v3/suppression/spam_reports/one@example.org');
    expect(await caught(elsewhere)).toMatchObject({ code: 404 });
    expect(await sendgrid.ask('DELETE', path)).toEqual([204, '']);
    expect(await sendgrid.ask('GET', path)).toEqual([200, []]);
    expect(await caught(sendgrid.ask('DELETE', path))).toMatchObject({ code: 404 });
  });

  test('that complained is taken off the list of complaints', async () => {
    await suppress('angry', 'complaint', 2001);
    const path = '/v3/suppression/spam_reports/angry@example.org' as const;
    expect(await sendgrid.ask('DELETE', path)).toEqual([204, '']);
    expect(await sendgrid.ask('GET', path)).toEqual([200, []]);
  });

  test('that is none is refused', async () => {
    const asked = sendgrid.ask('GET', '/v3/suppression/bounces/nobody');
    expect(await caught(asked)).toMatchObject({
      code: 400,
      response: { body: { errors: [{ help: null }] } },
    });
  });
});

describe('global suppressions', () => {
  const path = '/v3/asm/suppressions/global';

  test('are added, looked up and removed', async () => {
    const recipient_emails = ['x@example.org', 'y@example.org'];
    expect(await sendgrid.ask('POST', path, { recipient_emails })).toEqual([201, { recipient_emails }]);
    expect(await sendgrid.ask('GET', `${path}/x@example.org`)).toEqual([
      200,
      { recipient_email: 'x@example.org' },
    ]);
    expect(await sendgrid.ask('DELETE', `${path}/x@example.org`)).toEqual([204, '']);
    expect(await sendgrid.ask('GET', `${path}/x@example.org`)).toEqual([200, {}]);
  });

  test('are added all or none', async () => {
    const added = sendgrid.ask('POST', path, { recipient_emails: ['z@example.org', 'nobody'] });
    expect(await caught(added)).toMatchObject({
      code: 400,
      response: { body: { errors: [{ field: 'recipient_emails.1' }] } },
    });
    expect(await sendgrid.ask('GET', `${path}/z@example.org`)).toEqual([200, {}]);
  });
});

test('a key without the scope is told which it needs', async () => {
  const plain = new Sendgrid(world, await world.key({ id: 'plain' }));
  for (const [method, path, scope] of [
    ['GET', '/v3/suppression/bounces', 'suppressions:read'],
    ['DELETE', '/v3/suppression/bounces/a@example.org', 'suppressions:write'],
  ] as const)
    expect(await caught(plain.ask(method, path))).toMatchObject({
      code: 403,
      response: { body: { errors: [{ message: 'access forbidden', help: expect.stringContaining(scope) }] } },
    });
});

test('a key sees what is global, and changes only its own', async () => {
  await suppress('theirs', 'hard_bounce', 3000);
  const scopes = ['suppressions:read', 'suppressions:write'] as const;
  const own = new Sendgrid(world, await world.key({ id: 'own', scopes }));
  const path = '/v3/suppression/bounces/theirs@example.org';
  expect(await own.ask('GET', path)).toMatchObject([200, [{ email: 'theirs@example.org' }]]);
  expect(await caught(own.ask('DELETE', path))).toMatchObject({ code: 404 });
  await own.ask('POST', '/v3/asm/suppressions/global', { recipient_emails: ['mine@example.org'] });
  const mine = [{ email: 'mine@example.org' }];
  expect(await own.ask('GET', '/v3/suppression/unsubscribes')).toMatchObject([200, mine]);
});
