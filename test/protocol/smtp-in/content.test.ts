/** DATA and BDAT: one rule a dialogue (RFC 5321 §4.5.2, RFC 3030, contract §10). */
import type { ContentRules } from '../../../src/smtp/receiver/content-scanner.ts';
import { type Dialogue, dialogue, ENVELOPE, HELLO } from './dialogue.ts';

const FROM_TO = '<a@x.test> -> <b@y.test>';
const QUEUED = 'S: 250 2.0.0 queued as msg_1';
const REJECT: ContentRules = { bareNewline: 'reject', maxLineBytes: 1000 };
const NORMALIZE: ContentRules = { ...REJECT, bareNewline: 'normalize' };
/** The session is as new. */
const AFTER = [
  'R: MAIL FROM:<again@x.test>\r\nRCPT TO:<b@y.test>\r\nBDAT 0 LAST\r\nRSET\r\n',
  'S: 250 2.1.0',
  'S: 250 2.1.5',
  QUEUED,
  'S: 250 2.0.0 OK',
  'E: message <again@x.test> -> <b@y.test> ""',
];

/** The content goes in by DATA, up to its end. */
function data(raw: string, ...end: string[]): Dialogue {
  return [...ENVELOPE, 'C: DATA', 'S: 354', `R: ${raw}`, ...end];
}

function taken(rule: string, raw: string, body: string, content = REJECT): void {
  dialogue(rule, data(raw, QUEUED, `E: message ${FROM_TO} ${body}`, ...AFTER), { content });
}

taken(
  'content is passed on as it is',
  'Subject: s\r\n\r\ntext\r\n.\r\n',
  '"Subject: s\\r\\n\\r\\ntext\\r\\n"',
);
taken('empty content is a message', '.\r\n', '""');
taken(
  'a stuffed dot is taken away',
  '..\r\n...\r\n.x\r\na.\r\n.\r\n',
  '".\\r\\n..\\r\\nx\\r\\na.\\r\\n" dots',
);
taken('a dot within a line is left', 'a.b\r\n. \r\n.\r\n', '"a.b\\r\\n \\r\\n"');
taken('8-bit bytes are passed on', '\x80\xff\r\n.\r\n', '"\x80\xff\\r\\n"');
taken('a line of 1,000 bytes is taken', `${'x'.repeat(998)}\r\n.\r\n`, `"${'x'.repeat(998)}\\r\\n"`);
taken(
  'a stuffed dot does not count for the line',
  `.${'.'.repeat(998)}\r\n.\r\n`,
  `"${'.'.repeat(998)}\\r\\n" dots`,
);
taken('a bare LF becomes CRLF by policy', 'a\nb\r\n.\r\n', '"a\\r\\nb\\r\\n"', NORMALIZE);
taken('a bare CR becomes CRLF by policy', 'a\rb\r\r\nc\r\n.\r\n', '"a\\r\\nb\\r\\n\\r\\nc\\r\\n"', NORMALIZE);

for (const [rule, raw, reply, reason] of [
  ['a bare LF', 'a\nb\r\n.\r\n', '550 5.6.11', 'bare_newline'],
  ['a bare CR', 'a\rb\r\n.\r\n', '550 5.6.11', 'bare_newline'],
  ['CR CR LF', 'a\r\r\n.\r\n', '550 5.6.11', 'bare_newline'],
  ['NUL', 'a\0b\r\n.\r\n', '550 5.6.11', 'nul'],
  ['a line of 1,001 bytes', `${'x'.repeat(999)}\r\n.\r\n`, '550 5.6.0', 'line_too_long'],
  ['a line of 9,000 bytes', `${'x'.repeat(4000)}\r\n.\r\n`, '550 5.6.0', 'line_too_long'],
  ['5,001 bytes of content', `${'12345678\r\n'.repeat(500)}\r\n.\r\n`, '552 5.3.4', 'message_too_large'],
] as const)
  dialogue(
    `${rule} is refused at the end of the content, and the session lives`,
    data(raw, `S: ${reply}`, 'E: discard', `E: refused ${reason}`, ...AFTER),
  );
dialogue(
  '5,000 bytes are taken when 5,000 are the limit',
  data(
    `${'12345678\r\n'.repeat(500)}.\r\n`,
    QUEUED,
    `E: message ${FROM_TO} "${'12345678\\r\\n'.repeat(500)}"`,
  ),
);
dialogue('a message that is not stored gets the reply of its owner, and the session lives', [
  ...HELLO,
  'C: MAIL FROM:<unlucky@x.test>',
  'C: RCPT TO:<b@y.test>',
  'C: DATA',
  'C: .',
  'S: 250 2.1.0',
  'S: 250 2.1.5',
  'S: 354',
  'S: 451 4.3.0',
  'E: message <unlucky@x.test> -> <b@y.test> ""',
  ...AFTER,
]);
dialogue('DATA may be refused before content comes', [
  ...HELLO,
  'C: MAIL FROM:<full@x.test>',
  'C: RCPT TO:<b@y.test>',
  'C: DATA',
  'S: 250',
  'S: 250',
  'S: 452 4.3.1',
  'E: discard',
  ...AFTER,
]);
dialogue('pipelined messages are answered in order', [
  ...HELLO,
  ...['1', '2'].flatMap((n) => [
    `C: MAIL FROM:<a${n}@x.test>`,
    'C: RCPT TO:<b@y.test>',
    'C: DATA',
    `C: m${n}`,
    'C: .',
  ]),
  'C: QUIT',
  ...['1', '2'].flatMap(() => ['S: 250 2.1.0', 'S: 250 2.1.5', 'S: 354', QUEUED]),
  'S: 221',
  ...['1', '2'].map((n) => `E: message <a${n}@x.test> -> <b@y.test> "m${n}\\r\\n"`),
  'E: close quit',
]);
dialogue(
  'commands within content are content',
  data('QUIT\r\nRSET\r\n.\r\n', QUEUED, `E: message ${FROM_TO} "QUIT\\r\\nRSET\\r\\n"`),
);

dialogue('BDAT takes chunks, and LAST ends the message', [
  ...ENVELOPE,
  'R: BDAT 3\r\na\r\nBDAT 4 LAST\r\n.b\r\n',
  'S: 250 2.0.0 3 octets received',
  QUEUED,
  `E: message ${FROM_TO} "a\\r\\n.b\\r\\n" dots`,
  ...AFTER,
]);
dialogue('BDAT 0 LAST ends the message', [
  ...ENVELOPE,
  'R: BDAT 3\r\na\r\nBDAT 0 LAST\r\n',
  'S: 250 2.0.0 3 octets',
  QUEUED,
  `E: message ${FROM_TO} "a\\r\\n"`,
]);
dialogue('BDAT 0 LAST alone is an empty message', [
  ...ENVELOPE,
  'C: BDAT 0 LAST',
  QUEUED,
  `E: message ${FROM_TO} ""`,
]);
dialogue('CRLF.CRLF ends nothing in a chunk, and a last line without end is ended', [
  ...ENVELOPE,
  'R: BDAT 8 LAST\r\n\r\n.\r\nabc',
  QUEUED,
  `E: message ${FROM_TO} "\\r\\n.\\r\\nabc\\r\\n" dots`,
]);
dialogue('a line may be cut by chunks anywhere', [
  ...ENVELOPE,
  'R: BDAT 2\r\na\rBDAT 1\r\n\nBDAT 1 LAST\r\nb',
  'S: 250',
  'S: 250',
  QUEUED,
  `E: message ${FROM_TO} "a\\r\\nb\\r\\n"`,
]);
dialogue('a chunk without MAIL is read and gets 503', [
  ...HELLO,
  'R: BDAT 6\r\nQUIT\r\nBDAT 6 LAST\r\nQUIT\r\n',
  'S: 503 5.5.1',
  'S: 503 5.5.1',
  ...AFTER,
]);
dialogue('chunks without a valid recipient are read and get 503 each, and RSET frees', [
  ...HELLO,
  'R: MAIL FROM:<a@x.test>\r\nRCPT TO:<no@y.test>\r\nBDAT 6\r\nQUIT\r\nRCPT TO:<b@y.test>\r\nBDAT 6\r\nQUIT\r\n',
  'S: 250',
  'S: 550',
  'S: 503 5.5.1',
  'S: 503 5.5.1',
  'S: 503 5.5.1',
  'E: discard',
  'C: RSET',
  'S: 250 2.0.0',
  ...AFTER,
]);
dialogue('after a refused chunk all get 503, and the last ends the transaction', [
  ...ENVELOPE,
  'R: BDAT 3\r\na\nbBDAT 6\r\nQUIT\r\nBDAT 6 LAST\r\nQUIT\r\n',
  'S: 550 5.6.11',
  'S: 503 5.5.1',
  'S: 503 5.5.1',
  'E: discard',
  'E: refused bare_newline',
  ...AFTER,
]);
dialogue('a last chunk is refused for what is wrong with the whole', [
  ...ENVELOPE,
  'R: BDAT 2\r\na\rBDAT 1 LAST\r\nb',
  'S: 250',
  'S: 550 5.6.11',
  'E: discard',
  'E: refused bare_newline',
  ...AFTER,
]);
dialogue('chunks of more than the limit get 552', [
  ...ENVELOPE,
  `R: BDAT 5001\r\n${'x'.repeat(5001)}BDAT 6 LAST\r\nQUIT\r\n`,
  'S: 552 5.3.4',
  'S: 503 5.5.1',
  'E: discard',
  'E: refused message_too_large',
  ...AFTER,
]);
dialogue('a line of 1,001 bytes in chunks gets 550', [
  ...ENVELOPE,
  `R: BDAT 600\r\n${'x'.repeat(600)}BDAT 401 LAST\r\n${'x'.repeat(399)}\r\n`,
  'S: 250',
  'S: 550 5.6.0',
  'E: discard',
  'E: refused line_too_long',
  ...AFTER,
]);
dialogue('a first chunk that the owner refuses is read', [
  ...HELLO,
  'R: MAIL FROM:<full@x.test>\r\nRCPT TO:<b@y.test>\r\nBDAT 6\r\nQUIT\r\nBDAT 6 LAST\r\nQUIT\r\n',
  'S: 250',
  'S: 250',
  'S: 452 4.3.1',
  'S: 503 5.5.1',
  'E: discard',
  ...AFTER,
]);
dialogue('DATA and RCPT behind BDAT get 503', [
  ...ENVELOPE,
  'R: BDAT 3\r\na\r\nDATA\r\nRCPT TO:<c@y.test>\r\nBDAT 0 LAST\r\n',
  'S: 250',
  'S: 503 5.5.1',
  'S: 503 5.5.1',
  QUEUED,
  `E: message ${FROM_TO} "a\\r\\n"`,
]);
dialogue('a chunk with more words is read and gets 501, and its message is lost', [
  ...ENVELOPE,
  'R: BDAT 6 LOST\r\nQUIT\r\nBDAT 6 LAST\r\nQUIT\r\n',
  'S: 501 5.5.4',
  'S: 503 5.5.1',
  'E: discard',
  ...AFTER,
]);
for (const command of ['BDAT', 'BDAT x', 'BDAT -1', 'BDAT 1e3', 'BDAT LAST', 'BDAT 9999999999999999'])
  dialogue(`${command} gets 501 and the end: what is a chunk behind it cannot be told`, [
    ...ENVELOPE,
    `C: ${command}`,
    'C: NOOP',
    'S: 501 5.5.4',
    'E: close unreadable_chunk',
  ]);
