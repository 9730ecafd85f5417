import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { found, ScriptedResolver, unknown } from '../../test/support/scripted-resolver.ts';
import {
  MtaStsPolicies,
  matchesPolicy,
  type PolicyFetch,
  parseStsPolicy,
  parseStsRecord,
} from './mta-sts.ts';

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
  [POLICY.replace('604800', '1 day'), 'its max_age is not a number of seconds'],
  [POLICY.replace('604800', '-1'), 'its max_age is not a number of seconds'],
  [POLICY.replaceAll('mx:', 'my:'), 'it names no mx'],
  [POLICY.replace('mail.a.test', '192.0.2.1'), 'an mx is not a host name'],
  [POLICY.replace('mail.a.test', '*'), 'an mx is not a host name'],
  [POLICY.replace('mail.a.test', '*.*.test'), 'an mx is not a host name'],
  [`${POLICY}<html>`, 'a line is not a field'],
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

const signal = new AbortController().signal;
const HOUR_MS = 3_600_000;

/** A domain `a.test` with a policy for a day, and what is fetched of it. */
function world(maxEntries?: number) {
  const clock = new ManualClock();
  const resolver = new ScriptedResolver();
  const state = { body: policy('enforce'), failure: null as string | null, hangs: false, fetched: 0 };
  const fetch: PolicyFetch = async (_domain, limit) => {
    state.fetched += 1;
    if (state.hangs) await new Promise((resolve) => limit.addEventListener('abort', resolve));
    return state.failure === null
      ? { kind: 'fetched', body: state.body }
      : { kind: 'failed', text: state.failure };
  };
  const parts = { clock, fetch, ...(maxEntries === undefined ? {} : { maxEntries }) };
  const policies = new MtaStsPolicies(parts);
  const publish = (id: string | null, domain = 'a.test') => {
    resolver.script = {
      ...resolver.script,
      [`TXT _mta-sts.${domain}`]: id === null ? unknown() : found<'TXT'>([`v=STSv1; id=${id}`]),
    };
  };
  const ask = async (domain = 'a.test') => {
    const verdict = await policies.policyFor(domain, resolver, signal);
    return verdict.kind === 'policy' ? `${verdict.source} ${verdict.id} ${verdict.policy.mode}` : verdict.why;
  };
  return { clock, resolver, state, policies, publish, ask };
}

function policy(mode: string, maxAge = 86_400): string {
  return `version: STSv1\nmode: ${mode}\nmx: mx.a.test\nmax_age: ${maxAge}\n`;
}

test('a domain without a record has no policy, and nothing is fetched', async () => {
  const { ask, state } = world();
  expect(await ask()).toBeNull();
  expect(state.fetched).toBe(0);
});

test('a policy is fetched once for its id, and again for another', async () => {
  const { ask, state, publish } = world();
  publish('1');
  expect(await ask()).toBe('fetched 1 enforce');
  expect(await ask()).toBe('kept 1 enforce');
  expect(state.fetched).toBe(1);
  state.body = policy('testing');
  publish('2');
  expect(await ask()).toBe('fetched 2 testing');
  expect(state.fetched).toBe(2);
});

test('many who ask at the same time make one fetch', async () => {
  const { ask, state, publish } = world();
  publish('1');
  const all = await Promise.all(Array.from({ length: 20 }, () => ask()));
  expect(new Set(all)).toEqual(new Set(['fetched 1 enforce']));
  expect(state.fetched).toBe(1);
});

test('a policy holds for its time whatever becomes of its record and its file', async () => {
  const { ask, state, publish, clock } = world();
  publish('1');
  await ask();
  publish(null);
  expect(await ask()).toBe('kept 1 enforce');
  state.failure = 'refused';
  publish('2');
  expect(await ask()).toBe('kept 1 enforce');
  await clock.advance(24 * HOUR_MS);
  expect(await ask()).toBe('the policy cannot be fetched: refused');
});

test('what cannot be had is not asked for again within five minutes, unless its id changes', async () => {
  const { ask, state, publish, clock } = world();
  state.failure = 'refused';
  publish('1');
  expect(await ask()).toBe('the policy cannot be fetched: refused');
  await clock.advance(299_999);
  expect(await ask()).toBe('the policy cannot be fetched: refused');
  expect(state.fetched).toBe(1);
  state.failure = null;
  await clock.advance(1);
  expect(await ask()).toBe('fetched 1 enforce');
  state.failure = 'refused';
  publish('2');
  await ask();
  publish('3');
  state.failure = null;
  expect(await ask()).toBe('fetched 3 enforce');
});

test('a file that is no policy counts as none', async () => {
  const { ask, state, publish } = world();
  state.body = '<html>';
  publish('1');
  expect(await ask()).toBe('the policy is invalid: a line is not a field');
});

test('a policy in use is renewed at half of its time, and mail does not wait for that', async () => {
  const { ask, state, publish, clock } = world();
  publish('1');
  await ask();
  await clock.advance(12 * HOUR_MS);
  state.body = policy('testing');
  expect(await ask()).toBe('kept 1 enforce');
  expect(await ask()).toBe('kept 1 testing');
  expect(state.fetched).toBe(2);
  // It holds from then on.
  await clock.advance(12 * HOUR_MS + 1);
  publish(null);
  expect(await ask()).toBe('kept 1 testing');
});

test('one who gives up is not held up, and what was broken off does not count as a failure', async () => {
  const { policies, resolver, ask, state, publish } = world();
  publish('1');
  state.hangs = true;
  const impatient = new AbortController();
  const given = policies.policyFor('a.test', resolver, impatient.signal);
  await expect.poll(() => state.fetched).toBe(1);
  state.failure = 'broken off';
  impatient.abort();
  expect(await given).toEqual({ kind: 'none', why: 'there was no time to fetch the policy', fault: null });
  [state.hangs, state.failure] = [false, null];
  expect(await ask()).toBe('fetched 1 enforce');
});

test('so many domains are remembered, and the one longest unused is forgotten first', async () => {
  const { ask, publish, policies, state } = world(3);
  for (const domain of ['a.test', 'b.test', 'c.test']) {
    publish('1', domain);
    await ask(domain);
  }
  await ask('a.test');
  publish('1', 'd.test');
  await ask('d.test');
  expect(policies.size).toBe(3);
  expect(await ask('a.test')).toBe('kept 1 enforce');
  state.failure = 'gone';
  expect(await ask('b.test')).toBe('the policy cannot be fetched: gone');
});

test('large policies count for several', async () => {
  const { ask, publish, policies, state } = world(10);
  const hosts = Array.from({ length: 200 }, (_, i) => `mx: host${i}.a.test`).join('\n');
  state.body = `${policy('enforce')}${hosts}\n`;
  for (let i = 0; i < 9; i++) {
    publish('1', `d${i}.test`);
    await ask(`d${i}.test`);
  }
  expect(policies.size).toBeLessThan(3);
});
