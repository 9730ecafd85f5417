import { expect, test } from 'vitest';
import type { DomainKey, SendingDomain } from '../domain/domain-keys.ts';
import { seededRandom } from '../lib/random.ts';
import { foreignDomains, openDomains, sealDomain } from './domains.ts';
import { formatFault } from './fault.ts';
import { createVault } from './secrets.ts';

const VAULT = createVault(new Uint8Array(32).fill(1), seededRandom(1));
const OTHER = createVault(new Uint8Array(32).fill(2), seededRandom(2));

const KEY: DomainKey & { privateKey: string } = {
  selector: 's1',
  algorithm: 'ed25519-sha256',
  publicKey: 'cHVi',
  privateKey: 'cHJpdmF0ZQ==',
  createdAt: 5,
  activeSince: 5,
  retiredAt: null,
};
const DOMAIN: SendingDomain = {
  name: 'example.com',
  since: 5,
  keys: [KEY, { ...KEY, selector: 's2', retiredAt: 7, privateKey: null }],
  returnPath: { domain: 'bounces.example.com', seenAt: 6, isGood: false },
};

test('a stored domain is read as it was, and nothing of its keys is in the row', () => {
  const row = sealDomain(DOMAIN, VAULT, null);
  expect(JSON.stringify(row)).not.toContain(KEY.privateKey);
  expect(openDomains([row], VAULT)).toEqual({ domains: [DOMAIN], unreadable: [], faults: [] });
});

test('a domain without a return path of its own is as older versions stored it', () => {
  const row = sealDomain({ ...DOMAIN, returnPath: null }, VAULT, null);
  expect(JSON.parse(row.definition)).not.toHaveProperty('returnPath');
  expect(openDomains([row], VAULT).domains).toEqual([{ ...DOMAIN, returnPath: null }]);
});

test('with another key the domain stays, and its keys cannot sign', () => {
  const row = sealDomain(DOMAIN, VAULT, null);
  for (const vault of [OTHER, null]) {
    const { domains, unreadable, faults } = openDomains([row], vault);
    expect(domains[0]?.keys.map(({ privateKey }) => privateKey)).toEqual([null, null]);
    expect([unreadable, faults]).toEqual([['example.com'], []]);
  }
  expect([foreignDomains([row], VAULT), foreignDomains([row], OTHER)]).toEqual([[], ['example.com']]);
});

test("a key's secret is another domain's or selector's in vain", () => {
  const row = sealDomain(DOMAIN, VAULT, null);
  expect(openDomains([{ ...row, name: 'example.org' }], VAULT).unreadable).toEqual(['example.org']);
  const other = { ...row, definition: row.definition.replace('"s1"', '"s3"') };
  const moved = { ...other, secrets: row.secrets.replace('"s1"', '"s3"') };
  expect(openDomains([moved], VAULT).unreadable).toEqual(['example.com']);
});

test('what cannot be opened now is kept as it was sealed', () => {
  const row = sealDomain(DOMAIN, VAULT, null);
  const [blind] = openDomains([row], OTHER).domains;
  const again = sealDomain(blind ?? DOMAIN, OTHER, row);
  expect(openDomains([again], VAULT).domains).toEqual([DOMAIN]);
});

test('a retired key that cannot be opened is nothing to tell of', () => {
  const retired = { ...DOMAIN, keys: DOMAIN.keys.map((key) => ({ ...key, retiredAt: 9 })) };
  const row = sealDomain(retired, VAULT, null);
  expect([openDomains([row], OTHER).unreadable, foreignDomains([row], OTHER)]).toEqual([[], []]);
  expect(openDomains([row], VAULT).domains).toEqual([retired]);
});

test('a row of another shape is a fault, and the others are read', () => {
  const row = sealDomain(DOMAIN, VAULT, null);
  for (const broken of [{ definition: '{}' }, { definition: '{' }, { secrets: '[1]' }]) {
    const { domains, faults } = openDomains([{ ...row, ...broken, name: 'b.example' }, row], VAULT);
    expect(domains).toEqual([DOMAIN]);
    expect(faults.map(formatFault)[0]).toContain('domains.b.example: is not as this version stores it');
  }
});
