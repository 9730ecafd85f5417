/** What each check of a domain makes of what the DNS says. */
import { describe } from 'vitest';
import { KEY, T, table, txt } from '../../../test/support/domain-check.ts';
import { dkimCheck } from './check.ts';
import { mtaStsCheck, mxCheck, tlsReportCheck } from './receiving.ts';
import { spfCheck } from './spf.ts';

const OUT = 'delivery: { default_relay: d }\nserver: { hostname: mail.example.com }\nrelays:';
const MX = `${OUT} [{ name: d, type: mx, source_ips: [192.0.2.7] }]`;
const SENDGRID = `${OUT} [{ name: d, type: smtp, host: smtp.sendgrid.net }]`;
const ANYBODY = `${OUT} [{ name: d, type: smtp, host: smtp.elsewhere.test }]`;
const AT_HOME = `${OUT} [{ name: d, type: mx }]`;

const spf = (terms: string, name = 'example.com') => txt(name, `v=spf1 ${terms}`);

describe('SPF', () => {
  table(spfCheck, [
    ['no record', { file: MX }, ['^fail SPF: There is no record.* IN TXT "v=spf1 ip4:192.0.2.7 ~all"$']],
    ['two', { zone: txt('example.com', 'v=spf1 a', 'v=spf1 mx') }, ['^fail SPF: There are 2 records']],
    [
      'a wrong term',
      { zone: spf('ip:1.2.3.4 -all') },
      ['^fail SPF: .*term, ip:1.2.3.4,.*correct ip:1.2.3.4.*TXT "v=spf1 -all"$'],
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
      ['^ok SPF: There is one record. It is unknown which public address'],
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
      ['^warn SPF: .*include sendgrid.net, through which the relay d.*"v=spf1 include:sendgrid.net mx -all"'],
    ],
    [
      'a smarthost of whom nothing is known',
      { file: ANYBODY, zone: spf('-all') },
      ['^ok SPF: .*operator of smtp.elsewhere.test'],
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
      ['^fail SPF: .*term, ip4:2001:db8::1,.*"v=spf1 ip4:192.0.2.7 -all"$'],
    ],
    [
      'two explanations',
      { file: MX, zone: spf('ip4:192.0.2.7 exp=a.test exp=b.test -all') },
      ['^fail SPF: .*term, exp=b.test,.*"v=spf1 ip4:192.0.2.7 exp=a.test -all"$'],
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
    ['another key', says('v=DKIM1; p=b3RoZXI='), ['^fail DKIM s1: .*a different public key']],
    ['half of it', says('v=DKIM1; p=cHVi'), ['^fail DKIM s1: .*cut off']],
    ['a revoked one', says('v=DKIM1; p='), ['^fail DKIM s1: .*revoked']],
    [
      'another type',
      says('v=DKIM1; k=ed25519; p=cHVibGlj'),
      ['^fail DKIM s1: Its? .*k= is ed25519, and the key is rsa'],
    ],
    ['sha1 alone', says('v=DKIM1; h=sha1; p=cHVibGlj'), ['^fail DKIM s1: .*sha256']],
    ['another service', says('v=DKIM1; s=other; p=cHVibGlj'), ['^fail DKIM s1: .*email']],
    ['no key at all', says('hello'), ['^fail DKIM s1: .*not a key record']],
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
      ['no file', { zone: { ...mx, ...sts } }, ['^warn MTA-STS: .*cannot be fetched: no answer']],
      ['a wrong file', { zone: { ...mx, ...sts }, policy: 'hello' }, ['^warn MTA-STS: .*is invalid']],
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
