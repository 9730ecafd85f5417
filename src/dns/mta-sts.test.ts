import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesPolicy, parseStsPolicy, parseStsRecord } from './mta-sts.ts';

test.each([
  ['v=STSv1; id=20160831085700Z;', '20160831085700Z'],
  ['v=STSv1;id=1', '1'],
  ['v=STSv1 \t;\tid=1 ; more=x', '1'],
])('a record gives its id: %s', (record, id) => {
  expect(parseStsRecord([record])).toBe(id);
  // What is something else entirely does not count.
  expect(parseStsRecord(['v=spf1 -all', record, 'v=STSv11; id=2'])).toBe(id);
});

test.each([
  [[]],
  [['v=STSv1;']],
  [['v=STSv1; id=']],
  [['v=STSv1; id=a-b']],
  [[`v=STSv1; id=${'1'.repeat(33)}`]],
  [['v=STSv1; id = 1']],
  [['v=STSv1; id=1;; x=y']],
  [[' v=STSv1; id=1']],
  [['id=1; v=STSv1;']],
  [['V=stsv1; id=1']],
  [['v=STSv1; id=1', 'v=STSv1; id=1']],
])('no record, a faulty one, or two of them mean none: %j', (records) => {
  expect(parseStsRecord(records)).toBeNull();
});

const POLICY =
  'version: STSv1\r\nmode: enforce\r\nmx: mail.a.test\r\nmx: *.Example.net\r\nmax_age: 604800\r\n';

test('a policy is read in any order, with any line ends, and the first field of a name counts', () => {
  const policy = { mode: 'enforce', mx: ['mail.a.test', '*.example.net'], maxAgeSeconds: 604_800 };
  expect(parseStsPolicy(POLICY)).toEqual({ ok: true, policy });
  const lines = POLICY.trim().split('\r\n');
  expect(parseStsPolicy([...lines.slice(2), ...lines.slice(0, 2)].join('\n'))).toEqual({ ok: true, policy });
  expect(parseStsPolicy(`${POLICY}mode: none\nmax_age: 1\nx-new: ü\n\n`)).toEqual({ ok: true, policy });
});

test('a policy holds a year at most', () => {
  expect(parseStsPolicy(POLICY.replace('604800', '9999999999'))).toMatchObject({
    policy: { maxAgeSeconds: 31_557_600 },
  });
});

test('mode none needs no hosts', () => {
  expect(parseStsPolicy('version: STSv1\nmode: none\nmax_age: 86400')).toEqual({
    ok: true,
    policy: { mode: 'none', mx: [], maxAgeSeconds: 86_400 },
  });
});

test.each([
  ['', 'its version is not STSv1'],
  [POLICY.replace('STSv1', 'STSv2'), 'its version is not STSv1'],
  [POLICY.replace('enforce', 'Enforce'), 'its mode is not enforce, testing or none'],
  [POLICY.replace('mode:', 'Mode:'), 'its mode is not enforce, testing or none'],
  [POLICY.replace('604800', '1 day'), 'its max_age is no number of seconds'],
  [POLICY.replace('604800', '-1'), 'its max_age is no number of seconds'],
  [POLICY.replaceAll('mx:', 'my:'), 'it names no mx'],
  [POLICY.replace('mail.a.test', '192.0.2.1'), 'an mx is no name of a host'],
  [POLICY.replace('mail.a.test', '*'), 'an mx is no name of a host'],
  [POLICY.replace('mail.a.test', '*.*.test'), 'an mx is no name of a host'],
  [`${POLICY}<html>`, 'a line is no field'],
])('a file with a fault is no policy: %j', (text, reason) => {
  expect(parseStsPolicy(text)).toEqual({ ok: false, reason });
});

test.each([
  ['mail.a.test', true],
  ['MAIL.A.TEST', true],
  ['x.mail.a.test', false],
  ['a.test', false],
  ['mx1.example.net', true],
  ['example.net', false],
  ['a.b.example.net', false],
  ['xexample.net', false],
  ['net', false],
])('a host is named, or one label stands for the star: %s', (host, expected) => {
  const parsed = parseStsPolicy(POLICY);
  expect(parsed.ok && matchesPolicy(parsed.policy, host)).toBe(expected);
});

test('any text is a policy or is not, and what is one is read again the same', () => {
  const line = fc.constantFrom(
    'version: STSv1',
    'mode: testing',
    'max_age: 1',
    'mx: a.test',
    'mx:*.b.test ',
    '',
    'x: y',
    'z',
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'), (lines, end) => {
      const parsed = parseStsPolicy(lines.join(end));
      expect(parsed.ok).toBe(
        !lines.includes('z') &&
          (['version: STSv1', 'mode: testing', 'max_age: 1'] as const).every((needed) =>
            lines.includes(needed),
          ) &&
          lines.some((given) => given.startsWith('mx')),
      );
    }),
  );
});

test('a policy as long as one may be takes no longer for the blanks in it', () => {
  const before = process.threadCpuUsage().user;
  const text = `version: STSv1\nmode: x${' \t'.repeat(32_000)}y\n`;
  expect(parseStsPolicy(text)).toMatchObject({ ok: false });
  expect(parseStsRecord([`v=STSv1; id=x${' '.repeat(65_000)}y`])).toBeNull();
  // It took five seconds, in which nobody else had a turn.
  expect((process.threadCpuUsage().user - before) / 1000).toBeLessThan(1000);
});
