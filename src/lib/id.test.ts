import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createIdSource,
  eventId,
  fromBase32,
  generateSecret,
  hashSecret,
  inspectSecret,
  isId,
  isMessageId,
  messageIdBytes,
  messageIdFloor,
  messageIdOf,
  messageIdTime,
  messageUuid,
  readMessageId,
  secretPrefix,
  toBase32,
  withoutKeys,
} from './id.ts';
import { seededRandom } from './random.ts';

test('ids are well formed, carry their time and increase, also when the clock goes back', () => {
  let now = 1_790_000_000_123;
  const next = createIdSource({ wall: () => now }, seededRandom(1));
  const first = next();
  expect(isMessageId(first)).toBe(true);
  expect(messageIdTime(first)).toBe(now);
  const ids = [first];
  for (let i = 0; i < 5000; i++) {
    if (i === 2000) now -= 60_000;
    if (i === 3000) now += 120_000;
    ids.push(next());
  }
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test('ids of other things have a prefix of their own', () => {
  const clock = { wall: () => 1_790_000_000_123 };
  const id = createIdSource(clock, seededRandom(1), 'sup_')();
  expect(id.replace('sup_', 'msg_')).toBe(createIdSource(clock, seededRandom(1))());
  expect([isId(id, 'sup_'), isId(id, 'msg_'), isMessageId(id)]).toEqual([true, false, false]);
  expect([isId(`${id}0`, 'sup_'), isId('sup_', 'sup_'), isId('ann@example.org', 'sup_')]).not.toContain(true);
});

test('an event has the same id whenever it is read, which carries its time and its sequence', () => {
  const now = 1_790_000_000_123;
  expect(eventId(now, 4711)).toMatch(/^evt_[0-9a-hjkmnp-tv-z]{26}$/);
  expect(messageIdTime(eventId(now, 4711))).toBe(now);
  expect(eventId(now, 33).slice(-4)).toBe('0011');
  const ids = [eventId(now, 1), eventId(now, 2), eventId(now, Number.MAX_SAFE_INTEGER), eventId(now + 1, 1)];
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test('what is no id is told apart', () => {
  for (const text of ['', 'msg_', `msg_${'u'.repeat(26)}`, `MSG_${'0'.repeat(26)}`, `msg_8${'0'.repeat(25)}`])
    expect(isMessageId(text)).toBe(false);
});

test('a time divides the ids: its own and later ones are at or above its floor, earlier ones below', () => {
  const idAt = (ms: number) => createIdSource({ wall: () => ms }, seededRandom(1))();
  const now = 1_790_000_000_123;
  expect(idAt(now) >= messageIdFloor(now)).toBe(true);
  expect(idAt(now - 1) < messageIdFloor(now)).toBe(true);
  expect(idAt(now) < messageIdFloor(now + 0.5)).toBe(true);
  expect(messageIdFloor(-5)).toBe(messageIdFloor(0));
  const last = `msg_7${'z'.repeat(25)}`;
  expect(isMessageId(last) && last < messageIdFloor(Number.MAX_VALUE)).toBe(true);
});

test('a message id is 128 bits, and these are the id', () =>
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      const id = messageIdOf(bytes);
      expect(isMessageId(id)).toBe(true);
      expect([...messageIdBytes(id)]).toEqual([...bytes]);
      expect(readMessageId(messageUuid(id))).toBe(id);
      expect(readMessageId(messageUuid(id).toUpperCase())).toBe(id);
      expect(readMessageId(id)).toBe(id);
    }),
  ));

test('the UUID of an id has its digits, and sorts as it does', () => {
  expect(messageUuid(`msg_7${'z'.repeat(25)}`)).toBe('ffffffff-ffff-ffff-ffff-ffffffffffff');
  // 01jbx0q4tc as a number is the time; the rest, digit by digit, the random bits.
  expect(messageUuid('msg_01jbx0q4tc0123456789abcdef')).toBe('0192fa0b-934c-0044-3214-c74254b635cf');
  const next = createIdSource({ wall: () => 1_790_000_000_123 }, seededRandom(1));
  const ids = Array.from({ length: 100 }, next);
  expect(ids.map(messageUuid).sort()).toEqual(ids.map(messageUuid));
});

test.each([
  '',
  'msg_',
  `msg_${'0'.repeat(25)}`,
  `MSG_${'0'.repeat(26)}`,
  '0192fa0b934c00443214c74254b635cf',
  '{0192fa0b-934c-0044-3214-c74254b635cf}',
  '0192fa0b-934c-0044-3214-c74254b635c',
  '0192fa0b-934c-0044-3214-c74254b635cg',
  '0192fa0b-934c-0044-3214-c74254b635cf\n',
])('neither form of an id: %j', (text) => expect(readMessageId(text)).toBeNull());

test('what is no id has no bytes, and other numbers of bytes no id', () => {
  expect(() => messageIdBytes('msg_1')).toThrow(RangeError);
  expect(() => messageUuid(`msg_8${'0'.repeat(25)}`)).toThrow(RangeError);
  for (const length of [0, 15, 17]) expect(() => messageIdOf(new Uint8Array(length))).toThrow(RangeError);
});

test('base32 reads back what it writes, and nothing else', () => {
  const fives = fc.nat(8).chain((count) => fc.uint8Array({ minLength: count * 5, maxLength: count * 5 }));
  fc.assert(
    fc.property(fives, (bytes) => {
      expect([...(fromBase32(toBase32(bytes)) ?? [])]).toEqual([...bytes]);
    }),
  );
  for (const text of ['0', '0000000', 'o0000000', 'i0000000', 'l0000000', 'u0000000', 'A0000000', '0000000é'])
    expect(fromBase32(text)).toBeNull();
});

test.each(['live', 'test'] as const)(
  'a %s key has its prefix, 43 and 6 characters, and is well formed',
  (mode) => {
    const random = seededRandom(1);
    for (let i = 0; i < 200; i++) {
      const secret = generateSecret(random, mode);
      expect(secret).toMatch(new RegExp(`^wb_${mode}_[0-9A-Za-z]{49}$`));
      expect(inspectSecret(secret)).toBe('well_formed');
    }
  },
);

test('all 256 bits are used: the largest number still fits in 43 characters', () => {
  const ones = { next: () => 0, fill: (target: Uint8Array) => target.fill(255) };
  const zeros = { next: () => 0, fill: (target: Uint8Array) => target.fill(0) };
  const largest = generateSecret(ones, 'live').slice(8, 51);
  expect([...largest].reduce((sum, c) => sum * 62n + BigInt(digit(c)), 0n)).toBe(2n ** 256n - 1n);
  expect(generateSecret(zeros, 'live').slice(8, 51)).toBe('0'.repeat(43));
});

test('any single wrong character is told from a key that is merely unknown', () => {
  const secret = generateSecret(seededRandom(7), 'live');
  for (let at = 8; at < secret.length; at++) {
    const other = secret[at] === 'x' ? 'y' : 'x';
    expect(inspectSecret(secret.slice(0, at) + other + secret.slice(at + 1))).toBe('checksum_wrong');
  }
});

test.each([
  '',
  'wb_live_',
  'key',
  'wb_prod_',
  ` wb_live_${'0'.repeat(49)}`,
  `wb_live_${'0'.repeat(50)}`,
  `wb_live_${'-'.repeat(49)}`,
])('what has not the form of a key is malformed: %s', (text) =>
  expect(inspectSecret(text)).toBe('malformed'),
);

test('a live and a test key never share a checksum: the mode cannot be swapped', () => {
  const secret = generateSecret(seededRandom(3), 'test');
  expect(inspectSecret(secret.replace('test', 'live'))).toBe('checksum_wrong');
});

test('the hash is SHA-256 in hex and the prefix is the beginning', () => {
  expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(secretPrefix('wb_live_0123456789')).toBe('wb_live_012345');
});

test('a text that names keys keeps no more of each than it is recognised by', () => {
  const secret = generateSecret(seededRandom(5), 'live');
  expect(withoutKeys(`revoke ${secret}, or ${secret}x`)).toBe(
    `revoke ${secret.slice(0, 14)}…, or ${secret.slice(0, 14)}…`,
  );
  expect(withoutKeys(`${secret.slice(0, 20)} is cut`)).toBe(`${secret.slice(0, 20)} is cut`);
});

function digit(character: string): number {
  return '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.indexOf(character);
}
