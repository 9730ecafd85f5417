/** Paths and parameters of MAIL and RCPT, the values of DSN, and what a server says that it can. */
import { expect, test } from 'vitest';
import { asciiOrcpt, isEnvid, isOrcpt, mailCommand, orcptOf, rcptCommand } from '../../src/smtp/command.ts';
import { readMailParameters, readRcptParameters } from '../../src/smtp/receiver/parameters.ts';
import { type OrReply, readMailbox, scanPath } from '../../src/smtp/receiver/path.ts';
import { formatReply } from '../../src/smtp/receiver/session-reply.ts';
import { parseCapabilities } from '../../src/smtp/reply.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

const argument = textOf(
  ...(['<a@x.test>', '<>', '<', '>', 'a@x.test', '"a b"@x.test', '@r.test,@s.test:', '@[IPv6:::1]'] as const),
  ...[' ', ' SIZE=10', ' SIZE=', ' BODY=8BITMIME', ' BODY=', ' SMTPUTF8', ' RET=HDRS', ' ENVID=a+2B'],
  ...[' AUTH=<>', ' NOTIFY=NEVER', ' NOTIFY=SUCCESS,FAILURE', ' ORCPT=rfc822;a+40b', ' ORCPT=utf-8;', '='],
  ...['ü@bücher.test', '"', '\\', ' X=1', ','],
);
const commands = { made: argument, corpus: corpus('smtp-command', (bytes) => bytes.toString()) };

/** The value; undefined for what is refused, by a reply that can be said. */
function acceptedOf<T>(read: OrReply<T>): T | undefined {
  if (read.ok) return read.value;
  expect([501, 553, 555]).toContain(read.reply.code);
  expect(formatReply(read.reply)).toMatch(/^(?:5\d\d[ -][^\0-\x1f\x7f]*\r\n)+$/);
  return undefined;
}

test('an argument of MAIL is refused, or written as a command that reads the same', () =>
  fuzz('SMTP command MAIL', commands, (text) => {
    const path = acceptedOf(scanPath(text, 'sender'));
    const parameters = path && acceptedOf(readMailParameters(path.rest));
    if (path === undefined || parameters === undefined) return false;
    const { sizeBytes, body, utf8, ret, envid } = parameters;
    const mailbox =
      path.address === '' ? '' : acceptedOf(readMailbox(path.address, 'sender', utf8, true))?.address;
    // A blank in quotes is well-formed, and never written.
    if (mailbox === undefined || / /.test(mailbox) || (sizeBytes ?? 0) > 2 ** 53) return false;
    const written = mailCommand(mailbox, {
      ...(sizeBytes === null ? {} : { sizeBytes }),
      eightBit: body === '8BITMIME',
      utf8,
      ...(ret === null ? {} : { ret }),
      ...(envid === null ? {} : { envid }),
    });
    const again = lineOf(written, 'MAIL FROM:');
    const other = acceptedOf(scanPath(again, 'sender'));
    expect(other?.address).toBe(mailbox);
    const kept = { ...parameters, body: body === '8BITMIME' ? body : null, auth: null };
    expect(acceptedOf(readMailParameters(other?.rest ?? ''))).toEqual(kept);
    return true;
  }));

test('an argument of RCPT is refused, or written as a command that reads the same', () =>
  fuzz('SMTP command RCPT', commands, (text) => {
    const path = acceptedOf(scanPath(text, 'recipient'));
    const parameters = path && acceptedOf(readRcptParameters(path.rest));
    const mailbox = path && acceptedOf(readMailbox(path.address, 'recipient', true, true))?.address;
    if (parameters === undefined || mailbox === undefined || / /.test(mailbox)) return false;
    const { notify, orcpt } = parameters;
    const written = rcptCommand(mailbox, {
      ...(notify === null ? {} : { notify }),
      ...(orcpt === null ? {} : { orcpt }),
    });
    const other = acceptedOf(scanPath(lineOf(written, 'RCPT TO:'), 'recipient'));
    expect(other?.address).toBe(mailbox);
    expect(acceptedOf(readRcptParameters(other?.rest ?? ''))).toEqual(parameters);
    return true;
  }));

/** What stands behind the verb of a command, which must be one line. */
function lineOf(command: string, verb: string): string {
  expect(command.startsWith(verb) && command.endsWith('\r\n')).toBe(true);
  expect(command.slice(0, -2)).not.toMatch(/[\0-\x1f\x7f]/);
  return command.slice(verb.length, -2);
}

test('values of DSN are xtext or none, and an address always has an ORCPT that may be written', () =>
  fuzz('DSN values', commands, (text) => {
    if (isEnvid(text)) expect(text).toMatch(/^[!-~]{1,100}$/);
    if (isOrcpt(text)) {
      expect(text).not.toMatch(/[\0-\x20=\x7f-\x9f]/);
      expect(asciiOrcpt(text)).toMatch(/^[!-~]+$/);
    }
    const made = [orcptOf(text, true), orcptOf(text, false)].filter((orcpt) => orcpt !== null);
    for (const orcpt of made) expect(isOrcpt(orcpt)).toBe(true);
    return made.length > 0;
  }));

const hello = textOf(
  ...(['PIPELINING', 'SIZE', 'SIZE 0', 'SIZE 99999999999999999', ' ', '=', 'AUTH', 'AUTH=LOGIN'] as const),
  ...['AUTH PLAIN LOGIN', '\n', '\n', 'CHUNKING', '8BITMIME', 'SMTPUTF8', 'DSN', 'STARTTLS', '__proto__'],
);

test('what a server says that it can is understood or passed over', () =>
  fuzz(
    'EHLO answer',
    {
      made: hello,
      corpus: corpus('smtp-command', (bytes) => bytes.toString('latin1').replaceAll(' ', '\n')),
    },
    (text) => {
      const lines = ['x.test', ...text.split('\n')];
      const capabilities = parseCapabilities({ code: 250, enhanced: null, lines, text });
      const { maxSizeBytes, authMechanisms } = capabilities;
      if (maxSizeBytes !== null) expect(Number.isSafeInteger(maxSizeBytes) && maxSizeBytes > 0).toBe(true);
      for (const mechanism of authMechanisms) expect(mechanism).toBe(mechanism.toUpperCase());
      return capabilities.pipelining || capabilities.size;
    },
  ));
