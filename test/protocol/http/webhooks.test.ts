/** `/api/v1/webhooks` over real sockets, a real store and the real operations (contract-2 §B2). */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, type Ask, faultsOf, MAIL, World } from './world.ts';

const PATH = '/api/v1/webhooks';
const URL_TOLD = 'https://shop.example.com/waybill';

let world: World;
/** Of the keys `shop` and `bank`, and of an administrator. */
let shop: string;
let bank: string;
let admin: string;
beforeEach(async () => {
  world = await World.start();
  const scopes = ['webhooks:manage', 'messages:send'] as const;
  shop = await world.key({ id: 'key_shop', name: 'shop', scopes });
  bank = await world.key({ id: 'key_bank', name: 'bank', scopes });
  admin = await world.key({ id: 'key_admin', name: 'root', scopes: ['admin'] });
});
afterEach(() => world.close());

const ask = (key: string, path = '', asked: Partial<Ask> = {}) =>
  world.ask({ key, path: `${PATH}${path}`, ...asked });
const post = (key: string, path: string, body?: object) =>
  ask(key, path, { method: 'POST', ...(body && { body }) });
const patch = (key: string, path: string, body: object) => ask(key, path, { method: 'PATCH', body });
const add = (key: string, endpoint: object = {}) => post(key, '', { url: URL_TOLD, ...endpoint });
const added = async (key: string, endpoint: object = {}) => String((await add(key, endpoint)).json['id']);
const codeOf = ({ status, json }: Answer) => [status, json['code']];
const idsOf = async (key: string) =>
  (
    (await ask(key)).json as unknown as { webhooks: readonly { id: string; key: string | null }[] }
  ).webhooks.map(({ id }) => id);

describe('an endpoint', () => {
  test('is added with a secret, read without it, changed, rotated and removed', async () => {
    const answer = await add(shop, { types: ['message.bounced'], include: ['subject'] });
    const { secret, ...webhook } = answer.json;
    expect([answer.status, secret, webhook]).toEqual([
      201,
      expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      {
        id: expect.stringMatching(/^whe_/),
        url: URL_TOLD,
        types: ['message.bounced'],
        key: 'shop',
        keys: [],
        tags: [],
        description: '',
        include: ['subject'],
        enabled: true,
        headers: {},
        source: 'api',
        health: { state: 'healthy', failures: 0, failingSince: null, reason: null },
        pending: 0,
        createdAt: '2026-11-20T00:00:00.000Z',
        updatedAt: '2026-11-20T00:00:00.000Z',
      },
    ]);
    const path = `/${webhook['id']}`;
    expect((await ask(shop, path)).json).toEqual(webhook);
    expect((await ask(shop)).json).toEqual({ webhooks: [webhook] });
    const changed = await patch(shop, path, { tags: ['news'], enabled: false });
    expect([changed.status, changed.json]).toEqual([200, { ...webhook, tags: ['news'], enabled: false }]);
    const rotated = await post(shop, `${path}/rotate`);
    expect([rotated.status, rotated.json['id']]).toEqual([200, webhook['id']]);
    expect([secret, rotated.json['secret']]).toEqual([
      expect.any(String),
      expect.not.stringMatching(String(secret).slice(6, 20)),
    ]);
    const removed = await ask(shop, path, { method: 'DELETE' });
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect(codeOf(await ask(shop, path))).toEqual([404, 'webhook_not_found']);
  });

  test('is seen and changed by its own key and by administrators alone', async () => {
    const [ours, theirs, everyones] = [
      await added(shop),
      await added(bank),
      await added(admin, { keys: ['bank'] }),
    ];
    expect(await idsOf(shop)).toEqual([ours]);
    expect(await idsOf(bank)).toEqual([theirs]);
    expect(await idsOf(admin)).toEqual([ours, theirs, everyones]);
    const calls: readonly (readonly [string, Partial<Ask>])[] = [
      ['', {}],
      ['', { method: 'PATCH', body: { enabled: false } }],
      ['', { method: 'DELETE' }],
      ['/rotate', { method: 'POST' }],
      ['/test', { method: 'POST' }],
      ['/deliveries', {}],
      ['/deliveries/evt_01kaj3v7q80000000000000001/retry', { method: 'POST' }],
      ['/replay', { method: 'POST', body: { since: '2026-11-20T00:00:00Z' } }],
    ];
    for (const id of [theirs, everyones, 'whe_01k9f5y7f0e2c4a8b6d0e2f4g6'])
      for (const [path, asked] of calls)
        expect(codeOf(await ask(shop, `/${id}${path}`, asked)), path).toEqual([404, 'webhook_not_found']);
    expect((await ask(admin, `/${theirs}`)).json).toMatchObject({ key: 'bank', enabled: true });
    expect(codeOf(await add(shop, { keys: ['bank'] }))).toEqual([403, 'scope_missing']);
    expect(codeOf(await patch(shop, `/${ours}`, { keys: ['bank'] }))).toEqual([403, 'scope_missing']);
  });

  test('needs the scope webhooks:manage', async () => {
    const sender = await world.key({ id: 'key_send', name: 'send', scopes: ['messages:send'] });
    expect(codeOf(await ask(sender))).toEqual([403, 'scope_missing']);
    expect(codeOf(await add(sender))).toEqual([403, 'scope_missing']);
  });

  test('is one of 20 of its key', async () => {
    for (let i = 0; i < 20; i++) expect((await add(shop)).status).toBe(201);
    const { status, json } = await add(shop);
    expect([status, json['code'], json['detail']]).toEqual([
      409,
      'webhooks_full',
      'There may be 20 of a key and 200 webhooks in all; remove one.',
    ]);
    expect((await add(bank)).status).toBe(201);
  });

  test('is told of nothing once its key is revoked', async () => {
    const id = await added(shop);
    await world.stores.keyring.revoke('key_shop', world.clock.wall());
    expect((await ask(admin, `/${id}`)).json).toMatchObject({
      health: { state: 'disabled', reason: 'Its key shop is revoked or has expired.' },
    });
  });

  test.each([
    ['no URL', { url: undefined }, '/url required'],
    ['plain HTTP', { url: 'http://shop.example.com' }, '/url url'],
    ['a type that is none', { types: ['message.read'] }, '/types/0 event_type'],
    ['no types', { types: [] }, '/types required'],
    ['a header of ours', { headers: { Host: 'a' } }, '/headers/Host header_name'],
    ['an unknown field', { secret: 'mine' }, '/secret unknown_field'],
    ['101 tags', { tags: Array.from({ length: 101 }, () => 'a') }, '/tags too_many'],
  ])('with %s is refused by name', async (_, endpoint, fault) => {
    const answer = await add(shop, endpoint);
    expect([answer.status, faultsOf(answer)]).toEqual([400, [fault]]);
    expect(await idsOf(shop)).toEqual([]);
  });

  test('is tested at once, with what came back', async () => {
    const id = await added(shop, { url: 'https://127.0.0.1/waybill' });
    const { status, json } = await post(shop, `/${id}/test`);
    expect([status, json]).toEqual([
      200,
      {
        at: '2026-11-20T00:00:00.000Z',
        durationMs: expect.any(Number),
        status: null,
        error: expect.stringContaining('public'),
        answer: '',
      },
    ]);
  });
});

describe('what it was told', () => {
  /** An endpoint of the shop's that was told, or is to be told, of the events of two messages. */
  async function told() {
    const id = await added(shop);
    for (let i = 0; i < 2; i++)
      await world.ask({ method: 'POST', path: '/api/v1/messages', key: shop, body: MAIL });
    const replayed = await post(shop, `/${id}/replay`, { since: '2026-11-19T00:00:00Z', only: 'all' });
    expect([replayed.status, replayed.json]).toEqual([202, { replayed: 2 }]);
    return id;
  }
  const deliveriesOf = ({ json }: Answer) =>
    (json as unknown as { deliveries: readonly { eventId: string; sequence: number; status: string }[] })
      .deliveries;

  test('is listed page by page, and filtered', async () => {
    const id = await told();
    const all = deliveriesOf(await ask(shop, `/${id}/deliveries`));
    expect(all).toMatchObject([
      { eventId: expect.stringMatching(/^evt_/), type: 'message.queued', status: 'pending', tries: [] },
      { type: 'message.queued', status: 'pending', nextTryAt: '2026-11-20T00:00:00.000Z' },
    ]);
    const first = await ask(shop, `/${id}/deliveries?limit=1`);
    const rest = await ask(shop, `/${id}/deliveries?limit=1&cursor=${first.json['nextCursor']}`);
    expect([...deliveriesOf(first), ...deliveriesOf(rest)]).toEqual(all);
    expect([first.json['hasMore'], rest.json['hasMore'], rest.json['nextCursor']]).toEqual([
      true,
      false,
      undefined,
    ]);
    const count = async (query: string) => deliveriesOf(await ask(shop, `/${id}/deliveries?${query}`)).length;
    expect([await count('status=failed'), await count('status=pending')]).toEqual([0, 2]);
    expect([await count('since=2026-11-21T00:00:00Z'), await count('since=2026-11-20T00:00:00Z')]).toEqual([
      0, 2,
    ]);
    expect([await count('until=2026-11-20T00:00:00Z'), await count('until=2026-11-21T00:00:00Z')]).toEqual([
      0, 2,
    ]);
    for (const query of ['status=lost', 'limit=201', 'page=2'])
      expect(codeOf(await ask(shop, `/${id}/deliveries?${query}`)), query).toEqual([400, 'invalid_query']);
    for (const query of ['cursor=x', 'since=now'])
      expect(codeOf(await ask(shop, `/${id}/deliveries?${query}`)), query).toEqual([400, 'invalid_request']);
  });

  test('is told again, one event or those of a time, but to nobody who hears nothing', async () => {
    const id = await told();
    const [newest] = deliveriesOf(await ask(shop, `/${id}/deliveries`));
    const { eventId = '', sequence = 0 } = newest ?? {};
    const { webhooks } = world.stores;
    const one = { at: 0, durationMs: 1, status: 500, error: null, answer: '', retryAfterMs: null };
    await webhooks.settleDelivery({
      endpoint: id,
      sequence,
      attempts: 0,
      one,
      state: 'failed',
      nextTryAt: null,
    });
    const again = await post(shop, `/${id}/deliveries/${eventId}/retry`);
    expect([again.status, again.json]).toMatchObject([
      202,
      { eventId, status: 'pending', tries: [{ status: 500 }] },
    ]);
    for (const unknown of ['evt_01kaj3v7q8zzzzzzzzzzzzzzzz', 'evt_1', 'msg_01kaj3v7q80000000000000001'])
      expect(codeOf(await post(shop, `/${id}/deliveries/${unknown}/retry`))).toEqual([
        404,
        'event_not_found',
      ]);
    const none = await post(shop, `/${id}/replay`, {
      since: '2026-11-19T00:00:00Z',
      types: ['message.bounced'],
      only: 'all',
    });
    expect(none.json).toEqual({ replayed: 0 });
    await patch(shop, `/${id}`, { enabled: false });
    const disabled = [409, 'webhook_disabled'];
    expect(codeOf(await post(shop, `/${id}/deliveries/${eventId}/retry`))).toEqual(disabled);
    expect(codeOf(await post(shop, `/${id}/replay`, { since: '2026-11-19T00:00:00Z' }))).toEqual(disabled);
  });
});
