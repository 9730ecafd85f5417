import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { found, ScriptedResolver } from '../../test/support/scripted-resolver.ts';
import { evaluateSpf, parseSpf, spfRecords, walkSpf } from './spf.ts';

const forever = new AbortController().signal;

/** A zone of records, by `TYPE name`. */
function zone(records: Readonly<Record<string, readonly unknown[] | 'fail'>>): ScriptedResolver {
  return new ScriptedResolver(
    Object.fromEntries(
      Object.entries(records).map(([question, data]) => [
        question,
        // The test wrote the type beside the data.
        data === 'fail'
          ? { kind: 'failed' as const, cause: 'dns_timeout' as const, text: 'no answer' }
          : found<'TXT'>(data as readonly string[]),
      ]),
    ),
  );
}

const spf = (text: string, name = 'x.test') => ({ [`TXT ${name}`]: [`v=spf1 ${text}`] });

const hosts = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ preference: 1, exchange: `m${index}.test` }));

/** What `x.test` says of an address. */
async function of(address: string, records: Parameters<typeof zone>[0]) {
  return evaluateSpf((await walkSpf('x.test', zone(records), forever)).root, address);
}

describe('an address', () => {
  test.each<[string, string, Parameters<typeof zone>[0], string]>([
    ['in a range', '192.0.2.7', spf('ip4:192.0.2.0/24 -all'), 'pass'],
    ['in a range with bits set behind it', '192.0.2.7', spf('ip4:192.0.2.9/24 -all'), 'pass'],
    ['out of it', '192.0.3.7', spf('ip4:192.0.2.0/24 -all'), 'fail'],
    ['of the other family', '2001:db8::7', spf('ip4:0.0.0.0/0 ~all'), 'softfail'],
    ['that stands there', '2001:db8::7', spf('ip6:2001:DB8::7 -all'), 'pass'],
    ['that nothing is said of', '192.0.2.7', spf('ip4:192.0.3.1'), 'neutral'],
    ['that is asked for by ?all', '192.0.2.7', spf('?all'), 'neutral'],
    ['of the domain', '192.0.2.7', { ...spf('a -all'), 'A x.test': ['192.0.2.7'] }, 'pass'],
    ['near a host', '192.0.2.7', { ...spf('a:h.test/24 -all'), 'A h.test': ['192.0.2.1'] }, 'pass'],
    [
      'of a mail host',
      '192.0.2.7',
      { ...spf('mx -all'), 'MX x.test': [{ preference: 1, exchange: 'm.test' }], 'A m.test': ['192.0.2.7'] },
      'pass',
    ],
    [
      'of what is included',
      '192.0.2.7',
      { ...spf('include:y.test -all'), ...spf('ip4:192.0.2.7 -all', 'y.test') },
      'pass',
    ],
    [
      'that what is included refuses',
      '192.0.2.8',
      { ...spf('include:y.test ?all'), ...spf('-all', 'y.test') },
      'neutral',
    ],
    ['with an include that is not there', '192.0.2.8', spf('include:y.test -all'), 'permerror'],
    [
      'that the redirect takes',
      '192.0.2.7',
      { ...spf('redirect=y.test'), ...spf('ip4:192.0.2.7 -all', 'y.test') },
      'pass',
    ],
    ['with a redirect to nothing', '192.0.2.7', spf('redirect=y.test'), 'permerror'],
    ['with a redirect that depends on the message', '192.0.2.7', spf('redirect=%{d}.y.test'), 'unknown'],
    [
      'with a mail host too many',
      '192.0.2.7',
      { ...spf('mx -all'), 'MX x.test': hosts(11), 'A m0.test': ['192.0.2.7'] },
      'permerror',
    ],
    [
      'of the last mail host that may be',
      '192.0.2.7',
      { ...spf('mx -all'), 'MX x.test': hosts(10), 'A m9.test': ['192.0.2.7'] },
      'pass',
    ],
    [
      'that passes before a mail host too many',
      '192.0.2.7',
      { ...spf('ip4:192.0.2.7 mx -all'), 'MX x.test': hosts(11) },
      'pass',
    ],
    ['with a redirect behind all', '192.0.2.7', spf('redirect=y.test -all'), 'fail'],
    ['with a macro before', '192.0.2.7', spf('exists:%{i}.y.test -all'), 'unknown'],
    ['with a macro before what passes anyway', '192.0.2.7', spf('exists:%{i}.y.test ip4:192.0.2.7'), 'pass'],
    ['without a record', '192.0.2.7', { 'TXT x.test': ['hello', 'v=spf10 -all'] }, 'none'],
    ['with two records', '192.0.2.7', { 'TXT x.test': ['v=spf1 -all', 'v=spf1'] }, 'permerror'],
    ['with a wrong term', '192.0.2.7', spf('ipv4:192.0.2.7 -all'), 'permerror'],
    ['while the DNS is silent', '192.0.2.7', { 'TXT x.test': 'fail' }, 'unknown'],
    [
      'while it is silent on an include',
      '192.0.2.7',
      { ...spf('include:y.test -all'), 'TXT y.test': 'fail' },
      'unknown',
    ],
  ])('%s', async (_, address, records, expected) => {
    expect(await of(address, records)).toBe(expected);
  });
});

describe('what a record costs', () => {
  test('is counted over all that it leads to, also behind what matches', async () => {
    const records = {
      ...spf('a mx include:y.test exists:%{i} ptr ip4:192.0.2.1 -all'),
      ...spf('include:z.test a:h.test -all', 'y.test'),
      ...spf('-all', 'z.test'),
      'A x.test': ['192.0.2.1'],
    };
    const walk = await walkSpf('x.test', zone(records), forever);
    expect([walk.lookups, walk.voids, [...walk.includes]]).toEqual([7, 2, ['y.test', 'z.test']]);
  });

  test('is bounded, whatever the records say', async () => {
    const loop = await walkSpf('x.test', zone(spf('include:x.test include:x.test')), forever);
    expect(loop.lookups).toBeGreaterThan(10);
    const resolver = zone(spf('include:x.test include:x.test include:x.test'));
    await walkSpf('x.test', resolver, forever);
    expect(resolver.asked.length).toBeLessThan(40);
    expect(evaluateSpf(loop.root, '192.0.2.1')).toBe('permerror');
  });
});

describe('a term', () => {
  test.each<[string, boolean]>([
    ['', true],
    ['-all ?mx ~a/24 a//64 a:h.test/24//64 +ip4:1.2.3.4', true],
    ['exp=why.test unknown=thing', true],
    ['all:x', false],
    ['include', false],
    ['ip4', false],
    ['a/33', false],
    ['a//129', false],
    ['ip4:1.2.3.4//24', false],
    ['exists:x/24', false],
    ['redirect=', false],
    ['redirect=a.test redirect=b.test', false],
    ['!all', false],
    ['ip4:192.0.2.0/24 ip4:0.0.0.0/0 ip6:2001:db8::/32 ip6:::ffff:192.0.2.1 ip6:::/0', true],
    ['ip4:999.1.1.1', false],
    ['ip4:192.0.2', false],
    ['ip4:2001:db8::1', false],
    ['ip6:192.0.2.1', false],
    ['ip6:2001:db8::1%eth0', false],
    ['ip4:192.0.2.0/33', false],
    ['ip6:2001:db8::/129', false],
    ['ip4:192.0.2.1/08', false],
    ['ip4:192.0.2.1/', false],
    ['a/08', false],
    ['a//064', false],
    ['a/0//0', true],
    ['a:h.test/', false],
    ['a:/24', false],
    ['a:bad..name', false],
    ['a:h.test.', true],
    ['a:localhost', false],
    ['a:192.0.2.1', false],
    ['include:%', false],
    ['include:x.test/24', false],
    ['exists:%{i}._spf.%{d2r.-}.test', true],
    ['exists:%{ir}.%{v}._spf.%{d2}', true],
    ['include:%{d', false],
    ['include:%{x}.test', false],
    ['include:%{d0}.test', false],
    ['include:a%%b%_c%-.test', true],
    ['redirect=bad..name', false],
    ['redirect=%{d}._spf.test', true],
    ['exp=%{x', false],
    ['exp=a.test exp=b.test', false],
    ['thing=%{i}', true],
    ['thing=%{x', false],
  ])('%j', (terms, ok) => {
    expect(parseSpf(`v=spf1 ${terms}`).ok).toBe(ok);
  });

  test('too many of them are no record', () => {
    expect(parseSpf(`v=spf1 ${'a '.repeat(200)}`).ok).toBe(true);
    expect(parseSpf(`v=spf1 ${'a '.repeat(201)}`).ok).toBe(false);
  });

  test('of any text, no reader throws', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const record of spfRecords([`v=spf1 ${text}`, text])) parseSpf(record);
      }),
      { numRuns: 2000 },
    );
  });
});
