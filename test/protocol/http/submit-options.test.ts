import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formOf, MAIL, World } from './world.ts';

/** What goes with a message: tags, sendAt, metadata, priority, dryRun (contract §2), as JSON. */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'sender' });
});
afterAll(() => world.close());

const post = (fields: object) => world.post(key, { ...MAIL, ...fields });
const accept = (fields: object) => world.accept(key, fields);
const refuse = (fields: object) => world.refuse(key, fields);
const raw = (query: string, header = '', by = key) =>
  world.ask({
    key: by,
    method: 'POST',
    path: `/api/v1/messages/raw?from=a@example.com&to=b@example.org${query}`,
    headers: { 'Content-Type': 'message/rfc822' },
    body: `From: a@example.com\r\n${header}\r\nHi.\r\n`,
  });

describe('tags', () => {
  test('are kept, each once', async () =>
    expect((await accept({ tags: ['a', 'b c', 'a', 'ü'] })).tags).toEqual(['a', 'b c', 'ü']));
  test('10 of 128 characters are taken', async () => {
    const tags = Array.from({ length: 10 }, (_, i) => `${i}`.padEnd(128, 'x'));
    expect((await accept({ tags })).tags).toEqual(tags);
  });
  test.each([
    ['11', Array.from({ length: 11 }, (_, i) => `${i}`), '/tags too_many'],
    ['129 characters', ['x'.repeat(129)], '/tags/0 tag'],
    ['an empty one', ['a', ''], '/tags/1 tag'],
    ['a control character', ['a\tb'], '/tags/0 tag'],
    ['a number', [1], '/tags/0 type'],
    ['no array', 'a', '/tags type'],
  ])('%s: refused', async (_, tags, fault) => expect(await refuse({ tags })).toEqual([fault]));
});

describe('sendAt', () => {
  const inDays = (days: number) => new Date(world.clock.wall() + days * 86_400_000).toISOString();
  test('is when to send, and what Date says', async () => {
    const { sendAt } = await accept({ sendAt: inDays(2) });
    expect(sendAt).toBe(world.clock.wall() + 2 * 86_400_000);
    expect(world.lastText).toMatch(/\r\nDate: Sun, 22 Nov 2026/);
  });
  test('in the past means now', async () =>
    expect((await accept({ sendAt: inDays(-400) })).sendAt).toBeNull());
  test('30 days ahead is taken, a millisecond more is refused', async () => {
    await accept({ sendAt: inDays(30) });
    expect(
      await refuse({ sendAt: new Date(world.clock.wall() + 30 * 86_400_000 + 1).toISOString() }),
    ).toEqual(['/sendAt too_far_ahead']);
  });
  test.each(['tomorrow', '2026-11-20', '2026-02-30T00:00:00Z', '2026-11-20T00:00:00'])(
    '%s is refused',
    async (sendAt) => expect(await refuse({ sendAt })).toEqual(['/sendAt timestamp']),
  );
  test('that is a number is refused', async () =>
    expect(await refuse({ sendAt: 1 })).toEqual(['/sendAt type']));
});

describe('metadata', () => {
  test('is kept and shown in the status, and never in the mail', async () => {
    const answer = await post({ metadata: { order_id: '4711', 'a.b-c': '1', none: '' } });
    const status = await world.ask({ key, path: String(answer.headers.location) });
    expect(status.json['metadata']).toEqual({ order_id: '4711', 'a.b-c': '1' });
    expect(world.lastText).not.toContain('4711');
  });
  test('20 of 64 characters and 4 KiB are taken', async () => {
    const entries = Array.from({ length: 20 }, (_, i) => [`${i}`.padEnd(64, 'x'), 'é'.repeat(2048)]);
    expect(Object.keys((await accept({ metadata: Object.fromEntries(entries) })).metadata)).toHaveLength(20);
  });
  test.each([
    ['21', Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, 'x'])), '/metadata too_many'],
    ['a name of 65 characters', { ['x'.repeat(65)]: 'x' }, `/metadata/${'x'.repeat(65)} metadata_name`],
    ['a blank in a name', { 'a b': 'x' }, '/metadata/a b metadata_name'],
    ['an empty name', { '': 'x' }, '/metadata/ metadata_name'],
    ['a value of 4 KiB and one byte', { a: 'x'.repeat(4097) }, '/metadata/a too_long'],
    ['a number', { a: 1 }, '/metadata/a type'],
    ['an array', ['a'], '/metadata type'],
  ])('%s: refused', async (_, metadata, fault) => expect(await refuse({ metadata })).toEqual([fault]));
  test('names of the prototype are names like any other', async () => {
    const { metadata } = await accept({ metadata: { constructor: 'a', toString: 'b', hasOwnProperty: 'c' } });
    expect(Object.entries(metadata)).toEqual([
      ['constructor', 'a'],
      ['toString', 'b'],
      ['hasOwnProperty', 'c'],
    ]);
  });
});

describe('priority', () => {
  test.each(['high', 'normal', 'bulk'])('%s is taken', async (priority) =>
    expect((await accept({ priority })).priority).toBe(priority),
  );
  test('is normal by default', async () =>
    expect((await accept({ priority: null })).priority).toBe('normal'));
  test.each(['low', 'High', 'constructor'])('%s is refused', async (priority) =>
    expect(await refuse({ priority })).toEqual(['/priority priority']),
  );
});

describe('dryRun', () => {
  test('false is taken', async () => void (await accept({ dryRun: false })));
  test('that is no boolean is refused', async () =>
    expect(await refuse({ dryRun: 'no' })).toEqual(['/dryRun type']));
});

describe('box', () => {
  const named = { headers: { 'x-waybill-box': 'worker-1' } };
  test.each([
    ['the field', { box: 'worker-1' }],
    ['the header', named],
    ['both', { box: 'worker-1', ...named }],
  ])('is taken from %s, and is never in the mail', async (_, fields) => {
    expect((await accept(fields)).box).toBe('worker-1');
    expect(world.lastText).not.toMatch(/x-waybill-box/i);
  });
  test('is none without either', async () => expect((await accept({ box: '' })).box).toBeUndefined());
  test('of a form is o:box, or box', async () => {
    for (const name of ['o:box', 'box']) {
      const form = formOf(Object.entries({ ...MAIL, to: 'b@example.org', [name]: 'worker-2' }));
      expect((await world.postForm(key, form)).status).toBe(202);
      expect(world.last.box).toBe('worker-2');
    }
  });
  test('of a finished message is a parameter, or its header', async () => {
    for (const [query, header] of [
      ['&box=b1', ''],
      ['', 'X-Waybill-Box: b1\r\n'],
    ] as const) {
      expect((await raw(query, header)).status).toBe(202);
      expect(world.last.box).toBe('b1');
      expect(world.lastText).not.toMatch(/x-waybill-box/i);
    }
    expect((await raw('&box=B')).json).toMatchObject({ errors: [{ pointer: '/box', code: 'box' }] });
    const two = { errors: [{ pointer: '/message/X-Waybill-Box', code: 'box' }] };
    expect((await raw('&box=a', 'X-Waybill-Box: b\r\n')).json).toMatchObject(two);
    expect((await raw('', 'X-Waybill-Box: B\r\n')).json).toMatchObject(two);
  });
  test.each([
    ['capitals', { box: 'A' }],
    ['65 characters', { box: 'x'.repeat(65) }],
    ['two of them', { box: 'a', headers: { 'X-Waybill-Box': 'b' } }],
    ['a header that names none', { headers: { 'X-Waybill-Box': 'a b' } }],
  ])('with %s is refused', async (_, fields) => expect(await refuse(fields)).toEqual(['/box box']));
});

describe('suppression', () => {
  test('ignore is for keys that may change the list', async () => {
    expect((await accept({})).ignoresSuppression).toBe(false);
    const refused = await post({ suppression: 'ignore' });
    expect([refused.status, refused.json['code']]).toEqual([403, 'scope_missing']);
    expect(refused.json['detail']).toMatch(/suppressions:write/);
    const trusted = await world.key({ scopes: ['messages:send', 'suppressions:write'] });
    expect((await world.accept(trusted, { suppression: 'ignore' })).ignoresSuppression).toBe(true);
    const form = await world.postForm(
      trusted,
      formOf(Object.entries({ ...MAIL, to: 'bob@example.org', 'o:suppression': 'ignore' })),
    );
    expect([form.status, world.last.ignoresSuppression]).toEqual([202, true]);
    expect((await raw('&suppression=ignore')).status).toBe(403);
    expect((await raw('&suppression=ignore', '', trusted)).status).toBe(202);
    expect(world.last.ignoresSuppression).toBe(true);
  });
  test('takes no other value', async () =>
    expect(await refuse({ suppression: 'none' })).toEqual(['/suppression suppression']));
});

describe('requireTls', () => {
  const NO = { headers: { 'TLS-Required': 'No' } };

  test('asks for TLS all the way, the header for the opposite, and nothing asks for nothing', async () => {
    expect((await accept({ requireTls: true })).tls).toBe('required');
    expect((await accept({ requireTls: true, ...NO })).tls).toBe('required');
    expect((await accept(NO)).tls).toBe('optional');
    expect(world.lastText).toContain('\r\nTLS-Required: No\r\n');
    for (const fields of [{}, { requireTls: false }, { requireTls: null }])
      expect((await accept(fields)).tls).toBeUndefined();
  });
  test('is shown in the record, and a message that is sent again asks for the same', async () => {
    const answer = await post({ requireTls: true });
    const path = String(answer.headers.location);
    expect((await world.ask({ key, path })).json).toMatchObject({ tls: 'required' });
    expect((await world.ask({ key, method: 'POST', path: `${path}/resend` })).status).toBe(202);
    expect(world.last.tls).toBe('required');
  });
  test('of a form is yes or no', async () => {
    const form = (value: string) =>
      world.postForm(key, formOf(Object.entries({ ...MAIL, to: 'b@example.org', requireTls: value })));
    expect([(await form('yes')).status, world.last.tls]).toEqual([202, 'required']);
    expect([(await form('no')).status, world.last.tls]).toEqual([202, undefined]);
    expect((await form('perhaps')).json).toMatchObject({
      errors: [{ pointer: '/requireTls', code: 'type' }],
    });
  });
  test('of a finished message is a parameter; its header may ask for the opposite', async () => {
    expect([(await raw('&requireTls=true')).status, world.last.tls]).toEqual([202, 'required']);
    expect([(await raw('', 'TLS-Required: No\r\n')).status, world.last.tls]).toEqual([202, 'optional']);
    expect((await raw('&requireTls=1')).status).toBe(400);
  });
  test('makes another message of it: a repeat under the same key without it is refused', async () => {
    const under = (fields: object) =>
      world.ask({
        key,
        method: 'POST',
        path: '/api/v1/messages',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'require-tls' },
        body: JSON.stringify({ ...MAIL, ...fields }),
      });
    expect((await under({ requireTls: true })).status).toBe(202);
    expect((await under({})).status).toBe(409);
  });
  test('that is no boolean is refused', async () =>
    expect(await refuse({ requireTls: 'yes' })).toEqual(['/requireTls type']));
});
