import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LaneFigures } from '../../../src/engine/contract.ts';
import { attempt, DEFERRED, DELIVERED } from './deliver.ts';
import { MAIL, World } from './world.ts';

/** `nextAttemptAt` and `waitingFor` of a record and of a list: the next real try, and why not sooner. */

let world: World;
let key: string;
let admin: string;
beforeEach(async () => {
  world = await World.start();
  key = await world.key();
  admin = await world.key({ scopes: ['messages:read', 'admin'] });
});
afterEach(() => world.close());

async function submit(fields: object = {}): Promise<string> {
  const { json } = await world.post(key, { ...MAIL, ...fields });
  return String(json['id']);
}

/** What the record says of the whole, and of each recipient; a list must say the same. */
async function shown(id: string) {
  const { json } = await world.ask({ key, path: `/api/v1/messages/${id}` });
  const { json: page } = await world.ask({ key, path: '/api/v1/messages' });
  const listed = (page['messages'] as Record<string, unknown>[]).find((one) => one['id'] === id);
  const said = ({ nextAttemptAt, waitingFor }: Record<string, unknown>) => [nextAttemptAt, waitingFor];
  expect(said(listed ?? {})).toEqual(said(json));
  return { top: said(json), recipients: (json['recipients'] as Record<string, unknown>[]).map(said) };
}

const LANE: LaneFigures = {
  lane: 'out',
  relay: 'out',
  inFlight: 0,
  concurrency: 1,
  inHand: 0,
  perMinute: 0,
  lastReply: null,
  state: 'closed',
  restsUntil: null,
  restsSince: null,
  restCause: null,
  restReply: null,
  spent: false,
  held: null,
};
const rest = (ms: number) =>
  world.figures.set('out', { ...LANE, state: 'open', restsUntil: world.clock.wall() + ms });
const hold = (act: string, target: string) =>
  world.ask({ method: 'POST', path: `/api/v1/queue/${act}`, key: admin, body: { target } });

test('mail for a hop that rests is tried when it has rested, and says so', async () => {
  const id = await submit({ to: ['a@x.test', 'b@x.test'] });
  rest(700);
  const wait = ['2026-11-20T00:00:00.700Z', 'relay_resting'];
  expect(await shown(id)).toEqual({ top: wait, recipients: [wait, wait] });
});

test('a rest that ends before the pause after an attempt does not count', async () => {
  const id = await submit();
  await attempt(world, DEFERRED);
  rest(700);
  expect((await shown(id)).top).toEqual(['2026-11-20T00:00:30.000Z', 'backoff']);
});

test('mail is scheduled until its sendAt', async () => {
  const id = await submit({ sendAt: '2026-11-20T09:00:00Z' });
  expect((await shown(id)).top).toEqual(['2026-11-20T09:00:00.000Z', 'scheduled']);
});

describe('without an end there is no time', () => {
  test('while an operator pauses the relay, until it is let go', async () => {
    const id = await submit();
    await hold('pause', 'out');
    expect(await shown(id)).toEqual({
      top: [undefined, 'relay_paused'],
      recipients: [[null, 'relay_paused']],
    });
    await hold('resume', 'out');
    expect((await shown(id)).top).toEqual(['2026-11-20T00:00:00.000Z', 'turn']);
  });

  test('while it waits at a relay that is gone', async () => {
    world.intake.relay = 'gone';
    expect((await shown(await submit())).top).toEqual([undefined, 'relay_missing']);
  });
});

test('what waits at a relay that is drained is sent', async () => {
  const id = await submit();
  await hold('drain', 'out');
  expect((await shown(id)).top).toEqual(['2026-11-20T00:00:00.000Z', 'turn']);
});

test('of a relay that has had its day, mail waits for midnight UTC, but for what is kept for high priority', async () => {
  await world.clock.advance(24 * 3_600_000 - 500);
  await submit();
  await attempt(world, DELIVERED, 900);
  const [usual, high] = [await submit(), await submit({ priority: 'high' })];
  expect((await shown(usual)).top).toEqual(['2026-11-21T00:00:00.000Z', 'relay_spent']);
  expect((await shown(high)).top).toEqual(['2026-11-20T23:59:59.500Z', 'turn']);
});

test('what is delivered waits for nothing', async () => {
  const id = await submit();
  await attempt(world, DELIVERED);
  rest(700);
  expect(await shown(id)).toEqual({ top: [undefined, undefined], recipients: [[null, null]] });
});
