/** What each check makes of what it finds. */
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { issuedCertificate } from '../../../test/support/issuing.ts';
import { BOUND, premises, scriptedResolver } from '../../../test/support/premises.ts';
import { FRESH_STATE, type OrderFaultCode } from '../../domain/certificate.ts';
import { systemRandom } from '../../lib/random.ts';
import { createSelfSigned } from '../../tls/self-signed.ts';
import {
  configurationCheck,
  databaseCheck,
  limitsCheck,
  secretKeyCheck,
  sourcesCheck,
} from './configuration.ts';
import { clockCheck, diskCheck, flushCheck, holdsCheck, openRelayCheck } from './examination.ts';
import { certificateCheck } from './identity.ts';
import { namesCheck, reverseZoneName, sourceAddressesCheck } from './names.ts';
import { portsCheck } from './ports.ts';
import type { Check, Premises } from './premises.ts';

const T = Date.UTC(2026, 10, 20);
const DAY = 86_400_000;
const MIB = 1024 * 1024;

const MX =
  'server: { hostname: mail.example.com }\ndelivery: { default_relay: d }\nrelays: [{ name: d, type: mx }]';
const SOURCE = 'listener: { allowed_cidrs: ["127.0.0.0/8", "172.17.0.0/16"] }';

/** Views that know so many recipients waiting, of messages from one address, the newest accepted then. */
function views(sourceAddress: string, count: number, createdAt = T): Premises['views'] {
  const deliveries = Array.from({ length: count }, () => ({ sourceAddress }));
  // Sound because the checks look at nothing else.
  return {
    waiting: async () => ({ deliveries, next: null }),
    list: async () => ({ messages: [{ createdAt }], next: null }),
    figures: async () => ({ databaseBytes: MIB }),
  } as unknown as Premises['views'];
}

const ZONE = {
  'A mail.example.com': ['192.0.2.7'],
  'PTR 7.2.0.192.in-addr.arpa': ['mail.example.com'],
};
const resolver = scriptedResolver;

type Row = [
  what: string,
  check: Check,
  premises: Parameters<typeof premises>[0],
  expected: readonly string[],
];

/** Files of the data directory, and for how many days more their certificates are good; null: not to be read. */
function certificates(days: Readonly<Record<string, number | null>>): Row[2] {
  const readFile = (path: string) => {
    const left = days[basename(path)];
    if (left === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' });
    if (left === null) throw Object.assign(new Error(path), { code: 'EACCES' });
    const [notBefore, notAfter] = [T - 30 * DAY, T + left * DAY];
    const pair = createSelfSigned({ hosts: ['mail.example.com'], notBefore, notAfter, random: systemRandom });
    return `${pair.key}\n${pair.cert}`;
  };
  return { file: 'server: { hostname: mail.example.com }', machine: { readFile } };
}

/** The certificate by ACME with so many days of 90 left, and how its last order failed. */
function ordered(left: number, life = 90, code?: OrderFaultCode): Row[2] {
  const [notBefore, notAfter] = [T + (left - life) * DAY, T + left * DAY];
  const pair = createSelfSigned({ hosts: ['mail.example.com'], notBefore, notAfter, random: systemRandom });
  const fault = code === undefined ? null : { at: T, code, message: 'no route' };
  const issued = issuedCertificate({ certificate: pair.cert });
  const renewal = { ...FRESH_STATE, fault, failures: fault === null ? 0 : 2 };
  return {
    file: 'server: { hostname: mail.example.com }\ntls: { acme: { domains: [mail.example.com], agree_terms: true } }',
    issuing: { issuing: async () => ({ issued, renewal, challenges: [] }) },
  };
}

const POSTGRES = 'database: { url: postgres://db.example/mail }';

const ROWS: readonly Row[] = [
  ['a good configuration', configurationCheck, {}, ['ok configuration']],
  [
    'a faulty configuration',
    configurationCheck,
    { file: 'api: { prot: 1, port: x }' },
    ['fail configuration', 'fail configuration'],
  ],
  ['a good key', secretKeyCheck, {}, ['ok secret key']],
  ['a key that others read', secretKeyCheck, { machine: { fileMode: () => 0o644 } }, ['warn secret key']],
  ['a database that is not open', databaseCheck, {}, ['skipped database']],
  ['a database that cannot be opened', databaseCheck, { storeFault: 'is newer' }, ['fail database']],
  ['a database that answers', databaseCheck, { views: views('', 0) }, ['ok database']],
  ['enough disk', diskCheck, {}, ['ok disk']],
  [
    'little disk',
    diskCheck,
    { machine: { space: async () => ({ freeBytes: 500 * MIB, totalBytes: 1e12 }) } },
    ['warn disk'],
  ],
  [
    'no disk',
    diskCheck,
    { machine: { space: async () => ({ freeBytes: 100 * MIB, totalBytes: 1e12 }) } },
    ['fail disk'],
  ],
  [
    'no disk, where mail is kept in a database',
    diskCheck,
    { file: POSTGRES, machine: { space: async () => ({ freeBytes: 100 * MIB, totalBytes: 1e12 }) } },
    ['warn disk'],
  ],
  ['a good flush', flushCheck, {}, ['ok disk flush']],
  ['a disk to which no mail is flushed', flushCheck, { file: POSTGRES }, ['skipped disk flush']],
  ['ports of no role', portsCheck, { file: `${POSTGRES}\nnode: { roles: [delivery] }` }, ['skipped server']],
  [
    'one slow flush among fast ones',
    flushCheck,
    { machine: { flushTimes: async () => [0.5, 900, 0.5] } },
    ['ok disk flush'],
  ],
  ['slow flushes', flushCheck, { machine: { flushTimes: async () => [30, 40, 0.5] } }, ['warn disk flush']],
  [
    'flushes that reach no disk',
    flushCheck,
    { machine: { flushTimes: async () => [0.001, 0.002] } },
    ['warn disk flush'],
  ],
  ['data in memory', flushCheck, { machine: { inMemory: async () => true } }, ['fail disk flush']],
  ['a clock that is set', clockCheck, {}, ['ok clock']],
  [
    'a clock that nobody can be asked about',
    clockCheck,
    { machine: { clockSynchronised: async () => null } },
    ['ok clock'],
  ],
  [
    'a clock that nobody sets',
    clockCheck,
    { machine: { clockSynchronised: async () => false } },
    ['warn clock'],
  ],
  ['a clock before the program', clockCheck, { machine: { builtAt: () => T + 1 } }, ['fail clock']],
  [
    'a clock apart from the disk',
    clockCheck,
    { machine: { fileTime: async () => T - 60_000 } },
    ['warn clock'],
  ],
  ['a clock behind the newest message', clockCheck, { views: views('', 0, T + DAY) }, ['fail clock']],
  ['enough of everything', limitsCheck, {}, ['ok open files', 'ok memory']],
  [
    'files for the listeners, and none for the API over TLS and the dashboard',
    limitsCheck,
    { file: 'api: { tls_enabled: true }', machine: { maxOpenFiles: () => 18_500 } },
    ['warn open files', 'ok memory'],
  ],
  ['few files', limitsCheck, { machine: { maxOpenFiles: () => 1024 } }, ['warn open files', 'ok memory']],
  [
    'little memory',
    limitsCheck,
    { machine: { availableMemory: () => 100 * MIB } },
    ['ok open files', 'warn memory'],
  ],
  [
    'no limits to be told',
    limitsCheck,
    { machine: { maxOpenFiles: () => null, availableMemory: () => null } },
    ['ok open files', 'ok memory'],
  ],
  ['an ordered certificate', certificateCheck, ordered(60), ['ok certificate']],
  ['an ordered one that ends soon', certificateCheck, ordered(13), ['warn certificate']],
  ['one that is meant to be as short', certificateCheck, ordered(3, 6), ['ok certificate']],
  [
    'a short one whose order failed',
    certificateCheck,
    ordered(3, 6, 'not_reached'),
    ['warn certificate', 'warn certificate order'],
  ],
  [
    'an order that failed early',
    certificateCheck,
    ordered(60, 90, 'not_reached'),
    ['ok certificate', 'warn certificate order'],
  ],
  ['an own certificate not made yet', certificateCheck, {}, ['skipped certificate']],
  [
    'a certificate that is none',
    certificateCheck,
    { file: 'tls: { cert_file: /a, key_file: /b }' },
    ['fail certificate'],
  ],
  ['an own certificate', certificateCheck, certificates({ 'tls.crt': 90 }), ['ok certificate']],
  ['an own one that ends soon', certificateCheck, certificates({ 'tls.crt': 3 }), ['warn certificate']],
  [
    'an uploaded one instead of an own one that ended',
    certificateCheck,
    certificates({ 'tls.crt': -1, 'tls-uploaded.pem': 90 }),
    ['ok certificate'],
  ],
  [
    'an uploaded one that ended, beside a good own one',
    certificateCheck,
    certificates({ 'tls.crt': 90, 'tls-uploaded.pem': -1 }),
    ['fail certificate'],
  ],
  [
    'an uploaded one that cannot be read',
    certificateCheck,
    certificates({ 'tls.crt': 90, 'tls-uploaded.pem': null }),
    ['fail certificate'],
  ],
  ['no SMTP at all', openRelayCheck, { file: 'listener: { ports: [] }' }, ['skipped open relay']],
  ['a server that does not run', openRelayCheck, {}, ['ok open relay', 'skipped open relay test']],
  [
    'a listener that refuses strangers',
    openRelayCheck,
    { bound: BOUND },
    ['ok open relay', 'ok open relay test'],
  ],
  [
    'a listener strangers do not reach',
    openRelayCheck,
    { bound: BOUND, machine: { dialogue: async () => ({ connected: false, replies: [] }) } },
    ['ok open relay', 'ok open relay test'],
  ],
  [
    'a listener that relays for strangers',
    openRelayCheck,
    {
      bound: BOUND,
      machine: {
        dialogue: async () => ({ connected: true, replies: ['220', '250', '250', '250 2.1.5 fine'] }),
      },
    },
    ['ok open relay', 'fail open relay test'],
  ],
  [
    'the world allowed',
    openRelayCheck,
    { file: 'listener: { allowed_cidrs: ["0.0.0.0/0"] }' },
    ['fail open relay', 'skipped open relay test'],
  ],
  [
    'half of IPv6 allowed',
    openRelayCheck,
    { file: 'listener: { allowed_cidrs: ["2000::/3"] }' },
    ['fail open relay', 'skipped open relay test'],
  ],
  [
    'the world allowed, but with keys',
    openRelayCheck,
    { file: 'listener: { allowed_cidrs: ["0.0.0.0/0"], require_auth: true }' },
    ['ok open relay', 'skipped open relay test'],
  ],
  [
    'a wide public range',
    openRelayCheck,
    { file: 'listener: { allowed_cidrs: ["198.0.0.0/12"] }' },
    ['warn open relay', 'skipped open relay test'],
  ],
  [
    'private ranges',
    openRelayCheck,
    { file: 'listener: { allowed_cidrs: ["10.0.0.0/8", "fc00::/7", "192.168.0.0/16"] }' },
    ['ok open relay', 'skipped open relay test'],
  ],
  [
    'a range that begins private and ends public',
    openRelayCheck,
    { file: 'listener: { allowed_cidrs: ["192.168.0.0/13"] }' },
    ['warn open relay', 'skipped open relay test'],
  ],
  [
    'a part of the world that begins private',
    openRelayCheck,
    { file: 'listener: { allowed_cidrs: ["10.0.0.0/7", "127.0.0.0/8"] }' },
    ['fail open relay', 'skipped open relay test'],
  ],
  [
    'own addresses that all may send',
    openRelayCheck,
    { bound: BOUND, file: 'listener: { allowed_cidrs: ["192.0.2.0/24"] }' },
    ['ok open relay', 'skipped open relay test'],
  ],
  ['sources that nothing hides', sourcesCheck, {}, ['ok sources']],
  [
    'a gateway allowed, in a container',
    sourcesCheck,
    { file: SOURCE, machine: { gateway: () => '172.17.0.1', inContainer: () => true } },
    ['warn sources'],
  ],
  [
    'a gateway allowed, elsewhere',
    sourcesCheck,
    { file: SOURCE, machine: { gateway: () => '172.17.0.1' } },
    ['ok sources'],
  ],
  ['all mail from one private address', sourcesCheck, { views: views('10.0.0.1', 20) }, ['warn sources']],
  ['a little mail from one private address', sourcesCheck, { views: views('10.0.0.1', 19) }, ['ok sources']],
  ['all mail from this machine', sourcesCheck, { views: views('127.0.0.1', 50) }, ['ok sources']],
  ['a name that is none', namesCheck, { file: 'server: { hostname: box }' }, ['warn host name']],
  ['a name without addresses', namesCheck, {}, ['warn host name']],
  ['a name without addresses, with an mx relay', namesCheck, { file: MX }, ['fail host name']],
  [
    'a DNS that does not answer',
    namesCheck,
    { resolver: resolver({ 'A mail.example.com': 'fail', 'AAAA mail.example.com': 'fail' }) },
    ['warn host name'],
  ],
  ['names that agree', namesCheck, { resolver: resolver(ZONE) }, ['ok host name', 'ok address 192.0.2.7']],
  [
    'an address without a name',
    namesCheck,
    { file: MX, resolver: resolver({ 'A mail.example.com': ['192.0.2.7'] }) },
    ['ok host name', 'fail address 192.0.2.7'],
  ],
  [
    "an address with another's name",
    namesCheck,
    {
      resolver: resolver({
        ...ZONE,
        'PTR 7.2.0.192.in-addr.arpa': ['a.example.net'],
        'A a.example.net': ['192.0.2.7'],
      }),
    },
    ['ok host name', 'warn address 192.0.2.7'],
  ],
  [
    'a name that does not point back',
    namesCheck,
    { file: MX, resolver: resolver({ ...ZONE, 'PTR 7.2.0.192.in-addr.arpa': ['a.example.net'] }) },
    ['ok host name', 'fail address 192.0.2.7'],
  ],
  [
    'a source address that the machine has not',
    sourceAddressesCheck,
    { file: MX.replace('type: mx', 'type: mx, source_ips: [192.0.2.7, 203.0.113.7]') },
    ['fail relay d'],
  ],
  [
    'source addresses that it has',
    sourceAddressesCheck,
    { file: MX.replace('type: mx', 'type: mx, source_ips: [192.0.2.7, 127.0.0.2]') },
    [],
  ],
  [
    "a relay's own name in EHLO, which is not the address's",
    namesCheck,
    { file: MX.replace('type: mx', 'type: mx, helo: other.example.com'), resolver: resolver(ZONE) },
    ['ok host name', 'warn address 192.0.2.7'],
  ],
  ['nothing held back', holdsCheck, {}, ['ok holds']],
];

test.each(ROWS)('%s', async (_what, check, change, expected) => {
  const findings = await check(premises(change), new AbortController().signal);
  expect(findings.map(({ status, name }) => `${status} ${name}`)).toEqual(expected);
  for (const { status, cure } of findings)
    expect(cure === null).toBe(status === 'ok' || status === 'skipped');
});

test('the name for an address is asked for under its zone', () => {
  expect(reverseZoneName('192.0.2.7')).toBe('7.2.0.192.in-addr.arpa');
  const zone = '7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa';
  expect(reverseZoneName('2001:db8::7')).toBe(zone);
  expect(reverseZoneName('2001:db8:0:0:0:0:0:7')).toBe(zone);
});

test('what an operator holds back is told with the line that lets it go', async () => {
  const { loaded, ...rest } = premises();
  const holds = new Map([
    ['out', 'pause'],
    ['direct/example.net', 'drain'],
  ] as const);
  const findings = await holdsCheck({ ...rest, loaded: { ...loaded, holds } }, new AbortController().signal);
  expect(findings).toMatchObject([
    { status: 'warn', name: 'hold out', cure: 'waybill queue resume out' },
    { status: 'warn', cure: 'waybill queue resume direct/example.net' },
  ]);
});
