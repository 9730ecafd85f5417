import { expect, test } from 'vitest';
import { premises, scriptedResolver } from '../../../test/support/premises.ts';
import type { ProbeStep } from '../../transport/transport.ts';
import { relaysCheck } from './relays.ts';

const MX =
  'server: { hostname: mail.example.com }\ndelivery: { default_relay: d }\nrelays: [{ name: d, type: mx }]';
const OUT =
  'server: { hostname: mail.example.com }\ndelivery: { default_relay: out }\nrelays: [{ name: out, type: smtp, host: out.example.net }]';
const API =
  'server: { hostname: mail.example.com }\ndelivery: { default_relay: api }\nrelays: [{ name: api, type: resend, secret: re_key }]';

/** A conversation with a relay that ends like this. */
const ends = (step: ProbeStep): (() => AsyncGenerator<ProbeStep>) =>
  async function* () {
    yield step;
  };

type Row = [what: string, premises: Parameters<typeof premises>[0], expected: readonly string[]];

const ROWS: readonly Row[] = [
  ['only the inbox', {}, ['warn default relay']],
  ['a relay that is ready', { file: OUT }, ['ok relay out']],
  [
    'a relay that refuses',

    { file: OUT, probe: ends({ name: 'connect_refused', ok: false, detail: 'no', atMs: 1 }) },
    ['fail relay out'],
  ],
  [
    'a relay that stops half way',

    { file: OUT, probe: ends({ name: 'EHLO', ok: true, detail: '250', atMs: 1 }) },
    ['fail relay out'],
  ],
  ['a provider that knows us', { file: API }, ['ok relay api']],
  [
    'a provider that refuses the key',

    { file: API, probeProvider: ends({ name: 'CHECK', ok: false, detail: '401', atMs: 1 }) },
    ['fail relay api'],
  ],
  [
    'a warm-up that has not begun',

    { file: API.replace('secret:', 'warmup_start: 2099-01-01, secret:') },
    ['ok relay api', 'warn warm-up of api'],
  ],
  [
    'a warm-up that has begun',

    { file: API.replace('secret:', 'warmup_start: 2020-01-01, secret:') },
    ['ok relay api'],
  ],
  ['an mx relay with a DNS', { file: MX }, ['ok relay d']],
  [
    'an mx relay without a DNS',

    { file: MX, resolver: scriptedResolver({ 'MX example.com': 'fail' }) },
    ['fail relay d'],
  ],
];

test.each(ROWS)('%s', async (_what, change, expected) => {
  const findings = await relaysCheck(premises(change), new AbortController().signal);
  expect(findings.map(({ status, name }) => `${status} ${name}`)).toEqual(expected);
  for (const { status, cure } of findings) expect(cure === null).toBe(status === 'ok');
});

test.each([
  ['auth_failed', '535 5.7.8 Wrong password', 'correct its user name or secret'],
  ['token_refused', 'invalid_grant', 'correct its user name or secret'],
  ['greeting_refused', '554 5.7.1 Not from there', "ask its operator why it refuses this machine's address"],
  ['connect_refused', 'ECONNREFUSED', 'show the whole conversation'],
])('of a hop that refuses us (%s) its reply and the cure are told', async (name, detail, cure) => {
  const probe = ends({ name, ok: false, code: name, detail, atMs: 1 });
  const [found] = await relaysCheck(premises({ file: OUT, probe }), new AbortController().signal);
  expect(found?.found).toContain(`${name}: ${detail}`);
  expect(found?.cure).toMatch(new RegExp(`^${cure}[,:].* waybill relays test out$`));
});

test('a relay that says nothing until the time is over is told with what it said last', async () => {
  const limit = new AbortController();
  const done = relaysCheck(
    premises({
      file: OUT,
      probe: async function* () {
        yield { name: 'CONNECT', ok: true, detail: '192.0.2.25:587', atMs: 3 };
        limit.abort();
        await new Promise(() => {});
      },
    }),
    limit.signal,
  );
  expect(await done).toMatchObject([
    { status: 'fail', found: expect.stringContaining('CONNECT: 192.0.2.25:587') },
  ]);
});
