import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { code } from '../../test/peers/dns-faults.ts';
import { domainDesk, keyRecords, publishRecords } from '../../test/support/domain-desk.ts';
import { bounceDomainsOf, incomingDomainsOf } from '../config/bounces.ts';
import { MAX_DOMAIN_KEYS, MAX_DOMAINS, OVERLAP_MS } from '../domain/domain-keys.ts';
import type { RequestOf } from '../operations/table.ts';
import { realMachine } from './doctor/machine.ts';
import { changeDomain } from './domain-book.ts';
import { zoneLine } from './domain-records.ts';

const NAME = 'example.com';
const add = (more: Partial<RequestOf<'addDomain'>> = {}): RequestOf<'addDomain'> => ({
  name: NAME,
  algorithm: 'ed25519',
  selector: null,
  ...more,
});
const rotate = (more: Partial<RequestOf<'rotateDomain'>> = {}): RequestOf<'rotateDomain'> => ({
  name: NAME,
  algorithm: null,
  selector: null,
  now: false,
  ...more,
});

describe('a new domain', () => {
  test('has a key of each kind, which signs at once, and its public half is in the records', async () => {
    const { operations, domain } = await domainDesk();
    const { keys, records } = await operations.addDomain(add({ algorithm: 'both' }));
    expect(keys.map(({ selector, algorithm, state }) => [selector, algorithm, state])).toEqual([
      ['wb20261120r', 'rsa-sha256', 'signing'],
      ['wb20261120e', 'ed25519-sha256', 'signing'],
    ]);
    for (const { selector, privateKey, publicKey, algorithm } of domain(NAME)?.keys ?? []) {
      const secret = Buffer.from(privateKey ?? '', 'base64');
      const pair = createPublicKey(createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' }));
      const der = pair.export({ type: 'spki', format: 'der' });
      expect(publicKey).toBe((algorithm === 'rsa-sha256' ? der : der.subarray(-32)).toString('base64'));
      if (algorithm === 'rsa-sha256') expect(pair.asymmetricKeyDetails?.modulusLength).toBe(2048);
      const record = records.find(({ name }) => name === `${selector}._domainkey.${NAME}`);
      expect(record?.value).toContain(`p=${publicKey}`);
    }
    expect(JSON.stringify(await operations.domains({}))).not.toContain('PRIVATE');
  });

  test('is made once, though it is asked for twice at the same time', async () => {
    const { operations } = await domainDesk();
    const both = await Promise.allSettled([operations.addDomain(add()), operations.addDomain(add())]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await operations.domain({ name: NAME })).keys).toHaveLength(1);
  });

  test.each(['com', '', 'a@example.com', '[192.0.2.1]', 'ex ample.com', `${'a'.repeat(64)}.com`])(
    'is refused when it is %j',
    async (name) => {
      const { operations } = await domainDesk();
      await expect(operations.addDomain(add({ name }))).rejects.toMatchObject({ code: 'invalid' });
    },
  );

  test('whose records would have names that are too long is refused', async () => {
    const { operations } = await domainDesk();
    const name = `${`${'a'.repeat(60)}.`.repeat(3)}${'b'.repeat(50)}.test`;
    await expect(operations.addDomain(add({ name }))).rejects.toThrow('too long');
  });

  test('over the limit is refused', async () => {
    const { operations, deps } = await domainDesk();
    const definition = '{"since":0,"keys":[]}';
    for (let number = 0; number < MAX_DOMAINS; number++)
      await deps.registry.putDomain({ name: `d${number}.test`, definition, secrets: '{}' });
    await deps.reload();
    await expect(operations.addDomain(add())).rejects.toMatchObject({ code: 'refused' });
    await operations.removeDomain({ name: 'd7.test' });
    expect((await operations.addDomain(add())).name).toBe(NAME);
  });
});

describe('rotation', () => {
  test('waits for the records, and retires the old keys, whose secrets stay until they are forgotten', async () => {
    const { operations, deps, dns, domain, clock } = await domainDesk();
    await operations.addDomain(add({ selector: 'a' }));
    const rotated = await operations.rotateDomain(rotate({ selector: 'b' }));
    expect((await operations.checkDomains({ name: NAME }))[0]?.switchedTo).toEqual([]);
    publishRecords(dns, keyRecords(rotated, 'waiting'));
    expect((await operations.checkDomains({ name: null }))[0]?.switchedTo).toEqual(['b']);
    expect(domain(NAME)?.keys.map(({ selector, privateKey }) => [selector, privateKey === null])).toEqual([
      ['a', false],
      ['b', false],
    ]);
    const [row] = await deps.registry.domains();
    expect(Object.keys(JSON.parse(row?.secrets ?? '{}')).sort()).toEqual(['a', 'b']);
    await clock.advance(OVERLAP_MS);
    await operations.checkDomains({ name: NAME });
    const [later] = await deps.registry.domains();
    expect(Object.keys(JSON.parse(later?.secrets ?? '{}'))).toEqual(['b']);
  });

  test('does not wait when it is told not to', async () => {
    const { operations } = await domainDesk();
    await operations.addDomain(add({ selector: 'a' }));
    const { keys } = await operations.rotateDomain(rotate({ now: true, algorithm: 'both' }));
    expect(keys.map(({ state }) => state)).toEqual(['retired', 'signing', 'signing']);
  });

  test('never takes a selector twice, nor one that is none', async () => {
    const { operations } = await domainDesk();
    await operations.addDomain(add({ selector: 'a' }));
    await operations.rotateDomain(rotate({ selector: 'b', now: true }));
    for (const selector of ['a', 'b', 'a.b', '-', 'A'])
      await expect(operations.rotateDomain(rotate({ selector }))).rejects.toMatchObject({ code: 'invalid' });
  });

  test('over the limit is refused until retired keys are forgotten', async () => {
    const { operations, clock } = await domainDesk();
    await operations.addDomain(add());
    for (let made = 1; made < MAX_DOMAIN_KEYS; made++) await operations.rotateDomain(rotate({ now: true }));
    await expect(operations.rotateDomain(rotate({ now: true }))).rejects.toThrow('2026-12-25T00:00:00.000Z');
    await clock.advance(OVERLAP_MS);
    expect((await operations.rotateDomain(rotate({ now: true }))).keys).toHaveLength(2);
  });
});

test('changes that come at the same time see each other', async () => {
  const { deps, domain } = await domainDesk();
  const key = { algorithm: 'ed25519-sha256', publicKey: 'x', privateKey: 'y', createdAt: 1 } as const;
  const change = (selector: string) =>
    changeDomain(
      NAME,
      (before) => {
        const keys = [...(before?.keys ?? []), { ...key, selector, activeSince: 1, retiredAt: null }];
        return { name: NAME, since: 1, keys, returnPath: null };
      },
      deps,
    );
  await Promise.all(['a', 'b', 'c'].map(change));
  expect(domain(NAME)?.keys.map(({ selector }) => selector)).toEqual(['a', 'b', 'c']);
});

test('a domain that is not there is not found', async () => {
  const { operations } = await domainDesk();
  for (const act of [
    operations.domain({ name: NAME }),
    operations.removeDomain({ name: NAME }),
    operations.rotateDomain(rotate()),
    operations.checkDomains({ name: NAME }),
  ])
    await expect(act).rejects.toMatchObject({ code: 'not_found' });
});

test('the line of a zone file has strings of at most 255 octets, and says what the value says', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 4096 });
  const value = `v=DKIM1; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
  const line = zoneLine('s._domainkey.example.com', value);
  const strings = [...line.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text);
  expect(strings.join('')).toBe(value);
  expect(Math.max(...strings.map(({ length }) => length))).toBe(255);
  expect(zoneLine('a.test', 'a"b\\c')).toBe('a.test. 3600 IN TXT "a\\"b\\\\c"');
});

describe('a return path of its own', () => {
  const update = (returnPath: string | null): RequestOf<'updateDomain'> => ({ name: NAME, returnPath });

  test('waits until a check has seen its records, and is remembered as it was found', async () => {
    const { operations, deps, dns, domain } = await domainDesk();
    await operations.addDomain(add());
    const { returnPath, records } = await operations.updateDomain(update('Bounces.Example.com'));
    expect(returnPath).toEqual({ domain: 'bounces.example.com', state: 'waiting' });
    expect(records.filter(({ purpose }) => purpose.startsWith('return')).map(({ type }) => type)).toEqual([
      'MX',
      'TXT',
    ]);
    expect(bounceDomainsOf(deps.resolution().config).own.size).toBe(0);
    expect(incomingDomainsOf(deps.resolution().config).size).toBe(0);

    dns.set('bounces.example.com', 'MX', [{ preference: 10, exchange: 'in.example.com' }]);
    dns.set(
      'in.example.com',
      'A',
      realMachine(deps.clock)
        .addresses()
        .filter((one) => !one.includes(':')),
    );
    dns.set('bounces.example.com', 'TXT', ['v=spf1 +all']);
    const [checked] = await operations.checkDomains({ name: NAME });
    const own = checked?.findings.filter(({ name }) => name.startsWith('return path'));
    expect(own?.map(({ name, status }) => [name, status]).slice(0, 2)).toEqual([
      ['return path MX', 'ok'],
      ['return path SPF', 'ok'],
    ]);
    await deps.reload();
    expect((await operations.domain({ name: NAME })).returnPath?.state).toBe('used');
    expect(domain(NAME)?.returnPath?.seenAt).toBe(deps.clock.wall());
    expect(bounceDomainsOf(deps.resolution().config).own).toEqual(new Map([[NAME, 'bounces.example.com']]));

    dns.set('bounces.example.com', 'TXT', []);
    await operations.checkDomains({ name: NAME });
    expect((await operations.domain({ name: NAME })).returnPath?.state).toBe('failing');
    expect(bounceDomainsOf(deps.resolution().config).own.size).toBe(0);
    // What is under way still comes back.
    expect(incomingDomainsOf(deps.resolution().config)).toEqual(new Set(['bounces.example.com']));
    dns.set('bounces.example.com', 'TXT', ['v=spf1 +all']);
    await operations.checkDomains({ name: NAME });
    // Nobody knows: it stays as it was.
    dns.fault('bounces.example.com', code(2));
    await operations.checkDomains({ name: NAME });
    expect((await operations.domain({ name: NAME })).returnPath?.state).toBe('used');
    expect((await operations.updateDomain(update(null))).returnPath).toBeNull();
  });

  test('that does not align with the domain is told of', async () => {
    const { operations } = await domainDesk();
    await operations.addDomain(add());
    const told = async (returnPath: string) => {
      await operations.updateDomain(update(returnPath));
      const [checked] = await operations.checkDomains({ name: NAME });
      return checked?.findings.filter(({ name }) => name === 'return path').map(({ status }) => status);
    };
    expect(await told('bounces.example.net')).toEqual(['warn']);
    expect(await told('bounces.example.com')).toEqual([]);
  });

  test('waits again when it is changed', async () => {
    const { operations, domain } = await domainDesk();
    await operations.addDomain(add());
    await operations.updateDomain(update('b.example.com'));
    const known = domain(NAME)?.returnPath;
    await operations.updateDomain(update('b.example.com'));
    expect(domain(NAME)?.returnPath).toEqual(known);
    await operations.updateDomain(update('c.example.com'));
    expect(domain(NAME)?.returnPath).toEqual({ domain: 'c.example.com', seenAt: null, isGood: false });
  });

  test.each(['', 'com', 'a@b.example.com', '[192.0.2.1]', NAME])(
    'is refused when it is %j',
    async (domain) => {
      const { operations } = await domainDesk();
      await operations.addDomain(add());
      await expect(operations.updateDomain(update(domain))).rejects.toMatchObject({ code: 'invalid' });
    },
  );
});
