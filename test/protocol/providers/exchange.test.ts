/** What is the same for all providers: what can be said when an exchange fails, and that nobody is led astray. */
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answerJson } from '../../peers/provider-api.ts';
import { advanceUntil, linesOf, never, only } from '../smtp-out/rig.ts';
import { startPlain } from './plain.ts';
import { SECRET } from './rig.ts';

const TAKEN = answerJson(200, { id: 'abc-1' });
/** More than any socket takes at once. */
const LARGE = [linesOf(8_000_000)];

test('a message that was taken is delivered, and the evidence tells how', async () => {
  const rig = await startPlain({ api: { answer: () => TAKEN } });
  const result = await rig.deliver({ content: 'Subject: x\r\n\r\nHello.\r\n' });
  expect(only(result)).toMatchObject({ kind: 'delivered', code: 200, hopFailed: false });
  expect(result.outcomes[0]).toMatchObject({ providerMessageId: 'abc-1', captured: false, dsnPassed: false });
  expect(rig.api.requests).toMatchObject([{ method: 'POST', path: '/send?key=1' }]);
  expect(rig.api.requests[0]?.body.toString()).toBe('Subject: x\r\n\r\nHello.\r\n');
  expect(rig.api.requests[0]?.headers['content-length']).toBe('22');
  expect(result.evidence).toMatchObject({
    host: '127.0.0.1',
    address: '127.0.0.1',
    tls: null,
    reused: false,
  });
  expect(result.evidence.steps.map(({ verb, reply }) => [verb, reply])).toEqual([
    ['CONNECT', `127.0.0.1:${rig.api.port}`],
    ['POST /send', '200 OK'],
  ]);
  expect(result.evidence.timings).toMatchObject({ connectMs: 0, transferMs: 0, replyMs: 0 });
});

test('a large body arrives whole', async () => {
  const rig = await startPlain({ api: { answer: () => TAKEN } });
  expect(only(await rig.deliver({ content: LARGE })).kind).toBe('delivered');
  expect(rig.api.requests[0]?.body.equals(LARGE[0] ?? Buffer.alloc(0))).toBe(true);
});

test('a connection is kept for the next message', async () => {
  const rig = await startPlain({ api: { answer: () => TAKEN } });
  await rig.deliver();
  expect((await rig.deliver()).evidence.reused).toBe(true);
  expect(rig.api.connections).toBe(1);
  expect(rig.transport.connections()).toBe(1);
});

test('there are never more connections than the relay may have', async () => {
  const rig = await startPlain({ api: { answer: () => TAKEN }, limits: { maxConcurrency: 3 } });
  const results = await Promise.all(Array.from({ length: 20 }, () => rig.deliver()));
  expect(results.map((result) => only(result).kind)).toEqual(Array(20).fill('delivered'));
  expect(rig.api.connections).toBe(3);
});

describe('before the last byte was handed over, nothing is in doubt', () => {
  test('the server closes the connection in the middle', async () => {
    const rig = await startPlain();
    rig.api.script.push({ kind: 'close', when: 'headers' });
    const result = await rig.deliver({ content: LARGE });
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'connection_lost', hopFailed: true });
  });

  test('the server reads no more', async () => {
    const rig = await startPlain({ timeouts: { send: 1000 } });
    rig.api.script.push({ kind: 'hang', when: 'headers' });
    const result = await advanceUntil(rig.clock, 100, rig.deliver({ content: LARGE }));
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'timeout_send', hopFailed: true });
  });

  test('we are told to stop', async () => {
    const rig = await startPlain();
    rig.api.script.push({ kind: 'hang', when: 'headers' });
    const stop = new AbortController();
    const delivering = rig.deliver({ content: LARGE, signal: stop.signal });
    await rig.api.until(1);
    stop.abort();
    expect(only(await delivering)).toMatchObject({ kind: 'deferred', cause: 'aborted', hopFailed: false });
  });

  test('nobody listens', async () => {
    const rig = await startPlain();
    await rig.api.close();
    const result = await rig.deliver();
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'connect_refused', hopFailed: true });
  });

  test('the name means nothing', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    const rig = await startPlain({ settings: { endpoint: 'http://api.example:80' }, resolve });
    expect(only(await rig.deliver())).toMatchObject({
      kind: 'deferred',
      cause: 'dns_failed',
      hopFailed: true,
    });
  });

  test('the name is never answered', async () => {
    const resolve = () => never<never>();
    const rig = await startPlain({ settings: { endpoint: 'http://api.example:80' }, resolve });
    const result = await advanceUntil(rig.clock, 1000, rig.deliver());
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'timeout_connect', hopFailed: true });
  });
});

describe('after it, everything is', () => {
  test('the server closes the connection', async () => {
    const rig = await startPlain();
    rig.api.script.push({ kind: 'close', when: 'body' });
    expect(only(await rig.deliver())).toMatchObject({ kind: 'unknown', cause: 'connection_lost' });
    expect(rig.api.requests).toHaveLength(1);
  });

  test('no answer comes', async () => {
    const rig = await startPlain({ timeouts: { answer: 1000 } });
    rig.api.script.push({ kind: 'hang', when: 'body' });
    const delivering = rig.deliver();
    await rig.api.until(1);
    const result = await advanceUntil(rig.clock, 100, delivering);
    expect(only(result)).toMatchObject({ kind: 'unknown', cause: 'timeout_answer', hopFailed: true });
  });

  test('we are told to stop', async () => {
    const rig = await startPlain();
    rig.api.script.push({ kind: 'hang', when: 'body' });
    const stop = new AbortController();
    const delivering = rig.deliver({ signal: stop.signal });
    await rig.api.until(1);
    stop.abort();
    expect(only(await delivering)).toMatchObject({ kind: 'unknown', cause: 'aborted', hopFailed: false });
  });

  test.each([
    ['no JSON', { ...TAKEN, body: 'fine!' }],
    ['JSON of another kind', answerJson(200, { ok: true })],
    ['a body that was cut off', { ...TAKEN, body: '{"id"', rest: 'cut' as const }],
    ['nothing', { kind: 'answer' as const, status: 204 }],
  ])('the answer is 200 and %s', async (_what, answer) => {
    const rig = await startPlain();
    rig.api.script.push(answer);
    expect(only(await rig.deliver())).toMatchObject({ kind: 'unknown', cause: 'provider_bad_answer' });
  });

  test('the body of a good answer never ends', async () => {
    const rig = await startPlain({ timeouts: { body: 1000 } });
    rig.api.script.push({ ...TAKEN, body: '{"id":', rest: never<string>() });
    const delivering = rig.deliver();
    await rig.api.until(1);
    expect(only(await advanceUntil(rig.clock, 100, delivering)).kind).toBe('unknown');
  });

  test('the head of the answer is endless', async () => {
    const rig = await startPlain();
    rig.api.script.push({ ...TAKEN, headers: { 'x-long': 'x'.repeat(20_000) } });
    expect(only(await rig.deliver())).toMatchObject({ kind: 'unknown', cause: 'bad_answer' });
  });
});

describe('a kept connection that the server closed', () => {
  test('is noticed before the last byte, and the message goes over another', async () => {
    const rig = await startPlain({ api: { answer: () => TAKEN } });
    await rig.deliver();
    rig.api.hangUp();
    const result = await rig.deliver();
    expect(only(result).kind).toBe('delivered');
    expect(rig.api.connections).toBe(2);
    expect(rig.api.requests).toHaveLength(2);
  });

  test('does not make a large message ambiguous', async () => {
    const rig = await startPlain({ api: { answer: () => TAKEN } });
    await rig.deliver();
    rig.api.script.push({ kind: 'close', when: 'headers' });
    const result = await rig.deliver({ content: LARGE });
    expect(only(result).kind).toBe('delivered');
    expect(rig.log.join()).toContain('provider.connection_stale');
  });
});

describe('an answer before the request is whole', () => {
  test.each([
    [413, 'rejected', false],
    [401, 'deferred', true],
    [500, 'deferred', false],
    [504, 'deferred', false],
  ])('%i is judged by its status', async (status, kind, hopFailed) => {
    const rig = await startPlain();
    rig.api.script.push({ kind: 'answer', status, body: '{"code":"no"}', early: true });
    const result = await rig.deliver({ content: LARGE });
    expect(only(result)).toMatchObject({ kind, hopFailed, code: status });
    await rig.api.untilClosed(1);
  });
});

test('of a huge answer 64 KiB are read, and the connection is dropped', async () => {
  const rig = await startPlain();
  const text = 'x'.repeat(1_000_000);
  rig.api.script.push({ ...answerJson(413, {}), body: text });
  expect(only(await rig.deliver())).toMatchObject({ kind: 'rejected', code: 413 });
  await rig.api.untilClosed(1);
  expect(rig.transport.connections()).toBe(0);
});

test('the phrase behind a status is kept as one line without the secret', async () => {
  const phrase = `\x1b]0;pwned\x07\x1b[31m ${SECRET} ${'x'.repeat(500)}`;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(`HTTP/1.1 400 ${phrase}\r\nContent-Length: 0\r\n\r\n`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const rig = await startPlain({ settings: { endpoint: `http://127.0.0.1:${port}` } });
  const { evidence } = await rig.deliver();
  const said = evidence.steps.find(({ verb }) => verb === 'POST /send')?.reply ?? '';
  expect(said).toMatch(/^400 ]0;pwned \[31m … x+$/);
  expect(said.length).toBeLessThanOrEqual(256);
});

test('nothing that is kept shows the secret', async () => {
  const rig = await startPlain();
  const encoded = Buffer.from(SECRET).toString('base64');
  rig.api.script.push(answerJson(401, { code: 'bad', text: `no Bearer ${SECRET}\r\nnor ${encoded}` }));
  const result = await rig.deliver();
  expect(only(result)).toMatchObject({
    kind: 'deferred',
    hopFailed: true,
    text: 'bad: no … nor … (means: The credentials are wrong)',
  });
  const kept = JSON.stringify([result, rig.log]);
  expect(kept).not.toContain(SECRET);
  expect(kept).not.toContain(encoded);
  expect(kept).not.toContain('Bearer');
});

test('the text of an answer is one line of at most 1,000 characters', async () => {
  const rig = await startPlain();
  rig.api.script.push(answerJson(422, { text: `a\u0000b\n${'c'.repeat(5000)}` }));
  const { text } = only(await rig.deliver());
  expect(text).toHaveLength(1000);
  expect(text).toMatch(/^a b c+$/);
});
