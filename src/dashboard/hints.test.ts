import { expect, onTestFinished, test } from 'vitest';
import { acceptedEvent, attemptedEvent } from '../../test/support/engine-events.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { seededRandom } from '../lib/random.ts';
import { Events } from '../observe/events.ts';
import { countTopics, HEARTBEAT_MS, HINT_MS, HintFeed, MAX_REMEMBERED } from './hints.ts';

test('what pages are told of is counted, for the pages of other nodes', () => {
  const events = new Events();
  const topics = countTopics(events);
  expect(topics.counts()).toEqual({});
  events.emit({ type: 'operated', operation: 'createKey' });
  events.emit({ type: 'operated', operation: 'backup' });
  expect(topics.counts()).toEqual({ keys: 1, health: 1, activity: 2 });
  topics.stop();
  events.emit({ type: 'operated', operation: 'createKey' });
  expect(topics.counts()).toMatchObject({ keys: 1 });
});

function setUp() {
  const events = new Events();
  const clock = new ManualClock();
  const feed = new HintFeed({ events, clock, random: seededRandom(3) });
  onTestFinished(() => feed.stop());
  return { events, clock, feed };
}

/** A stream that keeps what it is sent. */
function listen(feed: HintFeed, lastEventId: string | null = null) {
  const sent: Uint8Array[] = [];
  const leave = feed.add({ send: (bytes) => void sent.push(bytes) }, lastEventId);
  const text = () => sent.map((bytes) => Buffer.from(bytes).toString());
  return { sent, leave, text, last: () => text().at(-1) ?? '', lastId: () => idIn(text()) };
}

function idIn(texts: readonly string[]): string {
  const [, id = ''] = /^id: (.*)$/m.exec(texts.filter((text) => text.includes('id: ')).at(-1) ?? '') ?? [];
  return id;
}

const accepted = (messageId: string) => acceptedEvent({ messageId });

test('what an event costs does not grow with the streams, nor a stream with the events', async () => {
  const { events, clock, feed } = setUp();
  const streams = Array.from({ length: 50 }, () => listen(feed));
  for (const { sent } of streams) sent.length = 0;
  for (let i = 0; i < 10_000; i++) events.emit(accepted(`msg_${i}`));
  // Nothing was made and nothing was sent while it happened.
  expect(streams.map(({ sent }) => sent.length)).toEqual(streams.map(() => 0));
  await clock.advance(HINT_MS);
  const [first] = streams;
  expect(streams.map(({ sent }) => sent.length)).toEqual(streams.map(() => 1));
  // The very same bytes: made once.
  for (const { sent } of streams) expect(sent[0]).toBe(first?.sent[0]);
});

test('a stream gets four hints a second at most, and none when nothing happens', async () => {
  const { events, clock, feed } = setUp();
  const { sent } = listen(feed);
  sent.length = 0;
  for (let i = 0; i < 100; i++) {
    events.emit(accepted('msg_1'));
    await clock.advance(10);
  }
  expect(sent.length).toBeLessThanOrEqual(4);
  await clock.advance(HINT_MS);
  sent.length = 0;
  await clock.advance(10_000);
  expect(sent).toEqual([]);
});

test('a hint names topics once, and messages while they are few', async () => {
  const { events, clock, feed } = setUp();
  const stream = listen(feed);
  for (const id of ['msg_1', 'msg_2', 'msg_1']) events.emit(accepted(id));
  await clock.advance(HINT_MS);
  expect(stream.last()).toMatch(
    /^event: hint\nid: [0-9a-f]{12}-1\ndata: {"topics":\["messages","queue"\],"ids":\["msg_1","msg_2"\]}\n\n$/,
  );
  for (let i = 0; i < 21; i++) events.emit(accepted(`msg_${i}`));
  await clock.advance(HINT_MS);
  expect(stream.last()).toContain('data: {"topics":["messages","queue"]}\n');
});

test('an operation that was done is a hint of what it changed, and of the activity', async () => {
  const { events, clock, feed } = setUp();
  const stream = listen(feed);
  events.emit({ type: 'operated', operation: 'createKey' });
  await clock.advance(HINT_MS);
  expect(stream.last()).toContain('{"topics":["keys","activity"]}');
});

test('captured mail is a hint of the inbox', async () => {
  const { events, clock, feed } = setUp();
  const stream = listen(feed);
  events.emit(attemptedEvent({ relay: 'inbox' }));
  await clock.advance(HINT_MS);
  expect(stream.last()).toContain('"topics":["messages","queue","relays","inbox"]');
});

test('a stream that comes back is told at once of all that it missed', async () => {
  const { events, clock, feed } = setUp();
  const first = listen(feed);
  const id = first.lastId();
  expect(first.last()).toMatch(/^retry: \d+\nid: .*\n\n$/);
  first.leave();
  events.emit(accepted('msg_1'));
  await clock.advance(HINT_MS);
  events.emit({ type: 'operated', operation: 'hold' });
  await clock.advance(HINT_MS);
  const again = listen(feed, id);
  expect(again.sent).toHaveLength(1);
  expect(again.last()).toContain('event: hint\n');
  expect(again.last()).toContain('{"topics":["messages","queue","relays","health","activity"]}');
  // And nothing more, having heard that.
  expect(listen(feed, again.lastId()).last()).not.toContain('event:');
});

test('who missed too much, or knows another run of the server, is told to begin anew', async () => {
  const { events, clock, feed } = setUp();
  const id = listen(feed).lastId();
  for (let i = 0; i <= MAX_REMEMBERED; i++) {
    events.emit(accepted('msg_1'));
    await clock.advance(HINT_MS);
    if (i === MAX_REMEMBERED - 1) expect(listen(feed, id).last()).toContain('event: hint');
  }
  const current = listen(feed).lastId();
  const beyond = current.replace(/\d+$/, '99999');
  const otherRun = current.replace(/^....../, 'ffffff');
  for (const unknown of [id, beyond, otherRun, '', 'x', `${current}\n`, `${current}-1`]) {
    const stream = listen(feed, unknown);
    expect([unknown, stream.last()]).toEqual([unknown, expect.stringContaining('event: reset\n')]);
    expect(stream.lastId()).toBe(current);
  }
});

test('a silent stream is sent something every 15 seconds, until nobody listens', async () => {
  const { clock, feed } = setUp();
  const { sent, text, leave } = listen(feed);
  sent.length = 0;
  await clock.advance(HEARTBEAT_MS * 2);
  expect(text()).toEqual([': still here\n\n', ': still here\n\n']);
  leave();
  await clock.advance(HEARTBEAT_MS * 2);
  expect([sent.length, feed.streams]).toEqual([2, 0]);
  const next = listen(feed);
  next.sent.length = 0;
  await clock.advance(HEARTBEAT_MS);
  expect(next.text()).toEqual([': still here\n\n']);
});

test('a feed that was stopped sends nothing more', async () => {
  const { events, clock, feed } = setUp();
  const { sent } = listen(feed);
  events.emit(accepted('msg_1'));
  feed.stop();
  events.emit(accepted('msg_2'));
  sent.length = 0;
  await clock.advance(HEARTBEAT_MS);
  expect(sent).toEqual([]);
});
