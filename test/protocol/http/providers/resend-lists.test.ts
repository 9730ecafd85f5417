import { Resend } from 'resend';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SuppressionReason } from '../../../../src/domain/suppression.ts';
import { idFloor, messageUuid, readMessageId } from '../../../../src/lib/id.ts';
import { World } from '../world.ts';

/** Resend's lists, page by page, its suppressions, and a scheduled email that is moved (contract-2 §C2). */

const EMAIL = { from: 'Jane <jane@example.com>', to: 'bob@example.org', subject: 'Hello', text: 'Hi.' };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SCOPES = ['messages:send', 'messages:read', 'suppressions:read', 'suppressions:write'] as const;

let world: World;

beforeAll(async () => {
  world = await World.start();
});
afterAll(() => world.close());

const client = async (id: string, scopes: readonly (typeof SCOPES)[number][] = SCOPES) => {
  const secret = await world.key({ id, scopes: [...scopes] });
  return new Resend(secret, { baseUrl: `http://127.0.0.1:${world.port}` });
};
function taken<T>({ data, error }: { data: T | null; error: unknown }): T {
  expect(error).toBeNull();
  if (data === null) throw new Error('there is no data');
  return data;
}
const idsOf = ({ data, has_more }: { data: readonly { id: string }[]; has_more: boolean }) => [
  data.map(({ id }) => id),
  has_more,
];

describe('emails are listed back towards the newer', () => {
  test('where they are close together, page by page', async () => {
    const own = await client('close');
    const ids: string[] = [];
    for (let nth = 0; nth < 7; nth++) {
      ids.unshift(taken(await own.emails.send(EMAIL)).id);
      await world.clock.advance(nth % 2);
    }
    const back = async (before: number, limit: number) =>
      idsOf(taken(await own.emails.list({ limit, before: ids[before] ?? '' })));
    expect(await back(6, 2)).toEqual([ids.slice(4, 6), true]);
    expect(await back(4, 3)).toEqual([ids.slice(1, 4), true]);
    expect(await back(1, 3)).toEqual([ids.slice(0, 1), false]);
    expect(await back(0, 3)).toEqual([[], false]);
  });

  test('where they are days apart, and where hundreds came at once', async () => {
    const own = await client('apart');
    const send = async () => taken(await own.emails.send(EMAIL)).id;
    const oldest = await send();
    await world.clock.advance(9 * 86_400_000);
    const second = await send();
    await world.clock.advance(1);
    const many = Array.from({ length: 100 }, () => EMAIL);
    for (let nth = 0; nth < 5; nth++) taken(await own.batch.send(many));
    await world.clock.advance(1);
    const newest = await send();
    const back = async (before: string) => idsOf(taken(await own.emails.list({ limit: 1, before })));
    expect(await back(oldest)).toEqual([[second], true]);
    expect(await back(newest)).toEqual([[], false]);
    const [[next = ''] = []] = (await back(second)) as [string[], boolean];
    const behind = taken(await own.emails.list({ limit: 2, after: next }));
    expect(
      behind.data.map(({ id }) => id),
      'nothing lies between',
    ).toEqual([second, oldest]);
  });

  test('and not in both directions at once', async () => {
    const secret = await world.key({ id: 'both' });
    const id = '0199c2f0-5c3e-4a11-8a3d-1f2e3d4c5b6a';
    const answer = await world.ask({ path: `/emails?before=${id}&after=${id}`, key: secret });
    expect([answer.status, answer.json['name']]).toEqual([422, 'validation_error']);
    expect((await world.ask({ path: '/emails?before=nothing', key: secret })).status).toBe(422);
  });
});

describe('a scheduled email', () => {
  test('is moved until it is due, however the time is written', async () => {
    const own = await client('mover');
    const { id } = taken(await own.emails.send({ ...EMAIL, scheduledAt: 'in 1 hour' }));
    const at = new Date(world.clock.wall() + 7_200_000).toISOString();
    for (const scheduledAt of [at, 'in 2 hours']) {
      expect(taken(await own.emails.update({ id, scheduledAt }))).toEqual({ object: 'email', id });
      expect(taken(await own.emails.get(id))).toMatchObject({ last_event: 'scheduled', scheduled_at: at });
    }
    await world.clock.advance(7_200_000);
    const { error } = await own.emails.update({ id, scheduledAt: 'in 1 hour' });
    expect(error).toMatchObject({ statusCode: 422, name: 'validation_error' });
  });

  test('of another key is moved and cancelled by an administrator, which is written down', async () => {
    const own = await client('owner');
    const scopes = ['messages:send', 'messages:read_all', 'admin'] as const;
    const operator = new Resend(await world.key({ id: 'operator', name: 'operator', scopes: [...scopes] }), {
      baseUrl: `http://127.0.0.1:${world.port}`,
    });
    const { id } = taken(await own.emails.send({ ...EMAIL, scheduledAt: 'in 1 hour' }));
    for (const one of [own, operator])
      expect(taken(await one.emails.update({ id, scheduledAt: 'in 2 hours' }))).toEqual({
        object: 'email',
        id,
      });
    const at = new Date(world.clock.wall() + 7_200_000).toISOString();
    expect(taken(await own.emails.get(id))).toMatchObject({ scheduled_at: at });
    expect(taken(await operator.emails.cancel(id))).toEqual({ object: 'email', id });
    const { error } = await operator.emails.cancel(id);
    expect(error).toMatchObject({ statusCode: 422, name: 'validation_error' });
    const all = { actor: null, action: null, subject: null, limit: 10, before: null };
    const subject = readMessageId(id);
    expect((await world.stores.journal.entries(all)).entries).toMatchObject([
      { actor: 'operator', action: 'cancelMessage', subject, after: '{"error":"refused"}' },
      { actor: 'operator', action: 'cancelMessage', subject },
      { actor: 'operator', action: 'rescheduleMessage', subject },
    ]);
  });

  test('keeps its time when the new one is none', async () => {
    const own = await client('wrong');
    const { id } = taken(await own.emails.send({ ...EMAIL, scheduledAt: 'in 1 hour' }));
    const { scheduled_at } = taken(await own.emails.get(id));
    for (const scheduledAt of ['soon', 'in 40 days']) {
      const { error } = await own.emails.update({ id, scheduledAt });
      expect(error).toMatchObject({ statusCode: 422, message: expect.stringMatching(/^scheduled_at: /) });
    }
    expect(taken(await own.emails.get(id))).toMatchObject({ scheduled_at });
    const unknown = await own.emails.update({
      id: messageUuid(idFloor('msg_', 0).padEnd(30, '0')),
      scheduledAt: 'in 1 hour',
    });
    expect(unknown.error).toMatchObject({ statusCode: 404, name: 'not_found' });
  });
});

describe('suppressions', () => {
  test('are added, shown by id and address, and removed', async () => {
    const own = await client('keeper');
    const { id } = taken(await own.suppressions.add({ email: ' Ann@Example.ORG ' }));
    expect(id).toMatch(UUID);
    expect(taken(await own.suppressions.add({ email: 'ann@example.org' })).id, 'it is there already').toBe(
      id,
    );
    const entry = {
      object: 'suppression',
      id,
      email: expect.stringMatching(/^ann@example\.org$/i),
      origin: 'manual',
      source_id: null,
      created_at: new Date(world.clock.wall()).toISOString(),
    };
    for (const which of [id, 'ann@example.org'])
      expect(taken(await own.suppressions.get(which))).toEqual(entry);
    const { error } = await own.emails.send({ ...EMAIL, to: 'ann@example.org' });
    expect(error).toBeNull();
    expect(taken(await own.suppressions.remove('ann@example.org'))).toEqual({
      object: 'suppression',
      id,
      deleted: true,
    });
    for (const which of [id, 'ann@example.org', 'nothing', '*@example.org']) {
      const gone = await own.suppressions.get(which);
      expect(gone.error).toMatchObject({ statusCode: 404, name: 'not_found' });
      expect((await own.suppressions.remove(which)).error).toMatchObject({ statusCode: 404 });
    }
  });

  test('are added and removed many at once', async () => {
    const own = await client('many');
    const emails = ['a@example.net', 'b@example.net', 'c@example.net'];
    const { data } = taken(await own.suppressions.batch.add({ emails }));
    const shown = await Promise.all(data.map(async ({ id }) => taken(await own.suppressions.get(id)).email));
    expect(shown).toEqual(emails);
    expect(taken(await own.suppressions.batch.add({ emails: emails.slice(1) })).data).toEqual(data.slice(1));
    const [a = '', b = ''] = data.map(({ id }) => id);
    expect(taken(await own.suppressions.batch.remove({ ids: [a, a] })).data).toEqual([
      { object: 'suppression', id: a, deleted: true },
      { object: 'suppression', id: a, deleted: false },
    ]);
    const removed = taken(
      await own.suppressions.batch.remove({ emails: ['b@example.net', 'nobody@example.net'] }),
    );
    expect(removed.data).toEqual([
      { object: 'suppression', id: b, deleted: true },
      { object: 'suppression', id: 'nobody@example.net', deleted: false },
    ]);
  });

  test('are refused by name, and none is added where one is wrong', async () => {
    const own = await client('picky');
    const wrong = await own.suppressions.batch.add({ emails: ['ok@example.com', 'nobody'] });
    expect(wrong.error).toMatchObject({ statusCode: 422, message: expect.stringMatching(/^emails\[1\]: /) });
    const none = await own.suppressions.add({ email: 'nobody' });
    expect(none.error).toMatchObject({ statusCode: 422, message: expect.stringMatching(/^email: /) });
    const tooMany = await own.suppressions.batch.add({ emails: Array(101).fill('a@example.com') });
    expect(tooMany.error).toMatchObject({ statusCode: 422, name: 'validation_error' });
    const secret = await world.key({ id: 'picky too', scopes: [...SCOPES] });
    for (const body of [{}, { ids: [], emails: [] }, { ids: ['x'], emails: ['a@example.com'] }]) {
      const { status } = await world.ask({
        method: 'POST',
        path: '/suppressions/batch/remove',
        key: secret,
        body,
      });
      expect(status).toBe(422);
    }
    expect(taken(await own.suppressions.list()).data).toEqual([]);
  });

  test('are of whole addresses: an asterisk stands for nothing', async () => {
    const own = await client('literal');
    const { id } = taken(await own.suppressions.add({ email: '*@example.edu' }));
    expect(taken(await own.suppressions.get(id)).email).toBe('"*"@example.edu');
    const { data } = taken(await own.suppressions.batch.add({ emails: ['*@example.info'] }));
    expect(taken(await own.suppressions.get(data[0]?.id ?? '')).email).toBe('"*"@example.info');
    for (const which of ['ann@example.edu', 'ann@example.info'])
      expect((await own.suppressions.get(which)).error).toMatchObject({ statusCode: 404 });
  });

  test('are listed by origin, the newest first, page by page in both directions', async () => {
    const own = await client('lister', SCOPES);
    const reasons: SuppressionReason[] = [
      'hard_bounce',
      'complaint',
      'unsubscribe',
      'soft_bounces',
      'import',
      'manual',
      'provider',
    ];
    for (const [place, reason] of reasons.entries()) {
      await world.clock.advance(1000);
      const now = world.clock.wall();
      const id = `${idFloor('sup_', now)}000000000000000${place}`;
      await world.stores.suppressions.addSuppressions(
        [
          {
            id,
            address: `${place}@example.org`,
            domain: 'example.org',
            scope: 'key:lister',
            stream: null,
            reason,
            source: 'api',
            evidence: null,
            note: '',
            createdAt: now,
            updatedAt: now,
            expiresAt: null,
          },
        ] as never,
        { max: 1000, by: 'hand', now },
      );
    }
    const seen = async (options: object) => {
      const { data, has_more } = taken(await own.suppressions.list(options));
      return [data.map(({ email, origin }) => `${email.charAt(0)} ${origin}`).join(', '), has_more];
    };
    expect(await seen({ origin: 'bounce' })).toEqual(['6 bounce, 3 bounce, 0 bounce', false]);
    expect(await seen({ origin: 'complaint' })).toEqual(['1 complaint', false]);
    expect(await seen({ origin: 'manual', limit: 2 })).toEqual(['5 manual, 4 manual', true]);
    const { data } = taken(await own.suppressions.list({ limit: 3 }));
    const last = data.at(-1)?.id ?? '';
    expect(await seen({ limit: 3, after: last })).toEqual(['3 bounce, 2 manual, 1 complaint', true]);
    expect(await seen({ limit: 1, before: last })).toEqual(['5 manual', true]);
    expect(await seen({ limit: 9, before: last, origin: 'bounce' })).toEqual(['6 bounce', false]);
    const complaint = await own.suppressions.remove('1@example.org');
    expect(complaint.error).toMatchObject({ statusCode: 422, name: 'validation_error' });
  });

  test('need their scopes', async () => {
    const reader = await client('reader of lists', ['messages:read', 'suppressions:read']);
    expect((await reader.suppressions.add({ email: 'a@example.com' })).error).toMatchObject({
      statusCode: 401,
      name: 'restricted_api_key',
    });
    const sender = await client('sender alone', ['messages:send']);
    expect((await sender.suppressions.list()).error).toMatchObject({ name: 'restricted_api_key' });
  });
});
