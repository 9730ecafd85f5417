/** What the client asks when it reads, against a server whose answers are laid out. */
import { beforeEach, describe, expect, test } from 'vitest';
import { FaultyApi, json, problem } from '../../test/peers/faulty-api.ts';
import { ManualMachine } from '../../test/support/manual-machine.ts';
import { WaybillError } from './result.ts';
import { Waybill } from './waybill.ts';

const QUEUED = { id: 'msg_1', status: 'queued', recipients: [] };
const DELIVERED = { id: 'msg_1', status: 'delivered', recipients: [] };

let api: FaultyApi;
let machine: ManualMachine;
let client: Waybill;
beforeEach(async () => {
  api = await FaultyApi.start();
  machine = new ManualMachine();
  client = new Waybill({ url: `${api.url}/`, key: 'wb_live_x', machine });
});

describe('a list', () => {
  test('asks with every filter there is', async () => {
    const status = ['failed', 'retrying'] as const;
    const since = new Date(0);
    const filter = {
      status,
      tag: 'a&b',
      to: '@example.net',
      from: 'a@x',
      subject: 'é',
      since,
      all: true,
      limit: 50,
    };
    await client.listPage({ ...filter, until: '2027-01-01T00:00:00Z', cursor: 'abc' });
    const { searchParams } = new URL(api.received[0]?.path ?? '', api.url);
    expect([...searchParams].sort()).toEqual([
      ['all', 'true'],
      ['cursor', 'abc'],
      ['from', 'a@x'],
      ['limit', '50'],
      ['since', '1970-01-01T00:00:00.000Z'],
      ['status', 'failed'],
      ['status', 'retrying'],
      ['subject', 'é'],
      ['tag', 'a&b'],
      ['to', '@example.net'],
      ['until', '2027-01-01T00:00:00Z'],
    ]);
    await client.listPage();
    expect(api.received[1]?.path).toBe('/api/v1/messages');
  });

  test('goes through all pages, empty ones too, and fetches none before it is needed', async () => {
    const page = (ids: string[], nextCursor?: string) =>
      json(200, { messages: ids.map((id) => ({ id })), hasMore: nextCursor !== undefined, nextCursor });
    api.faults = [page(['a', 'b'], 'one'), page([], 'two'), page(['c'])];
    const seen: string[] = [];
    const asked: number[] = [];
    for await (const { id } of client.list({ status: 'failed' })) {
      seen.push(id);
      asked.push(api.received.length);
    }
    expect([seen, asked]).toEqual([
      ['a', 'b', 'c'],
      [1, 1, 3],
    ]);
    expect(api.received[2]?.path).toBe('/api/v1/messages?status=failed&limit=200&cursor=two');
  });

  test('fetches as many at a time as it is told', async () => {
    api.faults = [json(200, { messages: [], hasMore: false })];
    await client.list({ limit: 3 }).next();
    expect(api.received[0]?.path).toBe('/api/v1/messages?limit=3');
  });

  test('collects the attempts of all pages', async () => {
    const page = (number: number, nextCursor?: string) =>
      json(200, { attempts: [{ number }], hasMore: nextCursor !== undefined, nextCursor });
    api.faults = [page(1, '1'), page(2)];
    expect(await client.attempts('msg_1')).toMatchObject({ ok: true, value: [{ number: 1 }, { number: 2 }] });
    expect(api.received[1]?.path).toBe('/api/v1/messages/msg_1/attempts?cursor=1');
  });

  test('takes null for nothing', async () => {
    const nothing = { status: null, tag: null, since: null, until: null, all: null, limit: null };
    await client.listPage({ ...nothing, cursor: null });
    expect(api.received[0]?.path).toBe('/api/v1/messages');
  });

  test('throws what went wrong where it went wrong', async () => {
    api.faults = [problem(401, 'unauthorized')];
    const first = client.list().next();
    await expect(first).rejects.toThrow(WaybillError);
    await expect(first).rejects.toMatchObject({ error: { kind: 'problem', code: 'unauthorized' } });
  });
});

describe('waiting', () => {
  test('asks for as long as the wait goes on, never for more than half a minute at once', async () => {
    api.faults = [json(200, DELIVERED), json(200, DELIVERED)];
    await client.wait('msg_1');
    await client.wait('msg_1', { timeoutMs: 4500 });
    expect(api.received.map(({ path }) => path)).toEqual([
      '/api/v1/messages/msg_1?wait=30',
      '/api/v1/messages/msg_1?wait=5',
    ]);
  });

  test('asks again when the server answers early, but not at once', async () => {
    api.faults = [json(200, QUEUED), json(200, DELIVERED)];
    const asleep = machine.asked(1000);
    const waited = client.wait('msg_1');
    await asleep;
    machine.advance(1000);
    expect(await waited).toEqual({ ok: true, value: DELIVERED });
  });

  test('ends with the record as it stands', async () => {
    api.faults = [json(200, QUEUED), json(200, QUEUED)];
    const asleep = machine.asked(500);
    const waited = client.wait('msg_1', { timeoutMs: 500 });
    await asleep;
    machine.advance(500);
    expect(await waited).toEqual({ ok: true, value: QUEUED });
  });

  test('goes on after the connection was lost', async () => {
    api.faults = [{ kind: 'drop' }, json(200, DELIVERED)];
    expect(await client.wait('msg_1')).toEqual({ ok: true, value: DELIVERED });
  });

  test('goes on while the server is away, until the end of its time', async () => {
    api.faults = [json(200, QUEUED), ...Array.from({ length: 20 }, () => ({ kind: 'drop' as const }))];
    const first = machine.asked(1000);
    const waited = client.wait('msg_1', { timeoutMs: 3000 });
    await first;
    for (let second = 1; second <= 3; second += 1) {
      const next = second < 3 ? machine.asked(1000) : null;
      machine.advance(1000);
      await next;
    }
    expect(await waited).toEqual({ ok: true, value: QUEUED });
    expect(api.received.length).toBeGreaterThan(10);
  });

  test('tells what keeps the record away, if there never was one', async () => {
    api.faults = Array.from({ length: 20 }, () => ({ kind: 'drop' as const }));
    const asleep = machine.asked(1000);
    const waited = client.wait('msg_1', { timeoutMs: 1000 });
    await asleep;
    machine.advance(1000);
    expect(await waited).toMatchObject({ ok: false, error: { kind: 'network' } });
  });

  test('ends at once when no other try can help', async () => {
    api.faults = [json(200, QUEUED), problem(404, 'not_found')];
    const asleep = machine.asked(1000);
    const waited = client.wait('msg_1');
    await asleep;
    machine.advance(1000);
    expect(await waited).toMatchObject({ ok: false, error: { code: 'not_found' } });
  });

  test('gives a try the time that the server was asked to take, and some', async () => {
    api.faults = [{ kind: 'hang' }, json(200, DELIVERED)];
    const patient = machine.asked(60_000);
    const waited = client.wait('msg_1', { timeoutMs: 120_000 });
    await patient;
    await api.until(1);
    machine.advance(60_000);
    expect(await waited).toEqual({ ok: true, value: DELIVERED });
  });
});

describe('ready', () => {
  const word = (status: number, body: string) => ({ kind: 'answer' as const, status, body });

  test('tells whether messages are taken, and asks once', async () => {
    api.faults = [word(200, 'ready\n'), word(503, 'not ready\n'), { kind: 'drop' }];
    expect(await client.ready()).toEqual({ ok: true, value: true });
    expect(await client.ready()).toEqual({ ok: true, value: false });
    expect(await client.ready()).toMatchObject({ ok: false, error: { kind: 'network' } });
    expect(api.received).toHaveLength(3);
  });

  test.for([200, 503])('believes nobody but the server: a page with status %i', async (status) => {
    api.faults = [word(status, '<html>Welcome</html>')];
    expect(await client.ready()).toMatchObject({ ok: false, error: { kind: 'protocol', status } });
  });
});

test('content is a message, or else not the server’s', async () => {
  const page = { kind: 'answer' as const, status: 200, body: '<html>Sign in</html>' };
  api.faults = [page, { ...page, headers: { 'Content-Type': 'message/rfc822' }, body: 'From: a' }];
  expect(await client.content('msg_1')).toMatchObject({ ok: false, error: { kind: 'protocol' } });
  expect(await client.content('msg_1')).toEqual({ ok: true, value: new TextEncoder().encode('From: a') });
  api.faults = [{ ...page, headers: { 'Content-Type': 'message/rfc822' } }];
  await client.content('msg_1', { recipient: 'a+b@x.example' });
  expect(api.received.map(({ path }) => path)).toEqual([
    '/api/v1/messages/msg_1/content',
    '/api/v1/messages/msg_1/content',
    '/api/v1/messages/msg_1/content?recipient=a%2Bb%40x.example',
  ]);
});

test('an id cannot lead elsewhere', async () => {
  await client.get('../keys?x=y');
  expect(api.received[0]?.path).toBe('/api/v1/messages/..%2Fkeys%3Fx%3Dy');
});

test('a raw message goes as it is, with its envelope in the query', async () => {
  api.answers.set(
    'POST /api/v1/messages/raw?from=a%40x&to=b%40y&to=c%40z&tag=t&priority=bulk',
    json(202, { id: 'msg_9', message: '', status: 'queued' }),
  );
  const content = new TextEncoder().encode('From: a@x\r\n\r\nhi\r\n');
  const sent = await client.sendRaw(content, {
    from: 'a@x',
    to: ['b@y', 'c@z'],
    tags: ['t'],
    priority: 'bulk',
  });
  expect(sent).toMatchObject({ ok: true, value: { id: 'msg_9' } });
  expect(api.received[0]).toMatchObject({
    body: 'From: a@x\r\n\r\nhi\r\n',
    headers: { 'content-type': 'message/rfc822', 'idempotency-key': 'key-1' },
  });
});
