import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LINK_TOKENS, linksFor, NO_LINKS } from '../../support/unsubscribe-terms.ts';
import { faultsOf, formOf, MAIL, World } from './world.ts';

/** Mail from which its recipients can unsubscribe (contract-2 §A7): what is submitted, and what is made of it. */

let world: World;
let key: string;

beforeEach(async () => {
  world = await World.start();
  key = await world.key();
  world.unsubscribing = linksFor('example.com');
});
afterEach(() => world.close());

const NEWS = { unsubscribe: { stream: 'News' } };
const TO = ['bob@example.org', 'ann@example.net', 'eve@example.net'];
const LETTER = { to: TO, text: 'Leave: %unsubscribe_url%', html: '<a href="%unsubscribe_url%">Leave</a>' };

const urlOf = (id: string, recipient: number) =>
  `https://mail.example.com/u/${LINK_TOKENS.write({ id, recipient })}`;

/** The copies of the last submission, in envelope order. */
function copies(): string[] {
  const { content, copies: lengths = [] } = world.last;
  const bytes = Buffer.concat(content.chunks);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(bytes.length);
  expect(content.sizeBytes).toBe(bytes.length);
  let end = 0;
  return lengths.map((length) => {
    end += length;
    return bytes.toString('latin1', end - length, end);
  });
}

/** A field of a message, unfolded. */
const fieldOf = (message: string, name: string) =>
  new RegExp(`^${name}: (.*(?:\r\n[ \t].*)*)\r\n`, 'm').exec(message)?.[1]?.replace(/\r\n[ \t]/g, ' ');

describe('each recipient gets a copy', () => {
  test('which a dry run judges as it would be sent', async () => {
    const codes = async (more: object) => {
      const dry = { ...MAIL, ...LETTER, ...more, priority: 'bulk', dryRun: true };
      const { json } = await world.post(key, dry);
      return (json['findings'] as { readonly code: string }[]).map(({ code }) => code);
    };
    expect(await codes(NEWS)).toEqual(['dkim-not-aligned']);
    expect(await codes({})).toEqual(expect.arrayContaining(['placeholder', 'unsubscribe-missing']));
  });

  test('with a link of its own in the header, the text and the HTML', async () => {
    const answer = await world.post(key, { ...MAIL, ...LETTER, ...NEWS });
    expect(answer.status).toBe(202);
    const id = String(answer.json['id']);
    expect(world.last.stream).toBe('news');
    const all = copies();
    expect(all).toHaveLength(3);
    for (const [place, copy] of all.entries()) {
      const url = urlOf(id, place);
      expect(fieldOf(copy, 'List-Unsubscribe')).toBe(`<${url}>`);
      expect(fieldOf(copy, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click');
      expect(fieldOf(copy, 'List-ID')).toBe('<News.example.com>');
      expect(copy).toContain(`Leave: ${url}\r\n`);
      expect(copy).toContain(`<a href="${url}">Leave</a>`);
      expect(copy).not.toContain('%unsubscribe_url%');
      expect(copy.split(urlOf(id, 0))).toHaveLength(place === 0 ? 4 : 1);
    }
  });

  test('that also names an address to write to, where bounces have a domain', async () => {
    const own = new Map([['example.com', 'back.example.com']]);
    for (const bounceDomains of [
      { usual: 'bounces.example.net', own: new Map() },
      { usual: 'bounces.example.net', own },
    ]) {
      world.unsubscribing = { ...world.unsubscribing, bounceDomains };
      const { json } = await world.post(key, { ...MAIL, ...NEWS });
      const about = { id: String(json['id']), recipient: 0 };
      const domain = bounceDomains.own.get('example.com') ?? 'bounces.example.net';
      expect(fieldOf(copies()[0] ?? '', 'List-Unsubscribe')).toBe(
        `<${urlOf(about.id, 0)}>, <mailto:${LINK_TOKENS.localPart(about)}@${domain}?subject=unsubscribe>`,
      );
    }
  });

  test('as a form, as a finished message and in a batch', async () => {
    const form = formOf(Object.entries({ ...MAIL, to: TO.join(','), 'o:unsubscribe': 'news' }));
    expect((await world.postForm(key, form)).status).toBe(202);
    expect(copies().map((copy) => fieldOf(copy, 'List-ID'))).toEqual(TO.map(() => '<news.example.com>'));

    const raw = {
      method: 'POST',
      path: `/api/v1/messages/raw?from=a@example.com&to=${TO.join()}&unsubscribe=news`,
      key,
      headers: { 'Content-Type': 'message/rfc822' },
    };
    const answer = await world.ask({
      ...raw,
      body: 'From: a@example.com\r\nSubject: x\r\n\r\nHere: %unsubscribe_url%\r\n',
    });
    expect(answer.status, answer.text).toBe(202);
    expect(copies()[2]).toContain(`Here: ${urlOf(String(answer.json['id']), 2)}\r\n`);

    const messages = [MAIL, { ...MAIL, ...LETTER, ...NEWS }, MAIL];
    const batch = await world.ask({
      method: 'POST',
      path: '/api/v1/messages/batch',
      key,
      body: { messages },
    });
    expect(batch.status).toBe(202);
    const [plain, own] = world.intake.submissions.slice(-3);
    expect([plain?.copies, own?.copies?.length]).toEqual([undefined, 3]);
  });

  test('that the API shows, of the first recipient or of any', async () => {
    const reader = await world.key({ scopes: ['messages:send', 'messages:content', 'messages:read'] });
    const { json } = await world.post(reader, { ...MAIL, ...LETTER, ...NEWS });
    const id = String(json['id']);
    const content = (query: string) =>
      world.ask({ path: `/api/v1/messages/${id}/content${query}`, key: reader });
    expect((await content('')).text).toBe(copies()[0]);
    expect((await content('?recipient=eve@example.net')).text).toBe(copies()[2]);
    expect(faultsOf(await content('?recipient=nobody@example.net'))).toEqual([
      '/recipient unknown_recipient',
    ]);
    const record = await world.ask({ path: `/api/v1/messages/${id}`, key: reader });
    expect(record.json['sizeBytes']).toBe(copies().join('').length);
  });

  test('and a new one when the message is sent again', async () => {
    const { json } = await world.post(key, { ...MAIL, ...LETTER, ...NEWS });
    const path = `/api/v1/messages/${json['id']}/resend`;
    const again = await world.ask({ method: 'POST', path, key });
    expect(again.status, again.text).toBe(202);
    const id = String(again.json['id']);
    expect(world.last.stream).toBe('news');
    for (const [place, copy] of copies().entries()) {
      expect(copy.split(urlOf(id, place))).toHaveLength(4);
      expect(copy).not.toContain(urlOf(String(json['id']), 0));
      expect(copy.match(/^List-(?:Unsubscribe|Unsubscribe-Post|ID): /gm)).toHaveLength(3);
    }
  });
});

describe('a message that nobody could unsubscribe from is refused with what is missing:', () => {
  const refusal = async (fields: object = {}) => {
    const answer = await world.post(key, { ...MAIL, ...NEWS, ...fields });
    expect([answer.status, answer.json['code']]).toEqual([400, 'unsubscribe_unavailable']);
    expect(answer.json.errors?.map(({ pointer }) => pointer)).toEqual(['/unsubscribe']);
    return answer.json['detail'];
  };
  test('the URL of this server', async () => {
    world.unsubscribing = NO_LINKS;
    expect(await refusal()).toMatch(/need server.public_url with https/);
  });
  test('a URL with TLS', async () => {
    world.unsubscribing = { ...linksFor('example.com'), publicUrl: 'http://mail.example.com' };
    expect(await refusal()).toMatch(/need server.public_url with https/);
  });
  test('the secret key', async () => {
    world.unsubscribing = { ...linksFor('example.com'), tokens: null };
    expect(await refusal()).toMatch(/secret.key/);
  });
  test('a domain that signs', async () =>
    expect(await refusal({ from: 'jane@example.net' })).toMatch(/no key signs for example.net/));
  test('a key that may sign for it', async () => {
    key = await world.key({ senderDomains: ['news.example.com'] });
    expect((await world.post(key, { ...MAIL, ...NEWS })).status).toBe(403);
  });
});

describe('refused is', () => {
  test.each([
    [{ unsubscribe: { stream: '' } }, '/unsubscribe required'],
    [{ unsubscribe: {} }, '/unsubscribe/stream required'],
    [{ unsubscribe: { stream: 'our news' } }, '/unsubscribe stream'],
    [{ unsubscribe: { stream: 'x'.repeat(65) } }, '/unsubscribe stream'],
    [{ unsubscribe: 'news' }, '/unsubscribe type'],
    [{ unsubscribe: { stream: 'news', list: 'x' } }, '/unsubscribe/list unknown_field'],
    [{ stream: 'x'.repeat(256) }, '/stream stream'],
    [{ stream: 'other', ...NEWS }, '/stream stream'],
    [
      { ...NEWS, headers: { 'List-Unsubscribe': '<https://a.example/>' } },
      '/headers/List-Unsubscribe header_forbidden',
    ],
    [
      { ...NEWS, headers: { 'list-unsubscribe-post': 'x' } },
      '/headers/list-unsubscribe-post header_forbidden',
    ],
    [{ ...NEWS, headers: { 'List-ID': '<a.example>' } }, '/headers/List-ID header_forbidden'],
  ])('%o', async (fields, fault) => expect(await world.refuse(key, fields)).toEqual([fault]));

  test('an empty stream in a form, and of a finished message', async () => {
    const form = await world.postForm(
      key,
      formOf(Object.entries({ ...MAIL, to: 'b@example.org', 'o:unsubscribe': '' })),
    );
    expect([form.status, faultsOf(form)]).toEqual([400, ['/o:unsubscribe required']]);
    const raw = await world.ask({
      method: 'POST',
      path: '/api/v1/messages/raw?from=a@example.com&to=b@example.org&unsubscribe=',
      key,
      headers: { 'Content-Type': 'message/rfc822' },
      body: 'From: a@example.com\r\nSubject: x\r\n\r\nHello\r\n',
    });
    expect([raw.status, faultsOf(raw)]).toEqual([400, ['/unsubscribe required']]);
    expect(world.intake.submissions).toEqual([]);
  });

  test('what is too large with all its copies, by their sum', async () => {
    const text = 'x\n'.repeat(20_000);
    const one = await world.post(key, { ...MAIL, ...NEWS, text });
    expect(one.status).toBe(202);
    const three = await world.post(key, { ...MAIL, ...NEWS, to: TO, text });
    expect([three.status, three.json['code']]).toEqual([413, 'message_too_large']);
    expect(String(three.json['detail'])).toMatch(/but these 3 have 18\d{4}\./);
  });
});

describe('a stream', () => {
  test('is the one that is given, else the list, else none; letter case does not count', async () => {
    const streamOf = async (fields: object) => (await world.accept(key, fields)).stream;
    expect(await streamOf({})).toBeNull();
    expect(await streamOf({ stream: ' Receipts ' })).toBe('receipts');
    const headers = { 'List-ID': 'Our news <News.Example.com>' };
    expect(await streamOf({ headers })).toBe('news.example.com');
    expect(await streamOf({ headers, stream: 'other' })).toBe('other');
    expect(await streamOf({ stream: 'NEWS', ...NEWS })).toBe('news');
    expect(world.last.copies).toHaveLength(1);
  });

  test('tells submissions under one idempotency key apart', async () => {
    const post = (fields: object) =>
      world.ask({ method: 'POST', key, body: { ...MAIL, ...fields }, headers: { 'Idempotency-Key': 'k' } });
    expect((await post(NEWS)).status).toBe(202);
    expect((await post(NEWS)).headers['idempotency-replayed']).toBe('true');
    expect((await post({ stream: 'news' })).status).toBe(409);
    expect((await post({})).status).toBe(409);
  });
});
