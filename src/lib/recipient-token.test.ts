import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createVault } from '../config/secrets.ts';
import { messageIdOf } from './id.ts';
import { seededRandom } from './random.ts';
import { createRecipientTokens } from './recipient-token.ts';

const { derive } = createVault(
  Uint8Array.from({ length: 32 }, (_, place) => place),
  seededRandom(1),
);
const returnPath = createRecipientTokens('return_path', derive);
const unsubscribe = createRecipientTokens('unsubscribe', derive);
const MESSAGE = 'msg_01jbx0q4tc0123456789abcdef';

const subjects = fc.record({
  id: fc.uint8Array({ minLength: 16, maxLength: 16 }).map(messageIdOf),
  recipient: fc.option(fc.nat(2 ** 24 - 2)),
});

// Computed with another implementation of HKDF, HMAC and base32 (Python's hmac and hashlib).
test.each([
  [0, '069fm2wk9g048cgmrx159dhnsw000053jzt9c267', '069fm2wk9g048cgmrx159dhnsw00006tg5s2kg0b'],
  [7, '069fm2wk9g048cgmrx159dhnsw0001xd55hzeam3', '069fm2wk9g048cgmrx159dhnsw0001xqcfy4vrtv'],
  [null, '069fm2wk9g048cgmrx159dhnszzzzztpdxryga5j', '069fm2wk9g048cgmrx159dhnszzzzzw3zfhkt4n2'],
])('recipient %s', (recipient, bounces, leaves) => {
  const about = { id: MESSAGE, recipient };
  expect(returnPath.localPart(about)).toBe(`b-${bounces}`);
  expect(unsubscribe.localPart(about)).toBe(`u-${leaves}`);
  expect(unsubscribe.write(about)).toBe(leaves);
});

test('a token is read as what it was written for, in whatever case', () =>
  fc.assert(
    fc.property(subjects, (about) => {
      const local = returnPath.localPart(about);
      expect(local).toMatch(/^b-[0-9a-hjkmnp-tv-z]{40}$/);
      expect(returnPath.localPart(about)).toBe(local);
      for (const text of [local, local.toUpperCase()]) expect(returnPath.readLocalPart(text)).toEqual(about);
      expect(unsubscribe.read(unsubscribe.write(about))).toEqual(about);
    }),
  ));

test('a token with a bit changed, or for another purpose or key, is none', () => {
  const other = createRecipientTokens('return_path', () => new Uint8Array(32).fill(7));
  fc.assert(
    fc.property(subjects, fc.nat(39), fc.nat(30), (about, at, by) => {
      const token = returnPath.write(about);
      const letters = '0123456789abcdefghjkmnpqrstvwxyz';
      const letter = letters.charAt((letters.indexOf(token.charAt(at)) + 1 + by) % 32);
      expect(returnPath.read(token.slice(0, at) + letter + token.slice(at + 1))).toBeNull();
      expect(unsubscribe.read(token)).toBeNull();
      expect(other.read(token)).toBeNull();
    }),
  );
});

test.each(['', 'b-', 'x-', 'B', '-'])('%j is in the way of a token', (before) => {
  const token = returnPath.write({ id: MESSAGE, recipient: 0 });
  for (const text of [before + token.slice(1), `${before}${token}0`, `u-${token}`])
    expect(returnPath.readLocalPart(text)).toBeNull();
});

test('no letter stands for another, and nothing hostile is read', () => {
  const token = returnPath.write({ id: MESSAGE, recipient: 0 });
  expect(returnPath.read(token.replace('0', 'o'))).toBeNull();
  expect(returnPath.read(token.replace('1', 'l'))).toBeNull();
  // The small letter of the Kelvin sign is k.
  expect(returnPath.read(token.replace('k', '\u212a'))).toBeNull();
  expect(returnPath.read(`${token.slice(0, 39)}\u0130`)).toBeNull();
  expect(returnPath.read('0'.repeat(10_000_000))).toBeNull();
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 40, maxLength: 40 }), (text) => {
      expect(returnPath.read(text)).toBeNull();
    }),
  );
});

test('a recipient that a token cannot hold is refused, and so is what is no message', () => {
  expect(returnPath.read(returnPath.write({ id: MESSAGE, recipient: 2 ** 24 - 2 }))).toEqual({
    id: MESSAGE,
    recipient: 2 ** 24 - 2,
  });
  for (const recipient of [-1, 2 ** 24 - 1, 2 ** 24, 0.5, Number.NaN])
    expect(() => returnPath.write({ id: MESSAGE, recipient })).toThrow(RangeError);
  expect(() => returnPath.write({ id: 'msg_1', recipient: 0 })).toThrow(RangeError);
});
