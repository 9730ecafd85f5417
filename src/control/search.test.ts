import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { messageUuid } from '../lib/id.ts';
import type { Operations } from '../operations/table.ts';
import { openBetterSqlite3 } from '../store/sqlite/driver.ts';
import { layoutOf } from './layout.ts';
import type { Offline } from './offline.ts';

/** The operations over a real store, spool and engine; nothing is delivered, so that all mail waits. */
describe('the operations on all mail', () => {
  let here: Installation;
  let opened: Offline;
  let operations: Operations;
  beforeEach(async () => {
    here = new Installation();
    opened = await here.open();
    operations = opened.operations;
  });
  afterEach(async () => {
    await opened.close();
    here.remove();
  });

  const submit = async (subject: string, to = 'ann@example.net') => {
    const message = { from: 'Shop <shop@example.org>', to: [to], subject, text: 'Hi', tags: ['news'] };
    return (await operations.submit({ message })).id;
  };
  const search = (query: string, before: string | null = null, limit = 10) =>
    operations.search({ query, limit, before });

  it('finds mail, tells what was not understood, and counts what is new', async () => {
    const first = await submit('Invoice 1');
    const second = await submit('Invoice 2', 'bob@example.net');
    const page = await search('invoice to:@example.net', null, 1);
    expect(page).toMatchObject({ notes: [], behind: 0, next: second });
    expect(page.messages).toMatchObject([{ id: second, subject: 'Invoice 2', key: null, captured: false }]);
    expect((await search('invoice', page.next)).messages.map(({ id }) => id)).toEqual([first]);
    const odd = await search('colour:red key:nobody relay:nowhere');
    expect(odd.messages).toEqual([]);
    expect(odd.notes).toEqual([
      expect.stringContaining('There is no token colour:'),
      'So nothing matches.',
      'There is no relay nowhere now.',
      'There is no key nobody.',
    ]);
    expect((await search('invoice status:lost')).messages).toEqual([]);
    expect((await search('invoice after:2h')).messages).toHaveLength(2);
    expect((await search('invoice before:2h')).messages).toEqual([]);
    expect(await operations.countNew({ query: 'invoice', after: first })).toEqual({ count: 1, more: false });
    await expect(search('', 'x')).rejects.toMatchObject({ code: 'invalid' });
    await expect(operations.countNew({ query: '', after: 'x' })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('tells what happens now: the newest messages, so many a minute', async () => {
    expect(await operations.live({})).toMatchObject({ messages: [], pace: { received: 0 }, waiting: 0 });
    const ids: string[] = [];
    for (let place = 0; place < 13; place++) ids.unshift(await submit(`Invoice ${place}`));
    const live = await operations.live({});
    expect(live.messages.map(({ id }) => id)).toEqual(ids.slice(0, 12));
    expect(live).toMatchObject({ pace: { received: 13, delivered: 0 }, waiting: 13, processing: 0 });
  });

  it('finds the message that a query names, and takes other UUIDs for words', async () => {
    const order = '5b2f8f0e-7d4c-4b6e-9a3d-0c1e2f3a4b5c';
    const id = await submit('Invoice 1');
    const other = await submit(`Order ${order}`);
    const { record } = await operations.messageStory({ id: ` ${messageUuid(id)} ` });
    expect(record.id).toBe(id);
    const found = async (query: string) => (await search(query)).messages.map((one) => one.id);
    for (const name of [id, messageUuid(id), record.messageId])
      expect(await found(` ${name} `)).toEqual([id]);
    expect(await found(`id:${messageUuid(id)} status:queued`)).toEqual([id]);
    expect(await found(`-id:${messageUuid(id)}`)).toEqual([other]);
    expect(await found(order)).toEqual([other]);
  });

  it('finds by the id that a next hop gave, and takes other ids for words', async () => {
    const [id, other] = [await submit('Invoice 1'), await submit('Parcel 4F7C99')];
    await opened.close();
    const db = openBetterSqlite3(layoutOf(here.dataDir).database);
    const named = `UPDATE deliveries SET provider_message_id = '4F7C12' WHERE message =
      (SELECT seq FROM messages WHERE id = ?)`;
    db.prepare<[id: string]>(named).run(id);
    db.close();
    opened = await here.open();
    operations = opened.operations;
    const found = async (query: string) => (await search(query)).messages.map((one) => one.id);
    expect(await found(' 4F7C12 ')).toEqual([id]);
    expect((await search('4F7C12')).notes).toEqual([expect.stringMatching(/next hop gave the id 4F7C12/)]);
    for (const words of ['"4F7C12"', 'hop:4F7C12', '4F7C99']) expect((await search(words)).notes).toEqual([]);
    expect(await found('4f7c99')).toEqual([other]);
    expect(await found('4F7C12 invoice')).toEqual([]);
    expect(await found('hop:4F7C12 invoice')).toEqual([id]);
  });

  it('tells the story of a message', async () => {
    const id = await submit('Story');
    const story = await operations.messageStory({ id });
    expect(story).toMatchObject({
      record: { id, subject: 'Story', recipients: [{ address: 'ann@example.net', status: 'queued' }] },
      attempts: [],
      moreAttempts: false,
      key: null,
      sourceAddress: null,
      captured: false,
      ways: [{ recipient: 'ann@example.net', rule: null, group: ['inbox'] }],
      content: { kept: true, until: null },
      may: { retry: false, cancel: true, resend: true },
    });
    expect(story.routeTable).toBeGreaterThan(0);
    await expect(operations.messageStory({ id: 'x' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('acts on many messages, each by itself, with reasons', async () => {
    const ids = [await submit('a'), await submit('b')];
    const acted = await operations.actOnMessages({ act: 'cancel', ids: [...ids, ...ids, 'msg_nothing'] });
    expect(acted).toEqual({
      acted: 2,
      refused: [{ id: 'msg_nothing', reason: expect.stringMatching('no message') }],
    });
    const again = await operations.actOnMessages({ act: 'cancel', ids });
    expect(again.refused.map(({ reason }) => reason)).toEqual(
      Array(2).fill(expect.stringMatching('Only waiting recipients')),
    );
    expect(await operations.actOnMessages({ act: 'retry', ids })).toEqual({ acted: 2, refused: [] });
    expect((await search('status:queued')).messages).toHaveLength(2);
  });

  it('sends a kept message again, and never a test key’s', async () => {
    const id = await submit('Again');
    const { id: other } = await operations.resendMessage({ id });
    const [newest, old] = (await search('again')).messages;
    expect([newest?.id, old?.id]).toEqual([other, id]);
    expect(newest?.messageId).not.toBe(old?.messageId);
    expect(newest).toMatchObject({ to: ['ann@example.net'], tags: ['news'] });
    await expect(operations.resendMessage({ id: 'msg_x' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('tells the figures of the first page, and figures over time', async () => {
    expect(await operations.overview({})).toMatchObject({
      empty: true,
      lastWeek: null,
      failures: [],
      banners: [{ code: 'captured', level: 'info' }],
    });
    const [first, second] = [await submit('Lost'), await submit('Lost, too')];
    await submit('Waits');
    await operations.actOnMessages({ act: 'cancel', ids: [second] });
    const cancelled = Date.now();
    await expect.poll(() => Date.now()).toBeGreaterThan(cancelled);
    await operations.actOnMessages({ act: 'cancel', ids: [first] });
    const counted = { received: 3, delivered: 0, captured: 0, failed: 2 };
    const overview = await operations.overview({ step: 'day', count: 2 });
    expect(overview).toMatchObject({
      empty: false,
      today: counted,
      last5m: counted,
      queue: { incoming: 1, failed: 2 },
      relays: [{ name: 'inbox', state: 'ready', waiting: 1 }],
      failures: [{ id: first }, { id: second }],
    });
    // The chart counts the same as the figures, where nothing happens in between.
    const ofDay = Object.entries(overview.series.counts).map(([event, [, today]]) => [event, today]);
    expect(Object.fromEntries(ofDay)).toEqual(overview.today);
    for (const step of ['minute', 'hour', 'day'] as const) {
      const { counts, from, stepSeconds } = await operations.series({ step, count: 3, relay: null });
      expect(counts.received?.reduce((a, b) => a + b)).toBe(3);
      expect(counts.denied).toEqual([0, 0, 0]);
      expect(Date.parse(from) % (stepSeconds * 1000)).toBe(0);
    }
    const ofRelay = await operations.series({ step: 'hour', count: 2, relay: 'inbox' });
    expect(ofRelay.counts).toEqual({ delivered: [0, 0], failed: [0, 0] });
  });
});
