/** Letters of all kinds, for a mail server to relay: what arrives must be what was sent. */
import { seededRandom } from '../../src/lib/random.ts';

/** A letter and its envelope. */
export interface RelayedLetter {
  /** Stands in its Subject, and in no other's. */
  readonly token: string;
  /** Empty: the null reverse-path. */
  readonly from: string;
  readonly to: readonly string[];
  /** CRLF lines; begins with `Date` and `Message-ID`, so that nobody has to add them. */
  readonly content: Buffer;
}

/** `count` letters, the same at every call: empty, dots, 8-bit, long lines, large ones, many recipients, bounces. */
export function relayedLetters(count: number): RelayedLetter[] {
  const dice = seededRandom(count);
  return Array.from({ length: count }, (_, at) => {
    const token = `letter ${at}`;
    const recipients = at % 20 === 7 ? 40 : 1 + Math.floor(dice.next() * 3);
    const to = Array.from({ length: recipients }, (_, number) => `r${at}-${number}@example.net`);
    const kind = KINDS[at % KINDS.length] ?? KINDS[0];
    const size = Math.floor(dice.next() * (at % 25 === 3 ? 2_000_000 : 8_000));
    const body = kind(size, () => Math.floor(dice.next() * 256));
    const header = Buffer.from(`${headerFields(at, token).join('\r\n')}\r\n`);
    const isBounce = at % 10 === 9;
    return { token, from: isBounce ? '' : 'a@example.com', to, content: Buffer.concat([header, body]) };
  });
}

function headerFields(at: number, token: string): string[] {
  return [
    'Date: Sat, 21 Nov 2026 17:22:08 +0000',
    `Message-ID: <${at}@example.com>`,
    'From: "A. Sender" <a@example.com>',
    'To: undisclosed-recipients:;',
    `Subject: ${token}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: 8bit',
    'X-Folded: one\r\n\ttwo  \r\n three',
  ];
}

/** Makes a body, with the empty line before it, of about so many bytes. */
type Kind = (size: number, byte: () => number) => Buffer;

const plain: Kind = (size) => Buffer.from(`\r\n${'The quick brown fox.\r\n'.repeat(size / 22)}`);
const dots: Kind = (size) => {
  const lines = '.\r\n..\r\n...\r\n.dot\r\n.\r\n\r\n . \r\n';
  return Buffer.from(`\r\n${lines.repeat(1 + size / lines.length)}.\r\n`);
};
/** Every byte but NUL, CR and LF, in lines of all lengths. */
const eightBit: Kind = (size, byte) => {
  const bytes = Buffer.alloc(size + 4);
  for (let at = 0, line = 0, limit = 998; at < size; at++, line++) {
    if (line < limit || at + 2 > size) bytes[at] = byteOfLine(byte());
    else {
      bytes.write('\r\n', at++);
      [line, limit] = [-1, 1 + byte() * 3];
    }
  }
  return Buffer.concat([Buffer.from('\r\n'), bytes.subarray(0, size), Buffer.from('\r\n')]);
};
const longestLines: Kind = (size) => Buffer.from(`\r\n${`${'y'.repeat(998)}\r\n`.repeat(1 + size / 1000)}`);
const emptyLines: Kind = (size) => Buffer.from('\r\n'.repeat(1 + (size % 50)));

const KINDS: readonly [Kind, ...Kind[]] = [plain, dots, eightBit, longestLines, emptyLines];

/** A byte that may stand in a line. */
function byteOfLine(byte: number): number {
  return byte === 0 || byte === 10 || byte === 13 ? 0xfc : byte;
}
