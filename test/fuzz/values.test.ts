import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearest } from '../../src/http/suggest.ts';
import { formatTimestamp, parseTimestamp } from '../../src/lib/clock.ts';
import { decodeBase64 } from '../../src/lib/decode.ts';
import { generateSecret, inspectSecret } from '../../src/lib/id.ts';
import { parseCidrs } from '../../src/lib/network.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { isDate } from '../../src/mail/trace.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

/** Single values that come from outside. */

const VALUES = corpus('values', (bytes) => bytes.toString());

/** A good text, as it is or with one character put in, taken out or changed. */
function nearly(good: fc.Arbitrary<string>, characters: string): fc.Arbitrary<string> {
  const change = fc.record({ at: fc.nat(), drop: fc.nat(1), add: fc.constantFrom('', ...characters) });
  return fc.tuple(good, change).map(([text, { at, drop, add }]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + add + text.slice(place + drop);
  });
}

const year = fc.date({
  min: new Date('0001-01-02T00:00:00Z'),
  max: new Date('9999-12-30T00:00:00Z'),
  noInvalidDate: true,
});
const timestamp = fc.oneof(
  year.map((date) => date.toISOString()),
  nearly(
    year.map((date) => date.toISOString()),
    '0123456789TZ:-+. ',
  ),
  textOf('2026', '-', '02', '29', '31', 'T', ':', '60', '24', '.', '+14:00', '-00:00', 'Z'),
);

const FIRST = new Date('0000-01-01T00:00:00Z').getTime();
const LAST = new Date('9999-12-31T23:59:59.999Z').getTime();

test('a timestamp is a time that is written back and read again, or is none', () =>
  fuzz('timestamp', { made: timestamp, corpus: VALUES }, (text) => {
    const at = parseTimestamp(text);
    if (at === null) return false;
    expect(Number.isSafeInteger(at)).toBe(true);
    // An offset may lead out of the years that can be written.
    if (at < FIRST || at > LAST) return true;
    expect(parseTimestamp(formatTimestamp(at))).toBe(at);
    return true;
  }));

const mailDate = fc.oneof(
  year.map((date) => date.toUTCString().replace('GMT', '+0000')),
  nearly(
    year.map((date) => date.toUTCString()),
    '0123456789:,+ ()aZ',
  ),
);

test('a date of mail is one that exists, or is none', () =>
  fuzz('mail date', { made: mailDate, corpus: VALUES }, (text) => {
    if (!isDate(text)) return false;
    expect(Date.parse(text.replace(/ \([\w ]*\)$/, '').replace(/:60/, ':59'))).not.toBeNaN();
    return true;
  }));

const base64 = fc.oneof(
  fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  nearly(
    fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    'AQg=/+-_ \n\0é',
  ),
);

test('base64 is decoded to what encodes to it, or refused', () =>
  fuzz('base64', { made: base64, corpus: VALUES }, (text) => {
    const bytes = decodeBase64(text);
    if (bytes === null) return false;
    expect(bytes.toString('base64')).toBe(text);
    return true;
  }));

const SECRET = generateSecret(seededRandom(5), 'live');

test('a key with a typo is never taken for a key', () =>
  fuzz(
    'key',
    { made: fc.oneof(nearly(fc.constant(SECRET), '0aZ_é'), fc.constant(SECRET)), corpus: VALUES },
    (text) => {
      const form = inspectSecret(text);
      expect(form === 'well_formed').toBe(text === SECRET);
      return form === 'well_formed';
    },
  ));

const range = textOf('10', '.', '0.0.0.0', '/', '8', '::', '1', 'ffff', ':', '192.0.2.1', '33', '%eth0', '-');

/** Some that lie in ranges made of these pieces, and such as lie beside them. */
const ADDRESSES = [
  '0.0.0.0',
  '0.0.0.1',
  '8.8.8.8',
  '10.0.0.0',
  '10.10.10.10',
  '11.0.0.0',
  '127.255.255.255',
  '128.0.0.0',
  '192.0.2.0',
  '192.0.2.1',
  '192.0.2.2',
  '255.255.255.255',
  '::',
  '::1',
  '::2',
  '1::',
  '1::1',
  '8000::',
  '10::',
  '10::10',
  '8::8',
  '8:1::',
  'fffe:ffff::',
  'ffff::',
  'ffff::1',
  'ffff:ffff::',
  'ffff:1::',
];

test('a range of addresses is what the system takes it for, or refused by name', () =>
  fuzz('address range', { made: range, corpus: VALUES }, (text) => {
    const parsed = parseCidrs([text]);
    if (!parsed.ok) {
      expect(parsed.entry).toBe(text);
      return false;
    }
    const [network = '', prefix] = text.split('/');
    const list = new BlockList();
    list.addSubnet(network, Number(prefix ?? (isIP(network) === 4 ? 32 : 128)), familyOf(network));
    // No range holds addresses of the other family; the list takes an IPv4 address for the IPv6 one that it is mapped to.
    for (const address of [network, ...ADDRESSES])
      expect([address, parsed.cidrs.contains(address)]).toEqual([
        address,
        isIP(address) === isIP(network) && list.check(address, familyOf(address)),
      ]);
    expect(parsed.cidrs.contains(network)).toBe(true);
    return true;
  }));

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

test('any name gets a suggestion of a known name, or none', () =>
  fuzz(
    'suggestion',
    { made: textOf('from', 'to', 'attach', 'ments', '_', '-', 'X'), corpus: VALUES },
    (text) => {
      const known = ['from', 'to', 'attachments'];
      const meant = nearest(text, known);
      if (meant !== null) expect(known).toContain(meant);
      return meant !== null;
    },
  ));
