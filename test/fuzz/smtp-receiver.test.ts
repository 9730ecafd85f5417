/** The receiver's machine against anything a client may send: it ends, it is bounded, and cuts change nothing. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectWellFormed, repliesOf } from '../protocol/smtp-in/dialogue.ts';
import { type Manner, Peer } from '../protocol/smtp-in/peer.ts';
import { cutAt, fuzz } from './fuzz.ts';

/** The longest line that is awaited. */
const MAX_KEPT = 12_288;
const MAX_MESSAGE = 300;
/** More than any stream here: what waits for an answer is bounded in a test of its own. */
const MAX_STREAM = 1_000_000;
const ENVELOPE = 'MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\n';

const piece = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      ENVELOPE,
      `${ENVELOPE}DATA\r\n`,
      `${ENVELOPE}DATA\r\n`,
      `${ENVELOPE}DATA\r\ntext\r\n.\r\n`,
      `${ENVELOPE}BDAT 3 LAST\r\na\r\n`,
      'EHLO c\r\n',
      'MAIL FROM:<full@x.test>\r\n',
      'MAIL FROM:<unlucky@x.test> SIZE=10\r\n',
      'RCPT TO:<no@y.test>\r\n',
      'DATA\r\n',
      'BDAT 5\r\n',
      'BDAT 400\r\n',
      'BDAT 0 LAST\r\n',
      'BDAT 7 LAST\r\n',
      'RSET\r\n',
      'AUTH PLAIN\r\n',
      'AUTH PLAIN AG1lAHNlY3JldA==\r\n',
      'AG1lAHNlY3JldA==\r\n',
      'FOO\r\n',
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '\r\n.\r\n',
      '.\r\n',
      '\r\n',
      '\r',
      '\n',
      '.',
      '\0',
      '\n.\n',
      '\r.\r',
      '\r\n..',
      'x\r\n',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('QUIT\r\n', 'STARTTLS\r\n', 'GET / HTTP/1.1\r\n', 'A: b\r\n', 'BDAT x\r\n'),
  },
  { weight: 1, arbitrary: fc.nat(20_000).map((length) => 'y'.repeat(length)) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
);
const stream = fc
  .tuple(fc.constantFrom('EHLO c\r\n', `EHLO c\r\n${ENVELOPE}`, ''), fc.array(piece, { maxLength: 24 }))
  .map(([hello, pieces]) => Buffer.from(hello + pieces.join(''), 'latin1'));
const policy = fc.record({
  bareNewline: fc.constantFrom('reject', 'normalize'),
  maxLineBytes: fc.constantFrom(20, 100_000),
});

function run(
  bytes: Buffer,
  content: typeof policy extends fc.Arbitrary<infer T> ? T : never,
  manner: Manner,
  early: boolean,
): Peer {
  const peer = new Peer(
    {
      content,
      auth: 'always',
      maxMessageBytes: MAX_MESSAGE,
      maxTransactions: 6,
      maxCommandsWithoutMail: 8,
      maxWaitingBytes: MAX_STREAM,
    },
    manner,
  );
  if (!early) peer.receiver.greet();
  peer.pump();
  peer.say(bytes);
  expect(peer.receiver.waitingBytes).toBeLessThanOrEqual(MAX_KEPT);
  return peer;
}

/** Ends that a peer may have meant: more messages than these are smuggled. */
function endsIn(bytes: Buffer): number {
  const text = bytes.toString('latin1');
  return [...text.matchAll(/(?<=\r\n)\.\r\n|BDAT \d+ LAST\r\n/gi)].length;
}

const MESSAGE = /^message .* ("(?:[^"\\]|\\.)*")( dots)?$/s;

function expectPlain(event: string): void {
  const [, quoted = '', dots] = MESSAGE.exec(event) ?? [];
  const body: unknown = JSON.parse(quoted);
  if (typeof body !== 'string') throw new Error('no body');
  expect(body.length).toBeLessThanOrEqual(MAX_MESSAGE);
  expect(body).toMatch(/^(?:[^\0\r\n]*\r\n)*$/);
  if (dots === undefined) expect(`\r\n${body}`).not.toContain('\r\n.');
}

test(
  'hostile streams end, are bounded, and give the same however they are cut and when they are answered',
  () =>
    fuzz(
      'SMTP session',
      fc.tuple(
        stream,
        policy,
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.constantFrom('at_once' as const, 'late' as const, 'last' as const),
        fc.nat(9).map((n) => n === 0),
      ),
      ([bytes, content, places, answers, early]) => {
        const whole = run(bytes, content, { cut: (all) => [all], answers: 'at_once' }, early);
        const cut: Manner = { cut: (all) => cutAt(all, places), answers };
        const other = run(bytes, content, cut, early);
        expect([other.sent, other.events]).toEqual([whole.sent, whole.events]);
        if (bytes.length < 200) {
          const each = run(
            bytes,
            content,
            { cut: (all) => Array.from(all, (byte) => Buffer.of(byte)), answers: 'late' },
            early,
          );
          expect([each.sent, each.events]).toEqual([whole.sent, whole.events]);
        }
        repliesOf(whole.sent).forEach(expectWellFormed);
        const messages = whole.events.filter((event) => event.startsWith('message '));
        expect(messages.length).toBeLessThanOrEqual(endsIn(bytes));
        messages.forEach(expectPlain);
        return messages.length > 0;
      },
    ),
  60_000,
);

test(
  'one DATA yields one message at most, whatever is in it',
  () =>
    fuzz(
      'SMTP content',
      fc.tuple(
        fc.array(
          fc.constantFrom(
            '.',
            '\r',
            '\n',
            '\0',
            'x',
            '\r\n',
            '\n.\n',
            '\r\n.',
            '\r.\r\n',
            'MAIL FROM:<a@x.test>\r\n',
            'RCPT TO:<b@y.test>\r\n',
            'DATA\r\n',
          ),
          { maxLength: 30 },
        ),
        policy,
        fc.array(fc.nat(), { maxLength: 12 }),
      ),
      ([pieces, content, places]) => {
        // No end but the last.
        const inner = pieces
          .join('')
          .replaceAll('\r\n.\r\n', '\r\n')
          .replace(/^\.\r\n/, '');
        const bytes = Buffer.from(`EHLO c\r\n${ENVELOPE}DATA\r\n${inner}`, 'latin1');
        const text = bytes.toString('latin1');
        fc.pre(!text.includes('\r\n.\r\n') && !text.endsWith('\r\n.') && !text.endsWith('\r\n.\r'));
        const peer = run(
          Buffer.concat([bytes, Buffer.from('\r\n.\r\n')]),
          content,
          { cut: (all) => cutAt(all, places), answers: 'late' },
          false,
        );
        expect(peer.messages).toBeLessThanOrEqual(1);
        return peer.messages === 1;
      },
    ),
  60_000,
);

test('a peer that never ends its line costs no memory and no time', () => {
  const chunk = Buffer.alloc(65_536, 'x');
  for (const before of ['', 'EHLO c\r\n', 'EHLO c\r\nAUTH PLAIN\r\n', `EHLO c\r\n${ENVELOPE}DATA\r\n`]) {
    const peer = new Peer({ auth: 'always' }, { cut: (all) => [all], answers: 'at_once' });
    peer.receiver.greet();
    peer.say(Buffer.from(before));
    for (let i = 0; i < 200; i++) peer.say(chunk);
    expect(peer.receiver.waitingBytes).toBeLessThanOrEqual(MAX_KEPT);
  }
});
