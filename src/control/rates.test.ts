import { describe, expect, it } from 'vitest';
import type { Event, EventFacts, EventType } from '../domain/event.ts';
import type { EventPage, EventQuery } from '../store/events.ts';
import { type RateDeps, rateOperations } from './rates.ts';

const DAY = 86_400_000;
const NOW = 20_000 * DAY + 5_000;

interface Told {
  readonly type?: EventType;
  readonly address?: string;
  readonly tags?: readonly string[];
  readonly at?: number;
  readonly facts?: EventFacts;
}

let sequence = 0;

function event({
  type = 'message.delivered',
  address = 'ann@Example.ORG',
  tags = [],
  at = NOW,
  facts = {},
}: Told = {}): Event {
  const message = { id: 'msg_1', messageId: '<1@x>', from: 'a@x', subject: '', tags, metadata: {} };
  return {
    sequence: ++sequence,
    type,
    at,
    message: { ...message, stream: null, keyId: null, keyName: null, source: 'api', createdAt: at },
    scopeKey: null,
    recipient: { address, kind: 'to' },
    attempt: 1,
    facts,
  };
}

/** Over these events, newest first, in pages of at most so many. */
function over(events: readonly Event[], more: Partial<RateDeps> = {}, size = 2) {
  const asked: EventQuery[] = [];
  const clock = { now: 0, wall: () => NOW, mono: () => clock.now };
  const page = async (query: EventQuery): Promise<EventPage> => {
    asked.push(query);
    const from = 'before' in query.from ? (query.from.before ?? 0) : 0;
    const shown = events.slice(from, from + size);
    const next = from + size < events.length ? from + size : null;
    return { events: shown, next, more: next !== null };
  };
  const config = { relays: [{ name: 'inbox' }, { name: 'out' }], events: { keep: 'all' as const } };
  const views = { counts: async () => new Map(), events: page };
  return { asked, clock, ...rateOperations({ views, clock, resolution: () => ({ config }), ...more }) };
}

describe('rates', () => {
  it('are counted by relay, without the inbox', async () => {
    const counts = new Map([
      ['relay_delivered', [1, 9]],
      ['relay_failed', [0, 2]],
      ['relay_bounced', [0, 1]],
    ] as const);
    const views = { counts: async () => counts, events: async () => Promise.reject(new Error('not asked')) };
    const { rates } = over([], { views });
    expect(await rates({ by: 'relay', days: 2 })).toEqual({
      by: 'relay',
      from: new Date(19_999 * DAY).toISOString(),
      days: 2,
      rows: [{ name: 'out', delivered: [1, 9], failed: [0, 2], bounced: [0, 1], complained: [0, 0] }],
      moreNames: 0,
      total: { delivered: [1, 9], failed: [0, 2], bounced: [0, 1], complained: [0, 0] },
      since: null,
      knowsDelivered: true,
    });
  });

  it('are counted by the domain of recipients, whatever its case, and by day', async () => {
    const { rates } = over([
      event(),
      event({ address: 'bob@example.org', at: NOW - DAY }),
      event({ type: 'message.bounced', address: 'bob@example.org', facts: { outcome: 'bounced' } }),
      event({ type: 'message.failed', address: 'x@example.net', facts: { outcome: 'rejected' } }),
      event({ type: 'message.failed', address: 'x@example.net', facts: { outcome: 'cancelled' } }),
      event({ type: 'message.complained', address: 'ann@example.org', at: NOW - 3 * DAY }),
    ]);
    const { rows, since } = await rates({ by: 'domain', days: 2 });
    expect(rows).toEqual([
      { name: 'example.org', delivered: [1, 1], failed: [0, 1], bounced: [0, 1], complained: [0, 0] },
      { name: 'example.net', delivered: [0, 0], failed: [0, 1], bounced: [0, 0], complained: [0, 0] },
    ]);
    expect(since).toBeNull();
  });

  it('count nobody twice who failed and then bounced, and nobody who is only perhaps one that bounced', async () => {
    const { rates } = over([
      event({ type: 'message.bounced', facts: { outcome: 'unknown' } }),
      event({ type: 'message.failed', facts: { outcome: 'unknown' } }),
      event({ type: 'message.bounced', address: 'bob@example.net', facts: { outcome: 'accepted' } }),
      event({ type: 'message.bounced', address: 'eve@example.net' }),
      event({ address: 'bob@example.net' }),
    ]);
    const { rows } = await rates({ by: 'domain', days: 1 });
    expect(
      rows.map(({ name, delivered, failed, bounced }) => [name, ...delivered, ...failed, ...bounced]),
    ).toEqual([
      ['example.net', 1, 0, 0],
      ['example.org', 0, 1, 0],
    ]);
  });

  it('are counted by each tag, and without one', async () => {
    const { rates } = over([event({ tags: ['news', 'may'] }), event({ tags: ['news'] }), event()]);
    const { rows } = await rates({ by: 'tag', days: 1 });
    expect(rows.map(({ name, delivered }) => [name, ...delivered])).toEqual([
      ['news', 2],
      ['', 1],
      ['may', 1],
    ]);
  });

  it('tell from when on all is counted, if they did not look at everything', async () => {
    const events = Array.from({ length: 100 }, (_, place) => event({ at: NOW - place * 1000 }));
    // What others tell may have happened long before.
    events[3] = event({ type: 'message.complained', at: NOW - 10 * DAY });
    const { asked, rates } = over(events);
    const { since, rows } = await rates({ by: 'domain', days: 30 });
    expect(asked).toHaveLength(10);
    expect(since).toBe(new Date(NOW - 19 * 1000).toISOString());
    expect(rows[0]?.delivered.at(-1)).toBeLessThan(20);
  });

  it('have a total over all domains, also those that are not named; by tag, none', async () => {
    const events = Array.from({ length: 60 }, (_, place) => event({ address: `ann@d${place}.example` }));
    const { rates } = over(events, {}, 60);
    const { rows, moreNames, total } = await rates({ by: 'domain', days: 2 });
    expect([rows.length, moreNames]).toEqual([50, 10]);
    expect(total).toEqual({ delivered: [0, 60], failed: [0, 0], bounced: [0, 0], complained: [0, 0] });
    expect((await rates({ by: 'tag', days: 2 })).total).toBeNull();
  });

  it('name at most fifty, the most mail first, and say how many there are besides', async () => {
    const events = Array.from({ length: 19 }, (_, place) =>
      event({ tags: [`a${place}`, `b${place}`, `c${place}`] }),
    );
    const { rows, moreNames } = await over([event({ tags: ['a7'] }), ...events]).rates({
      by: 'tag',
      days: 1,
    });
    expect(rows).toHaveLength(50);
    expect(rows[0]?.name).toBe('a7');
    expect(moreNames).toBe(7);
  });

  it('are worked out once for all who ask within half a minute', async () => {
    const { asked, clock, rates } = over([event()]);
    await Promise.all([rates({ by: 'tag', days: 1 }), rates({ by: 'tag', days: 1 })]);
    clock.now = 29_000;
    await rates({ by: 'tag', days: 1 });
    expect(asked).toHaveLength(1);
    clock.now = 31_000;
    await rates({ by: 'tag', days: 1 });
    expect(asked).toHaveLength(2);
  });
});
