import { expect, test } from 'vitest';
import { premises, scriptedResolver } from '../../../test/support/premises.ts';
import type { DomainKey } from '../../domain/domain-keys.ts';
import { domainsCheck, tlsReportsCheck } from './identity.ts';

const KEY: DomainKey = {
  selector: 's1',
  algorithm: 'ed25519-sha256',
  publicKey: 'cHVi',
  privateKey: 'cHJpdg==',
  createdAt: 1,
  activeSince: 2,
  retiredAt: null,
};
const forever = new AbortController().signal;

/** What is found where these keys are a domain's, and the DNS says this. */
async function found(
  keys: readonly DomainKey[] | null,
  zone: Parameters<typeof scriptedResolver>[0],
  unreadableDomains: readonly string[] = [],
) {
  const usual = premises({ resolver: scriptedResolver(zone) });
  const domains = keys === null ? [] : [{ name: 'example.com', since: 1, keys, returnPath: null }];
  const config = { ...usual.loaded.config, domains, unreadableDomains };
  const findings = await domainsCheck({ ...usual, loaded: { ...usual.loaded, config } }, forever);
  return findings.map(({ status, name, cure }) => `${status} ${name}${cure === null ? '' : `: ${cure}`}`);
}

const PLACE = 'TXT s1._domainkey.example.com';
const LINE = 's1._domainkey.example.com. 3600 IN TXT "v=DKIM1; k=ed25519; p=cHVi"';

test.each<[string, Promise<string[]>, string[]]>([
  ['no domain', found(null, {}), ['skipped domains']],
  ['a record that is right', found([KEY], { [PLACE]: ['v=DKIM1; k=ed25519; p=cHVi'] }), ['ok domains']],
  ['none', found([KEY], {}), [`fail domain example.com: publish, in the DNS:\n${LINE}`]],
  [
    'none of two keys',
    found([KEY, { ...KEY, selector: 's2' }], {}),
    [`fail domain example.com: publish, in the DNS:\n${LINE}\n${LINE.replace('s1', 's2')}`],
  ],
  [
    'one of another key',
    found([KEY], { [PLACE]: ['v=DKIM1; k=ed25519; p=b3Ro'] }),
    [`fail domain example.com: publish, in the DNS:\n${LINE}`],
  ],
  ['a DNS that is silent', found([KEY], { [PLACE]: 'fail' }), ['skipped domain example.com']],
  ['a key that waits', found([{ ...KEY, activeSince: null }], {}), ['ok domains']],
  ['a key that is retired', found([{ ...KEY, retiredAt: 3 }], {}), ['ok domains']],
  [
    'a key that cannot be read',
    found([{ ...KEY, privateKey: null }], {}, ['example.com']),
    [expect.stringContaining('fail domain example.com: put back')],
  ],
])('%s', async (_, findings, expected) => {
  expect(await findings).toEqual(expected);
});

test.each<[string, string | null, readonly DomainKey[] | null, string]>([
  ['are off', null, [KEY], 'skipped tls reports'],
  ['are signed', 'tls@example.com', [KEY], 'ok tls reports'],
  ['are signed by the domain above', 'tls@mail.Example.com', [KEY], 'ok tls reports'],
  ['have no domain', 'tls@example.com', null, 'fail tls reports: waybill domains add example.com'],
  [
    'are of another domain',
    'tls@notexample.com',
    [KEY],
    'fail tls reports: waybill domains add notexample.com',
  ],
  [
    'have a key that does not sign',
    'tls@example.com',
    [{ ...KEY, retiredAt: 3 }],
    'fail tls reports: waybill domains rotate example.com --now',
  ],
])('TLS reports that %s', async (_, from, keys, expected) => {
  const usual = premises({});
  const domains = keys === null ? [] : [{ name: 'example.com', since: 1, keys, returnPath: null }];
  const config = { ...usual.loaded.config, domains, tlsReports: { from, organization: null } };
  const [finding] = await tlsReportsCheck({ ...usual, loaded: { ...usual.loaded, config } }, forever);
  const cure = finding?.cure ?? null;
  expect(`${finding?.status} ${finding?.name}${cure === null ? '' : `: ${cure}`}`).toBe(expected);
});
