/** The session around its commands: errors, time-outs, shutdown, and what its owner may rely on. */
import { expect, test } from 'vitest';
import { MAX_SURPLUS_RECIPIENTS } from '../../../src/smtp/receiver/transaction.ts';
import { type Dialogue, dialogue, EARLY, ENVELOPE, HELLO, repliesOf } from './dialogue.ts';
import { Peer } from './peer.ts';

const GOOD = Buffer.from('\0me\0secret').toString('base64');
/** The owner cannot tell. */
const AWAY = Buffer.from('\0me\0away').toString('base64');
const WHOLE = { cut: (bytes: Buffer) => [bytes], answers: 'at_once' } as const;

const repeated = (count: number, ...lines: string[]) => Array.from({ length: count }, () => lines).flat();
const errors = (count: number) => Array.from({ length: count }, () => 'C: FOO');
dialogue(
  'errors beyond the soft limit are slowed, beyond the hard limit end the session',
  [
    'S: 220',
    ...errors(9),
    ...Array.from({ length: 5 }, () => 'S: 500'),
    'S: 421 4.7.0',
    'E: pause',
    'E: pause',
    'E: close too_many_errors',
  ],
  { softErrors: 2, hardErrors: 5 },
);
dialogue(
  'a message that comes in forgives the errors before it',
  [
    ...ENVELOPE,
    ...errors(4),
    'C: DATA',
    'C: .',
    ...errors(4),
    ...Array.from({ length: 4 }, () => 'S: 500'),
    'S: 354',
    'S: 250 2.0.0',
    ...Array.from({ length: 4 }, () => 'S: 500'),
    'E: message <a@x.test> -> <b@y.test> ""',
  ],
  { hardErrors: 5 },
);
dialogue(
  'a 4xx for a recipient is no error',
  [...ENVELOPE, 'C: RCPT TO:<wait@y.test>', 'C: RCPT TO:<wait@y.test>', 'S: 451 4.7.1', 'S: 451 4.7.1'],
  { hardErrors: 1 },
);
dialogue('a refused MAIL leaves the session as it was', [
  ...HELLO,
  'C: MAIL FROM:<no@x.test>',
  'S: 550 5.7.1',
  'C: MAIL FROM:<a@x.test>',
  'S: 250',
]);
dialogue('a 421 of the owner ends the session', [
  ...HELLO,
  'C: MAIL FROM:<bye@x.test>',
  'C: NOOP',
  'S: 421 4.7.0',
  'E: close refused',
]);
dialogue(
  'more transactions than allowed get 421',
  [
    ...HELLO,
    ...[1, 2].flatMap(() => ['C: MAIL FROM:<>', 'S: 250', 'C: RSET', 'S: 250 2.0.0', 'E: discard']),
    'C: MAIL FROM:<>',
    'S: 421 4.5.3',
    'E: close too_many_transactions',
  ],
  { maxTransactions: 2 },
);

for (const idle of [
  'RSET',
  'NOOP',
  'VRFY x',
  'EXPN x',
  'HELP',
  'EHLO c',
  'HELO c',
  'HELO',
  'STARTTLS x',
  'BDAT 0',
])
  dialogue(
    `${idle} leads to no message: more than allowed get 421`,
    [
      'S: 220',
      'C: HELO c',
      ...repeated(3, `C: ${idle}`),
      'C: QUIT',
      'S: 250',
      ...repeated(2, 'S: '),
      'S: 421 4.7.0',
      'E: close too_many_commands',
    ],
    { maxCommandsWithoutMail: 3 },
  );
dialogue(
  'a MAIL that is refused leads to no message',
  [
    ...HELLO,
    ...repeated(3, 'C: MAIL FROM:<no@x.test>'),
    'C: QUIT',
    ...repeated(2, 'S: 550'),
    'S: 421 4.7.0',
    'E: close too_many_commands',
  ],
  { maxCommandsWithoutMail: 3 },
);
dialogue(
  'a pool that says RSET and NOOP between its messages is never turned away',
  [
    ...HELLO,
    ...repeated(
      40,
      'C: RSET',
      'C: NOOP',
      'C: MAIL FROM:<a@x.test>',
      'C: RCPT TO:<b@y.test>',
      'C: DATA',
      'C: .',
    ),
    ...repeated(40, 'S: 250', 'S: 250', 'S: 250', 'S: 250', 'S: 354', 'S: 250 2.0.0 queued'),
    ...repeated(40, 'E: message <a@x.test> -> <b@y.test> ""'),
  ],
  { maxCommandsWithoutMail: 3 },
);
dialogue(
  'recipients and chunks are no idle commands',
  [
    ...HELLO,
    'C: MAIL FROM:<a@x.test>',
    ...repeated(20, 'C: RCPT TO:<b@y.test>'),
    ...repeated(20, 'R: BDAT 3\r\na\r\n'),
    ...repeated(41, 'S: 250'),
  ],
  { maxCommandsWithoutMail: 1 },
);

const REFUSED_FOR_NOW: readonly (readonly [string, Dialogue, Dialogue])[] = [
  ['a recipient', ['C: MAIL FROM:<a@x.test>', 'S: 250'], ['C: RCPT TO:<wait@y.test>', 'S: 451']],
  ['a key', [], [`C: AUTH PLAIN ${AWAY}`, 'S: 454', 'E: auth PLAIN ["","me","away"]']],
];
for (const [what, before, refused] of REFUSED_FOR_NOW)
  dialogue(
    `who has ${what} refused for now again and again gets 421`,
    [
      ...HELLO,
      ...before,
      ...[1, 2].flatMap(() => refused),
      ...refused.slice(0, 1),
      'S: 421 4.7.0',
      ...refused.slice(2),
      'E: close too_many_commands',
    ],
    { auth: 'always', maxCommandsWithoutMail: 3 },
  );
dialogue(
  'recipients beyond the limit of a message may be many, as a large list is sent',
  [
    ...ENVELOPE,
    ...Array.from({ length: 9 }, () => ['C: RCPT TO:<b@y.test>', 'S: 452 4.5.3']).flat(),
    'C: DATA',
    'C: .',
    'S: 354',
    'S: 250 2.0.0',
    'E: message <a@x.test> -> <b@y.test> ""',
  ],
  { maxRecipients: 1, maxCommandsWithoutMail: 3 },
);
dialogue('an idle session gets 421', [...HELLO, '! timeOut', 'S: 421 4.4.2', 'E: close time_out', 'C: NOOP']);
dialogue('a peer that stops within content gets 421', [
  ...ENVELOPE,
  'C: DATA',
  'S: 354',
  'R: half',
  '! timeOut',
  'S: 421 4.4.2',
  'E: refused time_out',
  'E: close time_out',
]);
dialogue('a handshake that takes too long ends without a word', [
  ...HELLO,
  'C: STARTTLS',
  'S: 220',
  'E: start_tls',
  '! timeOut',
  'E: close time_out',
]);
dialogue('shutdown gets 421', [...HELLO, '! shutDown', 'S: 421 4.3.2', 'E: close shutdown', 'C: NOOP']);
dialogue('shutdown before the greeting gets 421', [EARLY, '! shutDown', 'S: 421 4.3.2', 'E: close shutdown']);
dialogue('shutdown within content gets 421', [
  ...ENVELOPE,
  'C: DATA',
  'S: 354',
  'R: half',
  '! shutDown',
  'S: 421 4.3.2',
  'E: close shutdown',
]);

test('a message that is being stored gets its reply before the 421 of a shutdown', () => {
  const peer = new Peer({}, WHOLE);
  const { receiver } = peer;
  receiver.greet();
  receiver.receive(Buffer.from('EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n.\r\nNOOP\r\n'));
  for (let effect = receiver.next(); effect?.kind !== 'message'; effect = receiver.next())
    if (effect !== null && effect.kind !== 'send') receiver.accept();
  receiver.shutDown();
  receiver.timeOut();
  receiver.next();
  expect(receiver.next()).toBeNull();
  receiver.accept('queued as msg_7');
  peer.pump();
  expect(repliesOf(peer.sent)).toEqual(['250 2.0.0 queued as msg_7', expect.stringMatching(/^421 4\.3\.2 /)]);
  expect(peer.events).toEqual(['close shutdown']);
});

test('a pipelined batch is answered by one write', () => {
  const peer = new Peer({}, WHOLE);
  peer.receiver.greet();
  peer.pump();
  peer.say(Buffer.from('EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nRCPT TO:<c@y.test>\r\nDATA\r\n'));
  expect(peer.writes).toBe(2);
});

test('while a question is open nothing is read, and what waits is bounded', () => {
  const { receiver } = new Peer({ maxWaitingBytes: 1000 }, WHOLE);
  receiver.greet();
  receiver.receive(Buffer.from('EHLO c\r\nMAIL FROM:<>\r\n'));
  expect(receiver.wantsInput).toBe(true);
  expect(receiver.next()?.kind).toBe('mail');
  expect(receiver.wantsInput).toBe(false);
  for (let i = 0; i < 100; i++) receiver.receive(Buffer.from('NOOP\r\n'));
  expect(receiver.waitingBytes).toBe(600);
  expect(receiver.next()?.kind).toBe('send');
  expect(receiver.next()).toBeNull();
  receiver.receive(Buffer.alloc(401));
  expect(receiver.next()).toMatchObject({ kind: 'send', text: expect.stringMatching(/^421 4\.5\.0 /) });
  expect(receiver.next()).toEqual({ kind: 'close', reason: 'too_much_input' });
  expect(receiver.next()).toBeNull();
  receiver.accept();
  expect(receiver.waitingBytes).toBe(0);
});

test('an answer without a question is a fault of the owner', () => {
  const { receiver } = new Peer({}, WHOLE);
  expect(() => receiver.accept()).toThrow('without a question');
});

test('but not without end', () => {
  const peer = new Peer({ maxRecipients: 1, maxCommandsWithoutMail: 3 }, WHOLE);
  peer.receiver.greet();
  peer.say(Buffer.from('EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\n'));
  peer.sent = '';
  peer.say(Buffer.from('RCPT TO:<b@y.test>\r\n'.repeat(MAX_SURPLUS_RECIPIENTS + 10)));
  const replies = repliesOf(peer.sent);
  expect(replies.length).toBe(MAX_SURPLUS_RECIPIENTS + 3);
  expect(replies.at(-2)).toMatch(/^452 /);
  expect(replies.at(-1)).toMatch(/^421 /);
  expect(peer.events).toEqual(['close too_many_commands']);
});

test('content that the owner refuses while it comes in is dropped, and refused at its end', () => {
  const peer = new Peer({}, WHOLE);
  peer.receiver.greet();
  peer.say(Buffer.from('EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nDATA\r\nhalf'));
  peer.receiver.refuseContent({ code: 451, enhanced: '4.3.1', text: 'no memory' });
  peer.sent = '';
  peer.say(Buffer.from(' of it\r\n.\r\nNOOP\r\n'));
  expect(peer.sent).toBe('451 4.3.1 no memory\r\n250 2.0.0 OK\r\n');
  expect(peer.events).toEqual(['discard']);
});

test('a peer that is turned away gets the reply alone', () => {
  const peer = new Peer({}, WHOLE);
  peer.receiver.dismiss({ code: 421, enhanced: '4.7.0', text: 'too many\r\nconnections\0' });
  peer.receiver.greet();
  peer.pump();
  expect(peer.sent).toBe('421 4.7.0 too many?connections?\r\n');
});

test.each([
  ['HELO c', false, 'SMTP'],
  ['EHLO c', false, 'ESMTP'],
  ['EHLO c', true, 'ESMTPS'],
  [`EHLO c\r\nAUTH PLAIN ${GOOD}`, true, 'ESMTPSA'],
  [`EHLO c\r\nAUTH PLAIN ${GOOD}`, false, 'ESMTPA'],
])('%j, secure %s, is %s', (said, secure, protocol) => {
  const peer = new Peer({ auth: 'always' }, WHOLE, secure);
  peer.receiver.greet();
  peer.say(Buffer.from(`${said}\r\n`));
  expect(peer.receiver.protocol).toBe(protocol);
  expect(peer.receiver.hello?.name).toBe('c');
});

test('whoever runs the time-outs can tell content from commands', () => {
  const { receiver } = new Peer({}, WHOLE);
  const say = (text: string) => {
    receiver.receive(Buffer.from(text));
    for (let effect = receiver.next(); effect !== null; effect = receiver.next())
      if (!['send', 'content', 'discard'].includes(effect.kind)) receiver.accept();
    return receiver.isReadingContent;
  };
  receiver.greet();
  const envelope = 'MAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\n';
  expect(say(`EHLO c\r\n${envelope}`)).toBe(false);
  expect(say('DATA\r\n')).toBe(true);
  expect(say('text')).toBe(true);
  expect(say('\r\n.\r\n')).toBe(false);
  expect(say(`${envelope}BDAT 4\r\nabc`)).toBe(true);
  expect(say('d')).toBe(true);
  expect(say('BDAT 0 LAST\r\n')).toBe(false);
  expect(say(`${envelope}BDAT 1\r\na`)).toBe(true);
  expect(say('RSET\r\n')).toBe(false);
  expect(say('BDAT 1\r\na')).toBe(false);
});
