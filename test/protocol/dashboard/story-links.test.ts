/** Links that show a message's story to whoever has one, without signing in. */

import { expect, test } from 'vitest';
import { at, KEEP_ALL, message } from '../../contract/store/fixtures.ts';
import { storyLink } from '../../support/sharing.ts';
import { MINUTE, startAccess } from './access-world.ts';
import { HIDDEN, SAID } from './shared-story.ts';

const HOUR = 60 * MINUTE;

interface Link {
  readonly id: string;
  readonly path: string;
  readonly url: string | null;
  readonly expiresAt: string;
}

/** A dashboard with a message, an operator who makes links to its story, and the windows of strangers. */
async function startSharing() {
  const world = await startAccess();
  const record = message();
  await world.store.accept([record], at());
  await world.addUser('root');
  await world.addUser('ola', 'operator');
  const ola = world.browser();
  await ola.logIn('ola');
  const make = (request: object = {}) => ola.operation<Link>('makeStoryLink', { id: record.id, ...request });
  return {
    ...world,
    id: record.id,
    ola,
    make,
    /** What opens it. */
    token: async (request: object = {}) => (await make(request)).body.path.replace('/story#', ''),
    /** Asks for the document of a frame. */
    frame: (path: string) =>
      world.dashboard.ask({
        path,
        headers: { 'sec-fetch-site': 'same-origin', host: `localhost:${world.dashboard.port}` },
      }),
  };
}

test('a link shows to strangers what became of the message, and nothing else', async () => {
  const { token, browser, clock, id } = await startSharing();
  const { status, body, headers } = await browser('198.51.100.1').call('story', { token: await token() });
  expect([status, headers['cache-control'], headers['referrer-policy'], headers['x-robots-tag']]).toEqual([
    200,
    'no-store',
    'no-referrer',
    'noindex',
  ]);
  expect(body).toMatchObject({
    expiresAt: new Date(clock.wall() + 7 * 24 * HOUR).toISOString(),
    content: null,
    showsContent: false,
    story: {
      record: {
        id,
        status: 'delivered',
        from: 'Shop <shop@example.com>',
        subject: '',
        recipients: [
          { address: 'ann@example.org', lastReply: 'queued as 4F7C12', bounce: { source: 'webhook' } },
        ],
      },
      attempts: [
        { host: 'mx.example.org', timings: { totalMs: 28 }, results: [{ reply: 'queued as 4F7C12' }] },
      ],
    },
  });
  const text = JSON.stringify(body);
  expect(text).not.toContain(HIDDEN);
  expect(text).not.toContain(SAID);
});

test('it shows subject and content only where its maker asked for that, as inert as in the dashboard', async () => {
  const { token, browser, frame, id, clock } = await startSharing();
  const { body } = await browser().call('story', { token: await token({ content: true }) });
  expect(body).toMatchObject({
    showsContent: true,
    story: { record: { subject: SAID } },
    content: { text: SAID, attachments: [{ filename: 'bill.pdf', contentType: 'application/pdf' }] },
  });
  expect(JSON.stringify(body)).not.toContain(HIDDEN);
  const document = body.content?.document ?? '';
  const light = await frame(document);
  expect([
    light.status,
    light.body,
    light.headers['content-security-policy'],
    light.headers['x-frame-options'],
  ]).toEqual([200, `${id} light`, 'sandbox', 'SAMEORIGIN']);
  expect((await frame(`${document}&scheme=dark`)).body).toBe(`${id} dark`);
  const wrong = await frame('/preview/story?ticket=x');
  expect([wrong.status, JSON.parse(wrong.body).code]).toEqual([404, 'story_refused']);
  await clock.advance(10 * MINUTE);
  expect((await frame(document)).status).toBe(404);
});

test('links that have ended, were revoked, or never were get the same answer; so does a message that is gone', async () => {
  const { token, make, ola, browser, clock, store, id, frame } = await startSharing();
  const ask = async (value: string, source: string) => {
    const { status, body } = await browser(source).call('story', { token: value });
    return [status, body.code, body.detail];
  };
  const refused = [404, 'story_refused', expect.any(String)];
  const [brief, long, revoked] = [await token({ hours: 1 }), await token({ content: true }), await make()];
  expect(await ask('x'.repeat(43), '198.51.100.1')).toEqual(refused);
  const answer = await ask('x'.repeat(43), '198.51.100.2');
  expect(await ask('no token', '198.51.100.3')).toEqual(answer);
  expect((await ola.operation('endStoryLink', { id: revoked.body.id })).status).toBe(200);
  expect((await ola.operation('endStoryLink', { id: revoked.body.id })).status).toBe(404);
  expect(await ask(revoked.body.path.replace('/story#', ''), '198.51.100.4')).toEqual(answer);
  const { document } = (await browser().call('story', { token: long })).body.content ?? {};
  await clock.advance(HOUR);
  expect(await ask(brief, '198.51.100.5')).toEqual(answer);
  expect((await ask(long, '198.51.100.5'))[0]).toBe(200);
  // The record goes before the link does.
  await store.cancel([id], at());
  while ((await store.purge({ ...KEEP_ALL, recordAgeMs: HOUR }, 9, at(2 * HOUR))).more);
  expect(await ask(long, '198.51.100.6')).toEqual(answer);
  expect((await frame(document ?? '')).status).toBe(404);
});

test('wrong links are slowed, by their source, also when a right one follows', async () => {
  const { token, browser, clock } = await startSharing();
  const right = await token();
  const one = browser('198.51.100.7');
  for (let tries = 0; tries < 5; tries++)
    expect((await one.call('story', { token: `${tries}`.padStart(43, 'x') })).status).toBe(404);
  const slowed = await one.call('story', { token: right });
  expect([slowed.status, slowed.body.code, slowed.headers['retry-after']]).toEqual([
    429,
    'sign_in_slowed',
    '1',
  ]);
  expect((await browser('198.51.100.8').call('story', { token: right })).status).toBe(200);
  await clock.advance(1000);
  expect((await one.call('story', { token: right })).status).toBe(200);
});

test('nobody reads stories without a pause', async () => {
  const { token, browser, clock } = await startSharing();
  const right = await token();
  const one = browser('198.51.100.9');
  for (let reads = 0; reads < 60; reads++)
    expect((await one.call('story', { token: right })).status).toBe(200);
  expect((await one.call('story', { token: right })).status).toBe(429);
  await clock.advance(MINUTE);
  expect((await one.call('story', { token: right })).status).toBe(200);
});

test('operators make links, a bounded number of a bounded life; everybody here sees who did', async () => {
  const { make, id, ola, browser, addUser, state, dashboard } = await startSharing();
  await addUser('vic', 'viewer');
  const vic = browser();
  await vic.logIn('vic');
  expect((await vic.operation('makeStoryLink', { id })).status).toBe(403);
  expect((await make({ id: 'msg_01k0000000000000000000000x' })).status).toBe(404);
  expect((await make({ hours: 721 })).body).toMatchObject({ detail: expect.stringContaining('hours') });
  state.linkDays = 2;
  expect((await make({ hours: 49 })).body).toMatchObject({
    detail: 'hours: must be at most 48 (webui.story_link_max_days).',
  });
  const made = await make({ hours: 48, content: true });
  expect(made.body.url).toBe(`https://127.0.0.1:${dashboard.port}${made.body.path}`);
  for (let more = 1; more < 10; more++) expect((await make({ hours: 1 })).status).toBe(200);
  expect((await make({ hours: 1 })).status).toBe(409);
  const links = (await vic.operation<object[]>('storyLinks', { id })).body;
  expect([links.length, links.at(-1)]).toEqual([
    10,
    {
      id: made.body.id,
      message: id,
      madeBy: 'ola',
      content: true,
      createdAt: expect.any(String),
      expiresAt: made.body.expiresAt,
    },
  ]);
  expect((await vic.operation('endStoryLink', { id: made.body.id })).status).toBe(403);
  expect((await ola.operation('endStoryLink', { id: made.body.id })).status).toBe(200);
  state.linkDays = 0;
  expect((await make({ hours: 1 })).body).toMatchObject({ detail: expect.stringContaining('is 0') });
});

test('there are no more than 10,000 links to stories', async () => {
  const { make, ola, sharing, clock } = await startSharing();
  const bounds = { ofMessage: 1, all: 9_999 };
  const expiresAt = clock.wall() + HOUR;
  for (let added = 0; added < bounds.all; added++) {
    const link = storyLink({ message: `msg_${added}`, expiresAt });
    await sharing.addStoryLink({ link, hash: `${added}` }, bounds, clock.wall());
  }
  const last = await make();
  expect(last.status).toBe(200);
  const { status, body } = await make();
  expect([status, body]).toMatchObject([
    409,
    { detail: 'There are 10000 links to stories already: end some.' },
  ]);
  await ola.operation('endStoryLink', { id: last.body.id });
  expect((await make()).status).toBe(200);
});

test('a link leads to the name by which others reach the dashboard', async () => {
  const { make, ola, state, dashboard } = await startSharing();
  const hostOf = async () => new URL((await make()).body.url ?? '').host;
  expect(await hostOf()).toBe(`127.0.0.1:${dashboard.port}`);
  ola.host = `mail.example.com:${dashboard.port}`;
  expect(await hostOf()).toBe(`mail.example.com:${dashboard.port}`);
  ola.host = `localhost:${dashboard.port}`;
  state.publicUrl = 'https://post.example.net';
  expect(await hostOf()).toBe('post.example.net');
});

test('no token is in the log, the activity, or the database', async () => {
  const { token, browser, logged, journal, id, ola } = await startSharing();
  const right = await token();
  await browser().call('story', { token: right });
  await browser().call('story', { token: 'x'.repeat(43) });
  const kept = JSON.stringify([logged, await journal(), (await ola.operation('storyLinks', { id })).body]);
  expect(kept).not.toContain(right);
});
