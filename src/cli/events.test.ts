import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { withAndWithoutServer } from '../../test/support/with-server.ts';
import { systemClock } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

/** Accepts a letter; gives its id. Nothing sends it here. */
async function send(to: string, ...options: string[]): Promise<string> {
  const letter = ['send', '--from', 'a@example.org', '--text', 'hi', '--subject', 'Hi', '--to', to];
  return (await here.json([...letter, ...options])).id;
}

/** The events that are told as JSON, one a line. */
async function events(...options: string[]) {
  const { status, out, err } = await here.waybill(['events', '--json', ...options]);
  expect([status, err]).toEqual([0, '']);
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

withAndWithoutServer(
  () => here,
  () => {
    test('events are shown by every filter, the newest last', async () => {
      const first = await send('ann@example.net', '--tag', 'news');
      const second = await send('bob@example.net');
      await here.json(['messages', 'cancel', second]);
      const all = await events();
      expect(all.map(({ type, data }) => [type, data.message.id])).toEqual([
        ['message.queued', first],
        ['message.queued', second],
        ['message.failed', second],
      ]);
      const [queued, , failed] = all;
      expect(failed.data).toMatchObject({ recipient: { address: 'bob@example.net', outcome: 'cancelled' } });
      expect(await events('--types', 'message.failed')).toEqual([failed]);
      expect(await events('--message', first)).toEqual([queued]);
      expect(await events('--recipient', 'BOB@example.net')).toEqual([failed]);
      expect(await events('--tag', 'news')).toEqual([queued]);
      expect(await events('--since', queued.timestamp)).toEqual(all);
      expect(await events('--until', queued.timestamp)).toEqual([]);
      expect(await events('--limit', '2')).toEqual(all.slice(1));
    });

    test('people get a table, and are told when there are more, or none', async () => {
      expect((await here.waybill(['events'])).out).toBe('There are no such events.\n');
      const id = await send('ann@example.net');
      await here.json(['messages', 'cancel', id]);
      const { out } = await here.waybill(['events']);
      expect(out).toMatch(/^TIME +TYPE +MESSAGE +RECIPIENT +RELAY +REPLY\n/);
      expect(out).toMatch(new RegExp(`message.queued +${id}`));
      expect(out).toMatch(new RegExp(`message.failed +${id} +ann@example.net +(inbox)? +cancelled`));
      expect((await here.waybill(['events', '--limit', '1'])).out).toContain('There are older ones');
      const narrow = await here.waybill(['events'], { columns: 60 });
      for (const line of narrow.out.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
    });

    test('a filter that cannot be read is told by name, with status 2', async () => {
      const { status, err } = await here.waybill([
        'events',
        '--types',
        'opened',
        '--recipient',
        '@example.net',
      ]);
      expect([status, err]).toEqual([
        2,
        expect.stringMatching(/^types: Must be types of events.*\nrecipient: Must be a whole address.*\n$/),
      ]);
    });
  },
);

describe('--follow', () => {
  test('asks again when the server cannot answer for a while, and goes on where it was', async () => {
    const first = await send('ann@example.net');
    const opened = await here.open();
    let asked = 0;
    const control = await here.listen({
      ...opened,
      door: {
        call: async (actor, name, ...rest) => {
          if (name === 'events' && ++asked === 2) throw new OperationError('unavailable', 'not now');
          return await opened.door.call(actor, name, ...rest);
        },
      },
    });
    const sent = [first];
    const enough = new Error('enough');
    const sleep = async () => {
      if (sent.length === 3) throw enough;
      sent.push(await send('ann@example.net'));
    };
    const follow = ['events', '--follow', '--json'];
    const { out, err } = await here.waybill(follow, { clock: { ...systemClock, sleep } });
    await control.close();
    await opened.close();
    expect(err).toBe('The server does not answer; waiting for it.\nenough\n');
    const lines = out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).data.message.id)).toEqual(sent);
  });

  test('needs a running server', async () => {
    await send('ann@example.net');
    const { status, err } = await here.waybill(['events', '--follow']);
    expect([status, err]).toEqual([1, expect.stringContaining('The server is not running')]);
  });
});
