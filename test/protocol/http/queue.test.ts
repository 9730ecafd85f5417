import { afterEach, beforeEach, expect, test } from 'vitest';
import { attempt, DEFERRED } from './deliver.ts';
import { MAIL, World } from './world.ts';

/** `/api/v1/queue`: what operators see and do, over the API. */

let world: World;
let admin: string;

beforeEach(async () => {
  world = await World.start();
  admin = await world.key({ name: 'operator', scopes: ['admin'] });
});
afterEach(() => world.close());

const post = (act: string, body: object, key = admin) =>
  world.ask({ method: 'POST', path: `/api/v1/queue/${act}`, key, body });

async function submit(): Promise<string> {
  const sender = await world.key();
  const { json } = await world.post(sender, MAIL);
  return String(json['id']);
}

const activity = () =>
  world.stores.journal.entries({ actor: null, action: null, subject: null, limit: 10, before: null });

test('a lane is seen, held and let go', async () => {
  await submit();
  expect((await post('pause', { target: 'inbox' })).json).toMatchObject({ kind: 'pause', changed: true });
  const { json } = await world.ask({ path: '/api/v1/queue', key: admin });
  expect(json['totals']).toMatchObject({ waiting: 1 });
  const { json: one } = await world.ask({ path: '/api/v1/queue?relay=inbox', key: admin });
  expect(one['lanes']).toMatchObject([{ lane: 'inbox', state: 'paused' }]);
  expect((await post('drain', { target: 'inbox' })).json).toMatchObject({ kind: 'drain', changed: true });
  expect((await post('resume', { target: 'inbox' })).json).toMatchObject({ kind: null, changed: true });
});

test('what a selection names is retried, counted, rerouted and cancelled', async () => {
  const id = await submit();
  await attempt(world, DEFERRED);
  const selection = { to: '@example.org' };
  const done = (matched: number, acted: number) => ({ matched, acted, more: false, cursor: null });
  expect((await post('retry', { selection, dryRun: true })).json).toEqual(done(1, 0));
  expect((await post('retry', { selection })).json).toEqual(done(1, 1));
  expect((await post('reroute', { selection, toRelay: 'inbox' })).json).toEqual(done(1, 1));
  expect((await post('cancel', { selection: { all: true } })).json).toEqual(done(1, 1));
  expect((await world.stores.views.message(id))?.message.outcome).toBe('cancelled');
});

test.each<[string, object, string, string]>([
  ['pause', { target: 'inbox' }, 'hold', 'inbox'],
  ['drain', { target: 'inbox' }, 'hold', 'inbox'],
  ['resume', { target: 'inbox' }, 'hold', 'inbox'],
  ['retry', { selection: { all: true } }, 'actOnQueue', 'retry'],
  ['cancel', { selection: { all: true } }, 'actOnQueue', 'cancel'],
  ['reroute', { selection: { all: true }, toRelay: 'inbox' }, 'actOnQueue', 'reroute'],
])('%s is in the activity, under the name and address of the key', async (act, body, action, subject) => {
  expect((await post(act, body)).status).toBe(200);
  const { entries } = await activity();
  expect(entries).toMatchObject([
    { actorKind: 'key', actor: 'operator', sourceAddress: '127.0.0.1', action, subject },
  ]);
});

test('looking at the queue is not in the activity, and a refusal is, by its code', async () => {
  await world.ask({ path: '/api/v1/queue', key: admin });
  await post('pause', { target: 'nowhere' });
  const { entries } = await activity();
  expect(entries).toMatchObject([{ action: 'hold', subject: 'nowhere', after: '{"error":"not_found"}' }]);
});

test('only a key with the scope admin may', async () => {
  const others = await world.key({ scopes: ['messages:send', 'messages:read_all'] });
  expect((await world.ask({ path: '/api/v1/queue', key: others })).status).toBe(403);
  expect((await post('pause', { target: 'inbox' }, others)).json['code']).toBe('scope_missing');
  expect((await post('cancel', { selection: { all: true } }, others)).status).toBe(403);
});

test.each<[string, string, object, number, string]>([
  ['no target', 'pause', {}, 400, 'invalid_request'],
  ['a field that there is not', 'pause', { target: 'inbox', kind: 'drain' }, 400, 'invalid_request'],
  ['a relay that there is not', 'pause', { target: 'nowhere' }, 404, 'relay_not_found'],
  ['nothing selected', 'cancel', { selection: {} }, 400, 'invalid_request'],
  ['a status that makes no sense', 'cancel', { selection: { statuses: ['failed'] } }, 400, 'invalid_request'],
  ['a relay to retry by', 'retry', { selection: { all: true }, toRelay: 'inbox' }, 400, 'invalid_request'],
  ['a way that there is not', 'reroute', { selection: { all: true }, toRelay: 'x' }, 404, 'relay_not_found'],
])('%s is refused', async (_what, act, body, status, code) => {
  const answer = await post(act, body);
  expect([answer.status, answer.json['code']]).toEqual([status, code]);
});

test('every fault is told at its field, with the code that it has everywhere', async () => {
  const told = async (act: string, body: object) =>
    (await post(act, body)).json.errors?.map(({ pointer, code, detail }) => [pointer, code, detail]);
  expect(await told('retry', {})).toEqual([['/selection', 'required', 'Is required, as an object.']]);
  expect(await told('pause', { kind: 'drain' })).toEqual([
    ['/target', 'required', 'Is required, as a string.'],
    ['/kind', 'unknown_field', 'There is no field "kind".'],
  ]);
  expect(await told('pause', { target: '' })).toEqual([
    ['/target', 'required', 'Must have at least 1 character.'],
  ]);
  const wrong = { tag: 7, statuses: ['delivered'], olderThanSeconds: -1, all: 'yes', 'a/b': 1 };
  expect(await told('retry', { selection: wrong })).toEqual([
    ['/selection/statuses/0', 'type', 'Must be "queued", "retrying" or "failed".'],
    ['/selection/tag', 'type', 'Must be a string.'],
    ['/selection/olderThanSeconds', 'out_of_range', 'Must be at least 0.'],
    ['/selection/all', 'type', 'Must be true or false.'],
    ['/selection/a~1b', 'unknown_field', 'There is no field "a/b".'],
  ]);
});
