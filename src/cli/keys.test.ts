import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';

let here: Installation;
beforeEach(async () => {
  here = new Installation();
  await (await here.open()).close();
  await here.json([
    'keys',
    'create',
    'shop',
    '--rate',
    '5',
    '--cidr',
    '192.0.2.0/24',
    '--sender-domain',
    'a.example',
  ]);
});
afterEach(() => here.remove());

const update = (...options: readonly string[]) => here.json(['keys', 'update', 'shop', ...options]);

test('a key is changed by what is given, and keeps the rest', async () => {
  expect(await update('--name', 'till', '--content-days', '0')).toMatchObject({
    name: 'till',
    contentDays: 0,
    recordDays: null,
    rateLimit: 5,
    cidrs: ['192.0.2.0/24'],
    senderDomains: ['a.example'],
    scopes: ['messages:send', 'messages:read'],
  });
});

test('words take back what options gave', async () => {
  await update('--expires', '90d', '--content-days', '3');
  const words = ['--rate', 'default', '--expires', 'never', '--content-days', 'default'];
  expect(await update(...words, '--anywhere', '--any-sender')).toMatchObject({
    rateLimit: null,
    expiresAt: null,
    contentDays: null,
    recordDays: null,
    cidrs: [],
    senderDomains: [],
  });
});

test('a list that is given several times is put in the place of the one there was', async () => {
  const lists = [
    '--scope',
    'messages:read',
    '--scope',
    'messages:read_all',
    '--cidr',
    '::1',
    '--cidr',
    '::2',
  ];
  expect(await update(...lists)).toMatchObject({
    scopes: ['messages:read', 'messages:read_all'],
    cidrs: ['::1', '::2'],
  });
});

test.each([
  [[], 'Say what to change. See: waybill keys update --help'],
  [['--cidr', '::1', '--anywhere'], '--cidr and --anywhere do not go together.'],
  [['--sender-domain', 'b.example', '--any-sender'], '--sender-domain and --any-sender do not go together.'],
  [['--rate', 'fast'], 'It must be a whole number from 0 to 10000000.'],
  [['--content-days', '4000'], 'It must be a whole number from 0 to 3650.'],
  [['--expires', 'soon'], 'or a number of days such as 90d.'],
  [['--scope', 'all'], 'It must be one of messages:send'],
])('%j is refused', async (options, reason) => {
  const { status, out, err } = await here.waybill(['keys', 'update', 'shop', ...options]);
  expect([status, out, err]).toEqual([2, '', expect.stringContaining(reason)]);
});
