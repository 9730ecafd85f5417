import { expect, test } from 'vitest';
import {
  isLoopback,
  isOwnHost,
  isPublicAddress,
  normaliseAddress,
  overlap,
  parseCidrs,
  parseEndpoint,
  sourceGroup,
} from './network.ts';
import { type Random, seededRandom } from './random.ts';

function contains(ranges: readonly string[], address: string): boolean {
  const parsed = parseCidrs(ranges);
  if (!parsed.ok) throw new Error(`${parsed.entry}: ${parsed.reason}`);
  return parsed.cidrs.contains(address);
}

test.each([
  ['10.0.0.0/8', '10.255.255.255', true],
  ['10.0.0.0/8', '11.0.0.0', false],
  ['172.16.0.0/12', '172.31.255.255', true],
  ['172.16.0.0/12', '172.32.0.0', false],
  ['192.0.2.1', '192.0.2.1', true],
  ['192.0.2.1', '192.0.2.2', false],
  ['192.0.2.128/25', '192.0.2.127', false],
  ['0.0.0.0/0', '255.1.2.3', true],
  ['0.0.0.0/0', '::1', false],
  ['::/0', '1.2.3.4', false],
  ['::/0', '2001:db8::1', true],
  ['fc00::/7', 'fdff:1::2', true],
  ['fc00::/7', 'fe00::', false],
  ['fe80::/10', 'febf::1%eth0', true],
  ['2001:db8::1', '2001:0DB8:0:0::0:1', true],
  ['2001:db8:1:2:3:4:5:0/112', '2001:db8:1:2:3:4:5:ffff', true],
  ['64:ff9b::192.0.2.0/120', '64:ff9b::c000:2ff', true],
  ['127.0.0.0/8', '::ffff:127.0.0.1', true],
  ['127.0.0.0/8', '::FFFF:127.0.0.1', true],
  ['10.0.0.0/8', '::ffff:a00:1', true],
  ['10.0.0.0/8', '0:0:0:0:0:FFFF:10.0.0.1', true],
  ['::/0', '::ffff:a00:1', false],
  ['127.0.0.0/8', 'localhost', false],
  ['127.0.0.0/8', '', false],
  ['::/0', 'unknown', false],
])('%s and %s: %s', (range, address, expected) => expect(contains([range], address)).toBe(expected));

test('a set holds what any of its ranges does, and none holds nothing', () => {
  expect(contains(['10.0.0.0/8', '::1'], '::1')).toBe(true);
  expect(contains([], '10.0.0.1')).toBe(false);
});

test.each([
  ['10.1.2.3/8', /bits set/],
  ['fd00::1/8', /bits set/],
  ['10.0.0.0/33', /at most 32/],
  ['::/129', /at most 128/],
  ['10.0.0.0/08', /not an IP/],
  ['10.0.0.0/', /not an IP/],
  ['10.0.0/8', /not an IP/],
  ['010.0.0.0/8', /not an IP/],
  ['example.com', /not an IP/],
  ['fe80::1%eth0', /not an IP/],
  ['', /not an IP/],
  ['::ffff:10.0.0.0/104', /as IPv4/],
  ['::ffff:a00:0/104', /as IPv4/],
  ['0:0:0:0:0:ffff:0:0/96', /as IPv4/],
])('%s is refused by name', (entry, reason) => {
  const parsed = parseCidrs(['127.0.0.0/8', entry]);
  expect(parsed).toEqual({ ok: false, entry, reason: expect.stringMatching(reason) });
});

test.each([
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:FFFF:c000:0201', '192.0.2.1'],
  ['::ffff:0:c000:201', '::ffff:0:c000:201'],
  ['::192.0.2.1', '::192.0.2.1'],
  ['unknown:x', 'unknown:x'],
  ['fe80::1%eth0', 'fe80::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['192.0.2.1', '192.0.2.1'],
])('%s is shown as %s', (address, shown) => expect(normaliseAddress(address)).toBe(shown));

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0DB8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
  ['2001:db8:0:1::', '2001:db8:0:1::/64'],
  ['2001:db8:0:2::', '2001:db8:0:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['unknown', 'unknown'],
  ['un:known', 'un:known'],
  ['', ''],
])('the limits of %s are those of %s', (address, group) => expect(sourceGroup(address)).toBe(group));

/** An address of these 16 bytes, written in one of the ways it may be. */
function write(bytes: Uint8Array, random: Random): string {
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  const full = groups.map((group) => (random.next() < 0.5 ? group.padStart(4, '0') : group)).join(':');
  const zeros = /(?:^|:)0(?::0)+(?:$|:)/;
  const text = random.next() < 0.5 ? groups.join(':').replace(zeros, '::') : full;
  return random.next() < 0.5 ? text.toUpperCase() : text;
}

test('two IPv6 addresses have one group exactly when their first 64 bits are the same', () => {
  const random = seededRandom(64);
  for (let i = 0; i < 2000; i++) {
    const one = random.fill(new Uint8Array(16));
    // Zeros here and there, so that addresses are written short too.
    for (let at = 0; at < 16; at += 2) if (random.next() < 0.4) one.fill(0, at, at + 2);
    if (one.subarray(0, 8).every((byte) => byte === 0)) one[0] = 0x20;
    const other = Uint8Array.from(one);
    const bit = Math.floor(random.next() * 128);
    other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
    const group = sourceGroup(write(one, random));
    expect(sourceGroup(write(one, random))).toBe(group);
    if (other.subarray(0, 8).some((byte) => byte !== 0))
      expect(sourceGroup(write(other, random)) === group).toBe(bit >= 64);
    const range = parseCidrs([group]);
    expect(range.ok && range.cidrs.contains(write(one, random))).toBe(true);
  }
});

test.each([
  ['10.0.0.0/8', '10.1.2.3', true],
  ['10.1.2.3', '10.0.0.0/8', true],
  ['10.0.0.0/24', '10.0.1.0/24', false],
  ['0.0.0.0/0', '::1', false],
  ['2001:db8::/32', '2001:DB8:0:1::/64', true],
  ['10.0.0.0/33', '10.0.0.0/8', false],
])('ranges overlap where one begins in the other: %s, %s', (a, b, expected) => {
  expect(overlap(a, b)).toBe(expected);
});

test.each([
  ['127.0.0.1', true],
  ['127.255.255.255', true],
  ['::1', true],
  ['128.0.0.1', false],
  ['::', false],
  ['0.0.0.0/0', false],
  ['127.0.0.0/8', false],
  ['localhost', false],
  ['', false],
])('%s is an address of loopback: %s', (address, expected) => {
  expect(isLoopback(address)).toBe(expected);
});

const NAMED = { allowedHosts: ['panel.example.com'], hostname: 'my-laptop' };

test.each([
  'localhost',
  'localhost.',
  'localhost:8420',
  '127.0.0.1',
  '127.9.8.7:8420',
  '[::1]',
  '[::1]:8420',
])('a server that only loopback reaches has the host %s', (host) => {
  expect(isOwnHost(host, { ...NAMED, loopbackOnly: true })).toBe(true);
  expect(isOwnHost(host, NAMED)).toBe(true);
});

test.each([
  'my-laptop',
  'my-laptop:8420',
  'panel.example.com',
  'evil.example',
  'localhost.evil.example',
  '192.168.1.5',
  '0.0.0.0',
  '0.0.0.0/0',
  '127.0.0.0/8',
  '[2001:db8::1]',
  '[::]',
  '[::/0]',
  '[127.0.0.1]',
  '',
])('and not the host %s, whatever else is configured', (host) => {
  expect(isOwnHost(host, { ...NAMED, anyHost: true, loopbackOnly: true })).toBe(false);
});

test.each(['1.1.1.1', '9.255.255.255', '11.0.0.0', '172.15.0.1', '172.32.0.1', '223.255.255.255'])(
  '%s is of the Internet',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
    expect(isPublicAddress(`::ffff:${address}`)).toBe(true);
    expect(isPublicAddress(`64:ff9b::${address}`)).toBe(true);
  },
);

test.each(['2606:4700::1', '2a00:1450::1', '2001:4860:4860::8888'])('%s is of the Internet', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '203.0.113.7',
  '224.0.0.1',
  '255.255.255.255',
])('%s is not, in no clothes', (address) => {
  expect(isPublicAddress(address)).toBe(false);
  expect(isPublicAddress(`::ffff:${address}`)).toBe(false);
  expect(isPublicAddress(`::${address}`)).toBe(false);
  expect(isPublicAddress(`64:ff9b::${address}`)).toBe(false);
});

test.each([
  '::',
  '::1',
  'fe80::1',
  'fe80::1%eth0',
  '2606:4700::1%eth0',
  'fc00::1',
  'fd12::1',
  'fec0::1',
  'ff02::1',
  '2001:db8::1',
  '2001::1',
  '2002:a00:1::1',
  '64:ff9b:1::1',
  '::ffff:7f00:1',
  'localhost',
  '',
  '1.2.3',
])('%j is not', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  ['192.0.2.1', '192.0.2.1', 53],
  ['192.0.2.1:5353', '192.0.2.1', 5353],
  ['2001:db8::1', '2001:db8::1', 53],
  ['[2001:db8::1]:65535', '2001:db8::1', 65_535],
])('an address may have a port: %s', (text, address, port) => {
  expect(parseEndpoint(text, 53)).toEqual({ address, port });
});

test.each([
  '',
  'localhost',
  '192.0.2',
  '192.0.2.1:',
  '192.0.2.1:0',
  '192.0.2.1:65536',
  '192.0.2.1:53 ',
  '[192.0.2.1]:53',
  '[2001:db8::1]',
  '[2001:db8::1]:x',
  'fe80::1%eth0',
])('what is neither is none: %s', (text) => {
  expect(parseEndpoint(text, 53)).toBeNull();
});
