/** Commands, their order and their syntax: one rule a dialogue (contract §10, RFC 5321 §4). */
import { dialogue, ENVELOPE, HELLO } from './dialogue.ts';

const LIMITS = '250-LIMITS RCPTMAX=100 MAILMAX=50|250 HELP';

dialogue('the greeting comes first', ['S: 220 mx.test ESMTP']);
dialogue('EHLO tells the extensions; STARTTLS but no AUTH in clear', [
  'S: 220',
  'C: EHLO client.test',
  `S: 250-mx.test|250-PIPELINING|250-SIZE 5000|250-STARTTLS|250-ENHANCEDSTATUSCODES|250-8BITMIME|250-SMTPUTF8|250-CHUNKING|250-DSN|${LIMITS}`,
]);
dialogue(
  'EHLO under TLS tells AUTH and REQUIRETLS, and no STARTTLS',
  [
    'S: 220',
    'C: EHLO client.test',
    `S: 250-mx.test|250-PIPELINING|250-SIZE 5000|250-REQUIRETLS|250-AUTH PLAIN LOGIN|250-ENHANCEDSTATUSCODES|250-8BITMIME|250-SMTPUTF8|250-CHUNKING|250-DSN|${LIMITS}`,
  ],
  { secure: true },
);
dialogue(
  'STARTTLS is not told when it is not offered',
  ['S: 220', 'C: EHLO c', 'S: 250-mx.test|250-PIPELINING|250-SIZE 5000|250-ENHANCEDSTATUSCODES'],
  { startTls: false },
);
dialogue(
  'LIMITS and SIZE tell what is held',
  [
    'S: 220',
    'C: EHLO c',
    'S: 250-mx.test|250-PIPELINING|250-SIZE 26214400|250-STARTTLS|250-ENHANCEDSTATUSCODES|250-8BITMIME|250-SMTPUTF8|250-CHUNKING|250-DSN|250-LIMITS RCPTMAX=1000 MAILMAX=1|250 HELP',
    'C: MAIL FROM:<> SIZE=26214401',
    'S: 552 5.3.4',
    'E: refused message_too_large',
    'C: MAIL FROM:<> SIZE=26214400',
    'S: 250 2.1.0',
    ...Array.from({ length: 1001 }, () => 'C: RCPT TO:<b@y.test>'),
    ...Array.from({ length: 1000 }, () => 'S: 250 2.1.5'),
    'S: 452 4.5.3',
    'C: RSET',
    'S: 250 2.0.0',
    'E: discard',
    'C: MAIL FROM:<>',
    'S: 421 4.5.3',
    'E: close too_many_transactions',
  ],
  { maxMessageBytes: 26_214_400, maxRecipients: 1000, maxTransactions: 1 },
);
dialogue('HELO tells no extensions', ['S: 220', 'C: HELO client.test', 'S: 250 mx.test']);
dialogue('mail goes behind HELO too', [
  'S: 220',
  'C: HELO client.test',
  'S: 250 mx.test',
  'C: MAIL FROM:<a@x.test>',
  'S: 250 2.1.0',
]);
for (const name of ['[127.0.0.1]', 'my_pc', 'a b c', '-', '[IPv6:::1]', '!"$%', 'm\xfcller', 'x'.repeat(500)])
  dialogue(`EHLO ${JSON.stringify(name.slice(0, 20))} is no reason to refuse`, [
    'S: 220',
    `C: EHLO ${name}`,
    'S: 250-mx.test',
  ]);
for (const verb of ['EHLO', 'HELO', 'EHLO ', 'VRFY'])
  dialogue(`${JSON.stringify(verb)} without argument gets 501`, ['S: 220', `C: ${verb}`, 'S: 501 5.5.4']);
dialogue('EHLO again resets the transaction', [
  ...ENVELOPE,
  'C: EHLO again.test',
  'S: 250-mx.test',
  'E: discard',
  'C: RCPT TO:<b@y.test>',
  'S: 503 5.5.1',
]);

for (const command of [
  'MAIL FROM:<a@x.test>',
  'RCPT TO:<b@y.test>',
  'DATA',
  'STARTTLS',
  'BDAT 0',
  'BDAT 0 LAST',
])
  dialogue(`${command} before EHLO gets 503`, ['S: 220', `C: ${command}`, 'S: 503 5.5.1']);
for (const command of ['RCPT TO:<b@y.test>', 'DATA', 'BDAT 0'])
  dialogue(`${command} before MAIL gets 503`, [...HELLO, `C: ${command}`, 'S: 503 5.5.1']);
dialogue('MAIL in a transaction gets 503, and the transaction goes on', [
  ...ENVELOPE,
  'C: MAIL FROM:<c@x.test>',
  'S: 503 5.5.1',
  'C: DATA',
  'S: 354',
  'C: .',
  'S: 250 2.0.0 queued as msg_1',
  'E: message <a@x.test> -> <b@y.test> ""',
]);
dialogue('DATA before RCPT gets 503', [...HELLO, 'C: MAIL FROM:<>', 'S: 250', 'C: DATA', 'S: 503 5.5.1']);
dialogue('DATA without a valid recipient gets 554', [
  ...HELLO,
  'C: MAIL FROM:<>',
  'C: RCPT TO:<no@y.test>',
  'C: DATA',
  'S: 250',
  'S: 550 5.1.1',
  'S: 554 5.5.1',
]);
dialogue('after the 503 and the 554 of DATA the transaction goes on', [
  ...HELLO,
  'C: MAIL FROM:<a@x.test>',
  'C: DATA',
  'C: RCPT TO:<no@y.test>',
  'C: DATA',
  'C: RCPT TO:<b@y.test>',
  'C: DATA',
  'C: .',
  'S: 250 2.1.0',
  'S: 503 5.5.1',
  'S: 550 5.1.1',
  'S: 554 5.5.1',
  'S: 250 2.1.5',
  'S: 354',
  'S: 250 2.0.0 queued as msg_1',
  'E: message <a@x.test> -> <b@y.test> ""',
]);

for (const command of [
  'FOO',
  'FOO bar',
  '',
  ' ',
  'ETRN x',
  'XCLIENT a=b',
  'TURN',
  'DATA\tx',
  '{',
  'É'.normalize('NFD'),
])
  dialogue(`the unknown ${JSON.stringify(command)} gets 500`, [
    ...HELLO,
    `C: ${Buffer.from(command).toString('latin1')}`,
    'S: 500 5.5.',
  ]);
for (const command of ['DATA x', 'RSET x', 'QUIT x', 'STARTTLS x'])
  dialogue(`${command}, which takes no argument, gets 501`, [...HELLO, `C: ${command}`, 'S: 501 5.5.4']);
for (const command of ['MAIL', 'MAIL <a@x.test>', 'MAIL TO:<a@x.test>', 'MAIL FROM <a@x.test>'])
  dialogue(`${command} gets 501`, [...HELLO, `C: ${command}`, 'S: 501 5.5.4']);
for (const command of ['RCPT', 'RCPT <a@x.test>', 'RCPT FROM:<a@x.test>'])
  dialogue(`${command} gets 501`, [...ENVELOPE, `C: ${command}`, 'S: 501 5.5.4']);
dialogue('verbs and keywords may be in any case, and blanks may follow', [
  'S: 220',
  'C: ehlo c  ',
  'S: 250-mx.test',
  'C: mail from:<a@x.test> body=8bitmime',
  'S: 250 2.1.0',
  'C: Rcpt To:<b@y.test> ',
  'S: 250 2.1.5',
  'C: dAtA ',
  'S: 354',
]);

dialogue('RSET ends the transaction', [
  ...ENVELOPE,
  'C: RSET',
  'S: 250 2.0.0',
  'E: discard',
  'C: DATA',
  'S: 503 5.5.1',
]);
dialogue('RSET without a transaction is well', ['S: 220', 'C: RSET', 'S: 250 2.0.0']);
dialogue('NOOP is well at any time, with an argument too', [
  'S: 220',
  'C: NOOP',
  'S: 250 2.0.0',
  ...ENVELOPE.slice(1),
  'C: NOOP what ever',
  'S: 250 2.0.0',
]);
dialogue('QUIT gets 221, and nothing behind it is read', [
  'S: 220',
  'C: QUIT',
  'C: NOOP',
  'S: 221 2.0.0',
  'E: close quit',
  'C: NOOP',
]);
dialogue('VRFY gets 252', ['S: 220', 'C: VRFY someone', 'S: 252 2.']);
dialogue('EXPN gets 502', ['S: 220', 'C: EXPN list', 'S: 502 5.5.1']);
dialogue('HELP gets 214, with an argument too', [
  'S: 220',
  'C: HELP',
  'S: 214 2.0.0 EHLO HELO MAIL RCPT DATA BDAT',
  'C: HELP MAIL',
  'S: 214 2.0.0',
]);

dialogue('a command of 512 bytes is read', ['S: 220', `C: NOOP ${'x'.repeat(505)}`, 'S: 250 2.0.0']);
dialogue('a command of 513 bytes gets 500, and the session lives', [
  'S: 220',
  `C: NOOP ${'x'.repeat(506)}`,
  'S: 500 5.5.6',
  'C: NOOP',
  'S: 250 2.0.0',
]);
dialogue('MAIL may be longer, by its extensions', [
  ...HELLO,
  `C: MAIL FROM:<a@x.test> ENVID=${'x'.repeat(100)} AUTH=${'y'.repeat(500)}`,
  'S: 250 2.1.0',
]);
dialogue('RCPT may be longer, by its extensions', [
  ...ENVELOPE,
  `C: RCPT TO:<${'l'.repeat(64)}@y.test> NOTIFY=SUCCESS,FAILURE,DELAY ORCPT=rfc822;${'x'.repeat(480)}`,
  'S: 250 2.1.5',
]);
dialogue('MAIL of more than 2,048 bytes gets 500', [
  ...HELLO,
  `C: MAIL FROM:<a@x.test>${' '.repeat(2100)}`,
  'S: 500 5.5.6',
]);
dialogue('a line of 100,000 bytes gets one 500', [
  'S: 220',
  `C: ${'x'.repeat(100_000)}`,
  'C: NOOP',
  'S: 500 5.5.6',
  'S: 250 2.0.0',
]);
dialogue('NUL in a command gets 500', ['S: 220', 'C: NOOP \0', 'S: 500 5.5.2', 'C: NOOP', 'S: 250']);
dialogue('a bare CR in a command gets 500', ['S: 220', 'C: NOOP\rQUIT', 'S: 500 5.5.2', 'C: NOOP', 'S: 250']);
dialogue('a bare LF in a command gets 500 at once, and what follows up to CRLF is not read', [
  ...HELLO,
  'R: NOOP\n',
  'S: 500 5.5.2',
  'C: MAIL FROM:<a@x.test>',
  'C: NOOP',
  'S: 250 2.0.0',
]);
dialogue('8-bit bytes in a command get 500', [
  'S: 220',
  'C: M\xc4IL',
  'S: 500 5.5.2',
  'C: H\xc3\xa9LP',
  'S: 500 5.5.2',
]);
dialogue('8-bit bytes that are not UTF-8 get 500 in a path', [
  ...HELLO,
  'C: MAIL FROM:<\xe4@x.test> SMTPUTF8',
  'S: 500 5.5.2',
]);
