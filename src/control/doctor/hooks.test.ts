import { expect, test } from 'vitest';
import { BOUND, premises } from '../../../test/support/premises.ts';
import type { Figures } from '../../store/views.ts';
import { hooksCheck } from './hooks.ts';

const DAY = 86_400_000;
const URL_SET = 'server: { hostname: mail.example.com, public_url: "https://mail.example.com" }';
const DEFAULT = 'delivery: { default_relay: r }';
const RELAYS = {
  smtp: '{ name: r, type: smtp, host: out.example }',
  bare: '{ name: r, type: resend, secret: x }',
  resend: '{ name: r, type: resend, secret: x, webhook_secret: whsec_c2VjcmV0 }',
  half: '{ name: r, type: postmark, secret: x, webhook_username: u }',
};

type Change = NonNullable<Parameters<typeof premises>[0]>;

async function look(relay: keyof typeof RELAYS, change: Change = {}, server = URL_SET) {
  const file = `${server}\n${DEFAULT}\nrelays:\n  - ${RELAYS[relay]}\n`;
  const given = premises({ file, bound: BOUND, ...change });
  expect(given.loaded.faults).toEqual([]);
  const found = await hooksCheck(given, new AbortController().signal);
  return found.map(({ name, status, found: text }) => `${name} ${status}: ${text}`);
}

const clockNow = premises().clock.wall();
const ago = (ms: number): Change => ({ hookProvenAt: async () => clockNow - ms });
const delivering = (delivered: number): Change => ({
  views: {
    figures: async () => ({ relays: { r: { delivered, failed: 0 } } }) as unknown as Figures,
  } as never,
});

test('without relays of providers nothing need be set', async () => {
  expect(await look('smtp', {}, 'server: { hostname: mail.example.com }')).toEqual([
    expect.stringMatching(/^public URL skipped: server.public_url is not set/),
  ]);
});

test('a relay whose webhooks were never set up is no fault', async () => {
  expect(await look('bare')).toEqual([
    'public URL ok: https://mail.example.com leads here.',
    'hook of r skipped: Webhooks are not set up: bounces and complaints stay with the provider (resend).',
  ]);
});

test.each<[string, keyof typeof RELAYS, Change, string]>([
  ['half of its settings', 'half', {}, 'warn: It refuses everything, as the relay has no webhook_secret.'],
  ['no event yet', 'resend', {}, 'warn: No event has come to it yet.'],
  ['an event lately', 'resend', ago(DAY), 'ok: Last used 2026-11-19T00:00:00.000Z, to within hours.'],
  [
    'no event for long',
    'resend',
    { ...ago(8 * DAY), ...delivering(3) },
    'warn: Last used 2026-11-12T00:00:00.000Z, although mail is delivered.',
  ],
  [
    'no event for long, and no mail',
    'resend',
    { ...ago(8 * DAY), ...delivering(0) },
    'ok: Last used 2026-11-12T00:00:00.000Z; no mail was delivered today.',
  ],
])('a hook with %s', async (_, relay, change, text) => {
  expect((await look(relay, change))[1]).toBe(`hook of r ${text}`);
});

test.each<[string, Change, string, RegExp]>([
  [
    'is missing',
    {},
    'server: { hostname: mail.example.com }',
    /^public URL warn: server.public_url is not set/,
  ],
  [
    'is not encrypted',
    {},
    'server: { public_url: "http://mail.example.com" }',
    /^public URL warn: .* is not encrypted/,
  ],
  ['cannot be tested', { bound: null }, URL_SET, /^public URL skipped: No server is running/],
  [
    'cannot be reached',
    { machine: { knock: async () => 'ECONNREFUSED' } },
    URL_SET,
    /^public URL warn: .* cannot be reached from this machine: ECONNREFUSED/,
  ],
  [
    'leads elsewhere',
    { machine: { knock: async () => 404 } },
    URL_SET,
    /^public URL warn: .* not as this server does \(status 404 at \/hooks\/doctor\/0\)/,
  ],
  ['has a closed door', { machine: { knock: async () => 403 } }, URL_SET, /^public URL ok/],
])('a public URL that %s', async (_, change, server, pattern) => {
  expect((await look('resend', { ...ago(0), ...change }, server))[0]).toMatch(pattern);
});
