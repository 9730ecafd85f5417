import { beforeEach, describe, expect, it } from 'vitest';
import { names, type Person } from '../../../src/domain/naming.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { parseQuery } from '../../../src/domain/query.ts';
import { suppressionKeys } from '../../../src/domain/suppressed-address.ts';
import type { Suppression } from '../../../src/domain/suppression.ts';
import { tagsText } from '../../../src/domain/traffic.ts';
import { Pseudonyms } from '../../../src/lib/pseudonym.ts';
import { BEGINNING, ERASING_STEPS, type ErasureProgress } from '../../../src/store/erasing.ts';
import { EVERY_EVENT } from '../../../src/store/events.ts';
import { storyLink } from '../../support/sharing.ts';
import { TELL_RULES, telling } from '../../support/telling.ts';
import { COUNTED_MINUTE, replyCount, trafficCount } from '../../support/traffic.ts';
import {
  at,
  attempt,
  claim,
  DELIVERED,
  message,
  type OpenSubject,
  REJECTED,
  read,
  recipient,
  refOf,
  type Subject,
  T0,
  takeLane,
} from './fixtures.ts';

const KEY = new Uint8Array(32).fill(7);
const ANN = 'ann@example.org';
const BOB = 'bob@example.org';

/** What erasing a person promises. */
export function erasingContract(open: OpenSubject): void {
  describe('erasing a person', () => {
    let subject: Subject;
    let ann: Person;
    beforeEach(async () => {
      subject = await open();
      await subject.holdPseudonymKey(KEY);
      const pseudonyms = new Pseudonyms();
      pseudonyms.hold(KEY);
      ann = { address: ANN, unicodeDomain: 'example.org', pseudonym: pseudonyms.of(ANN) ?? '' };
      return () => subject.close();
    });

    let erasures = 0;
    /** Asks for an erasure, and returns its id. */
    const ask = async () => {
      const id = `era_${++erasures}`;
      const request = { id, pseudonym: ann.pseudonym, sealed: 'v1', requestedAt: T0, finishedAt: null };
      expect(await subject.erasures.addErasure({ ...request, progress: BEGINNING })).toBe('added');
      return id;
    };
    /** Every slice of every step, or those up to messages that are not final; `before`: what happens before each. */
    const eraseAll = async (limit = 2, before = async (_step: string) => {}): Promise<ErasureProgress> => {
      const id = await ask();
      for (let step = BEGINNING.step; ; ) {
        await before(step);
        const { progress } = await subject.store.erase({ id, person: ann, limit, holds: false }, at());
        if (progress === null) throw new Error('it was at its end before');
        step = progress.step;
        if (ERASING_STEPS.includes(progress.step) && progress.notBefore === 0) continue;
        await subject.erasures.advanceErasure(id, progress, progress, T0);
        return progress;
      }
    };
    const changesOf = ({ changed }: ErasureProgress) =>
      Object.values(changed).reduce((sum, count) => sum + count, 0);
    const accept = async (addresses: readonly string[], change: Parameters<typeof message>[0] = {}) => {
      const record = message({
        deliveries: addresses.map((address) =>
          recipient({ recipient: { address, kind: 'to', notify: null, orcpt: null } }),
        ),
        ...change,
      });
      expect((await subject.store.accept([record], at())).map(({ kind }) => kind)).toEqual(['accepted']);
      return record.id;
    };
    const deliver = async (outcome: Outcome = DELIVERED) => {
      const lease = await takeLane(subject.store);
      for (;;) {
        const [unit] = await claim(subject.store, lease, 1);
        if (unit === undefined) break;
        await attempt(
          subject.store,
          refOf(unit),
          refOf(unit).indexes.map(() => outcome),
        );
      }
      await subject.store.releaseLanes([lease], at());
    };
    const entry = (address: string, change: Partial<Suppression> = {}): Suppression => ({
      id: 'sup_1',
      address,
      scope: 'global',
      stream: null,
      reason: 'complaint',
      source: 'arf',
      evidence: { messageId: null, at: T0, code: null, enhancedCode: null, text: `From ${address}` },
      note: 'Ann rang up',
      createdAt: T0,
      updatedAt: T0,
      expiresAt: null,
      ...change,
    });
    const rules = { max: 10, by: 'hand', now: T0 } as const;
    const acted = (about: string) =>
      ({
        at: T0,
        actorKind: 'command',
        actor: '',
        sourceAddress: null,
        action: 'addSuppression',
        subject: about,
        before: null,
        after: null,
      }) as const;
    /** Counts replies to these messages, and mail with her address in a tag. */
    const countedOf = async ({ hers, his }: { readonly hers: string; readonly his: string }) => {
      const [group, example] = ['550 5.1.1 Ann is unknown', '550 5.1.1 Ann is unknown'];
      await subject.traffic.addReplies([replyCount({ group, example, messageId: hers })], 9);
      await subject.traffic.addReplies([replyCount({ messageId: his })], 9);
      await subject.traffic.addTraffic(
        [trafficCount({ tags: tagsText([`user:${ANN}`]) }), trafficCount()],
        9,
      );
    };
    const counted = () =>
      subject.views.traffic({
        period: 'day',
        from: Math.floor(COUNTED_MINUTE / 1440),
        count: 1,
        where: {},
        by: 'tag',
        limit: 9,
      });
    const journal = async () => {
      const every = { actor: null, action: null, subject: null, limit: 9, before: null };
      return (await subject.journal.entries(every)).entries;
    };

    it('leaves figures of her messages, and other people’s mail as it was', async () => {
      const hers = await accept(['Ann@example.org'], {
        tags: [`user:${ANN}`],
        metadata: { name: 'Ann' },
        header: { from: 'Shop <shop@example.com>', subject: 'Dear Ann', messageId: `<${ANN}>` },
      });
      const both = await accept([BOB, ANN]);
      const his = await accept(['joann@example.org', BOB]);
      await deliver(REJECTED);
      const before = await read(subject.views, his);
      await countedOf({ hers, his });
      expect(changesOf(await eraseAll())).toBeGreaterThanOrEqual(2);
      expect((await counted()).replies.map(({ messageId }) => messageId)).toEqual([his]);
      expect((await counted()).rows.map(({ name }) => name)).toEqual(['news']);
      for (const id of [hers, both]) {
        const detail = await read(subject.views, id);
        expect(names(JSON.stringify(detail), ann)).toBe(false);
        expect(detail.message.status).toBe('failed');
        expect(JSON.stringify(detail)).not.toContain('Dear Ann');
        expect(JSON.stringify(detail)).not.toContain(JSON.stringify({ name: 'Ann' }));
      }
      const addresses = (await read(subject.views, both)).recipients.map(({ address }) => address);
      expect(addresses).toEqual([BOB, ann.pseudonym]);
      expect(await read(subject.views, his)).toEqual(before);
      const { events } = await subject.views.events({ ...EVENTS });
      expect(events.length).toBeGreaterThan(3);
      expect(names(JSON.stringify(events), ann)).toBe(false);
      // What a hop replied may tell of her without her address.
      const told = events.filter(({ message }) => message?.id !== his).map(({ facts }) => facts.text);
      expect([...new Set(told)].sort()).toEqual(['', undefined]);
    });

    it('empties evidence about her mail, and other evidence with her address in it', async () => {
      const [hers, his] = [await accept([ANN, BOB]), await accept([BOB])];
      await deliver();
      const kept = (id: string, text: string) =>
        telling(id, {}, { evidence: { contentType: 'text/plain', base64: btoa(text) } });
      const all = [kept(hers, 'Ann has left'), kept(his, `Cc: ${ANN}`), kept(his, 'Bob has left')];
      await subject.store.tell(all, TELL_RULES, at());
      await eraseAll();
      const left = await Promise.all(all.map(({ id }) => subject.views.feedback(id)));
      expect(left.map((one) => one?.base64)).toEqual(['', '', btoa('Bob has left')]);
    });

    it('gives up the contents of her messages, and of nobody else’s', async () => {
      await accept([ANN], { content: { segment: 3, offset: 0, length: 700 } });
      await accept([BOB], { content: { segment: 4, offset: 0, length: 300 } });
      await deliver();
      expect((await subject.books()).sentBytes).toBe(1000);
      expect((await eraseAll()).segments).toEqual([3]);
      expect((await subject.books()).sentBytes).toBe(300);
      expect([...(await subject.store.liveSegments([3, 4])).values()]).toEqual([0, 1]);
    });

    it('leaves messages alone that are not final, and tells of them once all else is erased', async () => {
      const alone = await accept([ANN]);
      const both = await accept([BOB, ANN]);
      await subject.journal.record([acted(ANN)]);
      const id = await ask();
      const request = { id, person: ann, limit: 9 };
      // It is held until what goes to her alone is cancelled.
      const held = await subject.store.erase({ ...request, holds: true }, at());
      expect(held).toMatchObject({ waiting: [alone], progress: BEGINNING });
      const step = async () => {
        const { progress } = await subject.store.erase({ ...request, holds: false }, at());
        if (progress === null) throw new Error('it was at its end before');
        return progress;
      };
      let progress = await step();
      while (progress.trouble === null && progress.step !== 'spool') progress = await step();
      const waits = { step: 'messages', after: null, notBefore: at().now + 60_000 };
      expect(progress).toMatchObject({ ...waits, trouble: expect.stringMatching(/^2 messages/) });
      expect((await journal()).map(({ subject: about }) => about)).toEqual([ann.pseudonym]);
      expect(names(JSON.stringify(await read(subject.views, both)), ann)).toBe(true);
      expect(await step(), 'only they are looked for').toMatchObject(waits);
      await subject.journal.record([acted(ANN)]);
      await deliver();
      do progress = await step();
      while (progress.trouble === null && progress.step !== 'spool');
      expect(progress).toMatchObject({ step: 'spool', trouble: null });
      expect(names(JSON.stringify(await read(subject.views, both)), ann)).toBe(false);
      expect((await journal()).map(({ subject: about }) => about)).toEqual([ann.pseudonym, ann.pseudonym]);
    });

    it('leaves a message that ends while other tables are walked to the next look, with its contents', async () => {
      const both = await accept([BOB, ANN], { content: { segment: 6, offset: 0, length: 100 } });
      const id = await ask();
      let progress = BEGINNING;
      while (progress.step !== 'spool') {
        if (progress.step === 'deliveries' && !progress.isRest) await deliver();
        const erased = await subject.store.erase({ id, person: ann, limit: 9, holds: false }, at());
        progress = erased.progress ?? { ...progress, step: 'spool' };
      }
      expect(progress.segments).toEqual([6]);
      expect(names(JSON.stringify(await read(subject.views, both)), ann)).toBe(false);
      expect((await subject.books()).sentBytes).toBe(0);
    });

    it('leaves mail of others alone whose address ends with hers', async () => {
      const his = await accept(["o'ann@example.org", 'r&ann@example.org', 'to=ann@example.org']);
      const waiting = await accept(["o'ann@example.org"]);
      await subject.suppressions.addSuppressions([entry("o'ann@example.org")], rules);
      const before = await Promise.all([his, waiting].map((id) => read(subject.views, id)));
      const list = await subject.suppressions.suppressions({ ...LIST });
      expect(await eraseAll()).toMatchObject({ changed: {}, trouble: null });
      expect(await Promise.all([his, waiting].map((id) => read(subject.views, id)))).toEqual(before);
      expect(await subject.suppressions.suppressions({ ...LIST })).toEqual(list);
    });

    it('rewrites only what others wrote of her in mail that is neither to nor from her', async () => {
      const his = await accept([BOB], {
        content: { segment: 5, offset: 0, length: 100 },
        metadata: { order: '17' },
        header: { from: 'Shop <shop@example.com>', subject: 'Dear Bob', messageId: '<1@example.com>' },
      });
      await deliver(TOLD_OF_HER);
      const before = await read(subject.views, his);
      expect(names(JSON.stringify(before), ann)).toBe(true);
      expect((await eraseAll()).segments).toEqual([]);
      const after = await read(subject.views, his);
      expect(JSON.stringify(after)).toBe(JSON.stringify(before).replaceAll(ANN, ann.pseudonym));
      expect(after.message).toMatchObject({
        header: { subject: 'Dear Bob' },
        lastError: { recipient: BOB },
      });
      expect((await subject.books()).sentBytes).toBe(100);
    });

    it('erases mail that she sent', async () => {
      const hers = await accept([BOB], {
        header: { from: 'Ann <ANN@example.org>', subject: 'Dear Bob', messageId: '<1@example.com>' },
      });
      await deliver();
      const link = storyLink({ message: hers });
      await subject.sharing.addStoryLink({ link, hash: 'its story' }, { ofMessage: 9, all: 9 }, T0);
      await eraseAll();
      expect(await subject.sharing.storyLink('its story', T0)).toBeNull();
      const after = await read(subject.views, hers);
      expect(after.message).toMatchObject({ header: { subject: '', from: ann.pseudonym } });
      expect(after.recipients.map(({ address }) => address)).toEqual([BOB]);
    });

    it('keeps the segments to be cleared, whatever becomes of the answer', async () => {
      await accept([ANN], { content: { segment: 3, offset: 0, length: 700 } });
      await deliver();
      const id = await ask();
      const step = () => subject.store.erase({ id, person: ann, limit: 9, holds: true }, at());
      await step();
      // Nobody wrote down the answer, and the server was started again.
      subject = await subject.reopen();
      await subject.holdPseudonymKey(KEY);
      expect((await subject.erasures.erasure(id))?.progress.segments).toEqual([3]);
      // Two nodes at once.
      await Promise.all([step(), step()]);
      expect((await subject.erasures.erasure(id))?.progress).toMatchObject({
        segments: [3],
        changed: { messages: 1 },
      });
    });

    it('changes nothing when it is done again', async () => {
      await accept([ANN, BOB]);
      await deliver();
      await eraseAll();
      expect(changesOf(await eraseAll())).toBe(0);
    });

    it('keeps her suppressed, under a keyed hash', async () => {
      await subject.suppressions.addSuppressions([entry(ANN)], rules);
      await eraseAll();
      const page = await subject.suppressions.suppressions({ ...LIST });
      expect(page.entries.map(({ address, reason, note }) => ({ address, reason, note }))).toEqual([
        { address: ann.pseudonym, reason: 'complaint', note: '' },
      ]);
      expect(JSON.stringify(page)).not.toContain(ANN);
      const record = message({
        deliveries: [
          recipient({ recipient: { address: 'ANN@example.org', kind: 'to', notify: null, orcpt: null } }),
        ],
      });
      expect(await subject.store.accept([record], at())).toMatchObject([
        { suppressed: [{ index: 0, reason: 'complaint' }] },
      ]);
      const found = await subject.suppressions.suppressionsUnder(suppressionKeys(ANN));
      expect(found.map(({ address }) => address)).toEqual([ANN]);
      expect(await subject.suppressions.suppressionsUnder(suppressionKeys(BOB))).toEqual([]);
    });

    it('finds her in events of what is removed meanwhile', async () => {
      await subject.suppressions.addSuppressions([entry(ANN)], rules);
      await eraseAll(2, async (step) => {
        if (step === 'suppressions') await subject.suppressions.removeSuppressions(['sup_1'], true, T0);
      });
      const { events } = await subject.views.events({ ...EVERY_EVENT, from: { after: 0 }, limit: 9 });
      expect(events.map(({ type }) => type)).toEqual(['suppression.added', 'suppression.removed']);
      expect(JSON.stringify(events)).not.toContain(ANN);
    });

    it('merges what suppressed her before she was erased, and since', async () => {
      await subject.suppressions.addSuppressions([entry(ANN)], rules);
      await eraseAll();
      await subject.suppressions.addSuppressions([entry(ANN, { id: 'sup_2' })], rules);
      await eraseAll();
      const { entries } = await subject.suppressions.suppressions({ ...LIST });
      expect(entries.map(({ id, address }) => [id, address])).toEqual([['sup_2', ann.pseudonym]]);
    });

    it('rewrites the activity, and what her mail was found by', async () => {
      await subject.journal.record([
        { ...acted(ANN), after: JSON.stringify({ address: ANN }) },
        acted(`x${ANN}`),
      ]);
      await accept([ANN], { tags: [ANN] });
      await deliver();
      await subject.store.index(10);
      const find = async () => (await subject.views.search({ ...SEARCH })).messages.length;
      expect(await find()).toBe(1);
      await eraseAll();
      await subject.store.index(10);
      expect(await find()).toBe(0);
      const entries = await journal();
      expect(entries.map(({ subject: about }) => about)).toEqual([`x${ANN}`, ann.pseudonym]);
      expect(entries[1]?.after).toBe(null);
    });
  });
}

/** Another server names her in its refusal of mail to somebody else. */
const TOLD_OF_HER: Outcome = {
  kind: 'rejected',
  reply: {
    code: 550,
    enhanced: '5.1.1',
    cause: 'smtp_reply',
    text: `forwarded to <${ANN}>, who\n${ANN} refused it`,
  },
};

const EVENTS = { ...EVERY_EVENT, from: { after: 0 }, limit: 200 };
const LIST = {
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
const SEARCH = { query: parseQuery(`to:${ANN}`).query, after: null, before: null, limit: 10 };
