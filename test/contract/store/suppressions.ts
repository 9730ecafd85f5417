import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Evidence, Suppression } from '../../../src/domain/suppression.ts';
import { createIdSource } from '../../../src/lib/id.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import { EVERY_EVENT } from '../../../src/store/events.ts';
import {
  type Addition,
  type AdditionRules,
  MAX_OF_ADDRESS,
  MAX_SUPPRESSIONS_EXAMINED,
  type SuppressionPage,
  type SuppressionQuery,
} from '../../../src/store/suppressions.ts';
import { apiKey, at, DAY, HOUR, type OpenSubject, type Subject, T0 } from './fixtures.ts';

const ALL: SuppressionQuery = {
  address: null,
  domain: null,
  reason: null,
  scopes: null,
  stream: null,
  since: null,
  until: null,
  limit: 200,
  before: null,
  now: T0,
};
const BY_HAND: AdditionRules = { max: 1_000_000, by: 'hand', now: T0 };
const BY_ITSELF: AdditionRules = { ...BY_HAND, by: 'itself' };
const EVIDENCE: Evidence = {
  messageId: 'msg_1',
  at: T0 - 5,
  code: 550,
  enhancedCode: '5.1.1',
  text: 'No such user',
};

let clock = T0;
const nextId = createIdSource({ wall: () => clock }, seededRandom(7), 'sup_');

/** An entry made at `T0 + ms`. */
function entry(address: string, change: Partial<Suppression> = {}): Suppression {
  clock = change.createdAt ?? T0;
  return {
    id: nextId(),
    address,
    scope: 'global',
    stream: null,
    reason: 'manual',
    source: 'api',
    evidence: null,
    note: '',
    createdAt: T0,
    updatedAt: T0,
    expiresAt: null,
    ...change,
  };
}

/** What the suppression list promises. */
export function suppressionContract(open: OpenSubject): void {
  describe('suppressions', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const add = async (entries: readonly Suppression[], rules: Partial<AdditionRules> = {}) =>
      await subject.suppressions.addSuppressions(entries, { ...BY_HAND, ...rules });
    const page = async (query: Partial<SuppressionQuery> = {}) =>
      await subject.suppressions.suppressions({ ...ALL, ...query });
    const found = async (query: Partial<SuppressionQuery> = {}) =>
      (await page(query)).entries.map(({ address }) => address);
    const events = async () =>
      (await subject.views.events({ ...EVERY_EVENT, from: { after: 0 }, limit: 200 })).events;
    const told = async () => (await events()).map(({ type, facts }) => `${type} ${facts.entry?.address}`);

    it('have what was added, whatever it is, across a restart', async () => {
      const full = entry('ann@example.org', {
        scope: 'domain:example.com',
        stream: 'news',
        reason: 'hard_bounce',
        source: 'webhook:aws',
        evidence: EVIDENCE,
        note: 'a note',
        expiresAt: T0 + DAY,
      });
      const pattern = entry('*@*.example.org');
      expect(await add([full, pattern])).toEqual([
        { kind: 'added', entry: full, isNew: true },
        { kind: 'added', entry: pattern, isNew: true },
      ]);
      subject = await subject.reopen();
      expect(await page()).toEqual({ entries: [pattern, full], next: null });
      expect(await subject.suppressions.suppression(full.id)).toEqual(full);
      expect(await subject.suppressions.suppression('sup_none')).toBeNull();
      const forms = ['ann@example.org', '*@example.org', '*@*.example.org'];
      expect(new Set(await subject.suppressions.suppressionsUnder(forms))).toEqual(new Set([full, pattern]));
      expect(await subject.suppressions.suppressionsUnder(['bob@example.org'])).toEqual([]);
      expect(await subject.suppressions.suppressionsUnder([])).toEqual([]);
    });

    it('are one for each address, scope and stream, renewed when added again', async () => {
      const first = entry('ann@example.org', { reason: 'complaint', source: 'arf', note: 'old' });
      const again = entry('ann@example.org', {
        evidence: EVIDENCE,
        createdAt: T0 + HOUR,
        updatedAt: T0 + HOUR,
      });
      const others = [
        entry('ann@example.org', { stream: 'news' }),
        entry('ann@example.org', { scope: 'key:key_one' }),
      ];
      await add([first]);
      const renewed = { ...first, evidence: EVIDENCE, updatedAt: T0 + HOUR };
      expect(await add([again, ...others], { now: T0 + HOUR })).toEqual([
        { kind: 'added', entry: renewed, isNew: false },
        ...others.map((one) => ({ kind: 'added', entry: one, isNew: true })),
      ]);
      expect(await subject.suppressions.suppression(first.id)).toEqual(renewed);
      expect(await found()).toHaveLength(3);
    });

    it('are renewed by another for the same in one call, too', async () => {
      const twice = [entry('ann@example.org', { note: 'one' }), entry('ann@example.org', { note: 'two' })];
      const [first, second] = await add(twice);
      expect(first).toMatchObject({ isNew: true, entry: { note: 'one' } });
      expect(second).toMatchObject({ isNew: false, entry: { id: twice[0]?.id, note: 'two' } });
    });

    it('that have ended are not shown, and one in their place is a new one', async () => {
      const ended = entry('ann@example.org', { reason: 'complaint', expiresAt: T0 + 5, note: 'old' });
      await add([ended]);
      expect(await found({ now: T0 + 4 })).toEqual(['ann@example.org']);
      expect(await found({ now: T0 + 5 })).toEqual([]);
      const next = entry('ann@example.org', { createdAt: T0 + 5, updatedAt: T0 + 5 });
      expect(await add([next], { now: T0 + 5 })).toEqual([{ kind: 'added', entry: next, isNew: true }]);
      expect(await subject.suppressions.suppression(ended.id)).toBeNull();
    });

    it('are told of in events when they are added and removed, but not when renewed', async () => {
      await subject.keyring.create(apiKey('key_one', { name: 'shop' }), 'hash');
      const mine = entry('ann@example.org', { scope: 'key:key_one', stream: 'news', reason: 'unsubscribe' });
      await add([mine]);
      await add([{ ...mine, id: nextId() }, entry('bob@example.org')]);
      await subject.suppressions.removeSuppressions([mine.id], false, T0 + 9);
      expect(await told()).toEqual([
        'suppression.added ann@example.org',
        'suppression.added bob@example.org',
        'suppression.removed ann@example.org',
      ]);
      const { id, address, scope, stream, reason, source } = mine;
      const facts = { entry: { id, address, scope, stream, reason, source } };
      const [added, ofBob, removed] = await events();
      expect(added).toEqual({
        sequence: expect.any(Number),
        type: 'suppression.added',
        at: T0,
        message: null,
        scopeKey: 'shop',
        recipient: null,
        attempt: null,
        facts,
      });
      expect(removed).toMatchObject({ at: T0 + 9, facts });
      expect(ofBob?.scopeKey).toBeNull();
    });

    it('have events that are found by type, address and owner, and by no message', async () => {
      await add([entry('ann@example.org', { scope: 'key:key_one' }), entry('bob@example.org')]);
      const query = { ...EVERY_EVENT, from: { after: 0 }, limit: 200 };
      const addresses = async (change: Partial<typeof query>) =>
        (await subject.views.events({ ...query, ...change })).events.map(({ facts }) => facts.entry?.address);
      expect(await addresses({ types: ['suppression.added'] })).toEqual([
        'ann@example.org',
        'bob@example.org',
      ]);
      expect(await addresses({ types: ['suppression.removed', 'message.queued'] })).toEqual([]);
      expect(await addresses({ recipient: 'BOB@example.org' })).toEqual(['bob@example.org']);
      expect(await addresses({ owner: { keyId: 'key_one' } })).toEqual(['ann@example.org']);
      expect(await addresses({ owner: { keyId: 'key_two' } })).toEqual([]);
      expect(await addresses({ tag: 'news' })).toEqual([]);
      expect(await addresses({ message: 'msg_1' })).toEqual([]);
    });

    it('have events that go when they are too old, and never give their sequence again', async () => {
      await add([entry('ann@example.org')]);
      const [first] = await events();
      const policy = {
        contentAgeMs: 0,
        contentMaxBytes: 0,
        capturedAgeMs: 0,
        capturedMaxBytes: 0,
        recordAgeMs: 0,
        eventAgeMs: DAY,
        feedbackAgeMs: DAY,
        maxUnsubscribeLinks: 1000,
      };
      await subject.store.purge(policy, 9, at(2 * DAY));
      subject = await subject.reopen();
      await add([entry('bob@example.org')], { now: T0 + 2 * DAY });
      const last = (await events()).at(-1);
      expect(last?.facts.entry?.address).toBe('bob@example.org');
      expect(last?.sequence).toBeGreaterThan(first?.sequence ?? Number.NaN);
    });

    it('are removed by their ids, complaints only if they are meant', async () => {
      const [bounced, complained] = [
        entry('ann@example.org', { reason: 'hard_bounce' }),
        entry('bob@example.org', { reason: 'complaint' }),
      ];
      await add([bounced, complained]);
      const ids = [bounced.id, complained.id, 'sup_none'];
      expect(await subject.suppressions.removeSuppressions(ids, false, T0)).toEqual([bounced]);
      expect(await found()).toEqual(['bob@example.org']);
      expect(await subject.suppressions.removeSuppressions(ids, true, T0)).toEqual([complained]);
      expect(await subject.suppressions.removeSuppressions(ids, true, T0)).toEqual([]);
    });

    it('are found by address, domain, reason, scope, stream and time, and several at once', async () => {
      await add([
        entry('ann@example.org', { reason: 'complaint', createdAt: T0 }),
        entry('*@*.example.org', { stream: 'news', createdAt: T0 + HOUR }),
        entry('bob@example.net', { scope: 'key:key_one', createdAt: T0 + 2 * HOUR }),
        entry('ann@example.org', { scope: 'key:key_one', stream: 'news', createdAt: T0 + 3 * HOUR }),
      ]);
      const [ann, any, bob] = ['ann@example.org', '*@*.example.org', 'bob@example.net'];
      expect(await found()).toEqual([ann, bob, any, ann]);
      expect(await found({ address: ann })).toEqual([ann, ann]);
      expect(await found({ domain: 'example.org' })).toEqual([ann, any, ann]);
      expect(await found({ domain: 'example.org', scopes: ['global'] })).toEqual([any, ann]);
      expect(await found({ reason: 'complaint' })).toEqual([ann]);
      expect(await found({ scopes: ['key:key_one'] })).toEqual([ann, bob]);
      expect(await found({ scopes: ['key:key_one'], address: bob })).toEqual([bob]);
      expect(await found({ scopes: ['key:key_two', 'global'] })).toEqual([any, ann]);
      expect(await found({ scopes: [] })).toEqual([]);
      expect(await found({ stream: 'news' })).toEqual([ann, any]);
      expect(await found({ since: T0 + HOUR, until: T0 + 3 * HOUR })).toEqual([bob, any]);
      expect(await found({ domain: 'example.net', stream: 'news' })).toEqual([]);
    });

    it('come page by page without a gap or a repetition while others are added', async () => {
      const some = Array.from({ length: 5 }, (_, i) => entry(`r${i}@example.org`));
      await add(some);
      const queries = [{}, { domain: 'example.org' }, { reason: 'manual' }, { scopes: ['global'] }] as const;
      for (const query of queries) {
        const seen: string[] = [];
        let before: string | null = null;
        do {
          const { entries, next }: SuppressionPage = await page({ ...query, limit: 2, before });
          expect(entries.length).toBeLessThanOrEqual(2);
          seen.push(...entries.map(({ address }) => address));
          before = next;
          await add([entry(`later${seen.length}@${Object.keys(query)}.example.net`)]);
        } while (before !== null);
        expect(seen.filter((name) => !name.startsWith('later'))).toEqual(
          some.map(({ address }) => address).reverse(),
        );
        expect(new Set(seen).size).toBe(seen.length);
      }
    });

    it('examined for a page are so many at most, however few are wanted', async () => {
      const wanted = entry('wanted@example.org', { reason: 'complaint', createdAt: T0 });
      await add([wanted]);
      const others = Array.from({ length: MAX_SUPPRESSIONS_EXAMINED }, (_, i) =>
        entry(`r${i}@example.org`, { createdAt: T0 + 1 }),
      );
      for (let i = 0; i < others.length; i += 1000) await add(others.slice(i, i + 1000));
      const first = await page({ reason: 'complaint' });
      expect(first.entries).toEqual([]);
      const second = await page({ reason: 'complaint', before: first.next });
      expect(second).toEqual({ entries: [wanted], next: null });
      expect(await found({ scopes: ['key:none'] })).toEqual([]);
      expect((await page({ scopes: ['key:none'] })).next).toBeNull();
    });

    it('give their addresses, page by page, to whoever must know all of them', async () => {
      const some = Array.from({ length: 5 }, (_, i) => entry(`r${i}@example.org`, { createdAt: T0 + i }));
      await add(some);
      const seen: string[] = [];
      let after = '';
      for (;;) {
        const rows = await subject.suppressions.suppressedAddresses(after, 2);
        seen.push(...rows.map(({ address }) => address));
        const last = rows.at(-1);
        if (last === undefined) break;
        after = last.id;
      }
      expect(seen).toEqual(some.map(({ address }) => address));
    });

    it('that have ended are removed, a bounded number at once, those that ended first', async () => {
      const some = [1, 2, 3].map((ms) => entry(`r${ms}@example.org`, { expiresAt: T0 + ms }));
      await add([...some, entry('stays@example.org')]);
      const { suppressions } = subject;
      expect(await suppressions.forgetSuppressions(T0, 9)).toBe(0);
      expect(await suppressions.forgetSuppressions(T0 + 2, 1)).toBe(1);
      expect(await found()).toEqual(['stays@example.org', 'r3@example.org', 'r2@example.org']);
      expect(await suppressions.forgetSuppressions(T0 + 9, 9)).toBe(2);
      expect(await found()).toEqual(['stays@example.org']);
    });

    const kinds = (additions: readonly Addition[]) => additions.map(({ kind }) => kind);

    it('are so many at most: no more by hand, but those that stand are renewed', async () => {
      const first = entry('r1@example.org');
      expect(kinds(await add([first, entry('r2@example.org')], { max: 2 }))).toEqual(['added', 'added']);
      const more = [entry('r0@example.org'), { ...first, id: nextId(), note: 'again' }];
      expect(kinds(await add(more, { max: 2 }))).toEqual(['full', 'added']);
      expect(await found()).toEqual(['r2@example.org', 'r1@example.org']);
      await subject.suppressions.removeSuppressions([first.id], false, T0);
      subject = await subject.reopen();
      expect(kinds(await add([entry('r3@example.org'), entry('r4@example.org')], { max: 2 }))).toEqual([
        'added',
        'full',
      ]);
    });

    it('are counted after the end of some, too', async () => {
      await add([entry('r1@example.org', { expiresAt: T0 + 1 }), entry('r2@example.org')], { max: 2 });
      await subject.suppressions.forgetSuppressions(T0 + 1, 9);
      expect(kinds(await add([entry('r3@example.org'), entry('r4@example.org')], { max: 2 }))).toEqual([
        'added',
        'full',
      ]);
      expect(await found()).toHaveLength(2);
    });

    it('that come by themselves push out those that end first', async () => {
      const rules = { ...BY_ITSELF, max: 2 };
      await add([
        entry('later@example.org', { expiresAt: T0 + 2 * DAY }),
        entry('soon@example.org', { expiresAt: T0 + DAY }),
      ]);
      const hard = { reason: 'hard_bounce', source: 'dsn' } as const;
      expect(kinds(await add([entry('one@example.org', hard)], rules))).toEqual(['added']);
      expect(await found()).toEqual(['one@example.org', 'later@example.org']);
      expect(kinds(await add([entry('two@example.org', hard)], rules))).toEqual(['added']);
      expect(kinds(await add([entry('three@example.org', hard)], rules))).toEqual(['full']);
      const wish = entry('four@example.org', { reason: 'unsubscribe', source: 'one_click' });
      expect(kinds(await add([wish], rules))).toEqual(['added']);
      expect(await found()).toEqual(['four@example.org', 'two@example.org', 'one@example.org']);
      expect((await told()).filter((one) => one.startsWith('suppression.removed'))).toEqual([
        'suppression.removed soon@example.org',
        'suppression.removed later@example.org',
      ]);
    });

    it('of one address are so many at most, if they are made by hand', async () => {
      const streams = (from: number, count: number) =>
        Array.from({ length: count }, (_, i) => entry('ann@example.org', { stream: `s${from + i}` }));
      await add(streams(0, MAX_OF_ADDRESS - 1));
      expect(kinds(await add(streams(1000, 2)))).toEqual(['added', 'crowded']);
      expect(kinds(await add(streams(2000, 1), BY_ITSELF))).toEqual(['added']);
    });

    it('take text that a database may not hold', async () => {
      const note = 'nul\0 and half \ud800';
      await add([entry('ann@example.org', { note, evidence: { ...EVIDENCE, text: note } })]);
      expect(await found()).toEqual(['ann@example.org']);
    });
  });
}
