import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { attempt, DEFERRED, DELIVERED, REJECTED } from './deliver.ts';
import { type Answer, MAIL, World } from './world.ts';

/** `GET /api/v1/messages/{id}` (contract §3.1). */

let world: World;
let key: string;

beforeEach(async () => {
  world = await World.start();
  key = await world.key();
});
afterEach(() => world.close());

/** Submits; gives the path of the record. */
async function submit(fields: object = {}): Promise<string> {
  const answer = await world.post(key, { ...MAIL, ...fields });
  return String(answer.headers.location);
}

const read = (path: string, query = '') => world.ask({ key, path: `${path}${query}` });

describe('the record', () => {
  test('of a message just accepted has exactly these fields', async () => {
    const path = await submit({
      from: 'Jane <jane@example.com>',
      cc: ['c@x.test'],
      bcc: ['d@x.test'],
      tags: ['a'],
      metadata: { m: '1' },
      priority: 'high',
    });
    const answer = await read(path);
    expect(answer.status).toBe(200);
    const recipient = {
      status: 'queued',
      outcome: null,
      relay: 'out',
      attempts: 0,
      providerMessageId: null,
      lastCode: null,
      lastEnhancedCode: null,
      lastReply: null,
      nextAttemptAt: '2026-11-20T00:00:00.000Z',
      waitingFor: 'turn',
      confirmedAt: null,
      bounce: null,
      complainedAt: null,
      unsubscribedAt: null,
      suppression: null,
    };
    expect(answer.json).toEqual({
      id: path.split('/').at(-1),
      status: 'queued',
      timestamp: '2026-11-20T00:00:00.000Z',
      createdAt: '2026-11-20T00:00:00.000Z',
      updatedAt: '2026-11-20T00:00:00.000Z',
      nextAttemptAt: '2026-11-20T00:00:00.000Z',
      waitingFor: 'turn',
      from: 'Jane <jane@example.com>',
      to: ['bob@example.org'],
      cc: ['c@x.test'],
      bcc: ['d@x.test'],
      subject: 'Hello',
      tags: ['a'],
      metadata: { m: '1' },
      sizeBytes: world.last.content.sizeBytes,
      messageId: world.last.header.messageId,
      source: 'api',
      box: null,
      priority: 'high',
      relay: 'out',
      attempts: 0,
      recipients: [
        { address: 'bob@example.org', type: 'to', ...recipient },
        { address: 'c@x.test', type: 'cc', ...recipient },
        { address: 'd@x.test', type: 'bcc', ...recipient },
      ],
    });
  });
  test('of a delivered one tells who took it, when, and how long it took', async () => {
    const path = await submit();
    await world.clock.advance(812);
    await attempt(world, DELIVERED);
    expect((await read(path)).json).toMatchObject({
      status: 'delivered',
      outcome: 'accepted',
      providerMessageId: '4711',
      timestamp: '2026-11-20T00:00:00.812Z',
      deliveredAt: '2026-11-20T00:00:00.812Z',
      durationMs: 812,
      attempts: 1,
      recipients: [
        {
          status: 'delivered',
          outcome: 'accepted',
          attempts: 1,
          providerMessageId: '4711',
          lastCode: 250,
          lastEnhancedCode: '2.0.0',
          lastReply: '2.0.0 Ok: queued as 4711',
          nextAttemptAt: null,
          waitingFor: null,
        },
      ],
    });
    expect((await read(path)).json).not.toHaveProperty('nextAttemptAt');
    expect((await read(path)).json).not.toHaveProperty('waitingFor');
    expect((await read(path)).json).not.toHaveProperty('lastError');
  });
  test('of a deferred one tells why and when it is tried again', async () => {
    const path = await submit();
    await attempt(world, DEFERRED);
    const { json } = await read(path);
    expect(json).toMatchObject({
      status: 'retrying',
      nextAttemptAt: '2026-11-20T00:00:30.000Z',
      waitingFor: 'backoff',
      lastError: {
        code: 'greylisted',
        class: 'transient',
        message: 'Come back later.',
        recipient: 'bob@example.org',
        enhancedCode: '4.2.0',
      },
    });
    expect(json['lastError'], 'the peer said nothing').not.toHaveProperty('replyCode');
    for (const absent of ['outcome', 'durationMs', 'deliveredAt', 'providerMessageId', 'sendAt'])
      expect(json).not.toHaveProperty(absent);
  });
  test('of a rejected one tells the reply', async () => {
    const path = await submit();
    await attempt(world, REJECTED);
    expect((await read(path)).json).toMatchObject({
      status: 'failed',
      outcome: 'rejected',
      durationMs: 0,
      lastError: { class: 'permanent', message: '5.1.1 No such user', replyCode: 550, enhancedCode: '5.1.1' },
    });
  });
  test('of a scheduled one counts its duration from sendAt', async () => {
    const path = await submit({ sendAt: '2026-11-20T01:00:00Z' });
    expect((await read(path)).json).toMatchObject({ status: 'queued', sendAt: '2026-11-20T01:00:00.000Z' });
    await world.clock.advance(3_600_050);
    await attempt(world, DELIVERED);
    expect((await read(path)).json['durationMs']).toBe(50);
  });
});

describe('an id', () => {
  test('that does not exist, is malformed or is foreign gets the same 404', async () => {
    const path = await submit();
    const stranger = await world.key();
    const asks = [
      { key: stranger, path },
      { key, path: `/api/v1/messages/msg_0${'0'.repeat(25)}` },
      { key, path: '/api/v1/messages/nonsense' },
      { key, path: '/api/v1/messages/%00' },
      { key, path: `/api/v1/messages/${'x'.repeat(2000)}` },
      { key: stranger, path: `${path}?wait=60` },
    ];
    const bodies = new Set<string>();
    for (const ask of asks) {
      const answer = await world.ask({ ...ask, headers: { 'X-Request-Id': 'same' } });
      expect(answer.status).toBe(404);
      bodies.add(answer.text);
    }
    expect(bodies.size).toBe(1);
  });
  test('of anyone is seen with messages:read_all', async () => {
    const path = await submit();
    const auditor = await world.key({ scopes: ['messages:read_all'] });
    expect((await world.ask({ key: auditor, path })).status).toBe(200);
  });
});

describe('?wait=', () => {
  /** Resolves once the record has been read `count` times more. */
  function reads(count: number): Promise<void> {
    const { views } = world.stores;
    const { message } = views;
    let left = count;
    return new Promise((resolve) => {
      Object.assign(views, {
        message: async (id: string) => {
          const detail = await message(id);
          if (--left === 0) setImmediate(resolve);
          return detail;
        },
      });
    });
  }

  test('answers when the status is final', async () => {
    const path = await submit();
    const waiting = reads(1);
    const answer = read(path, '?wait=60');
    await waiting;
    await attempt(world, DELIVERED);
    expect((await answer).json['status']).toBe('delivered');
  });
  test('goes on waiting when an attempt was deferred', async () => {
    const path = await submit();
    const [first, second] = [reads(1), reads(2)];
    const answer = read(path, '?wait=60');
    await first;
    await attempt(world, DEFERRED);
    await second;
    await world.clock.advance(40_000);
    await attempt(world, DELIVERED);
    expect((await answer).json['status']).toBe('delivered');
  });
  test('answers when the message is cancelled', async () => {
    const path = await submit();
    const waiting = reads(1);
    const answer = read(path, '?wait=60');
    await waiting;
    await world.ask({ method: 'POST', key, path: `${path}/cancel` });
    world.events.emit({ type: 'acted', messageId: path.split('/').at(-1) ?? '', act: 'cancel' });
    expect((await answer).json).toMatchObject({ status: 'failed', outcome: 'cancelled' });
  });
  test('waits for a message that was retried', async () => {
    const path = await submit();
    await attempt(world, REJECTED);
    await world.ask({ method: 'POST', key, path: `${path}/retry` });
    const waiting = reads(1);
    const answer = read(path, '?wait=60');
    await waiting;
    await attempt(world, DELIVERED);
    expect((await answer).json).toMatchObject({ status: 'delivered', attempts: 2 });
  });
  test('answers when the message expires, which no attempt tells', async () => {
    const path = await submit();
    const waiting = reads(1);
    const answer = read(path, '?wait=60');
    await waiting;
    const later = { node: 'test', now: world.clock.wall() + 2000 };
    const [{ messageId = '' } = {}] = await world.stores.store.expiring(10, later);
    await world.stores.store.expire([{ messageId, indexes: [0], report: null }], later);
    await world.clock.advance(1000);
    expect((await answer).json).toMatchObject({ status: 'failed', outcome: 'expired' });
  });
  test('answers with what there is when the time is over', async () => {
    const path = await submit();
    const waiting = reads(1);
    let answer: Answer | null = null;
    const pending = read(path, '?wait=2').then((got) => {
      answer = got;
    });
    await waiting;
    await world.clock.advance(1999);
    expect(answer).toBeNull();
    await world.clock.advance(1);
    await pending;
    expect(answer).toMatchObject({ status: 200, json: { status: 'queued' } });
  });
  test('answers at once when it is final already', async () => {
    const path = await submit();
    await attempt(world, REJECTED);
    expect((await read(path, '?wait=60')).json['status']).toBe('failed');
  });
  test('more readers than may wait are answered at once', async () => {
    const path = await submit();
    const waiting = reads(2);
    const patient = [read(path, '?wait=60'), read(path, '?wait=60')];
    await waiting;
    expect((await read(path, '?wait=60')).json['status']).toBe('queued');
    await attempt(world, DELIVERED);
    for (const answer of patient) expect((await answer).json['status']).toBe('delivered');
  });
  test('a reader who has gone makes room for another', async () => {
    const path = await submit();
    const waiting = reads(2);
    const patient = read(path, '?wait=60');
    const socket = connect(world.port, '127.0.0.1');
    socket.write(`GET ${path}?wait=60 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    await waiting;
    const freed = reads(1);
    socket.destroy();
    await freed;
    const next = reads(1);
    const late = read(path, '?wait=60');
    await next;
    await attempt(world, DELIVERED);
    for (const answer of [await patient, await late]) expect(answer.json['status']).toBe('delivered');
  });
  test('ends when the service stops', async () => {
    const path = await submit();
    const waiting = reads(1);
    const answer = read(path, '?wait=60');
    await waiting;
    world.stop();
    expect((await answer).json['status']).toBe('queued');
  });
  test('of 0, to which a client may count down, does not wait', async () => {
    expect((await read(await submit(), '?wait=0')).json['status']).toBe('queued');
  });
  test.each(['61', '-1', '1.5', '', 'x', '1e1', '001', '5&wait=5'])('of %j is 400', async (wait) => {
    const answer = await read(await submit(), `?wait=${wait}`);
    expect([answer.status, answer.json['code']]).toEqual([400, 'invalid_query']);
    expect(answer.json.errors).toMatchObject([{ pointer: '/wait' }]);
  });
  test('another parameter is 400 by name', async () => {
    const answer = await read(await submit(), '?wiat=5');
    expect(answer.json.errors).toMatchObject([{ pointer: '/wiat', code: 'unknown_parameter' }]);
  });
  test('the name of another parameter is told as a pointer, cut short', async () => {
    const answer = await read(await submit(), `?a/b${'n'.repeat(4000)}=5`);
    expect(answer.json.errors?.[0]?.pointer).toMatch(/^\/a~1bn{124}…$/);
  });
});
