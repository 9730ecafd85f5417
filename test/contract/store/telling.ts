import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_MESSAGE } from '../../../src/domain/feedback.ts';
import { EVERY_EVENT } from '../../../src/store/events.ts';
import { ONCE_MS } from '../../../src/store/telling.ts';
import { TELL_RULES } from '../../support/telling.ts';
import {
  at,
  CAPTURED,
  DAY,
  DELIVERED,
  HOUR,
  message,
  type OpenSubject,
  REJECTED,
  recipient,
  type Subject,
  settlement,
  T0,
  UNKNOWN,
} from './fixtures.ts';
import { bounceOf, Teller, told } from './told.ts';

const STREAM = { stream: 'news' };

/** What `tell` promises of mail; of what it means for the suppression list, see bouncing.ts. */
export function tellingContract(open: OpenSubject): void {
  describe('tell', () => {
    let subject: Subject;
    const teller = new Teller(() => subject);
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    it('make what was delivered failed because it bounced, and count it', async () => {
      const { id, address } = await teller.sent({ tags: ['news'] });
      const result = await teller.tellOne(bounceOf(id), {}, at(HOUR));
      expect(result).toMatchObject({
        verdict: 'matched',
        changed: true,
        messageId: id,
        address,
        relay: 'out',
        entry: { address, reason: 'hard_bounce' },
        counted: { as: 'bounced', tags: ['news'], reply: { code: 550 } },
      });
      const detail = await subject.views.message(id);
      expect(detail?.message).toMatchObject({ status: 'failed', lastError: { recipient: address } });
      expect(detail?.recipients).toMatchObject([
        { state: 'failed', outcome: 'bounced', lastCode: 550, lastEnhanced: '5.1.1', attempts: 1 },
      ]);
      const { relays } = await subject.views.figures(T0 + HOUR);
      expect(relays['out']).toEqual({ delivered: 1, failed: 1 });
      expect(await teller.events(id)).toMatchObject([
        {
          type: 'message.bounced',
          at: T0 + HOUR,
          recipient: { address },
          facts: {
            relay: 'out',
            outcome: 'bounced',
            code: 550,
            enhanced: '5.1.1',
            text: 'No such user',
            source: 'dsn',
            bounce: 'hard',
            suppression: result.entry?.id,
          },
        },
      ]);
    });

    it('count bounces and complaints by relay and day, each once', async () => {
      const { id } = await teller.sent({ deliveries: [recipient(), recipient()] });
      const of = (index: number) => ({ message: { ...NO_MESSAGE, token: { id, recipient: index } } });
      await teller.tellOne(bounceOf(id, {}, of(0)), {}, at(HOUR));
      await teller.tellOne(bounceOf(id, {}, of(0)), {}, at(HOUR));
      await teller.tellOne(told(id, 'complaint', of(1)), {}, at(DAY));
      await teller.tellOne(told(id, 'confirmation', of(1)), {}, at(DAY));
      subject = await subject.reopen();
      const days = { period: 'day', from: Math.floor(T0 / DAY), count: 2, relay: 'out' } as const;
      const counts = await subject.views.counts(days);
      expect(counts.get('relay_bounced')).toEqual([1, 0]);
      expect(counts.get('relay_complained')).toEqual([0, 1]);
      expect(counts.get('relay_delivered')).toEqual([2, 0]);
      expect(counts.get('relay_failed')).toEqual([1, 0]);
      expect((await subject.views.counts({ ...days, relay: null })).get('relay_bounced')).toBeUndefined();
    });

    it('count a bounce once, and say when it happened, across a restart', async () => {
      const { id } = await teller.sent();
      await teller.tellOne(bounceOf(id, {}, { at: T0 + 7 }), {}, at(HOUR));
      subject = await subject.reopen();
      const again = await teller.tellOne(bounceOf(id, { enhancedCode: '5.7.1' }), {}, at(2 * HOUR));
      expect(again).toMatchObject({ verdict: 'matched', changed: false, bounce: null, entry: null });
      expect(await teller.events(id)).toMatchObject([
        { type: 'message.bounced', at: T0 + HOUR, facts: { happenedAt: T0 + 7 } },
      ]);
      expect(await teller.ends(id)).toEqual(['failed/bounced']);
      expect((await subject.views.figures(T0)).relays['out']).toEqual({ delivered: 1, failed: 1 });
    });

    it('touch only the recipient that is meant: the others stay delivered', async () => {
      const { id, addresses } = await teller.sent({ deliveries: [recipient(), recipient(), recipient()] });
      const { message: names } = told(id, 'bounce');
      const number = { ...names, token: { id, recipient: 2 } };
      await teller.tellOne(bounceOf(id, {}, { message: number, recipient: addresses[0] ?? null }));
      expect(await teller.ends(id)).toEqual(['delivered/accepted', 'delivered/accepted', 'failed/bounced']);
      expect(await teller.story(id)).toEqual([`message.bounced ${addresses[2]}`]);
      expect((await subject.views.message(id))?.message).toMatchObject({
        status: 'failed',
        outcome: 'partial',
      });
      const nobody = { ...names, token: { id, recipient: 3 } };
      expect(await teller.tellOne(bounceOf(id, {}, { message: nobody }))).toMatchObject({
        messageId: id,
        address: null,
        changed: false,
      });
      expect(await teller.story(id)).toHaveLength(1);
    });

    it('end as bounced whether it was confirmed before or after, each with its event once', async () => {
      const [first, second] = [await teller.sent(), await teller.sent()];
      await teller.tell([told(first.id, 'confirmation'), bounceOf(first.id), told(first.id, 'confirmation')]);
      await teller.tell([bounceOf(second.id), told(second.id, 'confirmation'), bounceOf(second.id)]);
      for (const { id } of [first, second]) expect(await teller.ends(id)).toEqual(['failed/bounced']);
      const [bounced, confirmed] = ['message.bounced', 'message.confirmed'];
      expect(await teller.story(first.id)).toEqual([
        `${confirmed} ${first.address}`,
        `${bounced} ${first.address}`,
      ]);
      expect(await teller.story(second.id)).toEqual([
        `${bounced} ${second.address}`,
        `${confirmed} ${second.address}`,
      ]);
    });

    it('keep complaints and wishes to unsubscribe once, and leave the state', async () => {
      const { id, address } = await teller.sent(STREAM);
      const both = [told(id, 'complaint', { source: 'arf' }), told(id, 'unsubscribe', { source: 'mailto' })];
      const [complained, unsubscribed] = await teller.tell(both);
      expect(complained).toMatchObject({ entry: { reason: 'complaint' }, counted: { as: 'complained' } });
      expect(unsubscribed?.entry?.reason).toBe('unsubscribe');
      expect((await teller.tell(both)).map(({ changed }) => changed)).toEqual([false, false]);
      expect(await teller.ends(id)).toEqual(['delivered/accepted']);
      expect(await teller.story(id)).toEqual([
        `message.complained ${address}`,
        `message.unsubscribed ${address}`,
      ]);
      const entries = await teller.entries(address);
      const known = entries.map(({ scope, stream, reason, source }) => [reason, scope, stream, source]);
      expect(known.sort()).toEqual([
        ['complaint', 'domain:example.com', null, 'arf'],
        ['unsubscribe', 'domain:example.com', 'news', 'mailto'],
      ]);
    });

    it('stop a stream again for whoever was taken off the list, and unsubscribes anew', async () => {
      const { id, address } = await teller.sent(STREAM);
      const wish = [told(id, 'unsubscribe', { source: 'one_click' })];
      const [first] = await teller.tell(wish);
      const [again] = await teller.tell(wish);
      expect([again?.changed, again?.entry?.id]).toEqual([false, first?.entry?.id]);
      await teller.forget(first?.entry?.id ?? '');
      expect(await teller.entries(address)).toEqual([]);
      const [anew] = await teller.tell(wish);
      expect(anew?.changed).toBe(true);
      const entries = await teller.entries(address);
      expect(entries.map(({ reason, stream }) => [reason, stream])).toEqual([['unsubscribe', 'news']]);
      expect(await teller.story(id)).toEqual([`message.unsubscribed ${address}`]);
    });

    it('tell of each delay, and say nothing of programs that answer', async () => {
      const { id, address } = await teller.sent();
      await teller.tell([told(id, 'delayed'), told(id, 'delayed')]);
      const silent = (['reply', 'not_spam', 'auth_failure'] as const).map((kind) => told(id, kind));
      expect((await teller.tell(silent)).every(({ changed }) => !changed)).toBe(true);
      expect(await teller.story(id)).toEqual([`message.delayed ${address}`, `message.delayed ${address}`]);
      expect(await teller.ends(id)).toEqual(['delivered/accepted']);
      expect(await teller.entries(address)).toEqual([]);
    });

    it('mean nobody in particular where one of several complained, or was bounced', async () => {
      const { id, addresses } = await teller.sent({ deliveries: [recipient(), recipient()] });
      const each = addresses.map((one) =>
        told(id, 'complaint', { recipient: one, oneOfSeveral: true, source: 'webhook:out' }),
      );
      expect((await teller.tell(each)).map(({ changed, entry }) => [changed, entry])).toEqual([
        [true, null],
        [true, null],
      ]);
      const bounces = addresses.map((one) => bounceOf(id, {}, { recipient: one, oneOfSeveral: true }));
      await teller.tell(bounces);
      expect(await teller.ends(id)).toEqual(['delivered/accepted', 'delivered/accepted']);
      expect(await teller.story(id)).toHaveLength(4);
      for (const one of addresses) expect(await teller.entries(one)).toEqual([]);
    });

    it('say of each recipient what it is then, and count for a relay only what is certain', async () => {
      const { id, addresses } = await teller.sent({ deliveries: [recipient(), recipient()] });
      const of = (place: number) => ({ recipient: addresses[place] ?? '' });
      await teller.tell([
        bounceOf(id, {}, of(0)),
        told(id, 'confirmation', of(0)),
        bounceOf(id, {}, { ...of(1), oneOfSeveral: true }),
        told(id, 'complaint', { ...of(1), oneOfSeveral: true }),
      ]);
      const under = await teller.begun();
      await teller.tellOne(told(under.id, 'delayed'));
      const ends = async (of: string) =>
        (await teller.events(of)).map(({ type, facts: { outcome, state } }) => [type, outcome ?? state]);
      expect(await ends(id)).toEqual([
        ['message.bounced', 'bounced'],
        ['message.confirmed', 'bounced'],
        ['message.bounced', 'accepted'],
        ['message.complained', 'accepted'],
      ]);
      expect(await ends(under.id)).toEqual([['message.delayed', 'processing']]);
      const today = { period: 'day', from: Math.floor(T0 / DAY), count: 1, relay: 'out' } as const;
      const counts = await subject.views.counts(today);
      expect(counts.get('relay_bounced')).toEqual([1]);
      expect(counts.get('relay_complained')).toBeUndefined();
    });

    it('tell of a complaint about a message without a recipient, and suppress nobody', async () => {
      const { id, addresses } = await teller.sent({ deliveries: [recipient(), recipient()] });
      const message = { ...NO_MESSAGE, id };
      const unknown = { message, recipient: 'else@example.org' };
      expect(await teller.tellOne(told(id, 'complaint', unknown))).toMatchObject({
        verdict: 'matched',
        changed: true,
        messageId: id,
        address: null,
        entry: null,
      });
      expect(await teller.tellOne(bounceOf(id, {}, unknown))).toMatchObject({ changed: false });
      expect(await teller.story(id)).toEqual(['message.complained nobody']);
      for (const one of addresses) expect(await teller.entries(one)).toEqual([]);
    });

    it('keep what was told of what was captured, refused, or has an unknown end', async () => {
      const deliveries = [recipient(), recipient(), recipient()];
      const { id, addresses } = await teller.sent({ deliveries }, [CAPTURED, REJECTED, DELIVERED]);
      const of = (place: number) => ({ recipient: addresses[place] ?? '' });
      const [captured, rejected] = await teller.tell([bounceOf(id, {}, of(0)), bounceOf(id, {}, of(1))]);
      expect(captured?.changed).toBe(true);
      expect(rejected?.changed).toBe(false);
      await teller.tellOne(told(id, 'confirmation', of(1)));
      expect(await teller.ends(id)).toEqual(['failed/bounced', 'failed/rejected', 'delivered/accepted']);
      expect(await teller.story(id)).toEqual([
        `message.failed ${addresses[1]}`,
        `message.bounced ${addresses[0]}`,
        `message.confirmed ${addresses[1]}`,
      ]);
    });

    describe('find the message', () => {
      const named = (change: Partial<typeof NO_MESSAGE>) => ({ message: { ...NO_MESSAGE, ...change } });

      it('by our id and the address, of which ASCII case is ignored, or another name of it', async () => {
        const { id, addresses } = await teller.sent({ deliveries: [recipient(), recipient()] });
        const [first = '', second = ''] = addresses;
        await teller.tellOne(bounceOf(id, {}, { ...named({ id }), recipient: second.toUpperCase() }));
        const others = { recipient: 'alias@example.org', alternatives: ['nobody@example.org', first] };
        await teller.tellOne(told(id, 'confirmation', { ...named({ id }), ...others }));
        expect(await teller.story(id)).toEqual([`message.bounced ${second}`, `message.confirmed ${first}`]);
      });

      it('by its only recipient, whatever address is named', async () => {
        const { id, address } = await teller.sent();
        const forwarded = { ...named({ id }), recipient: 'forwarded@example.org' };
        expect((await teller.tellOne(bounceOf(id, {}, forwarded))).address).toBe(address);
      });

      it('by what a relay calls it, which another relay may call something else', async () => {
        const { id, unit, addresses } = await teller.begun({ deliveries: [recipient(), recipient()] });
        const other = { ...DELIVERED, providerMessageId: 'other' };
        await subject.store.settle([settlement(unit, [DELIVERED, other])], at());
        const by = { ...named({ providerMessageId: '4BQ' }), recipient: addresses[0] ?? '' };
        const foreign = { ...by, source: 'webhook:foreign' } as const;
        expect(await teller.tellOne(bounceOf(id, {}, foreign))).toMatchObject({ verdict: 'unmatched' });
        const own = { ...by, source: 'webhook:out' } as const;
        expect(await teller.tellOne(bounceOf(id, {}, own))).toMatchObject({ address: addresses[0] });
        // Who is named has another one by now, as after a retry: the only one with that name is not meant.
        const any = { ...named({ providerMessageId: 'other' }), recipient: addresses[0] ?? '' };
        expect(await teller.tellOne(told(id, 'confirmation', any))).toMatchObject({ address: null });
      });

      it('by its Message-ID: the newest with this recipient, or the one whose id is in it', async () => {
        const header = { ...message().header, messageId: '<same@example.com>' };
        const [older, newer] = [
          await teller.sentTo('ann@example.org', { header }),
          await teller.sentTo('ann@example.org', { header }),
        ];
        const newest = await teller.sentTo('bob@example.org', { header });
        expect(
          [older, newer, newest]
            .map(({ id }) => id)
            .sort()
            .at(-1),
        ).toBe(newest.id);
        const by = named({ messageId: '<same@example.com>' });
        const complaint = (change: object) => teller.tellOne(told('', 'complaint', { ...by, ...change }));
        expect(await complaint({ recipient: 'ann@example.org' })).toMatchObject({
          messageId: newer.id,
          address: 'ann@example.org',
        });
        // Whoever splits a message by its recipients repeats its Message-ID: the only one of the newest need not be meant.
        for (const change of [{ recipient: 'cid@example.org' }, {}])
          expect(await complaint(change)).toMatchObject({ messageId: newest.id, address: null, entry: null });
        expect(await teller.entries('bob@example.org')).toEqual([]);
        const { id } = message();
        const ours = { ...message().header, messageId: `<${id}@waybill.example>` };
        await teller.sent({ id, header: ours });
        const byOurs = named({ messageId: `<${id}@waybill.example>` });
        expect((await teller.tellOne(told('', 'confirmation', byOurs))).messageId).toBe(id);
      });

      it('by the first of its names that leads to one, and else change nothing', async () => {
        const { id } = await teller.sent();
        const wrong = { id: message().id, recipient: 0 };
        const names = { token: wrong, id: message().id, providerMessageId: '4BQ', messageId: '<no@x>' };
        expect((await teller.tellOne(bounceOf(id, {}, named(names)))).messageId).toBe(id);
        const lost = { ...names, providerMessageId: 'none' };
        expect(await teller.tellOne(bounceOf(id, {}, named(lost)))).toEqual({
          kind: 'bounce',
          source: 'dsn',
          verdict: 'unmatched',
          changed: false,
          messageId: null,
          address: null,
          relay: null,
          bounce: null,
          entry: null,
          counted: null,
        });
      });
    });

    it('count what comes under one id of its source once, for a week', async () => {
      const { id } = await teller.sent();
      const delayed = (source: 'webhook:one' | 'webhook:two') => told(id, 'delayed', { source });
      const onceId = 'e1';
      expect((await teller.tellOne(delayed('webhook:one'), { onceId })).verdict).toBe('matched');
      subject = await subject.reopen();
      const again = await teller.tellOne(delayed('webhook:one'), { onceId }, at(DAY));
      expect(again).toMatchObject({ verdict: 'repeated', changed: false });
      expect((await teller.tellOne(delayed('webhook:two'), { onceId })).verdict).toBe('matched');
      expect((await teller.tellOne(delayed('webhook:one'), { onceId: 'e2' })).verdict).toBe('matched');
      expect(await teller.story(id)).toHaveLength(3);
      expect(ONCE_MS).toBe(7 * DAY);
    });

    it('apply all that came at once, or nothing of it', async () => {
      const [first, second] = [await teller.sent(), await teller.sent()];
      const items = [bounceOf(first.id), told(second.id, 'complaint'), bounceOf(message().id)];
      expect((await teller.tell(items)).map(({ verdict }) => verdict)).toEqual([
        'matched',
        'matched',
        'unmatched',
      ]);
      expect(await teller.reason(first.address)).toBe('hard_bounce');
      expect(await teller.reason(second.address)).toBe('complaint');
      // Evidence of the same id cannot be kept twice: nothing else is.
      const evidence = { contentType: 'message/rfc822', base64: 'eA==' };
      const third = await teller.sent();
      const item = { feedback: bounceOf(third.id), onceId: null, entryId: 'sup_1' };
      const twice = { id: 'fbk_1', source: 'dsn', items: [item], evidence, mayBeEarly: false } as const;
      await subject.store.tell([{ ...twice, items: [] }], TELL_RULES, at());
      await expect(subject.store.tell([twice], TELL_RULES, at())).rejects.toThrow();
      expect(await teller.ends(third.id)).toEqual(['delivered/accepted']);
      expect(await teller.entries(third.address)).toEqual([]);
    });

    it('of a recipient that may have it, make a bounce without a change of the state', async () => {
      const { id, unit, addresses } = await teller.begun();
      const [address] = addresses;
      const { transitions, ...rest } = settlement(unit, [UNKNOWN]);
      const failed = transitions.map((one) => ({
        ...one,
        state: 'failed' as const,
        outcome: 'unknown' as const,
        nextAttemptAt: null,
      }));
      await subject.store.settle([{ ...rest, transitions: failed }], at());
      expect(await teller.ends(id)).toEqual(['failed/unknown']);
      expect((await teller.tellOne(bounceOf(id))).changed).toBe(true);
      expect(await teller.ends(id)).toEqual(['failed/unknown']);
      expect(await teller.story(id)).toEqual(['failed', 'bounced'].map((end) => `message.${end} ${address}`));
    });

    it('keep the evidence, and tell nothing of what has no items', async () => {
      const evidence = { contentType: 'message/rfc822', base64: 'eA==' };
      expect(await teller.tell([], { evidence })).toEqual([]);
      const all = { ...EVERY_EVENT, from: { after: 0 }, limit: 200 };
      expect((await subject.views.events(all)).events).toEqual([]);
    });
  });
}
