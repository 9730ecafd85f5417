import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiKey } from '../../../src/domain/key.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { MAX_EXAMINED } from '../../../src/store/views.ts';
import {
  at,
  attempt,
  DAY,
  DEFERRED,
  DELIVERED,
  MINUTE,
  message,
  type OpenSubject,
  REJECTED,
  recipient,
  refTo,
  type Subject,
  T0,
  takeLane,
} from './fixtures.ts';

/** What lists, figures, the keyring and the registry promise. */
export function readingContract(open: OpenSubject): void {
  let subject: Subject;
  beforeEach(async () => {
    subject = await open();
  });
  afterEach(() => subject.close());

  const list = async (query: object) => {
    const all = { owner: { keyId: 'key_one' }, statuses: [], before: null, limit: 10 } as const;
    const page = await subject.views.list({ ...all, ...query });
    return { ids: page.messages.map(({ id }) => id), next: page.next };
  };

  describe('list', () => {
    it('pages through a key’s messages, newest first, each once', async () => {
      const records = Array.from({ length: 5 }, () => message());
      await subject.store.accept([...records, message({ keyId: 'key_two' })], at());
      const newest = records.map(({ id }) => id).reverse();
      const first = await list({ limit: 2 });
      expect(first.ids).toEqual(newest.slice(0, 2));
      const second = await list({ limit: 2, before: first.next });
      expect(second.ids).toEqual(newest.slice(2, 4));
      expect(await list({ limit: 2, before: second.next })).toEqual({ ids: newest.slice(4), next: null });
      expect((await list({ limit: 5 })).next).toBeNull();
    });

    it('merges statuses in order, and follows their changes', async () => {
      const lease = await takeLane(subject.store);
      const short = () => message({ deliveries: [recipient({ fence: lease.fence })] });
      const records = [short(), message(), short(), short(), message()];
      await subject.store.accept(records, at());
      const settle = (place: number, outcome: Outcome) =>
        attempt(subject.store, refTo(records[place]?.id ?? '', lease), [outcome]);
      await settle(0, DELIVERED);
      await settle(2, REJECTED);
      const ids = (...places: number[]) => places.map((place) => records[place]?.id);
      expect((await list({})).ids).toEqual(ids(4, 3, 2, 1, 0));
      expect((await list({ statuses: ['failed', 'delivered'] })).ids).toEqual(ids(2, 0));
      expect((await list({ statuses: ['queued'], limit: 1 })).ids).toEqual(ids(4));
      expect((await list({ statuses: ['processing'] })).ids).toEqual(ids(3));
      expect((await list({ owner: 'all', statuses: ['queued'] })).ids).toEqual(ids(4, 1));
      expect((await list({ owner: 'all', limit: 3 })).ids).toEqual(ids(4, 3, 2));
    });

    it('examines no more than it may', async () => {
      const lease = await takeLane(subject.store);
      const old = message({ deliveries: [recipient({ fence: lease.fence })] });
      await subject.store.accept([old], at());
      const flood = Array.from({ length: MAX_EXAMINED }, () => message());
      await subject.store.accept(flood, at());
      const query = { owner: 'all', statuses: ['processing'] };
      const first = await list(query);
      expect(first).toEqual({ ids: [], next: flood[0]?.id });
      expect(await list({ ...query, before: first.next })).toEqual({ ids: [old.id], next: null });
    });
  });

  describe('messages', () => {
    it('are read by their ids, in that order, except those that are not there', async () => {
      const [first, second] = [message(), message({ deliveries: [recipient(), recipient()] })];
      await subject.store.accept([first, second, message()], at());
      const found = await subject.views.messages([second.id, 'msg_none', first.id]);
      expect(found).toEqual([
        (await subject.views.message(second.id))?.message,
        (await subject.views.message(first.id))?.message,
      ]);
      expect(await subject.views.messages([])).toEqual([]);
    });
  });

  describe('figures', () => {
    it('count per UTC day and minute what contract §8 says', async () => {
      const lease = await takeLane(subject.store);
      const two = () => [recipient({ fence: lease.fence }), recipient({ fence: lease.fence })];
      const records = [message({ deliveries: two() }), message({ deliveries: two() }), message()];
      await subject.store.accept(records, at());
      const unit = (place: number) => refTo(records[place]?.id ?? '', lease, [0, 1]);
      await attempt(subject.store, unit(0), [DELIVERED, DELIVERED]);
      await attempt(subject.store, unit(1), [REJECTED, DEFERRED]);
      await subject.store.tally([{ event: 'denied', count: 3 }], at());
      const figures = await subject.views.figures(T0);
      expect(figures).toMatchObject({
        today: { received: 3, delivered: 1, failed: 0, retried: 1, denied: 3 },
        last5m: { received: 3, sent: 1 },
        spool: { incoming: 2, processing: 0, failed: 0 },
        relays: { out: { delivered: 2, failed: 1 } },
        oldestDueAt: T0,
        possibleDuplicates: 0,
        restored: 0,
      });
      expect(figures.databaseBytes).toBeGreaterThan(0);
      const later = await subject.views.figures(T0 + 5 * MINUTE);
      expect(later).toMatchObject({ today: { received: 3 }, last5m: { received: 0, sent: 0 } });
      const tomorrow = await subject.views.figures(T0 + DAY);
      expect(tomorrow).toMatchObject({ today: { received: 0, denied: 0 }, relays: {}, oldestDueAt: T0 });
    });

    it('survive closing and opening', async () => {
      await subject.store.accept([message()], at());
      subject = await subject.reopen();
      await subject.store.accept([message()], at(0, 'b'));
      expect(await subject.views.figures(T0)).toMatchObject({
        today: { received: 2 },
        spool: { incoming: 2 },
      });
    });

    it('see nothing due while all is in the future', async () => {
      await subject.store.accept([message({ deliveries: [recipient({ dueAt: T0 + 9 })] })], at());
      expect((await subject.views.figures(T0)).oldestDueAt).toBeNull();
      expect((await subject.views.figures(T0 + 9)).oldestDueAt).toBe(T0 + 9);
    });
  });

  describe('keyring', () => {
    const key = (change: Partial<ApiKey> = {}): ApiKey => ({
      id: 'key_a',
      name: 'shop',
      mode: 'live',
      prefix: 'wb_live_abc',
      scopes: ['messages:send', 'messages:read'],
      createdAt: T0,
      lastUsedAt: null,
      expiresAt: T0 + DAY,
      revokedAt: null,
      rateLimit: 5,
      cidrs: ['10.0.0.0/8'],
      senderDomains: ['example.com'],
      contentDays: null,
      recordDays: null,
      ...change,
    });

    it('finds a key by the hash of its secret', async () => {
      expect(await subject.keyring.create(key(), 'h1')).toBe(true);
      expect(await subject.keyring.findByHash('h1', T0)).toEqual(key());
      expect(await subject.keyring.findByHash('h2', T0)).toBeNull();
      await subject.keyring.touch(new Map([['key_a', T0 + 3]]));
      expect((await subject.keyring.findByHash('h1', T0))?.lastUsedAt).toBe(T0 + 3);
    });

    it('lets a name be used again only after it was revoked', async () => {
      await subject.keyring.create(key(), 'h1');
      expect(await subject.keyring.create(key({ id: 'key_b' }), 'h2')).toBe(false);
      expect(await subject.keyring.findByHash('h2', T0)).toBeNull();
      expect(await subject.keyring.revoke('key_a', T0 + 1)).toBe(true);
      expect(await subject.keyring.revoke('key_a', T0 + 2)).toBe(false);
      expect(await subject.keyring.revoke('key_x', T0)).toBe(false);
      expect(await subject.keyring.create(key({ id: 'key_b', createdAt: T0 + 1 }), 'h2')).toBe(true);
      const keys = await subject.keyring.list();
      expect(keys.map(({ id, revokedAt }) => [id, revokedAt])).toEqual([
        ['key_b', null],
        ['key_a', T0 + 1],
      ]);
    });

    it('lets old secrets live until the overlap ends', async () => {
      await subject.keyring.create(key(), 'h1');
      expect(await subject.keyring.rotate('key_a', 'h2', 'wb_live_new', T0 + 10)).toBe(true);
      expect(await subject.keyring.rotate('key_x', 'h3', 'p', T0)).toBe(false);
      expect((await subject.keyring.findByHash('h1', T0 + 9))?.prefix).toBe('wb_live_new');
      expect(await subject.keyring.findByHash('h1', T0 + 10)).toBeNull();
      expect((await subject.keyring.findByHash('h2', T0 + 10))?.id).toBe('key_a');
    });
  });

  describe('registry', () => {
    it('keeps relays and settings', async () => {
      const relay = { name: 'ses', definition: '{"type":"smtp"}', secret: 'sealed', disabled: false };
      await subject.registry.putRelay(relay);
      await subject.registry.putRelay({ ...relay, disabled: true });
      expect(await subject.registry.relays()).toEqual([{ ...relay, disabled: true }]);
      expect(await subject.registry.removeRelay('ses')).toBe(true);
      expect(await subject.registry.removeRelay('ses')).toBe(false);
      await subject.registry.putSetting('a', '1');
      await subject.registry.putSetting('b', '"x"');
      await subject.registry.putSetting('a', null);
      expect(await subject.registry.settings()).toEqual(new Map([['b', '"x"']]));
    });
  });
}
