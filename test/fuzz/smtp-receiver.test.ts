/** The receiver's machine against anything a client may send: it ends, it is bounded, and cuts change nothing. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectWellFormed, repliesOf } from '../protocol/smtp-in/dialogue.ts';
import { Peer } from '../protocol/smtp-in/peer.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { anyText } from './inputs.ts';
import { inTime } from './processor-time.ts';
import { ANSWERS, bodiesOf, ENVELOPE, MAX_KEPT, POLICIES, playAlike, policy } from './smtp-stream.ts';

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
  { weight: 1, arbitrary: anyText(12) },
);
const stream = fc
  .tuple(fc.constantFrom('EHLO c\r\n', `EHLO c\r\n${ENVELOPE}`, ''), fc.array(piece, { maxLength: 24 }))
  .map(([hello, pieces]) => Buffer.from(hello + pieces.join(''), 'latin1'));

/** Ends that a peer may have meant: more messages than these are smuggled. */
function endsIn(bytes: Buffer): number {
  const text = bytes.toString('latin1');
  return [...text.matchAll(/(?<=\r\n)\.\r\n|BDAT \d+ LAST\r\n/gi)].length;
}

const sessions = {
  made: fc.record({
    bytes: stream,
    content: policy,
    places: fc.array(fc.nat(), { maxLength: 20 }),
    answers: fc.constantFrom(...ANSWERS),
    early: fc.nat(9).map((n) => n === 0),
  }),
  corpus: corpus('smtp-session', (bytes, dice) => ({
    bytes,
    content: dice.pick(POLICIES),
    places: dice.numbers(20),
    answers: dice.pick(ANSWERS),
    early: dice.once(10),
  })),
};

test('hostile streams end, are bounded, and give the same however they are cut and when they are answered', () =>
  fuzz('SMTP session', sessions, ({ bytes, content, ...manner }) => {
    const whole = playAlike(bytes, content, manner);
    repliesOf(whole.sent).forEach(expectWellFormed);
    const messages = bodiesOf(whole).length;
    expect(messages).toBeLessThanOrEqual(endsIn(bytes));
    return messages > 0;
  }));

test('a peer that never ends its line costs no memory and no time', () => {
  const chunk = Buffer.alloc(65_536, 'x');
  for (const before of ['', 'EHLO c\r\n', 'EHLO c\r\nAUTH PLAIN\r\n', `EHLO c\r\n${ENVELOPE}DATA\r\n`]) {
    const peer = new Peer({ auth: 'always' }, { cut: (all) => [all], answers: 'at_once' });
    peer.receiver.greet();
    peer.say(Buffer.from(before));
    inTime(`a line without end after ${JSON.stringify(before)}`, () => {
      for (let i = 0; i < 200; i++) peer.say(chunk);
    });
    expect(peer.receiver.waitingBytes).toBeLessThanOrEqual(MAX_KEPT);
  }
});
