/** Content comes out byte for byte as it was meant, by DATA and by BDAT, however it is cut (RFC 5321 §4.5.2, RFC 3030). */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutAt } from '../../fuzz/inputs.ts';
import { Peer } from './peer.ts';

const ENVELOPE = 'EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\n';
const content = { bareNewline: 'reject', maxLineBytes: 1000 } as const;
/** Lines of dots and of what stands beside them. */
const body = fc
  .array(fc.array(fc.constantFrom('.', '..', 'x', ' ', 'QUIT', '\x80', '\t'), { maxLength: 4 }), {
    maxLength: 12,
  })
  .map((lines) => lines.map((line) => `${line.join('')}\r\n`).join(''));

/** What a client says, cut anywhere, and what its owner then has. */
function heard(said: string, places: readonly number[]): readonly string[] {
  const peer = new Peer({ content }, { cut: (bytes) => cutAt(bytes, places), answers: 'late' });
  peer.receiver.greet();
  peer.say(Buffer.from(`${ENVELOPE}${said}NOOP\r\n`, 'latin1'));
  expect(peer.sent).toMatch(/\r\n250 2\.0\.0 queued as msg_1\r\n250 2\.0\.0 OK\r\n$/);
  return peer.events.map((event) => event.replace(/ dots$/, ''));
}

test('dot-stuffing is undone byte for byte, however the content is cut', () => {
  fc.assert(
    fc.property(body, fc.array(fc.nat(), { maxLength: 12 }), (text, places) => {
      const stuffed = text.replace(/^\./gm, '..');
      expect(heard(`DATA\r\n${stuffed}.\r\n`, places)).toEqual([
        `message <> -> <b@y.test> ${JSON.stringify(text)}`,
      ]);
    }),
    { numRuns: 2000 },
  );
});

test('a dot is found wherever the content is cut in two', () => {
  const stuffed = '..\r\n...a\r\n\r\n..\r\nb.\r\n';
  const written = JSON.stringify('.\r\n..a\r\n\r\n.\r\nb.\r\n');
  for (let place = 0; place < ENVELOPE.length + stuffed.length + 20; place++)
    expect(heard(`DATA\r\n${stuffed}.\r\n`, [place])).toEqual([`message <> -> <b@y.test> ${written}`]);
});

test('chunks put together are the content, whatever their sizes', () => {
  fc.assert(
    fc.property(
      body,
      fc.array(fc.nat(), { maxLength: 6 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      (text, ends, places) => {
        const chunks = cutAt(Buffer.from(text, 'latin1'), ends);
        const said = chunks.map((chunk, i) => {
          const last = i === chunks.length - 1 ? ' LAST' : '';
          return `BDAT ${chunk.length}${last}\r\n${chunk.toString('latin1')}`;
        });
        expect(heard(said.join(''), places)).toEqual([`message <> -> <b@y.test> ${JSON.stringify(text)}`]);
      },
    ),
    { numRuns: 2000 },
  );
});
