import { expect, test } from 'vitest';
import { domainKey, sendingDomain } from '../../test/support/dkim.ts';
import { createSigningKeys } from './keys.ts';
import { isSignedBy, MAX_UNDER_WAY, Signing } from './sign.ts';

const INPUT = Buffer.from('what is signed');
const keys = createSigningKeys()([
  sendingDomain('example.com'),
  sendingDomain('broken.test', [{ ...domainKey('ed', 'ed25519-sha256'), algorithm: 'rsa-sha256' }]),
]);

function keyOf(domain: string, selector: string) {
  const key = keys.held(domain, selector);
  if (key === null) throw new Error('there is no such key');
  return key;
}

test('a few are made at once, the others wait, and all are right', async () => {
  const signing = new Signing();
  const wanted = Array.from({ length: 40 }, (_, index) => keyOf('example.com', index % 2 ? 'rsa' : 'ed'));
  const made = wanted.map(async (key) => {
    const signature = await signing.sign(key, INPUT);
    expect(signing.underWay).toBeLessThanOrEqual(MAX_UNDER_WAY);
    expect(isSignedBy(key, INPUT, signature)).toBe(true);
    expect(isSignedBy(key, Buffer.from('other'), signature)).toBe(false);
    return signature;
  });
  expect(signing.underWay).toBe(MAX_UNDER_WAY);
  expect(new Set(await Promise.all(made)).size).toBe(2);
  expect(signing.underWay).toBe(0);
});

test('a key that cannot be used takes no place', async () => {
  const signing = new Signing();
  const broken = keyOf('broken.test', 'ed');
  for (let time = 0; time <= MAX_UNDER_WAY; time++)
    await expect(signing.sign(broken, INPUT)).rejects.toThrow('not of its algorithm');
  expect(signing.underWay).toBe(0);
  expect(isSignedBy(broken, INPUT, 'AAAA')).toBe(false);
});
