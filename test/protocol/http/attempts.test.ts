import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { attempt, DEFERRED, DELIVERED } from './deliver.ts';
import { faultsOf, MAIL, World } from './world.ts';

/** `GET /api/v1/messages/{id}/attempts` (contract §3.1). */

let world: World;
let key: string;

beforeEach(async () => {
  world = await World.start();
  key = await world.key();
});
afterEach(() => world.close());

async function submit(fields: object = {}): Promise<string> {
  const answer = await world.post(key, { ...MAIL, ...fields });
  return `${answer.headers.location}/attempts`;
}

test('of a message that was not tried yet there are none', async () => {
  const answer = await world.ask({ key, path: await submit() });
  expect([answer.status, answer.json]).toEqual([200, { attempts: [], hasMore: false }]);
});

test('come oldest first, each with its evidence and what it did for every recipient', async () => {
  const path = await submit({ cc: ['carl@example.net'] });
  await attempt(world, DEFERRED);
  await world.clock.advance(40_000);
  await attempt(world, DELIVERED);
  const evidence = {
    relay: 'out',
    host: null,
    address: null,
    localAddress: null,
    tls: null,
    security: null,
    dns: [],
    reused: false,
    timings: {
      queueMs: null,
      dnsMs: null,
      connectMs: null,
      tlsMs: null,
      mailMs: null,
      transferMs: null,
      replyMs: null,
      totalMs: 0,
    },
    steps: [],
  };
  const deferred = {
    outcome: 'deferred',
    class: 'transient',
    code: null,
    enhancedCode: '4.2.0',
    reply: 'Come back later.',
    providerMessageId: null,
  };
  const delivered = {
    outcome: 'delivered',
    class: 'success',
    code: 250,
    enhancedCode: '2.0.0',
    reply: '2.0.0 Ok: queued as 4711',
    providerMessageId: '4711',
  };
  const both = (result: object) =>
    ['bob@example.org', 'carl@example.net'].map((recipient) => ({ recipient, ...result }));
  expect((await world.ask({ key, path })).json).toEqual({
    attempts: [
      { number: 1, startedAt: '2026-11-20T00:00:00.000Z', ...evidence, results: both(deferred) },
      { number: 2, startedAt: '2026-11-20T00:00:40.000Z', ...evidence, results: both(delivered) },
    ],
    hasMore: false,
  });
});

describe('who may see them:', () => {
  test('whoever may see the message, nobody else', async () => {
    const path = await submit();
    const auditor = await world.key({ scopes: ['messages:read_all'] });
    const sender = await world.key({ scopes: ['messages:send'] });
    const statuses = [];
    for (const asking of [key, auditor, sender, await world.key()])
      statuses.push((await world.ask({ key: asking, path })).status);
    expect(statuses).toEqual([200, 200, 403, 404]);
  });
  test('an id that does not exist is the same 404 as everywhere', async () => {
    const path = `/api/v1/messages/msg_0${'0'.repeat(25)}`;
    const answer = await world.ask({ key, path: `${path}/attempts` });
    expect([answer.status, answer.json['code']]).toEqual([404, 'message_not_found']);
  });
});

test('come page by page, each once, however large they are', async () => {
  const path = await submit();
  for (let i = 0; i < 5; i++) {
    await attempt(world, DEFERRED);
    await world.clock.advance(40_000);
  }
  const numbers: unknown[] = [];
  for (let next: string | undefined = `${path}?limit=2`; next !== undefined; ) {
    const { json, headers } = await world.ask({ key, path: next });
    const attempts = json['attempts'] as { readonly number: number }[];
    numbers.push(attempts.map(({ number }) => number));
    expect(json['hasMore']).toBe(json['nextCursor'] !== undefined);
    next = /^<([^>]+)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1];
  }
  expect(numbers).toEqual([[1, 2], [3, 4], [5]]);
});

test('parameters are 400 by name, other methods 405', async () => {
  const path = await submit();
  const answer = await world.ask({ key, path: `${path}?limit=0&cursor=x&page=1` });
  expect(faultsOf(answer)).toEqual(['/page unknown_parameter', '/limit out_of_range', '/cursor bad_cursor']);
  const posted = await world.ask({ method: 'POST', key, path });
  expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
});
