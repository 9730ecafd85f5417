/** What is converted for an old server reads as it did, by a parser that others wrote. */
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { atOnce } from '../../src/lib/clock.ts';
import { toSevenBit } from '../../src/mail/seven-bit.ts';

const NOTHING = { eightBitHeaders: false, eightBitBodies: false };

const word = fc.string({
  unit: fc.constantFrom('a', 'ü', '€', '😀', '.', '=', '-', ' ', '"', ')'),
  maxLength: 30,
});
const line = fc.oneof(
  { weight: 5, arbitrary: word },
  { weight: 1, arbitrary: fc.constantFrom('.', '--x', '--b1', `${'lang '.repeat(300)}ü`, 'x'.repeat(1200)) },
);
const body = fc.array(line, { minLength: 1, maxLength: 6 }).map((lines) => lines.join('\r\n'));
const name = fc.constantFrom('Anja', 'Jürgen Größe', 'Ω');
const leaf = fc
  .record({
    body,
    name,
    type: fc.constantFrom('text/plain; charset=utf-8', 'text/html; charset=utf-8', 'application/x-y'),
  })
  .map(({ body: text, name: file, type }) => {
    const disposition =
      type === 'application/x-y' ? `Content-Disposition: attachment; filename="${file}"\r\n` : '';
    return `Content-Type: ${type}\r\nContent-Transfer-Encoding: 8bit\r\n${disposition}\r\n${text}`;
  });
const { entity } = fc.letrec<{ entity: string }>((tie) => ({
  entity: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc
      .tuple(fc.array(tie('entity'), { minLength: 1, maxLength: 3 }), fc.nat(99_999))
      .map(([parts, number]) => {
        // No boundary is that of a part within: this one is of a longer text.
        const boundary = `q${number}x${parts.join('').length}z`;
        const inner = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('');
        return `Content-Type: multipart/mixed; boundary=${boundary}\r\n\r\n${inner}--${boundary}--`;
      }),
  ),
}));
const letter = fc
  .record({ entity, name, subject: word })
  .map(
    ({ entity: root, name: from, subject }) =>
      `From: ${from} <a@x.test>\r\nSubject: s ${subject.trim()}\r\nMIME-Version: 1.0\r\n${root}\r\n`,
  );

/** What a reader sees; line ends and the blank at the end of a line are not of it. */
async function seen(bytes: Uint8Array) {
  const { from, subject, text, html, attachments } = await PostalMime.parse(bytes);
  const plain = (content: string | undefined) => content?.replace(/[ \t]*\r?\n/g, '\n').trimEnd();
  return {
    from,
    subject,
    text: plain(text),
    html: plain(html),
    attachments: attachments.map(({ filename, mimeType, content }) => ({
      filename,
      mimeType,
      content: plain(Buffer.from(content as ArrayBuffer).toString('latin1')),
    })),
  };
}

test('it is ASCII in short lines, and reads the same', async () => {
  await fc.assert(
    fc.asyncProperty(letter, async (text) => {
      const before = Buffer.from(text);
      const result = atOnce(toSevenBit(before, NOTHING));
      if (!result.ok) throw new Error(result.because);
      const after = Buffer.concat(result.chunks);
      expect(after.toString('latin1')).toMatch(/^[\0-\x7f]*\r\n$/);
      expect(
        Math.max(
          ...after
            .toString()
            .split('\r\n')
            .map((each) => each.length),
        ),
      ).toBeLessThanOrEqual(998);
      expect(result.eightBit).toBe(false);
      expect(await seen(after)).toEqual(await seen(before));
    }),
    { numRuns: 400 },
  );
});

test('any bytes are converted or refused, and never by an exception', () => {
  const piece = fc.constantFrom(
    ...[
      'Content-Type: ',
      'multipart/mixed; boundary=b',
      'message/rfc822',
      'Content-Transfer-Encoding: ',
      'base64',
    ],
    ...[
      '\r\n',
      '\r\n\r\n',
      '--b',
      '--',
      'ü',
      '\xff',
      ' ',
      '(',
      '"',
      '<',
      'To: ',
      'Subject: ',
      'x'.repeat(999),
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.boolean(), fc.boolean(), (pieces, headers, bodies) => {
      const message = Buffer.from(`${pieces.join('')}\r\n`, 'latin1');
      const result = atOnce(toSevenBit(message, { eightBitHeaders: headers, eightBitBodies: bodies }));
      if (!result.ok) return;
      const after = Buffer.concat(result.chunks).toString('latin1');
      if (!headers && !bodies) expect(after).toMatch(/^[\0-\x7f]*$/);
      for (const each of after.split('\r\n')) expect(each.length).toBeLessThanOrEqual(998);
    }),
    { numRuns: 5000 },
  );
});
