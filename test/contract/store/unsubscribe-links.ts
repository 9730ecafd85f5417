import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { PurgePolicy } from '../../../src/store/upkeep.ts';
import {
  at,
  CAPTURED,
  DAY,
  DELIVERED,
  KEEP_ALL,
  type OpenSubject,
  POLICY,
  REJECTED,
  type Subject,
} from './fixtures.ts';
import { bounceOf, recipientAt, Teller, told } from './told.ts';

const KEEP: PurgePolicy = {
  ...KEEP_ALL,
  contentAgeMs: 7 * DAY,
  capturedAgeMs: 7 * DAY,
  recordAgeMs: 90 * DAY,
  eventAgeMs: 90 * DAY,
};
const CONTENTS_GO = 7 * DAY;
/** A record may stay for a day longer, until all of its day goes. */
const RECORDS_GO = 92 * DAY;
const ADDRESSES = ['ann@example.net', 'bob@example.net', 'cid@example.net'];
const FROM = 'Sender <sender@example.com>';

/** What is kept for those who unsubscribe long after the message. */
export function unsubscribeLinkContract(open: OpenSubject): void {
  describe('links to unsubscribe', () => {
    let subject: Subject;
    const teller = new Teller(() => subject);
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const purge = async (ms: number, change: Partial<PurgePolicy> = {}) => {
      while ((await subject.store.purge({ ...KEEP, ...change }, 9, at(ms))).more);
    };
    /** A message with copies, each of whose recipients came to this end. */
    const sent = async (outcomes: readonly Outcome[], change: object = {}) => {
      const to = outcomes.map((_, place) => recipientAt(ADDRESSES[place] ?? ''));
      const copies = outcomes.map((_, place) => ({ start: 10 * place, length: 10, checksum: 1 }));
      const { id } = await teller.sent({ stream: 'news', copies, ...change, deliveries: to }, outcomes);
      return id;
    };
    const linksOf = async (id: string) =>
      await Promise.all(ADDRESSES.map((_, place) => subject.views.unsubscribeLink(id, place)));
    const linkTo = (place: number) => ({
      address: ADDRESSES[place],
      keyId: 'key_one',
      from: FROM,
      stream: 'news',
    });
    const leaving = (id: string, recipient = 0) =>
      told(id, 'unsubscribe', {
        source: 'one_click',
        message: { token: { id, recipient }, id: null, providerMessageId: null, messageId: null },
      });

    it('outlive the record of the message, for those who got it', async () => {
      const id = await sent([DELIVERED, REJECTED, DELIVERED]);
      expect(await linksOf(id)).toEqual([null, null, null]);
      await purge(CONTENTS_GO);
      expect(await linksOf(id)).toEqual([linkTo(0), null, linkTo(2)]);
      await purge(RECORDS_GO);
      expect(await subject.views.message(id)).toBeNull();
      expect(await linksOf(id)).toEqual([linkTo(0), null, linkTo(2)]);
      const now = at(RECORDS_GO);
      const [address] = ADDRESSES;
      const result = await teller.tellOne(leaving(id), {}, now);
      expect(result).toMatchObject({
        verdict: 'matched',
        changed: true,
        messageId: id,
        address,
        relay: null,
      });
      expect(await teller.entries(address ?? '')).toMatchObject([
        {
          id: result.entry?.id,
          scope: 'domain:example.com',
          stream: 'news',
          reason: 'unsubscribe',
          source: 'one_click',
          evidence: { messageId: id, at: now.now, code: null },
        },
      ]);
      expect(await teller.tellOne(leaving(id), {}, now)).toMatchObject({
        verdict: 'matched',
        changed: false,
      });
      expect(await teller.tellOne(leaving(id, 1), {}, now)).toMatchObject({ verdict: 'unmatched' });
      expect(await teller.tellOne(leaving(id, 7), {}, now)).toMatchObject({ verdict: 'unmatched' });
    });

    it('are kept when record and contents go together', async () => {
      const id = await sent([DELIVERED]);
      await purge(RECORDS_GO);
      expect(await subject.views.message(id)).toBeNull();
      expect(await linksOf(id)).toEqual([linkTo(0), null, null]);
    });

    it('are kept where nobody knows whether it arrived', async () => {
      const copies = [{ start: 0, length: 10, checksum: 1 }];
      const to = recipientAt(ADDRESSES[0] ?? '');
      const { id } = await teller.begun({ stream: 'news', copies, deliveries: [to] });
      const policy = { ...POLICY, ambiguous: 'hold' } as const;
      await subject.store.reclaim({ seize: true, policy, dice: 0.5, limit: 9 }, at());
      expect(await teller.ends(id)).toEqual(['failed/unknown']);
      await purge(RECORDS_GO);
      expect(await linksOf(id)).toEqual([linkTo(0), null, null]);
    });

    it('are good for nothing but to unsubscribe', async () => {
      const id = await sent([DELIVERED]);
      await purge(RECORDS_GO);
      expect(await teller.tellOne(bounceOf(id), {}, at(RECORDS_GO))).toMatchObject({ verdict: 'unmatched' });
      expect(await teller.tellOne(told(id, 'complaint'), {}, at(RECORDS_GO))).toMatchObject({
        verdict: 'unmatched',
      });
      expect(await teller.entries(ADDRESSES[0] ?? '')).toEqual([]);
    });

    it('are not kept of mail without links, nor of captured mail', async () => {
      const plain = await sent([DELIVERED], { copies: null });
      const captured = await sent([CAPTURED, CAPTURED]);
      await purge(RECORDS_GO);
      for (const id of [plain, captured]) expect(await linksOf(id)).toEqual([null, null, null]);
    });

    it('are so many at most; the oldest go', async () => {
      const ids: string[] = [];
      for (let i = 0; i < 4; i++) {
        ids.push(await sent([DELIVERED, DELIVERED]));
        await purge(CONTENTS_GO, { maxUnsubscribeLinks: 5 });
      }
      const kept = await Promise.all(
        ids.map(async (id) => (await linksOf(id)).filter((link) => link !== null)),
      );
      expect(kept.map(({ length }) => length)).toEqual([0, 1, 2, 2]);
      await purge(CONTENTS_GO, { maxUnsubscribeLinks: 0 });
      for (const id of ids) expect(await linksOf(id)).toEqual([null, null, null]);
    });
  });
}
