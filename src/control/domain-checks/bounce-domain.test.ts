/** What is found of a domain of return paths. */
import { expect, test } from 'vitest';
import { txt } from '../../../test/support/domain-check.ts';
import { premises, scriptedResolver } from '../../../test/support/premises.ts';
import { bouncesCheck } from '../doctor/identity.ts';
import type { Dialogue, DialoguePeer } from '../doctor/premises.ts';
import { type BounceFacts, checkBounceDomain } from './bounce-domain.ts';

const forever = new AbortController().signal;
const DOMAIN = 'bounces.example.com';
const HEAD = 'delivery: { default_relay: d }\nserver: { hostname: mail.example.com }\nrelays:';
const DIRECT = `${HEAD} [{ name: d, type: mx }]`;
const PROBE = { localPart: 'p-x', proof: 'prooftext' };
const NAMED = { 'A mail.example.com': ['192.0.2.7'], [`MX ${DOMAIN}`]: [mx('mail.example.com')] };
const PASSES = txt(DOMAIN, 'v=spf1 ip4:192.0.2.7 -all');

function mx(exchange: string, preference = 10) {
  return { preference, exchange };
}

interface Case {
  readonly zone?: Parameters<typeof scriptedResolver>[0];
  readonly file?: string;
  readonly addresses?: readonly string[];
  readonly probe?: BounceFacts['probe'];
  readonly dialogue?: (peer: DialoguePeer, lines: readonly string[]) => Dialogue;
}

async function found({ zone = {}, file = DIRECT, addresses = ['192.0.2.7'], probe = PROBE, dialogue }: Case) {
  const { loaded, machine } = premises({
    file,
    machine: {
      addresses: () => addresses,
      dialogue: async (peer, lines) =>
        dialogue?.(peer, lines) ?? {
          connected: true,
          replies: ['220', '250', '250', '250', '354', '250 proof prooftext'],
        },
    },
  });
  const { config } = loaded;
  const facts = { domain: DOMAIN, config, resolver: scriptedResolver(zone), machine, probe };
  const { findings, isGood } = await checkBounceDomain('bounce', facts, forever);
  const told = findings.map(
    ({ status, name, found: text, cure }) =>
      `${status} ${name}: ${text} | ${(cure ?? '').replaceAll('\n', ' ')}`,
  );
  return { told, isGood };
}

test.each<[string, Case, string, string, boolean | null]>([
  [
    'all is well',
    { zone: { ...NAMED, ...PASSES } },
    '^ok bounce MX: .* goes to mail.example.com',
    '^ok bounce SPF: .*allows 192.0.2.7',
    true,
  ],
  [
    'there is nothing',
    {},
    '^fail bounce MX: No host accepts.*bounces.example.com. 3600 IN MX 10 mail.example.com.$',
    '^fail bounce SPF: bounces.example.com has no SPF record.*TXT "v=spf1 ip4:192.0.2.7 ~all"$',
    false,
  ],
  [
    'mail goes elsewhere',
    {
      zone: {
        ...PASSES,
        [`MX ${DOMAIN}`]: [mx('mx.elsewhere.test')],
        'A mx.elsewhere.test': ['198.51.100.1'],
      },
    },
    '^fail bounce MX: .* goes to mx.elsewhere.test, which is not this server',
    '^ok',
    false,
  ],
  [
    'mail goes elsewhere, too',
    {
      zone: {
        ...NAMED,
        ...PASSES,
        [`MX ${DOMAIN}`]: [mx('mx.elsewhere.test', 20), mx('mail.example.com')],
        'A mx.elsewhere.test': ['198.51.100.1'],
      },
    },
    '^warn bounce MX: .* goes to mx.elsewhere.test, too',
    '^ok',
    true,
  ],
  [
    'the host has another name, and our address',
    { zone: { ...PASSES, [`MX ${DOMAIN}`]: [mx('in.example.com')], 'A in.example.com': ['192.0.2.7'] } },
    '^ok bounce MX: .* goes to in.example.com',
    '^ok',
    true,
  ],
  [
    'we are behind NAT',
    { zone: { ...NAMED, ...PASSES }, addresses: ['10.0.0.5'] },
    '^ok bounce MX',
    '^ok bounce SPF: .*allows 192.0.2.7',
    true,
  ],
  [
    'the DNS is silent',
    { zone: { [`MX ${DOMAIN}`]: 'fail', [`TXT ${DOMAIN}`]: 'fail' } },
    '^skipped bounce MX',
    '^skipped bounce SPF',
    null,
  ],
  [
    'the record is another’s',
    { zone: { ...NAMED, ...txt(DOMAIN, 'v=spf1 -all') } },
    '^ok',
    '^fail bounce SPF: .*does not allow 192.0.2.7',
    false,
  ],
  [
    'there are two records',
    { zone: { ...NAMED, ...txt(DOMAIN, 'v=spf1 a', 'v=spf1 mx') } },
    '^ok',
    '^fail bounce SPF: .*has 2 SPF records',
    false,
  ],
  [
    'a smarthost sends',
    { file: `${HEAD} [{ name: d, type: smtp, host: h.test }]`, zone: { ...NAMED, ...PASSES } },
    '^ok',
    '^ok bounce SPF: .*allows 192.0.2.7',
    true,
  ],
])('%s', async (_, given, place, spf, isGood) => {
  const result = await found(given);
  expect(result.told[0]).toMatch(new RegExp(place));
  expect(result.told[1]).toMatch(new RegExp(spf));
  expect(result.isGood).toBe(isGood);
});

test.each<[string, Case, string]>([
  ['comes back', {}, '^ok bounce probe: A bounce sent to 192.0.2.7, port 25, came back here'],
  [
    'ends at another server',
    { dialogue: () => ({ connected: true, replies: ['220', '250', '250', '550 5.1.1 Who?'] }) },
    '^warn bounce probe: .*192.0.2.7 answered 550 5.1.1 Who\\?',
  ],
  [
    'reaches nobody',
    { dialogue: () => ({ connected: false, replies: [] }) },
    '^warn bounce probe: .*port 25, cannot be reached',
  ],
  ['cannot be proven', { probe: null }, '^skipped bounce probe'],
  ['has nowhere to go', { zone: {} }, '^skipped bounce probe'],
])('the probe %s', async (_, given, expected) => {
  const { told, isGood } = await found({ zone: { ...NAMED, ...PASSES }, ...given });
  expect(told[2]).toMatch(new RegExp(expected));
  expect(isGood).toBe(given.zone === undefined);
});

test('the probe is a bounce without a sender, to the port that direct delivery uses', async () => {
  const said: (readonly [DialoguePeer, readonly string[]])[] = [];
  await found({
    zone: { ...NAMED, ...PASSES },
    file: `${HEAD} [{ name: d, type: mx, port: 2525 }]`,
    dialogue: (peer, lines) => {
      said.push([peer, lines]);
      return { connected: true, replies: [] };
    },
  });
  const [peer, lines = []] = said[0] ?? [];
  expect(peer).toEqual({ host: '192.0.2.7', port: 2525 });
  expect(lines.slice(0, 4)).toEqual([
    'EHLO mail.example.com',
    'MAIL FROM:<>',
    `RCPT TO:<p-x@${DOMAIN}>`,
    'DATA',
  ]);
  expect(lines[4]).toMatch(/^From: .*report-type=delivery-status.*\r\n\.$/s);
});

test('the doctor says when there is no bounce domain, and which domain does not use its own', async () => {
  const { loaded, ...rest } = premises({});
  const domain = { name: 'example.com', since: 1, keys: [], returnPath: null };
  const own = { domain: 'b.example.net', seenAt: null, isGood: false };
  const domains = [domain, { ...domain, name: 'example.net', returnPath: own }];
  const config = { ...loaded.config, domains };
  expect(await bouncesCheck({ ...rest, loaded: { ...loaded, config } }, forever)).toMatchObject([
    { status: 'skipped', name: 'bounce' },
    { status: 'warn', name: 'domain example.net' },
  ]);
});

test('a domain that mail is sent from is no bounce domain', async () => {
  const { loaded, ...rest } = premises({ file: `${DIRECT}\nbounces: { domain: Example.com }` });
  const domains = [{ name: 'example.com', since: 1, keys: [], returnPath: null }];
  const config = { ...loaded.config, domains };
  expect(await bouncesCheck({ ...rest, loaded: { ...loaded, config } }, forever)).toMatchObject([
    { status: 'fail', name: 'bounce domain', cure: 'bounces: { domain: bounces.example.com }' },
  ]);
});
