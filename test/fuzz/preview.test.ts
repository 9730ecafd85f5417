/** The preview of messages that nobody vouches for: MIME as it comes, shown to people. */
import { expect, test } from 'vitest';
import {
  MAX_CODES,
  MAX_FIELDS,
  MAX_FILES,
  MAX_LINKS,
  MAX_TEXT,
  parseMessage,
} from '../../src/preview/parse.ts';
import { documentOf, type ParsedMessage, PreviewError } from '../../src/preview/parsed.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

const part = textOf(
  ...(['Content-Type: text/html', 'Content-Type: text/plain; charset=utf-8', '\r\n', '\r\n\r\n'] as const),
  ...['Content-Type: multipart/mixed; boundary=b', '--b\r\n', '--b--\r\n', 'Content-ID: <p@x>\r\n'],
  ...[
    'Content-Type: image/png',
    'Content-Disposition: attachment; filename="../a.exe"',
    'Subject: =?utf-8?q?',
  ],
  ...[
    'Content-Transfer-Encoding: base64',
    'Content-Transfer-Encoding: quoted-printable',
    '<a href="http://x/">',
  ],
  ...[
    '<script>',
    '</style',
    '<iframe src=x>',
    'code: 123456',
    'cid:p@x',
    '&#x6a;',
    '=3D',
    'QUJD',
    '"',
    "'",
    '<',
    '>',
  ],
);
/** The library takes some ten microseconds for each line, be it empty: longer messages say no more, and take their time. */
const MAX_BYTES = 20 * 1024;
const messages = {
  made: part.map((text) => Buffer.from(`From: a@x.test\r\n${text}`)),
  corpus: corpus('messages', (bytes) => bytes, MAX_BYTES),
};

async function shown(bytes: Buffer): Promise<ParsedMessage | null> {
  try {
    return await parseMessage(bytes);
  } catch (error) {
    if (!(error instanceof PreviewError)) throw error;
    expect(error.code).toBe('unreadable');
    return null;
  }
}

test('any message is shown, bounded, or said to be unreadable', () =>
  fuzz('MIME preview', messages, async (bytes) => {
    const message = await shown(bytes);
    if (message === null) return false;
    const { headers, attachments, links, codes, text, html } = message;
    expect(headers.length).toBeLessThanOrEqual(MAX_FIELDS);
    expect(attachments.length).toBeLessThanOrEqual(MAX_FILES);
    expect(links.length).toBeLessThanOrEqual(MAX_LINKS);
    expect(codes.length).toBeLessThanOrEqual(MAX_CODES);
    expect(Math.max(text?.length ?? 0, html?.length ?? 0)).toBeLessThanOrEqual(MAX_TEXT);
    for (const { url } of links) expect(url).toMatch(/^https?:\/\//i);
    for (const code of codes) expect(code).toMatch(/^[0-9A-Z]{4,10}$/);
    for (const { filename } of attachments)
      expect(filename).toMatch(/^[^/\\\p{C}\p{Zl}\p{Zp}"<>|:*?]{1,400}$/u);
    for (const { filename } of attachments) expect(filename).not.toMatch(/^\./);
    return attachments.length > 0 || links.length > 0;
  }));

/** What may not be in a document under its own name. */
const ACTIVE =
  /<\/?(?:base|meta|link|script|iframe|frame|frameset|object|embed|applet|form|portal|template|plaintext|xmp|noscript)[\s/>]/i;

test('the document of any message has nothing in it that acts', () =>
  fuzz('MIME preview document', messages, async (bytes) => {
    const message = await shown(bytes);
    if (message === null) return false;
    const document = documentOf(message);
    const body = document.slice(document.indexOf('<body>') + 6, -'</body></html>'.length);
    expect(body).not.toMatch(ACTIVE);
    if (message.html === null) expect(body.slice(5, -6)).not.toMatch(/[<>]/);
    return body.includes('<x-') || body.includes('data:image/');
  }));
