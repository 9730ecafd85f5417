import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event, EventMessage, MessageEventType, SuppressionEventType } from './event.ts';
import { eventBody, MAX_EVENT_BYTES } from './event-body.ts';

const AT = Date.UTC(2026, 10, 20, 11, 15, 0, 123);
const ID = 'evt_00000000000000000000000000';

const MESSAGE: EventMessage = {
  id: 'msg_01',
  messageId: '<1@example.com>',
  from: 'Shop <shop@example.com>',
  subject: 'Secret',
  tags: ['welcome'],
  metadata: { order: '7' },
  stream: 'news',
  keyId: 'key_1',
  keyName: 'shop',
  source: 'api',
  createdAt: AT - 1000,
};
const QUEUED: Event = {
  sequence: 4711,
  type: 'message.queued',
  at: AT,
  message: MESSAGE,
  scopeKey: null,
  recipient: null,
  attempt: null,
  facts: {},
};
const ANN = { address: 'ann@example.org', kind: 'to' } as const;
const ofAnn = (type: MessageEventType, facts: Event['facts'], attempt: number | null = 1): Event => ({
  ...QUEUED,
  type,
  recipient: ANN,
  attempt,
  facts,
});

const dataOf = (event: Event) => eventBody(event, ID).data;
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe('each type', () => {
  test('message.queued: about the whole message, without a subject, every member there', () =>
    expect(eventBody(QUEUED, ID)).toEqual({
      type: 'message.queued',
      timestamp: '2026-11-20T11:15:00.123Z',
      data: {
        id: ID,
        sequence: 4711,
        message: {
          id: 'msg_01',
          messageId: '<1@example.com>',
          from: 'Shop <shop@example.com>',
          tags: ['welcome'],
          metadata: { order: '7' },
          stream: 'news',
          key: 'shop',
          source: 'api',
          createdAt: '2026-11-20T11:14:59.123Z',
        },
        recipient: null,
        relay: null,
        attempt: null,
        providerMessageId: null,
        nextAttemptAt: null,
        reply: null,
        bounce: null,
        suppression: null,
      },
    }));

  test('message.delivered: with what the relay called it, and what it replied', () => {
    const facts = {
      relay: 'out',
      outcome: 'accepted',
      code: 250,
      enhanced: '2.0.0',
      text: 'Ok: 4711',
      providerMessageId: '4711',
    } as const;
    expect(dataOf(ofAnn('message.delivered', facts, 2))).toMatchObject({
      recipient: { address: 'ann@example.org', type: 'to', status: 'delivered', outcome: 'accepted' },
      relay: 'out',
      attempt: 2,
      providerMessageId: '4711',
      nextAttemptAt: null,
      reply: { code: 250, enhancedCode: '2.0.0', text: 'Ok: 4711' },
    });
  });

  test('message.captured', () =>
    expect(dataOf(ofAnn('message.captured', { relay: 'inbox', outcome: 'captured' }))).toMatchObject({
      recipient: { status: 'delivered', outcome: 'captured' },
      relay: 'inbox',
    }));

  test('message.deferred: not final, with the time of the next attempt', () =>
    expect(
      dataOf(ofAnn('message.deferred', { relay: 'out', text: 'Later', nextAttemptAt: AT + 30_000 })),
    ).toMatchObject({
      recipient: { status: 'retrying', outcome: null },
      nextAttemptAt: '2026-11-20T11:15:30.123Z',
      reply: { code: null, enhancedCode: null, text: 'Later' },
    }));

  test('message.failed: with what it means for the address, where that is known', () => {
    const facts = { outcome: 'rejected', code: 550, enhanced: '5.1.1', bounce: 'hard' } as const;
    expect(dataOf(ofAnn('message.failed', facts))).toMatchObject({
      bounce: { type: 'hard', source: 'smtp' },
    });
    expect(dataOf(ofAnn('message.failed', { outcome: 'cancelled' }))).toMatchObject({ bounce: null });
  });

  test.each(['rejected', 'expired', 'no_route', 'cancelled', 'unknown'] as const)(
    'message.failed: %s, whether or not there was an attempt',
    (outcome) =>
      expect(dataOf(ofAnn('message.failed', { outcome, text: '' }, null))).toMatchObject({
        recipient: { status: 'failed', outcome },
        attempt: null,
        reply: null,
      }),
  );

  test('all have the same members in the same order, so that bodies are the same bytes every time', () => {
    const members = Object.keys(dataOf(QUEUED));
    for (const type of [
      'message.delivered',
      'message.captured',
      'message.deferred',
      'message.failed',
      'message.suppressed',
      'message.bounced',
      'message.confirmed',
      'message.delayed',
      'message.complained',
      'message.unsubscribed',
    ] as const)
      expect(Object.keys(dataOf(ofAnn(type, {})))).toEqual(members);
  });

  test('message.bounced: with how it became known, and the entry that it led to', () => {
    const facts = { code: 550, bounce: 'hard', source: 'dsn', suppression: 'sup_1' } as const;
    expect(dataOf(ofAnn('message.bounced', facts))).toMatchObject({
      recipient: { status: 'failed', outcome: 'bounced' },
      bounce: { type: 'hard', source: 'dsn' },
      suppression: 'sup_1',
    });
  });

  test('message.suppressed: it failed, because of an entry', () =>
    expect(dataOf(ofAnn('message.suppressed', { suppression: 'sup_1' }, null))).toMatchObject({
      recipient: { status: 'failed', outcome: 'suppressed' },
      suppression: 'sup_1',
      bounce: null,
    }));

  test.each(['message.confirmed', 'message.delayed', 'message.complained', 'message.unsubscribed'] as const)(
    '%s: the recipient stays as it is',
    (type) => {
      expect(dataOf(ofAnn(type, {})).recipient).toMatchObject({ status: 'delivered', outcome: 'accepted' });
      for (const [outcome, status] of [
        ['captured', 'delivered'],
        ['bounced', 'failed'],
        ['unknown', 'failed'],
      ] as const)
        expect(dataOf(ofAnn(type, { outcome })).recipient).toMatchObject({ status, outcome });
    },
  );

  const ofList = (
    type: SuppressionEventType,
    facts: Event['facts'],
    scopeKey: string | null = null,
  ): Event => ({
    ...QUEUED,
    type,
    message: null,
    scopeKey,
    facts,
  });
  const ENTRY = {
    id: 'sup_1',
    address: '*@*.example.org',
    scope: 'key:key_1',
    stream: null,
    reason: 'manual',
    source: 'api',
  } as const;

  test.each(['suppression.added', 'suppression.removed'] as const)('%s: about an entry alone', (type) => {
    const body = dataOf(ofList(type, { entry: ENTRY }, 'shop'));
    expect(body).toMatchObject({
      message: null,
      recipient: null,
      reply: null,
      bounce: null,
      suppression: 'sup_1',
      entry: {
        address: '*@*.example.org',
        scope: 'key:shop',
        stream: null,
        reason: 'manual',
        source: 'api',
      },
      domain: 'example.org',
    });
    expect(Object.keys(body.entry ?? {})).not.toContain('id');
    expect(dataOf(ofList(type, { entry: { ...ENTRY, scope: 'global' } })).entry?.scope).toBe('global');
  });

  test('suppression.guarded: about a domain, with the same members', () => {
    const guarded = dataOf(ofList('suppression.guarded', { domain: 'example.org' }));
    expect(guarded).toMatchObject({ message: null, suppression: null, entry: null, domain: 'example.org' });
    expect(Object.keys(guarded)).toEqual(Object.keys(dataOf(ofList('suppression.added', { entry: ENTRY }))));
  });
});

describe('an event that is too large', () => {
  const long = (characters: number, character = 'x') => character.repeat(characters);
  const entries = (count: number, characters: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`name${i}`, long(characters)]));
  const large = (message: Partial<EventMessage>, text = 'No such user'): Event => ({
    ...ofAnn('message.failed', { outcome: 'rejected', text }),
    message: { ...MESSAGE, ...message },
  });

  test('is whole up to the last byte, and cut from one more on', () => {
    const room = MAX_EVENT_BYTES - bytesOf(eventBody(large({ metadata: { name: '' } }), ID));
    const fits = eventBody(large({ metadata: { name: long(room) } }), ID);
    expect([bytesOf(fits), 'truncated' in fits.data]).toEqual([MAX_EVENT_BYTES, false]);
    const cut = eventBody(large({ metadata: { name: long(room + 1) } }), ID);
    expect(cut.data).toMatchObject({ truncated: true, message: { metadata: {}, tags: ['welcome'] } });
  });

  test('loses the last entries of its metadata first', () => {
    const { data } = eventBody(large({ metadata: entries(20, 4096) }), ID);
    expect(Object.keys(data.message?.metadata ?? {})).toEqual(['name0', 'name1', 'name2', 'name3']);
    expect(data).toMatchObject({
      truncated: true,
      message: { tags: ['welcome'] },
      reply: { text: 'No such user' },
    });
  });

  test('then its last tags', () => {
    const tags = Array.from({ length: 400 }, (_, i) => `${i} ${long(100)}`);
    const { data } = eventBody(large({ tags, metadata: entries(1, 10) }), ID);
    expect(data.message?.metadata).toEqual({});
    const left = data.message?.tags.length ?? 0;
    expect(data.message?.tags).toEqual(tags.slice(0, left));
    expect(left).toBeGreaterThan(100);
    expect(data).toMatchObject({ truncated: true, reply: { text: 'No such user' } });
  });

  test('then the end of the reply’s text, in whole characters', () => {
    const body = eventBody(large({}, long(10_000, '\u{1f4ee}')), ID);
    const { text = '' } = body.data.reply ?? {};
    expect(body.data).toMatchObject({ truncated: true, message: { tags: [], metadata: {} } });
    expect(text).toMatch(/^\u{1f4ee}{4000,}$/u);
    expect(bytesOf(body)).toBeGreaterThan(MAX_EVENT_BYTES - 4);
    expect(bytesOf(body)).toBeLessThanOrEqual(MAX_EVENT_BYTES);
  });

  test('is never larger, whatever is in it', () => {
    const text = fc
      .tuple(fc.string({ unit: 'binary', maxLength: 20 }), fc.nat(400))
      .map(([piece, times]) => piece.repeat(times));
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ maxLength: 64 }), text, { maxKeys: 20 }),
        fc.array(text, { maxLength: 10 }),
        fc.array(text, { minLength: 4, maxLength: 4 }),
        (metadata, tags, [reply = '', from = '', messageId = '', providerMessageId = '']) => {
          const event = large({ metadata, tags, from, messageId }, reply);
          const body = eventBody({ ...event, facts: { ...event.facts, providerMessageId } }, ID);
          expect(bytesOf(body)).toBeLessThanOrEqual(MAX_EVENT_BYTES);
          expect(Object.keys(body.data.message ?? {})).toHaveLength(9);
        },
      ),
      { numRuns: 40 },
    );
  });
});

test('the time of an event that was told later is when it happened', () => {
  const told = ofAnn('message.bounced', { happenedAt: AT - 60_000 }, null);
  expect(eventBody(told, ID).timestamp).toBe('2026-11-20T11:14:00.123Z');
});
