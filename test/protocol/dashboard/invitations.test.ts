/** Links for passwords of a length that their maker chooses, which the server sends by mail. */

import { expect, test } from 'vitest';
import { openContent } from '../../../src/ingest/http/find-message.ts';
import type { ListedUser, UserLink } from '../../../src/operations/accounts.ts';
import { at } from '../../contract/store/fixtures.ts';
import { MINUTE, PASSWORD, startAccess } from './access-world.ts';

const HOUR = 60 * MINUTE;

/** A dashboard that others reach by name, and its administrator. */
async function startInviting() {
  const world = await startAccess();
  await world.addUser('root');
  const root = world.browser();
  root.host = `mail.example.com:${world.dashboard.port}`;
  await root.logIn('root');
  return {
    ...world,
    root,
    invite: (request: object = {}) =>
      root.operation<UserLink>('createUser', {
        name: 'bea',
        role: 'operator',
        mailTo: 'bea@example.org',
        ...request,
      }),
    listed: async (name: string) =>
      (await root.operation<ListedUser[]>('users', {})).body.find((user) => user.name === name),
  };
}

test('an invitation is a message of ours with the link, which works for as long as was said', async () => {
  const { invite, intake, browser, clock, dashboard } = await startInviting();
  const { status, body } = await invite({ hours: 72 });
  const url = `https://mail.example.com:${dashboard.port}${body.path}`;
  expect([status, body.url, body.mailFault]).toEqual([200, url, null]);
  const [sent] = intake.submissions;
  expect(sent).toMatchObject({
    id: body.mail?.id,
    source: 'report',
    keyId: null,
    tags: ['invitation'],
    priority: 'high',
    header: {
      from: 'postmaster@mail.example.com',
      subject: 'Your invitation to Waybill at mail.example.com',
    },
    envelope: { reversePath: '', recipients: [{ address: 'bea@example.org', notify: 'NEVER' }] },
  });
  const text = Buffer.concat(sent?.content.chunks ?? [])
    .toString()
    .replaceAll('=\r\n', '');
  expect(text).toContain(url);
  expect(text).toContain('root invites you');
  expect(text).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  await clock.advance(72 * HOUR - 1);
  const token = body.path.replace('/setup#', '');
  expect((await browser().call('setup', { token, name: null, password: PASSWORD })).status).toBe(200);
});

test('the list of users says until when a link works, and what became of its message', async () => {
  const { invite, listed, store, browser, clock } = await startInviting();
  const { mail, expiresAt, path } = (await invite()).body;
  const to = 'bea@example.org';
  expect(await listed('bea')).toMatchObject({
    link: { expiresAt, mail: { to, id: mail?.id, status: 'queued' } },
  });
  expect(await listed('root')).toMatchObject({ link: null });
  await store.cancel([mail?.id ?? ''], at());
  expect(await listed('bea')).toMatchObject({ link: { mail: { status: 'failed' } } });
  await browser().call('setup', { token: path.replace('/setup#', ''), name: null, password: PASSWORD });
  expect(await listed('bea')).toMatchObject({ hasPassword: true, link: null });
  expect(clock.wall()).toBeLessThan(Date.parse(expiresAt));
});

test('a new link for somebody who has a password says so, and ends the one before', async () => {
  const { root, addUser, intake, browser } = await startInviting();
  await addUser('bea', 'viewer');
  const ask = () =>
    root.operation<UserLink>('setupLink', { name: 'bea', mailTo: 'Bea <bea@example.org>', hours: 168 });
  const first = await ask();
  const second = await ask();
  expect(intake.submissions.at(-1)).toMatchObject({
    header: { subject: 'A new password for Waybill at mail.example.com' },
  });
  const opened = async ({ path }: UserLink) =>
    (await browser().call('link', { token: path.replace('/setup#', '') })).status;
  expect([await opened(first.body), await opened(second.body)]).toEqual([403, 200]);
});

test('a message that is not accepted leaves the link, to be handed over', async () => {
  const { invite, intake, listed } = await startInviting();
  intake.suspension = { code: 'queue_limit', detail: 'The queue is full.', retryAfterSeconds: 60 };
  const { body } = await invite();
  expect(body).toMatchObject({ mail: null, mailFault: 'The queue is full.' });
  expect(await listed('bea')).toMatchObject({ link: { expiresAt: body.expiresAt, mail: null } });
});

test.each([
  ['an address that is none', { mailTo: 'bea' }, 400, /^mailTo: /],
  ['no time', { hours: 0 }, 400, /hours/],
  ['more than a week', { hours: 169 }, 400, /hours/],
])('%s is refused before anything is done', async (_, request, status, detail) => {
  const { invite, intake, listed } = await startInviting();
  const answer = await invite(request);
  expect([answer.status, answer.body]).toEqual([
    status,
    expect.objectContaining({ detail: expect.stringMatching(detail) }),
  ]);
  expect([intake.submissions, await listed('bea')]).toEqual([[], undefined]);
});

test('nothing is sent of a dashboard that others do not reach, nor of the first administrator’s link', async () => {
  const { root, invite, listed, dashboard, state } = await startInviting();
  root.host = `localhost:${dashboard.port}`;
  expect(await invite()).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('webui.allowed_hosts') },
  });
  expect(await listed('bea')).toBeUndefined();
  state.publicUrl = 'https://post.example.net';
  state.invitationFrom = 'Mail <post@example.net>';
  expect((await invite()).body.url).toMatch(/^https:\/\/post\.example\.net\/setup#/);
  const first = await root.operation<object>('setupLink', { name: null, hours: 2 });
  expect(first.status).toBe(409);
});

test('what an invitation says is shown to nobody, and sent nowhere else', async () => {
  const { invite, views, intake, journal, logged } = await startInviting();
  const { mail, path } = (await invite()).body;
  const { message } = (await views.message(mail?.id ?? '')) ?? {};
  if (message === undefined) throw new Error('it was not accepted');
  for (const status of [404, 409] as const)
    await expect(openContent(message, intake, status)).rejects.toMatchObject({
      status,
      code: 'content_expired',
    });
  // What others send under that tag is theirs.
  expect((await openContent({ ...message, source: 'api' }, intake, 404)).sizeBytes).toBeGreaterThan(0);
  expect(JSON.stringify([await journal(), logged])).not.toContain(path.replace('/setup#', ''));
});
