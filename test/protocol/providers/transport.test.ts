/** What is the same for all providers around the exchange: the gate, memory, tokens, rests, and trying out. */
import { describe, expect, test } from 'vitest';
import { localReply } from '../../../src/domain/outcome.ts';
import { Budget } from '../../../src/lib/budget.ts';
import { probeProvider } from '../../../src/transport/providers/probe.ts';
import type { Provider } from '../../../src/transport/providers/provider.ts';
import type { ProbeStep } from '../../../src/transport/transport.ts';
import { type ApiAct, answerJson } from '../../peers/provider-api.ts';
import { advanceUntil, kinds, linesOf, type Mail, never, only } from '../smtp-out/rig.ts';
import { plainProvider, startPlain } from './plain.ts';
import { type ProviderRig, SECRET, startProvider } from './rig.ts';

const TAKEN = answerJson(200, { id: 'x' });

describe('the gate', () => {
  test('that does not open lets nothing out', async () => {
    const rig = await startPlain();
    const result = await rig.deliver({ gate: async () => false });
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'lease_lost', hopFailed: false });
    expect(rig.api.connections).toBe(0);
  });

  test('that is known not to open is not waited for', async () => {
    const rig = await startPlain();
    const refused = new AbortController();
    const delivering = rig.deliver({ gate: () => never<boolean>(), refused: refused.signal });
    refused.abort();
    expect(only(await delivering)).toMatchObject({ kind: 'deferred', hopFailed: false });
    expect(rig.api.connections).toBe(0);
  });
});

describe('what the hop was not asked says nothing about it', () => {
  const STOPPED = AbortSignal.abort();

  test.each<[string, Mail]>([
    ['refused for its form', { from: '' }],
    ['refused for its size', { sizeBytes: 10_000_001 }],
    ['stopped before it began', { signal: STOPPED }],
    ['without its gate', { gate: async () => false }],
  ])('%s', async (_what, mail) => {
    const rig = await startPlain();
    expect(await rig.deliver(mail)).toMatchObject({ unspoken: true, hopFailed: false });
    expect(rig.api.connections).toBe(0);
  });

  test('what the provider cannot express', async () => {
    const reply = localReply('content_fields', '5.6.0', 'It cannot be taken apart');
    // biome-ignore lint/correctness/useYield: providers that rebuild messages pause in here; this one has nothing to do that takes long.
    const prepare = function* () {
      return { ok: false, reply } as const;
    };
    const rig = await startPlain({}, { prepare });
    expect(await rig.deliver()).toMatchObject({ unspoken: true, hopFailed: false });
  });

  test('what had no memory', async () => {
    const memory = new Budget({ capacity: 1000, maxWaiters: 10 });
    memory.share('another').tryAcquire(700);
    const rig = await startPlain({ memory });
    const result = await advanceUntil(rig.clock, 1000, rig.deliver({ content: [linesOf(300)] }));
    expect(result).toMatchObject({ unspoken: true, hopFailed: false });
  });

  test('what was stopped while it waited for a connection', async () => {
    const rig = await startPlain({ limits: { maxConcurrency: 1 } });
    rig.api.script.push({ kind: 'hang', when: 'body' });
    const stop = new AbortController();
    const first = rig.deliver({ signal: stop.signal });
    await rig.api.until(1);
    const second = rig.deliver({ signal: stop.signal });
    stop.abort();
    expect(await second).toMatchObject({ unspoken: true, hopFailed: false });
    expect(await first).not.toHaveProperty('unspoken');
  });

  test.each<[string, ApiAct]>([
    ['took', TAKEN],
    ['refused', answerJson(422, {})],
    ['was ill for', answerJson(503, {})],
    ['hung up on', { kind: 'close', when: 'headers' }],
  ])('but what it %s does', async (_what, act) => {
    const rig = await startPlain();
    rig.api.script.push(act);
    expect(await rig.deliver()).not.toHaveProperty('unspoken');
  });

  test('and so does a hop that cannot be reached', async () => {
    const rig = await startPlain();
    await rig.api.close();
    expect(await rig.deliver()).not.toHaveProperty('unspoken');
  });
});

test('a message waits for memory, and not for ever', async () => {
  const memory = new Budget({ capacity: 1000, maxWaiters: 10 });
  const release = memory.share('another').tryAcquire(700);
  const rig = await startPlain({ memory, api: { answer: () => TAKEN } });
  const result = await advanceUntil(rig.clock, 1000, rig.deliver({ content: [linesOf(300)] }));
  expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'provider_busy', hopFailed: false });
  const waiting = rig.deliver({ content: [linesOf(300)] });
  release?.();
  expect(only(await waiting).kind).toBe('delivered');
  expect(memory.free).toBe(1000);
});

test.each([
  [
    '4 recipients where there may be 3',
    { to: ['a@x.test', 'b@x.test', 'c@x.test', 'd@x.test'] },
    'too_many_recipients',
  ],
  ['10 MB and one byte', { sizeBytes: 10_000_001 }, 'message_too_large'],
  ['no reverse-path', { from: '' }, 'null_reverse_path'],
])('%s: another relay may take it', async (_what, mail, cause) => {
  const rig = await startPlain();
  const { outcomes } = await rig.deliver(mail);
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ kind: 'rejected', hopBound: true, reply: { cause } });
  expect(rig.api.connections).toBe(0);
});

test('a provider may take the null reverse-path', async () => {
  const rig = await startPlain({ api: { answer: () => TAKEN } }, { expressesNullReversePath: true });
  expect(only(await rig.deliver({ from: '' })).kind).toBe('delivered');
});

test('a provider may take a message for some of its recipients', async () => {
  const read = (): ReturnType<Provider['read']> => ({
    code: null,
    text: 'not for b',
    messageId: 'x',
    understood: true,
    refused: ['B@x.test'],
  });
  const rig = await startPlain({}, { read });
  const result = await rig.deliver({ to: ['a@x.test', 'b@x.test', 'c@x.test'] });
  expect(kinds(result)).toEqual(['delivered', 'rejected', 'delivered']);
});

test.each([
  [429, '120', true, 120_000],
  [503, 'Fri, 20 Nov 2026 00:01:00 GMT', true, 60_000],
  [429, '86400', true, 3_600_000],
  [500, '120', false, null],
  [422, '120', false, null],
])('%i with Retry-After %s', async (status, after, hopFailed, restMs) => {
  const rig = await startPlain();
  rig.api.script.push(answerJson(status, {}, { 'retry-after': after }));
  expect(await rig.deliver()).toMatchObject({ hopFailed, restMs });
});

test.each([
  ['an answer that leaves it open', { kind: 'answer', status: 502, headers: { 'retry-after': '60' } }, false],
  ['no answer', { kind: 'close', when: 'body' }, true],
] as const)(
  '%s makes a message’s fate unknown; the relay is ill at once: %s',
  async (_what, act, hopFailed) => {
    const rig = await startPlain();
    rig.api.script.push(act);
    const result = await rig.deliver();
    expect(only(result)).toMatchObject({ kind: 'unknown', hopFailed });
    expect(result.restMs).toBeNull();
  },
);

describe('where a token is needed', () => {
  test('it is asked for once, for all who need it', async () => {
    const rig = await startTokens();
    await Promise.all([rig.deliver(), rig.deliver(), rig.deliver()]);
    expect(asked(rig)).toEqual(['/token', '/send?key=1', '/send?key=1', '/send?key=1']);
    expect(rig.api.requests[1]?.headers['authorization']).toBe('Bearer token-1');
  });

  test('it is renewed before it ends', async () => {
    const rig = await startTokens();
    await rig.deliver();
    await rig.clock.advance(3_600_000 - 300_001);
    await rig.deliver();
    expect(asked(rig)).toEqual(['/token', '/send?key=1', '/send?key=1']);
    await rig.clock.advance(2);
    await rig.deliver();
    expect(asked(rig).slice(3)).toEqual(['/token', '/send?key=1']);
  });

  test('one that is refused is not used again', async () => {
    const rig = await startTokens();
    rig.api.script.push(answerJson(200, { token: 'token-0' }), answerJson(401, {}));
    expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', code: 401, hopFailed: true });
    expect(only(await rig.deliver()).kind).toBe('delivered');
    expect(asked(rig)).toEqual(['/token', '/send?key=1', '/token', '/send?key=1']);
  });

  test.each([
    [429, '120', 120_000],
    [503, '60', 60_000],
    [401, '60', 60_000],
    [429, 'soon', null],
  ])('who refuses one with %i and Retry-After %s is left alone', async (status, after, restMs) => {
    const rig = await startTokens();
    rig.api.script.push(answerJson(status, {}, { 'retry-after': after }));
    expect(await rig.deliver()).toMatchObject({ hopFailed: true, restMs });
  });

  test.each([
    [
      answerJson(401, { error: 'invalid_client', error_description: `bad ${SECRET}` }),
      'token_refused',
      'invalid_client: bad …',
    ],
    [answerJson(200, {}), 'token_unavailable', 'an answer without a token'],
    [answerJson(500, {}), 'token_unavailable', 'status 500'],
    [
      answerJson(302, {}, { location: 'https://b.example/x' }),
      'token_refused',
      'status 302 to https://b.example/x, which is not followed: correct authority',
    ],
  ])('without one the relay is ill: %j', async (answer, cause, text) => {
    const rig = await startTokens();
    rig.api.script.push(answer);
    const result = await rig.deliver();
    expect(only(result)).toMatchObject({ kind: 'deferred', cause, hopFailed: true });
    expect(only(result).text).toContain(text);
    expect(asked(rig)).toEqual(['/token']);
  });
});

describe('trying a relay out', () => {
  test('tells of each step', async () => {
    const rig = await startProvider({ type: 'mailgun', domain: 'mg.example.com' });
    rig.api.script.push(answerJson(400, { message: "'to' parameter is missing" }));
    expect(await stepsOf(rig)).toEqual(['CONNECT', 'ASK', 'CHECK', 'READY']);
  });

  test('ends with what is wrong', async () => {
    const rig = await startProvider({ type: 'mailgun', domain: 'mg.example.com' });
    rig.api.script.push({ kind: 'answer', status: 401, body: `Forbidden ${SECRET}` });
    expect(await stepsOf(rig)).toEqual([
      'CONNECT',
      'ASK',
      'CHECK: 401 Forbidden … (means: The key is wrong, or belongs to another region)',
    ]);
    await rig.api.close();
    expect(await stepsOf(rig)).toEqual([expect.stringMatching(/^connect_refused: /)]);
  });
});

function startTokens(): Promise<ProviderRig> {
  let count = 0;
  const answer = ({ path }: { path: string }) => {
    if (path !== '/token') return TAKEN;
    count += 1;
    return answerJson(200, { token: `token-${count}` });
  };
  return startProvider(
    { type: 'resend' },
    { api: { answer }, provider: (settings) => withTokens(plainProvider(settings), settings.endpoint) },
  );
}

function withTokens(plain: Provider, endpoint: string): Provider {
  return {
    ...plain,
    *prepare(message, context) {
      const prepared = yield* plain.prepare(message, context);
      if (!prepared.ok) return prepared;
      const headers = { authorization: `Bearer ${context.token}` };
      return { ok: true, request: { ...prepared.request, headers } };
    },
    tokens: {
      url: `${endpoint}/token`,
      setting: 'authority',
      secrets: [SECRET],
      ask: () => ({
        method: 'POST',
        url: `${endpoint}/token`,
        headers: {},
        body: [Buffer.from(`secret=${SECRET}`)],
      }),
      read: ({ body }) => {
        const { token } = JSON.parse(body);
        return token === undefined ? null : { token, forMs: 3_600_000, isRotated: false };
      },
    },
  };
}

function asked(rig: ProviderRig): string[] {
  return rig.api.requests.map(({ path }) => path);
}

/** The steps' names, with what is said of those that failed. */
async function stepsOf({ relay, clock }: ProviderRig): Promise<string[]> {
  const steps: ProbeStep[] = [];
  if (!relay.provider) throw new Error('no provider');
  for await (const step of probeProvider(relay.provider, { clock }, new AbortController().signal))
    steps.push(step);
  return steps.map(({ name, ok, detail }) => (ok ? name : `${name}: ${detail}`));
}
