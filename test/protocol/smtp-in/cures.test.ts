import { dialogue, ENVELOPE, HELLO } from './dialogue.ts';

/** Texts of refusals that must tell whoever reads a device's log what to do. */

dialogue('an empty recipient is called empty', [
  ...ENVELOPE,
  'C: RCPT TO:<>',
  'S: 501 5.1.3 The address is empty; name a recipient, as in <a@example.com>',
]);

dialogue('an address without a domain gets an example that may stand there', [
  ...ENVELOPE,
  'C: RCPT TO:<a>',
  'S: 501 5.1.3 a is not an address of the form local@domain, such as jane@example.com',
]);

dialogue('a local part that is none is told without the syntax of headers', [
  ...ENVELOPE,
  'C: RCPT TO:<a..b@example.com>',
  "S: 501 5.1.3 a..b is not a valid local part: letters, digits and !#$%&'*+-/=?^_`{|}~, with single dots between",
]);

dialogue('what is clipped ends in three dots', [
  ...ENVELOPE,
  `C: RCPT TO:<a@${'x'.repeat(300)}>`,
  `S: 501 5.1.3 ${'x'.repeat(100)}... is not a valid mail domain`,
]);

dialogue(
  'a recipient too many is told how many there may be',
  [
    ...ENVELOPE,
    'C: RCPT TO:<c@y.test>',
    'S: 452 4.5.3 A message may have 1 recipients; send to the others in another message',
  ],
  { maxRecipients: 1 },
);

dialogue('a parameter whose value is not valid is told which are', [
  ...HELLO,
  'C: MAIL FROM:<a@x.test> SIZE=big',
  'S: 501 5.5.4 SIZE must be a number of bytes, such as SIZE=1000',
  'C: MAIL FROM:<a@x.test> BODY=9BIT',
  'S: 501 5.5.4 BODY must be 7BIT or 8BITMIME',
  'C: MAIL FROM:<a@x.test> BODY=BINARYMIME',
  'S: 501 5.5.4 BODY=BINARYMIME is not offered; BODY must be 7BIT or 8BITMIME',
  'C: MAIL FROM:<a@x.test> RET=ALL',
  'S: 501 5.5.4 RET must be FULL or HDRS',
]);

dialogue('a parameter of RCPT whose value is not valid is told which are', [
  ...ENVELOPE,
  'C: RCPT TO:<b@y.test> NOTIFY=ALWAYS',
  'S: 501 5.5.4 NOTIFY must be NEVER, or a list of SUCCESS, FAILURE and DELAY',
]);

dialogue('a line that is too long is told how long it may be', [
  ...HELLO,
  `C: NOOP ${'x'.repeat(600)}`,
  'S: 500 5.5.6 Line too long; 512 bytes at most with its CRLF, 2048 for MAIL and RCPT, 12288 for AUTH',
]);

dialogue('commands that end in LF are told which programs end them in CRLF', [
  ...HELLO,
  'R: NOOP\n',
  'S: 500 5.5.2 Bare LF; lines must end in CRLF: by hand use telnet, nc -C or openssl s_client -crlf',
]);

dialogue('a line of a message that is too long is told how long it may be', [
  ...ENVELOPE,
  'C: DATA',
  'S: 354',
  `C: ${'x'.repeat(999)}`,
  'C: .',
  'S: 550 5.6.0 The message has a line of more than 998 bytes; encode it as quoted-printable or base64',
  'E: discard',
  'E: refused line_too_long',
]);
