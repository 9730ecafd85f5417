import { expect, test } from 'vitest';
import { generateSecret, hashSecret, inspectSecret, secretPrefix, withoutKeys } from './key-secret.ts';
import { seededRandom } from './random.ts';

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
