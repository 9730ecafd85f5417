/** What the check of DMARC makes of what the DNS says. */
import { describe, expect, test } from 'vitest';
import { type Case, found, table, txt } from '../../../test/support/domain-check.ts';
import { dmarcCheck } from './dmarc.ts';
import type { DomainCheck } from './inquiry.ts';

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
      ['^warn DMARC: .*counts as p=none.*"v=DMARC1; p=none; rua=mailto:a@example.com"$'],
    ],
    ['without reports', at('v=DMARC1; p=reject;'), ['^warn DMARC: .*"v=DMARC1; p=reject; rua=mailto:']],
    ['a wrong one', at('v=DMARC1; p=all'), ['^fail DMARC: .*is not a policy']],
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
    ['reports to a sibling', at('v=DMARC1; p=none; rua=mailto:a@reports.example.com'), ['^ok DMARC']],
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
        '^ok DMARC: The policy is sp=none, from example.com. .*publish sp=quarantine',
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
        '^ok DMARC: The policy is p=reject, from example.com',
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
        '^ok DMARC: The policy is p=reject, from b.example.com',
      ],
      [
        'a public suffix is not asked',
        'news.example.co.uk',
        at(`v=DMARC1; p=reject; ${rua}`, '_dmarc.co.uk'),
        '^fail DMARC: There is no policy',
      ],
    ])('%s', async (_, name, given, expected) => {
      expect(await found(below(name), given)).toEqual([expect.stringMatching(expected)]);
    });
  });

  test('of the domain above holds where it has none, but no top level is asked', async () => {
    const check: DomainCheck = (inquiry, signal) =>
      dmarcCheck({ ...inquiry, domain: { ...inquiry.domain, name: 'news.example.com' } }, signal);
    const above = await found(check, at('v=DMARC1; p=reject; rua=mailto:a@example.com'));
    expect(above).toEqual([expect.stringContaining('p=reject, from example.com')]);
    expect(await found(check, at('v=DMARC1; p=reject', '_dmarc.com'))).toEqual([
      expect.stringMatching(/^fail/),
    ]);
  });
});
