import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedDomain } from '../../support/signed-domain.ts';
import { encodeForm, faultsOf, formOf, MAIL, World } from './world.ts';

/** `POST /api/v1/messages` as `multipart/form-data`: the same fields under their form names (contract §2). */

type Field = readonly [string, string | File];

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key();
});
afterAll(() => world.close());

const FROM: Field = ['from', 'jane@example.com'];
const TO: Field = ['to', 'bob@example.org'];
const TEXT: Field = ['text', 'Hi.'];

async function accept(...fields: Field[]) {
  const answer = await world.postForm(key, formOf(fields));
  expect([answer.status, answer.json['detail']]).toEqual([202, undefined]);
  return world.last;
}

async function refuse(...fields: Field[]) {
  const answer = await world.postForm(key, formOf([FROM, TO, TEXT, ...fields]));
  expect([answer.status, answer.json['code']]).toEqual([400, 'invalid_submission']);
  return faultsOf(answer);
}

const take = (...fields: Field[]) => accept(FROM, TO, TEXT, ...fields);

test('a form is answered as JSON is', async () => {
  const answer = await world.postForm(key, formOf([FROM, TO, TEXT]));
  expect([answer.status, answer.json['status']]).toEqual([202, 'queued']);
});

describe('addresses', () => {
  test('to, cc and bcc are repeatable address lists', async () => {
    const { envelope } = await take(
      ['to', 'a@x.test, "B, C" <b@x.test>'],
      ['cc', 'c@x.test'],
      ['bcc', 'd@x.test'],
      ['bcc', 'e@x.test'],
    );
    expect(envelope.recipients.map(({ address, kind }) => `${kind} ${address}`)).toEqual([
      'to bob@example.org',
      'to a@x.test',
      'to b@x.test',
      'cc c@x.test',
      'bcc d@x.test',
      'bcc e@x.test',
    ]);
    expect(world.lastText).not.toContain('e@x.test');
  });
  test('a faulty one is pointed to by its place', async () => {
    expect(await refuse(['to', 'a@x.test'], ['to', 'bad'])).toEqual(['/to/2 address_syntax']);
    expect(await refuse(['cc', 'bad'])).toEqual(['/cc address_syntax']);
  });
  test('an empty field equals an absent one', async () => {
    expect(
      (await take(['cc', ''], ['subject', ''], ['o:tag', ''], ['o:send-at', ''], ['o:dry-run', ''])).sendAt,
    ).toBeNull();
    const answer = await world.postForm(
      key,
      formOf([
        ['from', ''],
        ['to', ''],
        ['text', ''],
      ]),
    );
    expect(faultsOf(answer)).toEqual(['/from required', '/to required', '/text required']);
  });
});

test.each(['from', 'subject', 'text', 'html', 'o:priority', 'o:send-at', 'o:dry-run', 'h:X-A', 'v:a'])(
  '%s given twice is refused',
  async (name) => expect(await refuse([name, 'no'], [name, 'no'])).toContain(`/${name} repeated`),
);

describe('options', () => {
  test('h: is a header, v: metadata, o:tag a tag, o:priority and o:send-at what they say', async () => {
    const submission = await take(
      ['h:X-Campaign', 'spring'],
      ['v:order', '4711'],
      ['o:tag', 'a'],
      ['o:tag', 'b'],
      ['o:priority', 'bulk'],
      ['o:send-at', '2026-11-21T00:00:00Z'],
    );
    expect(world.lastText).toContain('X-Campaign: spring');
    expect(submission).toMatchObject({
      metadata: { order: '4711' },
      tags: ['a', 'b'],
      priority: 'bulk',
      sendAt: Date.UTC(2026, 10, 21),
    });
  });
  test('o:deliverytime is sendAt as an RFC 5322 date', async () =>
    expect((await take(['o:deliverytime', 'Sat, 21 Nov 2026 02:00:00 +0200'])).sendAt).toBe(
      Date.UTC(2026, 10, 21),
    ));
  test('o:testmode=yes captures', async () => {
    expect((await take(['o:testmode', 'yes'])).test).toBe(true);
    expect((await take(['o:testmode', 'no'])).test).toBe(false);
  });
  test.each(['o:tracking', 'o:tracking-clicks', 'o:tracking-opens', 'o:require-tls'])(
    '%s is taken where it asks for what happens anyway',
    async (name) => {
      await take([name, 'no']);
      await take([name, 'False']);
      expect(await refuse([name, 'yes'])).toEqual([`/${name} not_supported`]);
    },
  );
  test('o:dkim is taken where it asks for what happens anyway', async () => {
    await take(['o:dkim', 'no']);
    expect(await refuse(['o:dkim', 'yes'])).toEqual(['/o:dkim not_supported']);
    expect(await refuse(['o:dkim', 'maybe'])).toEqual(['/o:dkim type']);
    const { sending } = world;
    world.sending = { ...sending, domains: [signedDomain('example.com')] };
    try {
      await take(['o:dkim', 'yes']);
      await take(['o:dkim', 'True']);
      expect(await refuse(['o:dkim', 'no'])).toEqual(['/o:dkim not_supported']);
    } finally {
      world.sending = sending;
    }
  });
  test.each([
    [['o:send-at', 'tomorrow'], '/o:send-at timestamp'],
    [['o:deliverytime', 'tomorrow'], '/o:deliverytime timestamp'],
    [['o:deliverytime', 'Mon, 20 Nov 2026 11:15:00 +0000'], '/o:deliverytime timestamp'],
    [['o:priority', 'low'], '/o:priority priority'],
    [['o:tag', 'x'.repeat(129)], '/o:tag/0 tag'],
    [['o:dry-run', 'maybe'], '/o:dry-run type'],
    [['o:testmode', 'maybe'], '/o:testmode type'],
    [['h:Bcc', 'a@x.test'], '/h:Bcc header_forbidden'],
    [['h:X-A', 'a\r\nBcc: b@x.test'], '/h:X-A header_value'],
    [['v:a b', 'x'], '/v:a b metadata_name'],
    [['v:__proto__', 'x'], '/v:__proto__ metadata_name'],
  ] as const)('%j is refused at its own name', async (field, fault) =>
    expect(await refuse(field)).toEqual([fault]),
  );
  test.each(['', 'v:', 'h:'])('a long name is told cut short: %s', async (prefix) => {
    const form = formOf([FROM, TO, TEXT, [`${prefix}${'n'.repeat(15_000)}`, 'x']]);
    const answer = await world.postForm(key, form);
    expect([answer.status, answer.text.length < 2000]).toEqual([400, true]);
  });
  test('o:send-at and o:deliverytime together are refused', async () =>
    expect(
      await refuse(
        ['o:send-at', '2026-11-21T00:00:00Z'],
        ['o:deliverytime', 'Sat, 21 Nov 2026 02:00:00 +0200'],
      ),
    ).toEqual(['/o:deliverytime repeated']));
  test('what is wrong with the first of them is told as its fault', async () =>
    expect(
      await refuse(['o:send-at', 'tomorrow'], ['o:deliverytime', 'Sat, 21 Nov 2026 02:00:00 +0200']),
    ).toEqual(['/o:deliverytime repeated', '/o:send-at timestamp']));
  test.each([
    'o:unknown',
    'o:skip-verification',
    't:version',
    'recipient-variables',
    'amp-html',
    'tags',
    'sendAt',
    'BCC',
    'constructor',
    '__proto__',
    'attachments',
  ])('%s is refused by name', async (name) =>
    expect(await refuse([name, 'x'])).toEqual([`/${name} unknown_field`]),
  );
});

describe('files', () => {
  test('attachment parts are attachments, byte for byte', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    await take(
      ['attachment', new File([bytes], 'ä b.bin', { type: 'image/png' })],
      ['attachment', new File(['x'], 'b.txt')],
    );
    expect(world.lastText).toContain('Content-Type: image/png');
    expect(world.lastText.replaceAll('\r\n', '')).toContain(bytes.toString('base64'));
    expect(world.lastText).toContain("filename*=utf-8''%C3%A4%20b.bin");
    expect(world.lastText).toContain('filename=b.txt');
  });
  test('inline parts are what the html refers to by their name', async () => {
    await accept(FROM, TO, ['html', '<img src="cid:logo.png">'], ['inline', new File(['x'], 'logo.png')]);
    expect(world.lastText).toContain('multipart/related');
    expect(world.lastText).toContain('Content-ID: <logo.png>');
  });
  test.each([
    ['my logo.png', 'my%20logo.png'],
    ['bücher.png', 'b%C3%BCcher.png'],
    [' ', '%20'],
    ['100%.png', '100%.png'],
  ])('an inline part named %s has the Content-ID %s', async (name, contentId) => {
    await take(['inline', new File(['x'], name)]);
    expect(world.lastText).toContain(`Content-ID: <${contentId}>`);
  });
  test('an inline part whose name is too long for a Content-ID has none', async () => {
    await take(['inline', new File(['x'], 'ü'.repeat(200))]);
    expect(world.lastText).not.toContain('Content-ID');
  });
  test('a fault of a file is pointed to by its own field and place', async () =>
    expect(
      await refuse(
        ['attachment', new File(['x'], 'a.txt')],
        ['inline', new File(['x'], 'a.txt')],
        ['inline', new File(['x'], 'a/b')],
      ),
    ).toEqual(['/inline/1/filename attachment_filename']));
  test('a Content-ID of the part goes before its name', async () => {
    const body = [
      '--b',
      'Content-Disposition: form-data; name="from"',
      '',
      'a@x.test',
      '--b',
      'Content-Disposition: form-data; name="to"',
      '',
      'b@x.test',
      '--b',
      'Content-Disposition: form-data; name="html"',
      '',
      '<img src="cid:me">',
      '--b',
      'Content-Disposition: form-data; name="inline"; filename="l.png"',
      'Content-ID: <me>',
      '',
      'x',
      '--b--',
      '',
    ].join('\r\n');
    const answer = await world.ask({
      method: 'POST',
      key,
      body,
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    });
    expect(answer.status).toBe(202);
    expect(world.lastText).toContain('Content-ID: <me>');
  });
  test.each(['; filename=""', ''])('a file input left empty equals an absent one: %j', async (filename) => {
    const part = (name: string, value: string) =>
      `--b\r\nContent-Disposition: form-data; name=${name}\r\n\r\n${value}\r\n`;
    const answer = await world.ask({
      method: 'POST',
      key,
      body: `${part('from', 'a@x.test')}${part('to', 'b@x.test')}${part('text', 'x')}${part(`attachment${filename}`, '')}--b--\r\n`,
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    });
    expect(answer.status).toBe(202);
    expect(world.lastText).not.toContain('multipart');
  });
  test('an attachment alone is enough', async () =>
    void (await accept(FROM, TO, ['attachment', new File(['x'], 'a.txt')])));
  test.each([
    ['text', new File(['x'], 'a.txt'), ['/text type']],
    ['to', new File(['a@x.test'], 'a.txt'), ['/to type']],
    ['file', new File(['x'], 'a.txt'), ['/file unknown_field']],
    ['attachment', 'no file', ['/attachment type']],
    ['attachment', new File(['x'], '../a.txt'), ['/attachment/0/filename attachment_filename']],
  ])('%s as %o: refused', async (name, value, faults) => expect(await refuse([name, value])).toEqual(faults));
});

test('a form and JSON that say the same make the same message', async () => {
  const text = 'Grüße,\nJane';
  await world.post(key, {
    ...MAIL,
    text,
    attachments: [{ filename: 'a.txt', content: 'QUJD', contentType: 'text/plain' }],
  });
  const asJson = withoutChance(world.lastText);
  const form = formOf([
    FROM,
    ['to', 'bob@example.org'],
    ['subject', 'Hello'],
    ['text', text],
    ['attachment', new File(['ABC'], 'a.txt', { type: 'text/plain' })],
  ]);
  const { headers, body } = await encodeForm(form);
  await world.ask({ method: 'POST', key, headers, body });
  // Browsers and Node write a form's line ends as CRLF; the message has CRLF either way.
  expect(withoutChance(world.lastText)).toBe(asJson);
});

function withoutChance(message: string): string {
  return message
    .replace(/id \w+/, '')
    .replace(/Message-ID: .*/, '')
    .replace(/=_[0-9a-f]{32}/g, '');
}
