import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HEALTHY } from '../../../src/domain/webhook.ts';
import { EVERY_EVENT } from '../../../src/store/events.ts';
import { MAX_TRIES_KEPT, type NewDelivery, type SettledDelivery } from '../../../src/store/webhooks.ts';
import { storedEndpoint, tryOf } from '../../support/webhooks.ts';
import { apiKey, at, HOUR, message, type OpenSubject, type Subject, T0 } from './fixtures.ts';

const LIMITS = { ofKey: 2, all: 3 };

/** Endpoints of webhooks, and what each is still to be told. */
export function webhookContract(open: OpenSubject): void {
  describe('webhooks', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const endpoints = async () =>
      (await subject.webhooks.webhookEndpoints()).map(({ endpoint: { id } }) => id);
    const deliver = (endpoint: string, ...sequences: number[]): NewDelivery[] =>
      sequences.map((sequence) => ({ endpoint, sequence, type: 'message.delivered' }));
    /** An endpoint with these events pending. */
    async function told(...sequences: number[]): Promise<string> {
      const stored = storedEndpoint();
      await subject.webhooks.addWebhookEndpoint(stored, LIMITS);
      const { id } = stored.endpoint;
      const cursor = await subject.webhooks.webhookCursor();
      await subject.webhooks.fanOut(cursor, cursor + 100, deliver(id, ...sequences), T0);
      return id;
    }
    const pending = async () => Object.fromEntries(await subject.webhooks.pendingDeliveries());
    const due = async (id: string, now = T0, limit = 9) =>
      (await subject.webhooks.dueDeliveries(id, now, limit)).map(({ sequence }) => sequence);

    it('keep endpoints as they are, over a restart', async () => {
      const change = {
        headers: { 'X-A': 'b' },
        tags: ['news'],
        includesSubject: true,
        keyId: null,
        keys: ['key_one'],
      };
      const [first, second] = [storedEndpoint(), storedEndpoint(change)];
      for (const one of [second, first]) await subject.webhooks.addWebhookEndpoint(one, LIMITS);
      subject = await subject.reopen();
      expect(await subject.webhooks.webhookEndpoints()).toEqual([first, second]);
      const changed = { ...first.endpoint, url: 'https://b.example', enabled: false };
      expect(await subject.webhooks.changeWebhookEndpoint(changed, 'anew')).toBe(true);
      const failing = {
        state: 'failing',
        failures: 12,
        failingSince: T0,
        reason: 'It answered 500.',
      } as const;
      expect(await subject.webhooks.setWebhookHealth(first.endpoint.id, failing, T0)).toBe(true);
      expect((await subject.webhooks.webhookEndpoints())[0]).toEqual({
        endpoint: changed,
        secrets: 'anew',
        health: failing,
        keyEndsAt: null,
      });
      await subject.webhooks.changeWebhookEndpoint(first.endpoint, null);
      expect((await subject.webhooks.webhookEndpoints())[0]).toMatchObject({
        endpoint: first.endpoint,
        secrets: 'anew',
      });
      const unknown = storedEndpoint().endpoint;
      expect(await subject.webhooks.changeWebhookEndpoint(unknown, '')).toBe(false);
      expect(await subject.webhooks.setWebhookHealth(unknown.id, HEALTHY, T0)).toBe(false);
      expect(await subject.webhooks.removeWebhookEndpoint(unknown.id)).toBe(false);
    });

    it('know when the key of an endpoint ends', async () => {
      const ends = async () => (await subject.webhooks.webhookEndpoints()).map(({ keyEndsAt }) => keyEndsAt);
      await subject.keyring.create(apiKey('shop', { expiresAt: T0 + 9 }), 'hash of shop');
      const { id: keyId } = apiKey('shop');
      for (const one of [storedEndpoint({ keyId }), storedEndpoint({ keyId: null })])
        await subject.webhooks.addWebhookEndpoint(one, LIMITS);
      expect(await ends()).toEqual([T0 + 9, null]);
      await subject.keyring.revoke(keyId, T0 + 5);
      expect(await ends()).toEqual([T0 + 5, null]);
    });

    it('tell the log of an endpoint that becomes disabled, once', async () => {
      const id = await told(1);
      const disabled = { ...HEALTHY, state: 'disabled', reason: 'It answered 410.' } as const;
      for (const now of [T0 + 1, T0 + 2]) await subject.webhooks.setWebhookHealth(id, disabled, now);
      const query = { ...EVERY_EVENT, types: ['webhook.disabled'], from: { after: 0 }, limit: 9 } as const;
      const { events } = await subject.views.events(query);
      expect(events).toMatchObject([
        {
          type: 'webhook.disabled',
          at: T0 + 1,
          message: null,
          facts: { webhook: { id, keyId: 'key_one' }, text: 'It answered 410.' },
        },
      ]);
      const ofKey = async (keyId: string) =>
        (await subject.views.events({ ...query, owner: { keyId } })).events.length;
      expect([await ofKey('key_one'), await ofKey('key_two')]).toEqual([1, 0]);
      // What was read before must not undo it.
      await subject.webhooks.setWebhookHealth(id, { ...HEALTHY, state: 'failing' }, T0 + 3);
      expect((await subject.webhooks.webhookEndpoints())[0]?.health).toEqual(disabled);
      await subject.webhooks.setWebhookHealth(id, HEALTHY, T0 + 3);
      await subject.webhooks.setWebhookHealth(id, disabled, T0 + 4);
      expect((await subject.views.events(query)).events).toHaveLength(2);
    });

    it('have so many endpoints at most, of a key and in all', async () => {
      const add = (keyId: string) => subject.webhooks.addWebhookEndpoint(storedEndpoint({ keyId }), LIMITS);
      expect([await add('a'), await add('a'), await add('a')]).toEqual(['added', 'added', 'too_many']);
      expect([await add('b'), await add('c')]).toEqual(['added', 'too_many']);
      expect(await endpoints()).toHaveLength(3);
    });

    it('that belong to no key count in all alone', async () => {
      const add = () => subject.webhooks.addWebhookEndpoint(storedEndpoint({ keyId: null }), LIMITS);
      expect([await add(), await add(), await add(), await add()]).toEqual([
        'added',
        'added',
        'added',
        'too_many',
      ]);
    });

    it('begin with what happens after the first endpoint was added', async () => {
      expect(await subject.webhooks.webhookCursor()).toBe(0);
      await subject.store.accept([message(), message()], at());
      const { events } = await subject.views.events({ ...EVERY_EVENT, from: { before: null }, limit: 1 });
      await subject.webhooks.addWebhookEndpoint(storedEndpoint(), LIMITS);
      const cursor = await subject.webhooks.webhookCursor();
      expect(cursor).toBe(events[0]?.sequence);
      await subject.store.accept([message()], at());
      await subject.webhooks.addWebhookEndpoint(storedEndpoint(), LIMITS);
      expect(await subject.webhooks.webhookCursor()).toBe(cursor);
    });

    it('are fanned out once, whoever does it first', async () => {
      const id = await told(1, 2);
      const cursor = await subject.webhooks.webhookCursor();
      expect(await subject.webhooks.fanOut(cursor - 1, cursor + 9, deliver(id, 3), T0)).toBe(false);
      expect(await due(id)).toEqual([1, 2]);
      // What is there already stays as it is.
      await subject.webhooks.settleDelivery({
        endpoint: id,
        sequence: 1,
        attempts: 0,
        one: tryOf(),
        state: 'delivered',
        nextTryAt: null,
      });
      expect(await subject.webhooks.fanOut(cursor, cursor + 9, deliver(id, 1, 3), T0)).toBe(true);
      expect([await due(id), await due(id, T0 - 1), await due(id, T0, 1)]).toEqual([[2, 3], [], [2]]);
      expect(await pending()).toEqual({ [id]: 2 });
    });

    it('keep what came of each try, and when the next one is due', async () => {
      const id = await told(5, 7);
      const failed = tryOf({ status: 500, answer: '\u0001 broken' });
      const settle = (
        nextTryAt: number | null,
        one = failed,
        state: 'pending' | 'delivered' | 'failed' = 'pending',
      ) => subject.webhooks.settleDelivery({ endpoint: id, sequence: 5, attempts: 0, one, state, nextTryAt });
      expect(await settle(T0 + HOUR)).toBe(true);
      expect([await due(id), await due(id, T0 + HOUR)]).toEqual([[7], [7, 5]]);
      expect(await subject.webhooks.oldestDelivery(id)).toMatchObject({
        sequence: 5,
        attempts: 1,
        tries: [failed],
      });
      expect(await settle(null, tryOf(), 'delivered')).toBe(true);
      expect(await settle(T0)).toBe(false);
      const { deliveries } = await subject.webhooks.deliveries({
        endpoint: id,
        state: 'delivered',
        before: null,
        from: 0,
        limit: 9,
      });
      expect(deliveries).toEqual([
        {
          endpoint: id,
          sequence: 5,
          type: 'message.delivered',
          state: 'delivered',
          attempts: 2,
          tries: [failed, tryOf()],
          nextTryAt: null,
        },
      ]);
      expect((await subject.webhooks.oldestDelivery(id))?.sequence).toBe(7);
    });

    it('keep the schedule of the newer of two tries at the same time, unless the older succeeds', async () => {
      const id = await told(5);
      const settle = (attempts: number, nextTryAt: number | null, state: SettledDelivery['state']) =>
        subject.webhooks.settleDelivery({
          endpoint: id,
          sequence: 5,
          attempts,
          one: tryOf(),
          state,
          nextTryAt,
        });
      const oldest = async () => await subject.webhooks.oldestDelivery(id);
      await settle(0, T0 + 2 * HOUR, 'pending');
      expect(await settle(0, T0 + HOUR, 'pending')).toBe(true);
      expect(await oldest()).toMatchObject({ attempts: 2, state: 'pending', nextTryAt: T0 + 2 * HOUR });
      expect(await settle(0, null, 'failed')).toBe(true);
      expect(await oldest()).toMatchObject({ attempts: 3, state: 'pending', nextTryAt: T0 + 2 * HOUR });
      expect(await settle(0, null, 'delivered')).toBe(true);
      expect(await oldest()).toBe(null);
    });

    it('keep of many tries the first, and the newest', async () => {
      const id = await told(1);
      for (let at = 0; at < MAX_TRIES_KEPT + 3; at++)
        await subject.webhooks.settleDelivery({
          endpoint: id,
          sequence: 1,
          attempts: at,
          one: tryOf({ at }),
          state: 'pending',
          nextTryAt: T0,
        });
      const tries = (await subject.webhooks.oldestDelivery(id))?.tries.map(({ at }) => at);
      expect([tries?.length, tries?.[0], tries?.[1], tries?.at(-1)]).toEqual([
        MAX_TRIES_KEPT,
        0,
        4,
        MAX_TRIES_KEPT + 2,
      ]);
    });

    it('are listed by event, the newest first, page by page', async () => {
      const id = await told(1, 2, 3, 4);
      const page = async (before: number | null, from = 0) => {
        const { deliveries, next } = await subject.webhooks.deliveries({
          endpoint: id,
          state: null,
          before,
          from,
          limit: 2,
        });
        return [deliveries.map(({ sequence }) => sequence), next];
      };
      expect([await page(null), await page(3), await page(null, 4)]).toEqual([
        [[4, 3], 3],
        [[2, 1], null],
        [[4], null],
      ]);
    });

    it('are told again at once, whether they had been told or not', async () => {
      const id = await told(1, 2);
      for (const sequence of [1, 2])
        await subject.webhooks.settleDelivery({
          endpoint: id,
          sequence,
          attempts: 0,
          one: tryOf(),
          state: 'failed',
          nextTryAt: null,
        });
      expect(await subject.webhooks.replayDeliveries(id, deliver(id, 2, 9), T0 + HOUR)).toBe(2);
      expect([await due(id), await due(id, T0 + HOUR)]).toEqual([[], [2, 9]]);
      const [again] = await subject.webhooks.dueDeliveries(id, T0 + HOUR, 1);
      expect([again?.attempts, again?.tries.length]).toEqual([0, 1]);
    });

    it('wait no longer once their endpoint is disabled, or gone', async () => {
      const [first, second] = [await told(1, 2), await told(3)];
      await subject.webhooks.settleDelivery({
        endpoint: first,
        sequence: 1,
        attempts: 0,
        one: tryOf(),
        state: 'delivered',
        nextTryAt: null,
      });
      await subject.webhooks.setWebhookHealth(first, { ...HEALTHY, state: 'disabled' }, T0);
      expect(await pending()).toEqual({ [second]: 1 });
      const kept = await subject.webhooks.deliveries({
        endpoint: first,
        state: null,
        before: null,
        from: 0,
        limit: 9,
      });
      expect(kept.deliveries.map(({ sequence }) => sequence)).toEqual([1]);
      expect(await subject.webhooks.removeWebhookEndpoint(second)).toBe(true);
      expect([await pending(), await endpoints()]).toEqual([{}, [first]]);
    });

    it('are forgotten with their events, so many at a time', async () => {
      const id = await told(1, 2, 3);
      for (const sequence of [1, 3])
        await subject.webhooks.settleDelivery({
          endpoint: id,
          sequence,
          attempts: 0,
          one: tryOf(),
          state: 'failed',
          nextTryAt: null,
        });
      expect(await subject.webhooks.forgetDeliveries(3, 1)).toBe(1);
      expect(await subject.webhooks.forgetDeliveries(3, 9)).toBe(1);
      expect(await subject.webhooks.forgetDeliveries(3, 9)).toBe(0);
      const { deliveries } = await subject.webhooks.deliveries({
        endpoint: id,
        state: null,
        before: null,
        from: 0,
        limit: 9,
      });
      expect(deliveries.map(({ sequence }) => sequence)).toEqual([3]);
    });
  });
}
