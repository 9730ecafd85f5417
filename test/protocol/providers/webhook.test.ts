/** Webhooks over a real connection: the signed request, the receiver's answers, and where none may go. */
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ProviderSettings } from '../../../src/domain/relay.ts';
import type { Provider } from '../../../src/transport/providers/provider.ts';
import { webhookProvider } from '../../../src/transport/providers/webhook.ts';
import { type ApiRequest, answerJson } from '../../peers/provider-api.ts';
import { advanceUntil, linesOf, only } from '../smtp-out/rig.ts';
import { type ProviderRig, type ProviderRigOptions, SECRET, startProvider } from './rig.ts';
import { holdTo, nameOf, statusFor } from './table.ts';

const ID = 'msg_01k00000000000000000000000';

function start(options: ProviderRigOptions = {}, settings: object = {}): Promise<ProviderRig> {
  return startProvider({ type: 'webhook', ...settings }, { provider: webhookOf, ...options });
}

function webhookOf(settings: ProviderSettings): Provider {
  if (settings.type !== 'webhook') throw new Error(settings.type);
  return webhookProvider(settings);
}

const TABLE = webhookOf({ type: 'webhook', endpoint: '', secret: '', allowPrivate: false }).answers;

function received(rig: ProviderRig, place = 0): ApiRequest {
  return rig.api.requests[place] ?? expect.fail('nothing was posted');
}

function signatureOf({ headers, body }: ApiRequest, key: string | Buffer): string {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`;
  return `v1,${createHmac('sha256', key).update(signed).update(body).digest('base64')}`;
}

describe('the request', () => {
  test('has the envelope, the message whole, and a signature over all of it', async () => {
    const rig = await start();
    const content = Buffer.from('From: jane@example.com\r\nSubject: "Grüße"\r\n\r\n.\r\n');
    const to = ['bob@example.org', '"odd one"@example.net'];
    await rig.deliver({ from: 'bounces@example.com', to, content: [content] });
    const request = received(rig);
    expect(JSON.parse(request.body.toString())).toEqual({
      type: 'message.deliver',
      timestamp: '2026-11-20T00:00:00.000Z',
      data: {
        id: ID,
        envelope: { from: 'bounces@example.com', to },
        sizeBytes: content.length,
        raw: content.toString('base64'),
      },
    });
    expect(request).toMatchObject({
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': expect.stringMatching(new RegExp(`^${ID}_[0-9a-f]{16}$`)),
        'webhook-timestamp': String(Date.UTC(2026, 10, 20) / 1000),
        'webhook-signature': signatureOf(request, SECRET),
      },
    });
  });

  test('is signed with the bytes that whsec_ stands for', async () => {
    const key = Buffer.from('00ff10203040506070809000a0b0c0d0', 'hex');
    const rig = await start({}, { secret: `whsec_${key.toString('base64')}` });
    await rig.deliver();
    expect(received(rig).headers['webhook-signature']).toBe(signatureOf(received(rig), key));
  });

  test('carries a message of many slices, and the null reverse-path', async () => {
    const rig = await start();
    const content = linesOf(3_000_000);
    expect(only(await rig.deliver({ from: '', content: [content] })).kind).toBe('delivered');
    const { data } = JSON.parse(received(rig).body.toString());
    expect(data.envelope.from).toBe('');
    expect(Buffer.from(data.raw, 'base64').equals(content)).toBe(true);
    expect(received(rig).headers['webhook-signature']).toBe(signatureOf(received(rig), SECRET));
  });

  test('has the same id in a repeat, and another for other recipients', async () => {
    const rig = await start();
    const both = ['one@example.net', 'two@example.net'];
    for (const to of [both, both.toReversed(), ['two@example.net']]) await rig.deliver({ to });
    await rig.clock.advance(60_000);
    await rig.deliver({ to: both });
    const [first, turned, part, later] = rig.api.requests.map(({ headers }) => headers['webhook-id']);
    expect([turned, later]).toEqual([first, first]);
    expect(part).not.toBe(first);
    const times = rig.api.requests.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect((times[3] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(60);
  });
});

describe('every answer', () => {
  test.each(TABLE.map((row) => [nameOf(row), row] as const))('%s', async (_, row) => {
    const rig = await start();
    const status = statusFor(row, TABLE);
    rig.api.script.push(answerJson(status, { id: 'theirs-1', detail: 'Words of the receiver.' }));
    const result = await rig.deliver();
    holdTo(row, status, result);
    const [outcome] = result.outcomes;
    if (outcome?.kind === 'delivered') expect(outcome.providerMessageId).toBe('theirs-1');
    else expect(outcome?.reply.text).toContain('Words of the receiver.');
  });

  test.each([
    ['nothing', ''],
    ['bad JSON', '{"id": '],
    ['an id that is no text', '{"id": {"a": 1}}'],
    ['an id without an end', JSON.stringify({ id: 'x'.repeat(256) })],
    ['null', 'null'],
    ['a page', '<html>'],
  ])('200 with %s in it', async (_, body) => {
    const rig = await start();
    rig.api.script.push({ kind: 'answer', status: 200, body });
    const [outcome] = (await rig.deliver()).outcomes;
    expect(outcome).toMatchObject({ kind: 'delivered', providerMessageId: null });
  });

  test.each([429, 503])('%i has the relay rest for as long as it asks', async (status) => {
    const rig = await start();
    rig.api.script.push(answerJson(status, {}, { 'retry-after': '9' }));
    const result = await rig.deliver();
    expect([only(result).hopFailed, result.restMs]).toEqual([true, 9000]);
  });

  test('in plain text is kept, a page is not', async () => {
    const rig = await start();
    const say = (type: string, body: string) =>
      rig.api.script.push({ kind: 'answer', status: 500, headers: { 'content-type': type }, body });
    say('text/plain; charset=utf-8', 'The disk\r\nis full.');
    expect(only(await rig.deliver()).text).toBe('The disk is full.');
    say('text/html', '<html>The disk is full.');
    expect(only(await rig.deliver()).text).toBe(
      '500 Internal Server Error (means: A problem at the receiver)',
    );
  });

  test('that never comes leaves it open, and the repeat can be known', async () => {
    const rig = await start({ timeouts: { answer: 1000 } });
    rig.api.script.push({ kind: 'hang', when: 'body' });
    const delivering = rig.deliver();
    await rig.api.until(1);
    const lost = await advanceUntil(rig.clock, 100, delivering);
    expect(only(lost)).toMatchObject({ kind: 'unknown', cause: 'timeout_answer' });
    expect(only(await rig.deliver()).kind).toBe('delivered');
    expect(received(rig, 1).headers['webhook-id']).toBe(received(rig, 0).headers['webhook-id']);
  });
});

describe('a refusal', () => {
  const say = (status: number, type: string | null, body: string) => ({
    kind: 'answer' as const,
    status,
    body,
    ...(type === null ? {} : { headers: { 'content-type': type } }),
  });
  test.each([
    ['in JSON', say(400, 'application/json', '{"detail":"No."}'), 'rejected'],
    ['in JSON without its type', say(400, null, '{}'), 'rejected'],
    ['in plain text', say(400, 'text/plain', 'No.'), 'rejected'],
    ['of 422 without a word', say(422, null, ''), 'rejected'],
    ['of 413 in a page', say(413, 'text/html', '<html>'), 'rejected'],
    ['of 400 without a word', say(400, null, ''), 'deferred'],
    ['of 400 in a page', say(400, 'text/html', '<html>400 Bad Request</html>'), 'deferred'],
    ['of 422 in a page', say(422, 'text/html; charset=utf-8', '<html>Blocked</html>'), 'deferred'],
  ] as const)('%s: %o is %s', async (_, act, kind) => {
    const rig = await start();
    rig.api.script.push(act);
    expect(only(await rig.deliver())).toMatchObject({ kind, hopFailed: false });
  });
});

describe('the probe', () => {
  test.each([
    [204, true],
    [401, false],
    [404, false],
    [500, false],
  ])('%i: well is %s', async (status, isWell) => {
    const rig = await start();
    rig.api.script.push({ kind: 'answer', status });
    expect((await rig.transport.probe?.(new AbortController().signal))?.trouble === null).toBe(isWell);
    const request = received(rig);
    expect(JSON.parse(request.body.toString())).toMatchObject({ type: 'waybill.test', data: {} });
    expect(request.headers['webhook-signature']).toBe(signatureOf(request, SECRET));
  });
});

describe('nobody is led astray', () => {
  test.each([301, 302, 303, 307, 308])('a redirect (%i) to this machine is not followed', async (status) => {
    const inner = await doorstep();
    const rig = await start();
    const headers = { location: `http://127.0.0.1:${inner.port}/admin` };
    rig.api.script.push({ kind: 'answer', status, headers });
    expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', hopFailed: true, code: status });
    expect(rig.api.requests).toHaveLength(1);
    expect(inner.knocks()).toBe(0);
  });

  test('a URL in clear is not connected to, whatever its host', async () => {
    const inner = await doorstep();
    const rig = await start(
      { resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
      { endpoint: `http://hooks.example:${inner.port}/`, allowPrivate: false },
    );
    expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'plain_http' });
    expect(inner.knocks()).toBe(0);
  });

  const forms: readonly (readonly [string, string])[] = [
    ['loopback', '127.0.0.1'],
    ['another loopback', '127.9.9.9'],
    ['loopback, short', '127.1'],
    ['loopback, decimal', '2130706433'],
    ['loopback, octal', '0177.0.0.01'],
    ['loopback, hexadecimal', '0x7f000001'],
    ['loopback, mixed', '0x7f.1'],
    ['loopback, in full-width digits', '１２７.0.0.1'],
    ['IPv6 loopback', '[::1]'],
    ['IPv6 loopback, long', '[0:0:0:0:0:0:0:1]'],
    ['IPv4 in IPv6', '[::ffff:127.0.0.1]'],
    ['IPv4 in IPv6, hexadecimal', '[::ffff:7f00:1]'],
    ['nowhere, which is here', '0.0.0.0'],
    ['nowhere in IPv6', '[::]'],
    ['localhost', 'localhost'],
    ['localhost with a dot', 'localhost.'],
    ['a name that is this machine', 'hooks.example'],
    ['a name that is this machine in IPv6', 'six.example'],
    ['a name that is IPv4 in IPv6', 'mapped.example'],
  ];

  test.each(forms)('%s (%s): nobody is connected to', async (_, host) => {
    const inner = await doorstep();
    const endpoint = `https://${host}:${inner.port}/hook`;
    const guarded = await start({ resolve }, { endpoint, allowPrivate: false });
    expect(only(await guarded.deliver())).toMatchObject({
      kind: 'deferred',
      hopFailed: true,
      cause: 'private_address',
    });
    expect((await guarded.transport.probe?.(new AbortController().signal))?.trouble === null).toBe(false);
    expect(inner.knocks()).toBe(0);
    // There was somebody to connect to: with leave to do so, it is done.
    const free = await start({ resolve }, { endpoint, allowPrivate: true });
    await free.deliver();
    expect(inner.knocks()).toBeGreaterThan(0);
  });

  test('a name is looked at with every connection, not once', async () => {
    const inner = await doorstep();
    const answers = ['127.0.0.1', '::1', '127.0.0.1'];
    const asked: string[] = [];
    const rig = await start(
      {
        resolve: async (host) => {
          asked.push(host);
          const address = answers.shift() ?? '127.0.0.1';
          return [{ address, family: address.includes(':') ? 6 : 4 }];
        },
      },
      { endpoint: `https://hooks.example:${inner.port}/`, allowPrivate: false },
    );
    for (let i = 0; i < 3; i++) expect(only(await rig.deliver()).cause).toBe('private_address');
    expect(asked).toEqual(Array(3).fill('hooks.example'));
    expect(inner.knocks()).toBe(0);
  });
});

/** What names mean here. The system is never asked. */
async function resolve(host: string): Promise<readonly { address: string; family: number }[]> {
  if (host === 'six.example') return [{ address: '::1', family: 6 }];
  if (host === 'mapped.example') return [{ address: '::ffff:127.0.0.1', family: 6 }];
  return [{ address: '127.0.0.1', family: 4 }];
}

/** Somebody at home at every address of this machine, who counts who knocks, and opens to nobody. */
async function doorstep(): Promise<{ readonly port: number; knocks(): number }> {
  let knocks = 0;
  const server: Server = createServer((socket) => {
    knocks += 1;
    socket.on('error', () => undefined).destroy();
  });
  await new Promise<void>((ready) => server.listen(0, '::', ready));
  onTestFinished(() => new Promise<void>((closed) => void server.close(() => closed())));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, knocks: () => knocks };
}
