/** What each check of a domain makes of what the DNS says. */
import { describe, expect, test } from 'vitest';
import { premises, scriptedResolver } from '../../../test/support/premises.ts';
import type { DomainKey } from '../../domain/sending-domain.ts';
import { dkimCheck } from './dkim.ts';
import { dmarcCheck } from './dmarc.ts';
import type { DomainCheck, Inquiry } from './inquiry.ts';
import { mtaStsCheck, mxCheck, tlsReportCheck } from './receiving.ts';
import { spfCheck } from './spf.ts';

const T = Date.UTC(2026, 10, 22);
const forever = new AbortController().signal;
const KEY: DomainKey = {
  ...{ selector: 's1', algorithm: 'rsa-sha256', publicKey: 'cHVibGlj', privateKey: 'cHJpdg==' },
  ...{ createdAt: T, activeSince: T, retiredAt: null },
};
const OUT = 'delivery: { default_relay: d }\nserver: { hostname: mail.example.com }\nrelays:';
const MX = `${OUT} [{ name: d, type: mx, source_ips: [192.0.2.7] }]`;
const SENDGRID = `${OUT} [{ name: d, type: smtp, host: smtp.sendgrid.net }]`;
const ANYBODY = `${OUT} [{ name: d, type: smtp, host: smtp.elsewhere.test }]`;
const AT_HOME = `${OUT} [{ name: d, type: mx }]`;

interface Case {
  readonly zone?: Parameters<typeof scriptedResolver>[0];
  readonly file?: string;
  readonly keys?: readonly DomainKey[];
  readonly ownAddresses?: readonly string[];
  /** The text of the MTA-STS policy; absent: it cannot be had. */
  readonly policy?: string;
}

/** What is found, as `status name: sentence | cure`; lines of a cure are parted by blanks. */
async function found(check: DomainCheck, { zone = {}, file = '', keys = [KEY], policy, ownAddresses }: Case) {
  const inquiry: Inquiry = {
    domain: { name: 'example.com', since: T, keys },
    config: premises(file === '' ? {} : { file }).loaded.config,
    resolver: scriptedResolver(zone),
    fetchPolicy: async () =>
      policy === undefined ? { kind: 'failed', text: 'no answer' } : { kind: 'fetched', body: policy },
    ownAddresses: ownAddresses ?? [],
    now: T,
  };
  const findings = await check(inquiry, forever);
  return findings.map(
    ({ status, name, found: text, cure }) =>
      `${status} ${name}: ${text} | ${(cure ?? '').replaceAll('\n', ' ')}`,
  );
}

type Row = [what: string, given: Case, expected: readonly string[]];

/** Each finding has these words. */
function table(check: DomainCheck, rows: readonly Row[]): void {
  test.each(rows)('%s', async (_, given, expected) => {
    const findings = await found(check, given);
    expect(findings).toEqual(expected.map((words) => expect.stringMatching(words)));
  });
}

const txt = (name: string, ...records: readonly string[]) => ({ [`TXT ${name}`]: records });
const spf = (terms: string, name = 'example.com') => txt(name, `v=spf1 ${terms}`);

describe('SPF', () => {
  table(spfCheck, [
    ['no record', { file: MX }, ['^fail SPF: There is no record.* IN TXT "v=spf1 ip4:192.0.2.7 ~all"$']],
    ['two', { zone: txt('example.com', 'v=spf1 a', 'v=spf1 mx') }, ['^fail SPF: There are 2 records']],
    [
      'a wrong term',
      { zone: spf('ip:1.2.3.4 -all') },
      ['^fail SPF: .*none, ip:1.2.3.4,.*mend ip:1.2.3.4.*TXT "v=spf1 -all"$'],
    ],
    ['a silent DNS', { zone: { 'TXT example.com': 'fail' } }, ['^skipped SPF: .*no answer']],
    [
      'the address of a relay',
      { file: MX, zone: spf('ip4:192.0.2.0/24 -all') },
      ['^ok SPF: It allows 192.0.2.7; 0 of 10'],
    ],
    [
      'another address',
      { file: MX, zone: spf('ip4:192.0.3.1 -all') },
      ['^fail SPF: .*not allow 192.0.2.7.*result is fail. .*"v=spf1 ip4:192.0.2.7 ip4:192.0.3.1 -all"$'],
    ],
    [
      'the address of the machine',
      { file: AT_HOME, ownAddresses: ['10.0.0.1', '2001:db8::9'], zone: spf('-all') },
      ['ip6:2001:db8::9'],
    ],
    [
      'behind NAT, the address of its name',
      {
        file: AT_HOME,
        ownAddresses: ['10.0.0.1'],
        zone: { ...spf('-all'), 'A mail.example.com': ['192.0.2.9'] },
      },
      ['^fail SPF: .*not allow 192.0.2.9'],
    ],
    [
      'an address that nobody knows',
      { file: AT_HOME, zone: spf('-all') },
      ['^ok SPF: There is one record. Which public address'],
    ],
    [
      'a provider',
      {
        file: SENDGRID,
        zone: { ...spf('include:sendgrid.net -all'), ...spf('ip4:192.0.2.1 -all', 'sendgrid.net') },
      },
      ['^ok SPF: It allows sendgrid.net; 1 of 10'],
    ],
    [
      'a provider that is missing',
      { file: SENDGRID, zone: spf('mx -all') },
      ['^warn SPF: .*include sendgrid.net, by which the relay d.*"v=spf1 include:sendgrid.net mx -all"'],
    ],
    [
      'a smarthost of whom nothing is known',
      { file: ANYBODY, zone: spf('-all') },
      ['^ok SPF: .*smtp.elsewhere.test, its operator'],
    ],
    ['+all', { zone: spf('+all') }, ['^fail SPF: .*everybody.*"v=spf1 ~all"$']],
    [
      'one record cures all that it can',
      { file: MX, zone: spf('ip4:192.0.2.1 IP4:192.0.2.1 +all include:a.test') },
      ['^fail SPF: .*everybody.*TXT "v=spf1 ip4:192.0.2.1 ~all include:a.test"$'],
    ],
    [
      'an include that has no record',
      { file: MX, zone: spf('include:nx.test ip4:192.0.2.7 -all') },
      [
        '^fail SPF: .*include of nx.test, and it has no SPF record.*TXT "v=spf1 ip4:192.0.2.7 -all"$',
        '^fail SPF: .*result is permerror. . the same record as above$',
      ],
    ],
    [
      'an include that is never reached',
      { file: MX, zone: spf('ip4:192.0.2.7 -all include:nx.test') },
      ['^ok SPF'],
    ],
    [
      'an include that leads to a fault',
      {
        file: MX,
        zone: { ...spf('ip4:192.0.2.7 include:a.test -all'), ...spf('include:b.test -all', 'a.test') },
      },
      ['^fail SPF: .*include of a.test, and that leads to b.test: it has no SPF record'],
    ],
    [
      'a redirect to itself',
      { zone: spf('redirect=example.com') },
      [
        '^fail SPF: .*redirect of example.com, and that leads in a circle.*TXT "v=spf1 ~all"$',
        '^fail SPF: .*times',
      ],
    ],
    [
      'too many questions',
      { zone: { ...spf(`${'a '.repeat(11)}-all`), 'A example.com': ['192.0.2.1'] } },
      ['^fail SPF: .* 11 times'],
    ],
    [
      'a mail host too many',
      {
        zone: {
          ...spf('mx -all'),
          'MX example.com': Array.from({ length: 11 }, (_, at) => ({
            preference: 1,
            exchange: `m${at}.test`,
          })),
        },
      },
      ['^fail SPF: .*example.com has more than 10 mail hosts'],
    ],
    [
      'a redirect that depends on the message',
      { file: MX, zone: spf('redirect=%{d}.x.test') },
      ['^ok SPF: .*Whether it allows 192.0.2.7 depends'],
    ],
    [
      'an address of the other family',
      { file: MX, zone: spf('ip4:192.0.2.7 ip4:2001:db8::1 -all') },
      ['^fail SPF: .*none, ip4:2001:db8::1,.*"v=spf1 ip4:192.0.2.7 -all"$'],
    ],
    [
      'two explanations',
      { file: MX, zone: spf('ip4:192.0.2.7 exp=a.test exp=b.test -all') },
      ['^fail SPF: .*none, exp=b.test,.*"v=spf1 ip4:192.0.2.7 exp=a.test -all"$'],
    ],
    [
      'too many empty answers',
      { zone: spf('a:a.test a:b.test a:c.test -all') },
      ['^warn SPF: 3 of the names.*a:a.test, a:b.test, a:c.test'],
    ],
    [
      'a record that depends on the message',
      { file: MX, zone: spf('exists:%{i}.x.test -all') },
      ['^ok SPF: .*Whether it allows 192.0.2.7 depends'],
    ],
  ]);
});

describe('DKIM', () => {
  const right = txt('s1._domainkey.example.com', 'v=DKIM1; k=rsa; p=cHVi bGlj');
  const says = (text: string) => ({ zone: txt('s1._domainkey.example.com', text) });
  const line = 's1._domainkey.example.com. 3600 IN TXT "v=DKIM1; k=rsa; p=cHVibGlj"';
  table(dkimCheck, [
    ['the record', { zone: right }, ['^ok DKIM s1: It signs']],
    ['none', {}, [`^fail DKIM s1: .*no such record.*${line}$`]],
    ['another key', says('v=DKIM1; p=b3RoZXI='), ['^fail DKIM s1: .*another public key']],
    ['half of it', says('v=DKIM1; p=cHVi'), ['^fail DKIM s1: .*cut off']],
    ['a revoked one', says('v=DKIM1; p='), ['^fail DKIM s1: .*revoked']],
    [
      'another type',
      says('v=DKIM1; k=ed25519; p=cHVibGlj'),
      ['^fail DKIM s1: Its? .*k= is ed25519, and the key is rsa'],
    ],
    ['sha1 alone', says('v=DKIM1; h=sha1; p=cHVibGlj'), ['^fail DKIM s1: .*sha256']],
    ['another service', says('v=DKIM1; s=other; p=cHVibGlj'), ['^fail DKIM s1: .*email']],
    ['no key at all', says('hello'), ['^fail DKIM s1: .*no record of a key']],
    ['a trial', says('v=DKIM1; t=y; p=cHVibGlj'), ['^warn DKIM s1: .*t=y']],
    [
      'two records',
      { zone: txt('s1._domainkey.example.com', 'p=cHVibGlj', 'p=x') },
      ['^fail DKIM s1: .*2 records'],
    ],
    ['a silent DNS', { zone: { 'TXT s1._domainkey.example.com': 'fail' } }, ['^skipped DKIM s1']],
    ['a key that waits', { keys: [{ ...KEY, activeSince: null }] }, ['^warn DKIM s1: .*waits']],
    [
      'a retired key',
      { zone: right, keys: [{ ...KEY, privateKey: null, retiredAt: T }] },
      ['^ok DKIM s1: .*until 2026-12-27T'],
    ],
    [
      'a retired key whose record is gone',
      { keys: [{ ...KEY, privateKey: null, retiredAt: T }] },
      ['^warn DKIM s1: .*until 2026-12-27T'],
    ],
    [
      'a retired key whose record is revoked, as one that was betrayed must be',
      { ...says('v=DKIM1; k=rsa; p='), keys: [{ ...KEY, retiredAt: T }] },
      ['^ok DKIM s1: It is retired and revoked.* [|] $'],
    ],
    [
      'a key that cannot be read',
      { zone: right, keys: [{ ...KEY, privateKey: null }] },
      ['^fail DKIM s1: .*secret.key'],
    ],
    ['no keys', { keys: [] }, ['^fail DKIM: .*waybill domains rotate example.com']],
  ]);
});

describe('DMARC', () => {
  const at = (text: string, name = '_dmarc.example.com') => ({ zone: txt(name, text) });
  table(dmarcCheck, [
    ['none', {}, ['^fail DMARC: .*_dmarc.example.com. 3600 IN TXT "v=DMARC1; p=none; rua=']],
    [
      'a first policy',
      at('v=DMARC1; p=none; rua=mailto:a@example.com'),
      ['^ok DMARC: .*p=none.*p=quarantine'],
    ],
    [
      'a strict one',
      at('v=DMARC1; p=reject; rua=mailto:a@mail.example.com'),
      ['^ok DMARC: The policy is p=reject. '],
    ],
    [
      'one for none of the mail',
      at('v=DMARC1; p=reject; pct=0; rua=mailto:a@example.com'),
      ['^warn DMARC: .*p=reject, but pct=0 .*"v=DMARC1; p=reject; rua=mailto:a@example.com"$'],
    ],
    [
      'one for some of the mail',
      at('v=DMARC1; p=reject; pct=30; rua=mailto:a@example.com'),
      ['^ok DMARC: The policy is p=reject, for 30 % of the mail. '],
    ],
    [
      'one without p=',
      at('v=DMARC1; rua=mailto:a@example.com'),
      ['^warn DMARC: .*taken for p=none.*"v=DMARC1; p=none; rua=mailto:a@example.com"$'],
    ],
    ['without reports', at('v=DMARC1; p=reject;'), ['^warn DMARC: .*"v=DMARC1; p=reject; rua=mailto:']],
    ['a wrong one', at('v=DMARC1; p=all'), ['^fail DMARC: .*is no policy']],
    [
      'two',
      { zone: txt('_dmarc.example.com', 'v=DMARC1; p=none', 'v=DMARC1; p=reject') },
      ['^fail DMARC: There are 2'],
    ],
    [
      'reports to who does not take them',
      at('v=DMARC1; p=none; rua=mailto:a@r.test'),
      ['^warn DMARC: .*r.test.*example.com._report._dmarc.r.test. 3600 IN TXT "v=DMARC1"'],
    ],
    [
      'reports to who does',
      {
        zone: {
          ...at('v=DMARC1; p=none; rua=mailto:a@r.test').zone,
          ...txt('example.com._report._dmarc.r.test', 'v=DMARC1;'),
        },
      },
      ['^ok DMARC'],
    ],
    ['a silent DNS', { zone: { 'TXT _dmarc.example.com': 'fail' } }, ['^skipped DMARC']],
  ]);

  describe('above a domain', () => {
    const below: (name: string) => DomainCheck = (name) => (inquiry, signal) =>
      dmarcCheck({ ...inquiry, domain: { ...inquiry.domain, name } }, signal);
    const rua = 'rua=mailto:a@example.com';
    test.each<[string, string, Case, string]>([
      [
        'sp= is for what is below',
        'news.example.com',
        at(`v=DMARC1; p=reject; sp=none; ${rua}`),
        '^ok DMARC: The policy is sp=none, which is that of example.com. .*publish sp=quarantine',
      ],
      [
        'the highest counts, as receivers do not ask those between',
        'a.b.example.com',
        {
          zone: {
            ...at(`v=DMARC1; p=reject; ${rua}`).zone,
            ...at(`v=DMARC1; p=none; ${rua}`, '_dmarc.b.example.com').zone,
          },
        },
        '^ok DMARC: The policy is p=reject, which is that of example.com',
      ],
      [
        'but that of a public suffix',
        'a.b.example.com',
        {
          zone: {
            ...at(`v=DMARC1; p=none; psd=y; ${rua}`).zone,
            ...at('v=DMARC1; p=reject; rua=mailto:a@b.example.com', '_dmarc.b.example.com').zone,
          },
        },
        '^ok DMARC: The policy is p=reject, which is that of b.example.com',
      ],
    ])('%s', async (_, name, given, expected) => {
      expect(await found(below(name), given)).toEqual([expect.stringMatching(expected)]);
    });
  });

  test('of the domain above holds where it has none, but no top level is asked', async () => {
    const check: DomainCheck = (inquiry, signal) =>
      dmarcCheck({ ...inquiry, domain: { ...inquiry.domain, name: 'news.example.com' } }, signal);
    const above = await found(check, at('v=DMARC1; p=reject; rua=mailto:a@example.com'));
    expect(above).toEqual([expect.stringContaining('p=reject, which is that of example.com')]);
    expect(await found(check, at('v=DMARC1; p=reject', '_dmarc.com'))).toEqual([
      expect.stringMatching(/^fail/),
    ]);
  });
});

describe('receiving', () => {
  const mx = { 'MX example.com': [{ preference: 10, exchange: 'mx.example.com' }] };
  const sts = txt('_mta-sts.example.com', 'v=STSv1; id=1');
  const policy = (mode: string, host: string) =>
    `version: STSv1\nmode: ${mode}\nmx: ${host}\nmax_age: 86400\n`;

  describe('MX', () => {
    table(mxCheck, [
      [
        'a host',
        { zone: { ...mx, 'A mx.example.com': ['192.0.2.1'] } },
        ['^ok MX: Mail goes to mx.example.com'],
      ],
      ['a host without an address', { zone: mx }, ['^fail MX: .*no address.*record of mx.example.com']],
      ['null MX', { zone: { 'MX example.com': [{ preference: 0, exchange: '' }] } }, ['^fail MX: .*null MX']],
      ['the domain itself', { zone: { 'A example.com': ['192.0.2.1'] } }, ['^ok MX: .*192.0.2.1']],
      ['nothing', {}, ['^fail MX: No host']],
      ['a silent DNS', { zone: { 'MX example.com': 'fail' } }, ['^skipped MX']],
    ]);
  });

  describe('MTA-STS', () => {
    table(mtaStsCheck, [
      [
        'none',
        { zone: mx },
        [
          '^skipped MTA-STS: .*usual.*_mta-sts.example.com. 3600 IN TXT "v=STSv1; id=20261122".*mx: mx.example.com',
        ],
      ],
      ['none, and no host', {}, ['^skipped MTA-STS: .*no MX record']],
      [
        'a wrong record',
        { zone: { ...mx, ...txt('_mta-sts.example.com', 'v=STSv1') } },
        ['^warn MTA-STS: .*fault'],
      ],
      ['no file', { zone: { ...mx, ...sts } }, ['^warn MTA-STS: .*cannot be had: no answer']],
      ['a wrong file', { zone: { ...mx, ...sts }, policy: 'hello' }, ['^warn MTA-STS: .*is none']],
      [
        'a good one',
        { zone: { ...mx, ...sts }, policy: policy('enforce', '*.example.com') },
        ['^ok MTA-STS: .*enforce'],
      ],
      [
        'a host that is not named',
        { zone: { ...mx, ...sts }, policy: policy('enforce', 'other.test') },
        ['^fail MTA-STS: .*not name mx.example.com'],
      ],
      [
        'the same while testing',
        { zone: { ...mx, ...sts }, policy: policy('testing', 'other.test') },
        ['^warn MTA-STS'],
      ],
    ]);
  });

  describe('TLS-RPT', () => {
    const at = (...records: string[]) => ({ zone: txt('_smtp._tls.example.com', ...records) });
    table(tlsReportCheck, [
      ['none', {}, ['^skipped TLS-RPT: .*_smtp._tls.example.com. 3600 IN TXT "v=TLSRPTv1; rua=mailto:']],
      ['one', at('v=TLSRPTv1; rua=mailto:a@x.test'), ['^ok TLS-RPT: Reports go to mailto:a@x.test']],
      ['two', at('v=TLSRPTv1; rua=mailto:a@x.test', 'v=TLSRPTv1; rua=mailto:b@x.test'), ['^warn TLS-RPT']],
      ['a wrong one', at('v=TLSRPTv1; rua=x'), ['^warn TLS-RPT']],
    ]);
  });
});
