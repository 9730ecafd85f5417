import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAILBOX_PROVIDERS, mailboxProviderOf } from './mailbox-provider.ts';

const NAME = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/;

const nameOf = (domain: string, mxHost: string | null = null) =>
  mailboxProviderOf(domain, mxHost)?.name ?? null;

describe('the table', () => {
  const domains = MAILBOX_PROVIDERS.flatMap((provider) => provider.domains);
  const suffixes = MAILBOX_PROVIDERS.flatMap((provider) => provider.mxSuffixes);
  test('names no provider, domain or suffix twice', () => {
    for (const list of [MAILBOX_PROVIDERS.map(({ name }) => name), domains, suffixes])
      expect(list.filter((entry, place) => list.indexOf(entry) !== place)).toEqual([]);
  });
  test('has no suffix within another', () => {
    const within = suffixes.filter((one) => suffixes.some((other) => other !== one && one.endsWith(other)));
    expect(within).toEqual([]);
  });
  test('has names in lower case and A-labels, suffixes with a dot before', () => {
    expect(domains.filter((domain) => !NAME.test(domain))).toEqual([]);
    expect(suffixes.filter((suffix) => !suffix.startsWith('.') || !NAME.test(suffix.slice(1)))).toEqual([]);
  });
  test('can tell each provider by something, and has a pace that starts within its bounds', () => {
    for (const { name, domains: its, mxSuffixes, ...pace } of MAILBOX_PROVIDERS) {
      expect(name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      expect(its.length + mxSuffixes.length, name).toBeGreaterThan(0);
      expect(pace.initialConcurrency, name).toBeGreaterThanOrEqual(1);
      expect(pace.maxConcurrency, name).toBeGreaterThanOrEqual(pace.initialConcurrency);
      expect(pace.maxConcurrency, name).toBeLessThanOrEqual(50);
      expect(pace.maxRatePerSecond, name).toBeGreaterThanOrEqual(0);
      expect(pace.source.length, name).toBeGreaterThan(20);
    }
  });
});

describe('the provider of a domain', () => {
  test.each([
    ['gmail.com', null, 'google'],
    ['googlemail.com', null, 'google'],
    ['company.example', 'aspmx.l.google.com', 'google'],
    ['company.example', 'ALT1.ASPMX.L.GOOGLE.COM.', 'google'],
    ['company.example', 'aspmx2.googlemail.com', 'google'],
    ['company.example', 'smtp.google.com', 'google'],
    ['hotmail.com', null, 'microsoft'],
    ['outlook.fr', 'outlook-com.olc.protection.outlook.com', 'microsoft'],
    ['company.example', 'company-example.mail.protection.outlook.com', 'microsoft-365'],
    ['company.example', 'company-example.o-v1.mx.microsoft', 'microsoft-365'],
    ['aol.com', null, 'yahoo'],
    ['company.example', 'mta5.am0.yahoodns.net', 'yahoo'],
    ['me.com', 'mx01.mail.icloud.com', 'icloud'],
    ['web.de', 'mx-ha02.web.de', 'united-internet'],
    ['company.example', 'mx00.kundenserver.de', 'ionos'],
    ['company.example', 'mxa-00000000.gslb.pphosted.com', 'proofpoint'],
    ['company.example', 'eu-smtp-inbound-1.mimecast.com', 'mimecast'],
    ['company.example', null, null],
    ['company.example', 'mail.company.example', null],
    ['company.example', '', null],
    ['company.example', '.', null],
    // Only whole labels count.
    ['company.example', 'mx.notgoogle.com', null],
    ['company.example', 'google.com.attacker.example', null],
    ['notgmail.com', null, null],
    ['sub.gmail.com', null, null],
    ['constructor', '__proto__', null],
  ])('%s by %s: %s', (domain, mxHost, name) => {
    expect(nameOf(domain, mxHost)).toBe(name);
  });
  test('is that of the servers it has moved to', () => {
    expect(nameOf('comcast.net', 'mx.example.mail.protection.outlook.com')).toBe('microsoft-365');
    expect(nameOf('comcast.net', 'mx1.unknown.example')).toBe('comcast');
  });
});

const label = fc.stringMatching(/^[a-z0-9]{1,12}$/);
const host = fc.array(label, { minLength: 1, maxLength: 12 }).map((labels) => labels.join('.'));

test('every suffix is found below any labels, in any case, with or without the last dot', () => {
  const rows = MAILBOX_PROVIDERS.flatMap(({ name, mxSuffixes }) =>
    mxSuffixes.map((suffix) => ({ name, suffix })),
  );
  fc.assert(
    fc.property(fc.constantFrom(...rows), host, fc.boolean(), fc.boolean(), (row, before, upper, dot) => {
      const mxHost = `${before}${row.suffix}${dot ? '.' : ''}`;
      expect(nameOf('company.example', upper ? mxHost.toUpperCase() : mxHost)).toBe(row.name);
    }),
  );
});

test('whatever is asked, the answer is what a look through the whole table finds', () => {
  const some = fc.constantFrom(
    ...MAILBOX_PROVIDERS.flatMap(({ domains, mxSuffixes }) => [...domains, ...mxSuffixes]),
  );
  const text = fc.oneof(
    host,
    some,
    fc.tuple(host, some).map(([a, b]) => a + b),
    fc.string(),
  );
  fc.assert(
    fc.property(text, text, (domain, mxHost) => {
      const end = `.${mxHost.toLowerCase().replace(/\.$/, '')}`;
      const found =
        MAILBOX_PROVIDERS.find(({ mxSuffixes }) => mxSuffixes.some((suffix) => end.endsWith(suffix))) ??
        MAILBOX_PROVIDERS.find(({ domains }) => domains.includes(domain));
      expect(nameOf(domain, mxHost)).toBe(found?.name ?? null);
    }),
  );
});
