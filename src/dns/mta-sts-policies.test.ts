import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { found, ScriptedResolver, unknown } from '../../test/support/scripted-resolver.ts';
import { MtaStsPolicies, type PolicyFetch } from './mta-sts-policies.ts';

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
  expect(await ask()).toBe('the policy cannot be had: refused');
});

test('what cannot be had is not asked for again within five minutes, unless its id changes', async () => {
  const { ask, state, publish, clock } = world();
  state.failure = 'refused';
  publish('1');
  expect(await ask()).toBe('the policy cannot be had: refused');
  await clock.advance(299_999);
  expect(await ask()).toBe('the policy cannot be had: refused');
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
  expect(await ask()).toBe('the policy cannot be had: a line is no field');
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
  expect(await given).toEqual({ kind: 'none', why: 'there was no time to fetch the policy' });
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
  expect(await ask('b.test')).toBe('the policy cannot be had: gone');
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
