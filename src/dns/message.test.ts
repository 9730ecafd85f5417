import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readQuery, writeResponse, type ZoneRecord } from '../../test/peers/dns-message.ts';
import { answers, encodeQuery, MAX_RECORDS, mixCase, parseResponse, type Query } from './message.ts';

const query: Query = { id: 0x1234, name: 'wWw.Example.test', type: 'A', edns: true, ad: true };
const content = { code: 0, answers: [], authorities: [] };

/** A response of a header, one question for `a.` of type A, and what is given. */
function response(rest: string, counts = '0001000100000000', flags = '8180'): Buffer {
  return Buffer.from(`1234${flags}${counts}0161000001${'0001'}${rest}`, 'hex');
}

function read(bytes: Buffer): unknown {
  const parsed = parseResponse(bytes);
  return parsed.ok ? parsed.response.answers : parsed.reason;
}

const ADDRESS = '000100010000003c0004c0000201';

test('a query asks one question, for recursion, in datagrams of 1232 bytes', () => {
  expect(encodeQuery(query).toString('hex')).toBe(
    `12340120000100000000000103${hex('wWw')}07${hex('Example')}04${hex('test')}000001000100002904d0000000000000`,
  );
  expect(encodeQuery({ ...query, edns: false, ad: false }).toString('hex')).toMatch(
    /^12340100000100000000000003.*0000010001$/,
  );
});

test('a query says what it was made of', () => {
  const types = fc.constantFrom(
    'A' as const,
    'AAAA' as const,
    'MX' as const,
    'TXT' as const,
    'PTR' as const,
    'TLSA' as const,
  );
  const name = fc.array(fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.nat(65_535), name, types, fc.boolean(), fc.boolean(), (id, labels, type, edns, ad) => {
      const asked = { id, name: labels.join('.'), type, edns, ad };
      expect(readQuery(encodeQuery(asked))).toMatchObject(asked);
    }),
  );
});

test('records come out of a response as they went in', () => {
  const name = fc.constantFrom('a.test', 'b.a.test', 'c.b.a.test', 'other.test', 'x');
  const address = fc.ipV4();
  const record: fc.Arbitrary<ZoneRecord> = fc.oneof(
    fc.record({ name, ttl: fc.nat(0x7fff_ffff), type: fc.constant('A' as const), data: address }),
    fc.record({ name, ttl: fc.nat(100), type: fc.constant('CNAME' as const), data: name }),
    fc.record({ name, ttl: fc.nat(100), type: fc.constant('PTR' as const), data: name }),
    fc.record({
      name,
      ttl: fc.nat(100),
      type: fc.constant('MX' as const),
      data: fc.record({ preference: fc.nat(65_535), exchange: fc.oneof(name, fc.constant('')) }),
    }),
    fc.record({
      name,
      ttl: fc.nat(100),
      type: fc.constant('TXT' as const),
      data: fc.uint8Array({ maxLength: 700 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    }),
    fc.record({
      name,
      ttl: fc.nat(100),
      type: fc.constant('TLSA' as const),
      data: fc.record({
        usage: fc.nat(255),
        selector: fc.nat(255),
        matchingType: fc.nat(255),
        data: fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('hex')),
      }),
    }),
  );
  fc.assert(
    fc.property(fc.array(record, { maxLength: 12 }), fc.nat(0xfff), (records, code) => {
      const bytes = writeResponse(readQuery(encodeQuery(query)), { ...content, code, answers: records });
      const parsed = parseResponse(bytes);
      expect(parsed).toMatchObject({ ok: true, response: { id: query.id, code, answers: records } });
      expect(parsed.ok && answers(query, parsed.response, true)).toBe(true);
    }),
  );
});

test('a response answers a query by id, name and type, and by the case of letters where that is asked', () => {
  const answered = (asked: Query, exactCase = true) => {
    const parsed = parseResponse(writeResponse(readQuery(encodeQuery(asked)), content));
    return parsed.ok && answers(query, parsed.response, exactCase);
  };
  expect(answered(query)).toBe(true);
  expect(answered({ ...query, id: 0x1235 })).toBe(false);
  expect(answered({ ...query, type: 'AAAA' })).toBe(false);
  expect(answered({ ...query, name: 'www.example.test.x' })).toBe(false);
  expect(answered({ ...query, name: 'www.example.test' })).toBe(false);
  expect(answered({ ...query, name: 'www.example.test' }, false)).toBe(true);
});

test('only who did not understand the question may leave it out', () => {
  const without = (code: string) => parseResponse(Buffer.from(`1234${code}${'0000'.repeat(4)}`, 'hex'));
  const answered = (code: string) => {
    const parsed = without(code);
    return parsed.ok && answers(query, parsed.response, true);
  };
  expect([answered('8181'), answered('8184')]).toEqual([true, true]);
  expect([answered('8180'), answered('8182'), answered('8183'), answered('8185')]).toEqual(
    Array(4).fill(false),
  );
});

test('a name may be compressed, and must not lead on', () => {
  expect(read(response(`c00c${ADDRESS}`))).toMatchObject([{ name: 'a', data: '192.0.2.1', ttl: 60 }]);
  expect(read(response(`0162c00c${ADDRESS}`))).toMatchObject([{ name: 'b.a' }]);
  expect(read(response(`c013${ADDRESS}`))).toBe('a compression pointer leads forward');
  expect(read(response(`0162c013${ADDRESS}`))).toBe('a compression pointer leads forward');
  expect(read(response(`c0ff${ADDRESS}`))).toBe('a compression pointer leads forward');
  expect(read(response(`4061${ADDRESS}`))).toBe('a label of unknown kind');
});

test('a name has at most 255 octets, also out of pieces', () => {
  const label = `3f${'61'.repeat(63)}`;
  expect(read(response(`${label.repeat(3)}3d${'61'.repeat(61)}00${ADDRESS}`))).toHaveLength(1);
  expect(read(response(`${label.repeat(4)}00${ADDRESS}`))).toBe('a name is longer than 255 octets');
  expect(read(response(`${label.repeat(3)}3d${'61'.repeat(61)}c00c${ADDRESS}`))).toBe(
    'a name is longer than 255 octets',
  );
});

/** A header for so many records, a question for `a.` of type MX, and records. */
function manyRecords(count: number, records: readonly string[]): Buffer {
  return response(records.join(''), `0001${u16(count)}00000000`);
}

const u16 = (value: number) => value.toString(16).padStart(4, '0');
const pointerTo = (place: number) => u16(0xc000 | place);
/** Where the data of the first record begins, whose name is a pointer. */
const FIRST_DATA = 12 + 7 + 12;

test('of one message so many records are read, however short what points to a long name is', () => {
  const label = `3f${'01'.repeat(63)}`;
  const name = `${label.repeat(3)}3a${'01'.repeat(58)}00`;
  const first = `c00c000f00010000003c${u16(2 + name.length / 2)}000a${name}`;
  const other = `c00c000f00010000003c0004000a${pointerTo(FIRST_DATA + 2)}`;
  const most = Array.from({ length: MAX_RECORDS }, (_, i) => (i === 0 ? first : other));
  const exchange = [63, 63, 63, 58].map((length) => '\\001'.repeat(length)).join('.');
  const all = most.map(() => ({ name: 'a', ttl: 60, type: 'MX', data: { preference: 10, exchange } }));
  expect(read(manyRecords(MAX_RECORDS, most))).toEqual(all);
  const tooMany = manyRecords(MAX_RECORDS + 1, [...most, other]);
  expect(read(tooMany)).toBe('it has more than 512 records');
  expect(read(response('', '0001000001000101'))).toBe('it has more than 512 records');
});

test('what is pointed to counts with all its octets', () => {
  const label = `3f${'61'.repeat(63)}`;
  const long = `${label.repeat(3)}3d${'61'.repeat(61)}00`;
  const end = FIRST_DATA + long.length / 2;
  const first = `c00c006300010000003c${u16(long.length / 2 + 2)}${long}${pointerTo(FIRST_DATA)}`;
  expect(read(manyRecords(2, [first, `${pointerTo(end)}${ADDRESS}`]))).toHaveLength(2);
  expect(read(manyRecords(2, [first, `0162${pointerTo(end)}${ADDRESS}`]))).toBe(
    'a name is longer than 255 octets',
  );
});

test('a name is behind at most 127 pointers, each walked once', () => {
  const chain = (hops: number) => [
    pointerTo(12),
    ...Array.from({ length: hops - 1 }, (_, i) => pointerTo(FIRST_DATA + 2 * i)),
  ];
  /** Records whose names are at the ends of a chain, the nearest first. */
  const behind = (hops: number) => {
    const pointers = chain(hops);
    const first = `c00c006300010000003c${u16(pointers.length * 2)}${pointers.join('')}`;
    const others = pointers.map((_, i) => `${pointerTo(FIRST_DATA + 2 * i)}${ADDRESS}`);
    return { nearestFirst: [first, ...others], farthestFirst: [first, ...others.reverse()] };
  };
  const good = behind(126);
  expect(read(manyRecords(127, good.nearestFirst))).toHaveLength(127);
  expect(read(manyRecords(127, good.farthestFirst))).toHaveLength(127);
  const bad = behind(127);
  expect(read(manyRecords(128, bad.nearestFirst))).toBe('a name is behind too many pointers');
  expect(read(manyRecords(128, bad.farthestFirst))).toBe('a name is behind too many pointers');
});

test('whatever names point to, they come out as if each were read by itself', () => {
  const label = fc.uint8Array({ minLength: 1, maxLength: 4 });
  const name = fc.record({
    labels: fc.array(label, { maxLength: 3 }),
    /** To which of those before it points; none: it ends. */
    to: fc.option(fc.nat(40)),
  });
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 40 }), (names) => {
      const expected = ['a'];
      const places = [12];
      let rest = '';
      for (const { labels, to } of names) {
        const target = to === null ? null : to % places.length;
        places.push(12 + 7 + rest.length / 2);
        const written = labels.map(
          (bytes) => u16(bytes.length).slice(2) + Buffer.from(bytes).toString('hex'),
        );
        const end = target === null ? '00' : pointerTo(places[target] ?? 0);
        rest += `${written.join('')}${end}${ADDRESS}`;
        const own = labels.map((bytes) => Array.from(bytes, escaped).join('').toLowerCase());
        const behind = target === null ? '' : (expected[target] ?? '');
        expected.push([...own, ...(behind === '' ? [] : [behind])].join('.'));
      }
      const records = expected.slice(1).map((text) => ({ name: text }));
      const long = expected.some((text) => text.replace(/\\\d{3}/g, 'x').length > 253);
      if (!long) expect(read(manyRecords(names.length, [rest]))).toMatchObject(records);
    }),
  );
});

const escaped = (octet: number) => {
  const character = String.fromCharCode(octet);
  return /[\w-]/.test(character) ? character : `\\${`${octet}`.padStart(3, '0')}`;
};

test('a dot within a label is no dot between labels', () => {
  expect(read(response(`03782e7900${ADDRESS}`))).toMatchObject([{ name: 'x\\046y' }]);
});

test.each([
  ['an address of three bytes', 'c00c000100010000003c0003c00002', 'it ends early'],
  [
    'an address of five bytes',
    'c00c000100010000003c0005c000020101',
    'the data of a record is longer or shorter than it says',
  ],
  [
    'an MX whose name goes on behind it',
    'c00c000f00010000003c0003000a016100',
    'the data of a record is longer or shorter than it says',
  ],
  [
    'a text longer than its record',
    'c00c001000010000003c000203616263',
    'the data of a record is longer or shorter than it says',
  ],
  ['more records than there are', '', 'it ends early'],
])('%s makes a response unreadable', (_what, rest, reason) => {
  expect(read(response(rest))).toBe(reason);
});

test.each([
  ['', 'it is shorter than a header'],
  ['12340100000100000000000001610000010001', 'it is not a response'],
  ['1234a180000100000000000001610000010001', 'it answers something that is not a query'],
  ['12348180000200000000000001610000010001', 'it has more than one question'],
  ['12348180000100000000000001610000010003', 'its question has another class'],
])('%s is no answer', (bytes, reason) => {
  expect(read(Buffer.from(bytes, 'hex'))).toBe(reason);
});

test('a truncated response is not read behind its question', () => {
  expect(read(response('c00c0001', '0001000500000000', '8380'))).toEqual([]);
});

test('the case of each letter is one bit, and nothing else changes', () => {
  expect(mixCase('a-b_1.cd', Buffer.of(0b1000_0101, 0))).toBe('A-B_1.cD');
  expect(mixCase('abcdefghij', Buffer.of(0xff, 0xff))).toBe('ABCDEFGHIJ');
  expect(mixCase('abc', Buffer.of(0))).toBe('abc');
});

function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}
