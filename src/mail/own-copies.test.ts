import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { describe, expect, test } from 'vitest';
import { atOnce } from '../lib/clock.ts';
import { seededRandom } from '../lib/random.ts';
import { compose } from './compose.ts';
import { copyOf, type Own, readTemplate } from './own-copies.ts';

const PLACEHOLDER = '%unsubscribe_url%';
const URL = `https://mail.example.com/u/${'0'.repeat(40)}`;
const OWN: Own = { fields: 'List-ID: <news.example.com>\r\n', text: URL };

function copied(message: string | Buffer, own = OWN): string {
  const template = atOnce(readTemplate(Buffer.from(message), PLACEHOLDER));
  return Buffer.concat(atOnce(copyOf(template, own))).toString('latin1');
}

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n`;

const PART = ['Content-Type: text/plain; charset=utf-8', ''];
const MIXED = ['Subject: x', 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b', '', '--b'];

describe('a copy', () => {
  test('has its own fields at the end of the header, and its text in place of the placeholder', () => {
    const message = lines('Received: y', 'Subject: x', '', `Leave: ${PLACEHOLDER}.`, `Or ${PLACEHOLDER}`);
    expect(copied(message)).toBe(
      lines('Received: y', 'Subject: x', 'List-ID: <news.example.com>', '', `Leave: ${URL}.`, `Or ${URL}`),
    );
  });

  test('without the placeholder has its own fields, and all other bytes as they were', () => {
    const message = lines('Subject: x', 'Content-Type: text/plain; charset=utf-8', '', 'é', '.', '');
    const bytes = Buffer.from(message).toString('latin1');
    expect(copied(message)).toBe(bytes.replace('\r\n\r\n', `\r\n${OWN.fields}\r\n`));
  });

  test('of a message without fields begins with its own', () => {
    expect(copied('\r\nHi.\r\n')).toBe(`${OWN.fields}\r\nHi.\r\n`);
  });

  test('of quoted-printable text replaces also what is broken over lines', () => {
    const part = ['Content-Type: text/html', 'Content-Transfer-Encoding: Quoted-Printable', ''];
    const message = lines(...MIXED, ...part, '<a href=3D"%unsub=', 'scribe_url%">=C3=A9</a>', '--b--');
    const text = copied(message);
    expect(text).toContain(`<a href=3D"${URL.slice(0, 20)}`);
    expect(text).toContain('Content-Transfer-Encoding: Quoted-Printable\r\n');
    expect(text.replaceAll('=\r\n', '')).toContain(`<a href=3D"${URL}">=C3=A9</a>\r\n--b--\r\n`);
  });

  test('of base64 text stays base64', () => {
    const part = ['Content-Type: text/plain', 'Content-Transfer-Encoding: base64', ''];
    const message = lines(...MIXED, ...part, Buffer.from(`a ${PLACEHOLDER}`).toString('base64'), '--b--');
    const [, body = ''] = /base64\r\n\r\n([^-]*)\r\n--b--/.exec(copied(message)) ?? [];
    expect(Buffer.from(body, 'base64').toString()).toBe(`a ${URL}`);
  });

  test('whose line would be too long becomes quoted-printable, and says so', () => {
    const long = 'x'.repeat(990);
    const stated = copied(lines('Content-Transfer-Encoding: 7bit', 'Subject: x', '', long + PLACEHOLDER));
    expect(stated).toMatch(
      /^Content-Transfer-Encoding: quoted-printable\r\nSubject: x\r\nList-ID: <news.example.com>\r\n\r\nx/,
    );
    const silent = copied(lines('Subject: x', '', long + PLACEHOLDER));
    expect(silent).toMatch(
      /^Subject: x\r\nContent-Transfer-Encoding: quoted-printable\r\nList-ID: <news.example.com>\r\n\r\nx/,
    );
    for (const text of [stated, silent]) expect(text.replaceAll('=\r\n', '')).toContain(`${long}${URL}\r\n`);
  });

  test.each([
    ['attached', [...MIXED, 'Content-Type: text/plain', 'Content-Disposition: attachment', '']],
    ['no text', [...MIXED, 'Content-Type: application/json', '']],
    ['signed', ['Content-Type: multipart/signed; boundary=b', '', '--b', ...PART]],
    ['within another message', [...MIXED, 'Content-Type: message/rfc822', '', 'Subject: y', '']],
    ['ambiguous', [...MIXED, 'Content-Type: text/plain', 'Content-Type: text/html', '']],
    [
      'in an unknown encoding',
      [...MIXED, 'Content-Type: text/plain', 'Content-Transfer-Encoding: x-uue', ''],
    ],
  ])('of text that is %s keeps it as it is', (_, head) => {
    const text = copied(lines(...head, PLACEHOLDER, '--b--'));
    expect(text).toContain(PLACEHOLDER);
    expect(text).toContain(OWN.fields);
  });

  test('is the same as the message after its own are taken away, however deep its parts are', () => {
    let body = lines(...PART, 'hello');
    for (let depth = 0; depth < 40; depth++)
      body = lines(
        `Content-Type: multipart/mixed; boundary=b${depth}`,
        '',
        `--b${depth}`,
        body,
        `--b${depth}--`,
      );
    expect(copied(`Subject: x\r\n${body}`).replace(OWN.fields, '')).toBe(`Subject: x\r\n${body}`);
  });
});

test('whatever is written, each copy reads as it was written, with its own link', async () => {
  const word = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replace(/[\0\r]/g, '')),
    fc.constantFrom(PLACEHOLDER, '\n', '\n.', '\n--', 'x'.repeat(980), ' ', '%'),
  );
  const text = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join('').toWellFormed());
  const property = fc.asyncProperty(text, fc.option(text), fc.boolean(), async (plain, html, attach) => {
    const from = { name: null, address: 'a@example.com', local: 'a', domain: 'example.com', ascii: true };
    const attachments = attach
      ? [
          {
            filename: 'a.txt',
            contentType: 'text/plain',
            content: Buffer.from(PLACEHOLDER),
            contentId: null,
            disposition: 'attachment' as const,
          },
        ]
      : [];
    const draft = { from, to: [from], cc: [], subject: 's', text: plain, html, headers: [], attachments };
    const context = { date: 0, messageId: '<a@b.example>', random: seededRandom(1) };
    const { chunks } = atOnce(compose(draft, context));
    const message = Buffer.concat(chunks);
    const copy = copied(message);
    expect(copy.endsWith('\r\n')).toBe(true);
    for (const line of copy.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998);
    const [before, after] = await Promise.all([
      PostalMime.parse(message),
      PostalMime.parse(Buffer.from(copy, 'latin1')),
    ]);
    const filled = (one: string | undefined) => one?.replaceAll(PLACEHOLDER, URL);
    expect([after.text, after.html]).toEqual([filled(before.text), filled(before.html)]);
    expect(after.attachments).toEqual(before.attachments);
    expect(after.headers.find(({ key }) => key === 'list-id')?.value).toBe('<news.example.com>');
  });
  await fc.assert(property, { numRuns: 300 });
});

test('hostile messages end in a copy', () => {
  const piece = fc.constantFrom(
    '\r\n',
    '\r\n\r\n',
    '--b',
    '--',
    'Content-Type: multipart/mixed; boundary=b\r\n',
    'Content-Type: text/plain\r\n',
    'Content-Transfer-Encoding: quoted-printable\r\n',
    'Content-Transfer-Encoding: base64\r\n',
    PLACEHOLDER,
    '=',
    'x',
  );
  const property = fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
    const message = Buffer.from(`Subject: x\r\n${pieces.join('')}\r\n\r\n`);
    const template = atOnce(readTemplate(message, PLACEHOLDER));
    const [one, two] = ['1', '2'].map((text) =>
      Buffer.concat(atOnce(copyOf(template, { fields: 'A: b\r\n', text }))),
    );
    expect(one?.length).toBe(two?.length);
    expect(one?.includes('A: b\r\n')).toBe(true);
  });
  fc.assert(property, { numRuns: 2000 });
});
