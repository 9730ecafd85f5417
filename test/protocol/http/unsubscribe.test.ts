import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRecipientTokens } from '../../../src/lib/recipient-token.ts';
import { cidrs } from '../../support/cidrs.ts';
import { deriveKey, LINK_TOKENS, linksFor } from '../../support/unsubscribe-terms.ts';
import { type Answer, encodeForm, formOf, MAIL, World } from './world.ts';

/** The link to unsubscribe (RFC 8058; contract-2 §A7): what opening it shows, and what posting to it does. */

let world: World;
let id: string;

beforeEach(async () => {
  world = await World.start();
  world.unsubscribing = linksFor('example.com');
  id = await submit({});
});
afterEach(() => world.close());

/** Submits a message to two recipients that can be unsubscribed from; its id. */
async function submit(fields: object): Promise<string> {
  const key = await world.key();
  const to = ['bob@example.org', 'ann@example.net'];
  const answer = await world.post(key, { ...MAIL, to, unsubscribe: { stream: 'news' }, ...fields });
  expect(answer.status, answer.text).toBe(202);
  return String(answer.json['id']);
}

const pathOf = (recipient: number, of = id) => `/u/${LINK_TOKENS.write({ id: of, recipient })}`;
const FORM = 'application/x-www-form-urlencoded';
const post = (path: string, body: string | Buffer = 'List-Unsubscribe=One-Click', type = FORM) =>
  world.ask({ method: 'POST', path, headers: { 'Content-Type': type }, body });
const told = () => world.desk.reports.flatMap(({ items }) => items.map(({ feedback }) => feedback));

/** Whether an answer is what RFC 8058 asks for: no cookie, no redirection, plain text. */
function expectDone(answer: Answer): void {
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(answer.text).toBe('You have unsubscribed. You will get no more of news from jane@example.com.\n');
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(answer.headers.location).toBeUndefined();
}

describe('posting to a link', () => {
  test('unsubscribes its recipient, without a key, and again', async () => {
    for (const _ of [1, 2]) expectDone(await post(pathOf(1)));
    expect(
      world.desk.reports.map(({ source, evidence, mayBeEarly }) => [source, evidence, mayBeEarly]),
    ).toEqual([
      ['one_click', null, false],
      ['one_click', null, false],
    ]);
    expect(told()[0]).toMatchObject({
      kind: 'unsubscribe',
      source: 'one_click',
      recipient: null,
      message: { token: { id, recipient: 1 }, id: null, messageId: null, providerMessageId: null },
    });
  });

  test('works with a form of either type, and however the token is written', async () => {
    const { headers, body } = await encodeForm(formOf([['List-Unsubscribe', 'One-Click']]));
    expectDone(await world.ask({ method: 'POST', path: pathOf(0), headers, body }));
    expectDone(await post(pathOf(0).toUpperCase().replace('/U/', '/u/'), 'a=b&List-Unsubscribe=One%2DClick'));
    expectDone(await post(pathOf(0), undefined, `${FORM}; charset=UTF-8`));
    expectDone(await post(pathOf(0), 'List-Unsubscribe=One-Click\r\n'));
    expect(told()).toHaveLength(4);
  });

  test('is answered only once it is durable', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    world.desk.held = promise;
    let isAnswered = false;
    const answer = post(pathOf(0)).then((one) => {
      isAnswered = true;
      return one;
    });
    await expect.poll(told).toHaveLength(1);
    // A request that comes later is answered first.
    expect((await world.ask({ path: '/api/v1/ready' })).status).toBe(200);
    expect(isAnswered).toBe(false);
    resolve();
    expectDone(await answer);
  });

  test('gets 503 while nothing can be kept', async () => {
    world.desk.failure = 'store_unavailable';
    expect((await post(pathOf(0))).status).toBe(503);
  });

  test.each([
    ['nothing', '', FORM, 400],
    ['another word', 'List-Unsubscribe=Two-Clicks', FORM, 400],
    ['another name', 'list=One-Click', FORM, 400],
    ['JSON', '{"List-Unsubscribe": "One-Click"}', 'application/json', 415],
    ['a form without its boundary', 'x', 'multipart/form-data', 400],
    ['a malformed form', 'List-Unsubscribe=%zz', FORM, 400],
    ['more than a mebibyte', 'x'.repeat(1024 * 1024 + 1), FORM, 413],
    ['thousands of fields', 'a&'.repeat(5000), FORM, 400],
  ])('%s is refused, and changes nothing', async (_, body, type, status) => {
    expect((await post(pathOf(0), body, type)).status).toBe(status);
    expect(told()).toEqual([]);
  });
});

describe('opening a link', () => {
  test('shows a page that asks, and changes nothing', async () => {
    const { status, headers, text } = await world.ask({ path: pathOf(0) });
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(told()).toEqual([]);
    expect(text).toContain('<bdi>news</bdi>');
    expect(text).toContain('<bdi>jane@example.com</bdi>');
    expect(text).toContain('<form method="post"><button name="List-Unsubscribe" value="One-Click">');
    expect(text).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    expect(text).not.toMatch(/<script|<img|<link|<iframe|\son\w+=|https?:|url\(|@import/i);
    const [, style = ''] = /<style>([^<]*)<\/style>/.exec(text) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['set-cookie']).toBeUndefined();
  });

  test('is safe whatever the message says', async () => {
    const from = '"</bdi><script>alert(1)</script>" <jane@example.com>';
    const hostile = await submit({ from, unsubscribe: { stream: "a&'b" } });
    const { text } = await world.ask({ path: pathOf(0, hostile) });
    expect(text).toContain('&lt;/bdi&gt;&lt;script&gt;');
    expect(text).toContain('<bdi>a&amp;&#39;b</bdi>');
    expect(text).not.toContain('<script');
  });

  test('by HEAD gets the same without the page', async () => {
    const answer = await world.ask({ method: 'HEAD', path: pathOf(0) });
    expect([answer.status, answer.text]).toEqual([200, '']);
  });
});

describe('a link that leads nowhere', () => {
  const others = createRecipientTokens('return_path', deriveKey);
  const changed = (token: string) => `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
  test.each<[string, () => string]>([
    ['a made-up token', () => `/u/${'0'.repeat(40)}`],
    ['a changed token', () => changed(pathOf(0))],
    ['a return path', () => `/u/${others.write({ id, recipient: 0 })}`],
    ['a token for several recipients', () => `/u/${LINK_TOKENS.write({ id, recipient: null })}`],
    ['a recipient that the message does not have', () => pathOf(2)],
    ['a message that is recorded no longer', () => pathOf(0, `${id.slice(0, -1)}0`)],
    ['another text', () => '/u/hello'],
  ])('%s: 404', async (_, path) => {
    expect((await post(path())).status).toBe(404);
    const page = await world.ask({ path: path() });
    expect(page.status).toBe(404);
    expect(page.text).toContain('This link does not work');
    expect(told()).toEqual([]);
  });

  test('as nobody may unsubscribe where secret.key cannot be read', async () => {
    world.unsubscribing = { ...world.unsubscribing, tokens: null };
    expect((await post(pathOf(0))).status).toBe(404);
  });
});

describe('strangers', () => {
  test('come from sources of hooks.allowed_cidrs alone', async () => {
    world.options.strangerCidrs = cidrs('192.0.2.0/24');
    const answer = await post(pathOf(0));
    expect([answer.status, answer.json['code']]).toEqual([403, 'source_not_allowed']);
  });

  test('come from everywhere else than clients of the API', async () => {
    world.options.allowedCidrs = cidrs('192.0.2.0/24');
    expectDone(await post(pathOf(0)));
  });

  test('ask 600 times a minute at most, whatever they ask', async () => {
    for (let asked = 0; asked < 600; asked++) world.shared.sources.take(...LIMIT, world.clock.mono());
    expect((await world.ask({ path: pathOf(0) })).status).toBe(429);
    expect((await post(pathOf(0))).status).toBe(429);
    expect(told()).toEqual([]);
  });

  test('leave no token in the log', async () => {
    await post(pathOf(0));
    await post(pathOf(0), 'x=y');
    const token = pathOf(0).slice('/u/'.length);
    expect(JSON.stringify(world.lines)).not.toContain(token);
  });
});

/** The source of these tests at this path. */
const LIMIT = ['/u/{token} 127.0.0.1', 'read', 600] as const;
