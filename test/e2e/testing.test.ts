/** `waybill/client/testing` against the real server. The package's: testing-package.test.ts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Message } from '../../src/client/message.ts';
import { Inbox } from '../../src/client/testing/inbox.ts';
import { Client, createKey, type Service, startService } from './service.ts';
import '../../src/client/testing/vitest.ts';

const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: null }
listener: { ports: [] }
`;

let service: Service;
let client: Client;
let boxes = 0;
beforeAll(async () => {
  service = await startService(CONFIGURATION);
  client = new Client(service.server, await createKey(service.installation, 'tests', '--test'));
}, 60_000);
afterAll(() => service.stop());

/** A box that no other test has, and what sends to it. */
function ownBox() {
  const box = `box-${++boxes}`;
  const inbox = new Inbox({
    url: service.server.api,
    key: client.key,
    timeoutMs: 60_000,
  }).box(box);
  const send = (message: Partial<Message>) =>
    client.send({
      from: 'Shop <shop@example.com>',
      to: ['ann@example.com'],
      text: 'Hello.',
      headers: { 'X-Waybill-Box': box },
      ...message,
    });
  return { inbox, send };
}

test('a mail that comes later is found, by strings and patterns, with all that it says', async () => {
  const { inbox, send } = ownBox();
  const found = inbox.waitFor({
    to: '@example.com',
    from: /^Shop/,
    subject: /code/i,
    text: /\d{6}/,
    tag: 'sign-up',
  });
  await send({ subject: 'Welcome', tags: ['sign-up'] });
  await send({ subject: 'Your code', text: 'It is secret.', tags: ['sign-up'] });
  const id = await send({
    subject: 'Your code',
    text: 'Your code is 135790.',
    html: '<p>Your code is <b>135790</b>. <a href="https://example.com/?a=1&amp;b=2">Sign in</a></p>',
    tags: ['sign-up'],
    attachments: [{ filename: 'data.bin', content: new Uint8Array([0, 1, 255]) }],
  });
  const mail = await found;
  expect(mail).toMatchObject({
    id,
    from: 'Shop <shop@example.com>',
    to: ['ann@example.com'],
    subject: 'Your code',
    text: expect.stringContaining('135790'),
    html: expect.stringContaining('<b>'),
    codes: ['135790'],
    attachments: [{ filename: 'data.bin', contentType: 'application/octet-stream', sizeBytes: 3 }],
  });
  expect(mail.link('Sign in')).toBe('https://example.com/?a=1&b=2');
  expect(mail).toHaveHeader('subject', 'Your code');
  expect(await mail.attachment('data.bin')).toEqual(new Uint8Array([0, 1, 255]));
});

test('the newest comes first, and all are there until they are cleared', async () => {
  const { inbox, send } = ownBox();
  const ids = [await send({ subject: 'one' }), await send({ subject: 'two' })];
  await inbox.waitFor({ subject: 'one' });
  await inbox.waitFor({ subject: 'two' });
  expect((await inbox.latest())?.id).toBe(ids[1]);
  expect((await inbox.all()).map(({ id }) => id)).toEqual(ids.toReversed());
  expect(await inbox.clear({ subject: 'one' })).toBe(1);
  expect(await inbox.clear()).toBe(1);
  expect(await inbox.latest()).toBeNull();
});

test('boxes do not see each other’s mail', async () => {
  const [mine, other] = [ownBox(), ownBox()];
  await other.send({ subject: 'other' });
  await other.inbox.waitFor();
  await mine.inbox.none({ within: 0 });
  await expect(mine.inbox.waitFor({ timeoutMs: 0 })).rejects.toThrow(/✗ box +"box-\d+"/);
});

test('none fails as soon as something comes, and shows it', async () => {
  const { inbox, send } = ownBox();
  await expect(inbox).not.toHaveMail({ within: 100 });
  const none = expect(inbox.none({ within: 60_000 })).rejects.toThrow(
    /A mail came.*subject {3}"Unexpected"/s,
  );
  await send({ subject: 'Unexpected' });
  await none;
  await expect(inbox).toHaveMail({ subject: 'unexpected' });
});

test('a mail without a box is found without one, and more than fifty that do not fit hide nothing', async () => {
  const inbox = new Inbox({ url: service.server.api, key: client.key, timeoutMs: 60_000 });
  const old = await ownBoxless({ subject: 'Receipt', tags: ['many'] });
  const many = Array.from({ length: 60 }, (_, n) => ({ subject: `Mail ${n}`, tags: ['many'] }));
  await Promise.all(many.map((fields) => ownBoxless(fields)));
  await expect(inbox.waitFor({ tag: 'many', subject: /code/, timeoutMs: 500 })).rejects.toThrow(
    'No such mail',
  );
  await expect.poll(async () => (await inbox.all({ tag: 'many' })).length).toBe(61);
  expect(await inbox.latest({ tag: 'many', subject: /receipt/i })).toMatchObject({ id: old });
  const found = inbox.waitFor({ tag: 'many', subject: /code/ });
  const id = await ownBoxless({ subject: 'The code', tags: ['many'] });
  expect(await found).toMatchObject({ id, box: null });
});

test('a key that may not read captured mail is told so', async () => {
  const inbox = new Inbox({ url: service.server.api, key: service.client.key });
  await expect(inbox.waitFor()).rejects.toThrow(/messages:content/);
});

test('a server that is not there is told of', async () => {
  const inbox = new Inbox({ url: 'http://127.0.0.1:1', key: client.key });
  await expect(inbox.latest()).rejects.toThrow(/port|reached/);
});

function ownBoxless(fields: Partial<Message>): Promise<string> {
  return client.send({ from: 'shop@example.com', to: ['ann@example.com'], text: 'Hello.', ...fields });
}
