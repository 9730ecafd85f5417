import { describe, expect, test } from 'vitest';
import { atOnce } from '../lib/clock.ts';
import { type Attachment, attachmentPart, checkAttachment } from './part.ts';

const file = (partial: Partial<Attachment>): Attachment => ({
  filename: null,
  contentType: null,
  content: Buffer.from('abc'),
  contentId: null,
  disposition: 'attachment',
  ...partial,
});
const fields = (partial: Partial<Attachment>) => atOnce(attachmentPart(file(partial))).fields;

describe('file names', () => {
  test.each([
    ['report.pdf', 'Content-Disposition: attachment; filename=report.pdf\r\n'],
    ["it's 5%.txt", 'Content-Disposition: attachment; filename="it\'s 5%.txt"\r\n'],
    ['a"b.txt', "Content-Disposition: attachment; filename*=utf-8''a%22b.txt\r\n"],
    ['ü.txt', "Content-Disposition: attachment; filename*=utf-8''%C3%BC.txt\r\n"],
    ['', 'Content-Disposition: attachment\r\n'],
  ])('%s', (filename, line) => {
    expect(fields({ filename })).toContain(line);
  });

  test('what needs RFC 2231 is written for older readers as well', () => {
    expect(fields({ filename: 'ü.txt' })).toContain('name="=?utf-8?B?w7wudHh0?="');
    expect(fields({ filename: 'u.txt' })).not.toContain(' name=');
  });

  test('a long one is split between characters, in numbered sections', () => {
    const text = fields({ filename: 'ü'.repeat(100) });
    const sections = [...text.matchAll(/filename\*(\d+)\*=(\S+?);?\r\n/g)];
    expect(sections.map((match) => match[1])).toEqual(sections.map((_, index) => String(index)));
    expect(
      sections.map((match) => decodeURIComponent((match[2] ?? '').replace("utf-8''", ''))).join(''),
    ).toBe('ü'.repeat(100));
    expect(Math.max(...text.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(78);
  });
});

describe('types', () => {
  test('parameters are kept, but for the name', () => {
    expect(fields({ contentType: 'Text/Calendar; Method="REQUEST"; name=x; charset=utf-8' })).toContain(
      'Content-Type: text/calendar; method=REQUEST; charset=utf-8\r\n',
    );
  });

  test.each([
    ['kept as it is', 'message/rfc822', 'A: b\r\n\r\nc\r\n', 'message/rfc822', '7bit'],
    ['8-bit', 'message/rfc822', 'A: ü\r\n\r\n', 'application/octet-stream', 'base64'],
    ['LF alone', 'message/rfc822', 'A: b\n\nc\n', 'application/octet-stream', 'base64'],
    ['CR alone', 'message/rfc822', 'A: b\rc', 'application/octet-stream', 'base64'],
    ['NUL', 'message/rfc822', 'A: \0\r\n', 'application/octet-stream', 'base64'],
    ['998 characters', 'message/rfc822', `A: ${'b'.repeat(995)}\r\n`, 'message/rfc822', '7bit'],
    ['999 characters', 'message/rfc822', `A: ${'b'.repeat(996)}\r\n`, 'application/octet-stream', 'base64'],
    ['a multipart', 'multipart/mixed; boundary=x', '--x--\r\n', 'application/octet-stream', 'base64'],
    ['a global message', 'message/global', 'A: ü\r\n\r\n', 'message/global', 'base64'],
  ])('attached message, %s', (_, contentType, content, type, encoding) => {
    const text = fields({ contentType, content: Buffer.from(content) });
    expect(text).toContain(`Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n`);
  });
});

test.each<[Partial<Attachment>, string | null]>([
  [{ filename: 'a b.txt', contentType: 'text/plain; charset="utf-8"', contentId: 'logo@x' }, null],
  [{ contentId: '<logo>' }, null],
  [{ filename: '/etc/passwd' }, 'attachment_filename'],
  [{ filename: 'C:\\a.txt' }, 'attachment_filename'],
  [{ filename: 'a\nb' }, 'attachment_filename'],
  [{ filename: 'report\u202efdp.exe' }, 'attachment_filename'],
  [{ filename: 'a\u2067b\u2069.txt' }, 'attachment_filename'],
  [{ filename: 'a.exe\u200b.txt' }, 'attachment_filename'],
  [{ filename: 'שלום 👩\u200d🚀.txt' }, null],
  [{ filename: 'a'.repeat(1024) }, null],
  [{ filename: 'a'.repeat(1025) }, 'attachment_filename'],
  [{ contentType: 'text' }, 'attachment_content_type'],
  [{ contentType: '' }, 'attachment_content_type'],
  [{ contentType: 'text/plain; charset' }, 'attachment_content_type'],
  [{ contentType: 'text/plain; a="b\r\nc"' }, 'attachment_content_type'],
  [{ contentType: 'text/plain\r\nX: y' }, 'attachment_content_type'],
  [{ contentType: `text/plain; a=${'b'.repeat(1024)}` }, 'attachment_content_type'],
  [{ contentId: '' }, 'attachment_content_id'],
  [{ contentId: 'a b' }, 'attachment_content_id'],
  [{ contentId: 'ü' }, 'attachment_content_id'],
  [{ contentId: 'a'.repeat(901) }, 'attachment_content_id'],
])('%o: %s', (partial, code) => {
  expect(checkAttachment(file(partial))?.code ?? null).toBe(code);
});
