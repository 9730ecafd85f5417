/** What users save of what pages show, and show each other. */

import { expect, test } from 'vitest';
import type { SavedView } from '../../../src/store/sharing.ts';
import { savedView } from '../../support/sharing.ts';
import { type Browser, startAccess } from './access-world.ts';

const FAILED = { page: '/messages', name: 'Failed', search: { q: 'status:failed' } } as const;

async function signedIn(
  world: Awaited<ReturnType<typeof startAccess>>,
  name: string,
  role: 'admin' | 'operator' | 'viewer',
) {
  await world.addUser(name, role);
  const browser = world.browser();
  await browser.logIn(name);
  return browser;
}

const namesOf = async (browser: Browser) =>
  (await browser.call('saved_views', {})).body.map(({ name, own }) => [name, own]);

test('a viewer saves views of their own, changes and removes them, and nobody else sees them', async () => {
  const world = await startAccess();
  const root = await signedIn(world, 'root', 'admin');
  const one = await signedIn(world, 'vic', 'viewer');
  const saved = await one.call('save_view', { ...FAILED, name: '  Failed ' });
  expect(saved.body).toMatchObject({ ...FAILED, user: 'vic', own: true, shared: false });
  const { id } = saved.body;
  expect((await root.call('saved_views', {})).body).toEqual([]);
  const search = { q: 'is:bounced' };
  expect((await one.call('change_view', { id, name: 'Bounced', search })).body).toMatchObject({
    name: 'Bounced',
    search,
  });
  for (const [call, request] of [
    ['change_view', { id, name: 'Mine', search: null }],
    ['remove_view', { id }],
  ] as const) {
    const { status, body } = await root.call(call, request);
    expect([status, body.code]).toEqual([409, 'view_missing']);
  }
  expect((await one.call('remove_view', { id })).body.name).toBe('Bounced');
  expect((await one.call('saved_views', {})).body).toEqual([]);
  expect((await world.browser().call('saved_views', {})).status).toBe(401);
});

test('a view has a name of its own, and a user no more of them than allowed', async () => {
  const world = await startAccess();
  const one = await signedIn(world, 'ann', 'admin');
  for (const name of ['Failed', 'Late', 'Odd']) await one.call('save_view', { ...FAILED, name });
  const [full] = [await one.call('save_view', { ...FAILED, name: 'Fourth' })];
  expect([full.status, full.body.code, full.body.detail]).toEqual([
    409,
    'views_full',
    expect.stringContaining('webui.max_saved_views'),
  ]);
  world.state.views = 9;
  expect((await one.call('save_view', FAILED)).body.code).toBe('view_name_taken');
  expect((await one.call('save_view', { ...FAILED, page: '/suppressions' })).status).toBe(200);
});

test('a view is of a page that has some, and no longer than an address', async () => {
  const world = await startAccess();
  const one = await signedIn(world, 'ann', 'admin');
  for (const wrong of [
    { page: '//evil.example' },
    { name: '' },
    { name: 'x'.repeat(61) },
    { name: 'two\nlines' },
    { search: { q: 'x'.repeat(501) } },
    { search: Object.fromEntries([...'abcdefghijk'].map((name) => [name, '1'])) },
  ]) {
    const answer = await one.raw('save_view', { ...FAILED, ...wrong });
    expect([answer.status, answer.body.code, answer.body.detail]).toEqual([
      400,
      'invalid',
      expect.stringContaining(`/${Object.keys(wrong)[0]}`),
    ]);
  }
});

test('operators share their views with everybody; who may not, and whose it is not, cannot', async () => {
  const world = await startAccess();
  const root = await signedIn(world, 'root', 'admin');
  const op = await signedIn(world, 'ola', 'operator');
  const vic = await signedIn(world, 'vic', 'viewer');
  const { id } = (await op.call('save_view', FAILED)).body;
  const own = (await vic.call('save_view', { ...FAILED, name: 'Own' })).body.id;
  expect((await vic.operation('shareView', { id: own, shared: true })).status).toBe(403);
  expect((await root.operation('shareView', { id: own, shared: true })).status).toBe(404);
  expect((await op.operation('shareView', { id, shared: true })).body).toMatchObject({
    name: 'Failed',
    shared: true,
  });
  expect(await namesOf(vic)).toEqual([
    ['Failed', false],
    ['Own', true],
  ]);
  // Another of that name would stand beside it.
  const same = (await root.call('save_view', FAILED)).body.id;
  expect((await root.operation<object>('shareView', { id: same, shared: true })).body.detail).toContain(
    'Rename yours',
  );
  // An administrator ends what somebody else shares.
  expect((await root.operation('shareView', { id, shared: false })).status).toBe(200);
  expect(await namesOf(vic)).toEqual([['Own', true]]);
});

test('all together share no more than 100 views', async () => {
  const world = await startAccess();
  const ola = await signedIn(world, 'ola', 'admin');
  const views = Array.from({ length: 101 }, (_, place) => savedView({ user: 'ola', name: `${place}` }));
  for (const view of views) await world.sharing.addView(view, views.length);
  for (const { id } of views.slice(0, 99)) await world.sharing.shareView('ola', id, views.length);
  const share = (view: SavedView | undefined) =>
    ola.operation<object>('shareView', { id: view?.id, shared: true });
  expect((await share(views[99])).status).toBe(200);
  const { status, body } = await share(views[100]);
  expect([status, body.detail]).toEqual([409, 'There are already 100 shared views, the maximum.']);
});
