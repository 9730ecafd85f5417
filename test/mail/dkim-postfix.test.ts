/** Signatures live through a real mail server, whatever the letter: handed over as our transport does, stored, and verified. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Content } from '../../src/domain/message.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { createSmtpTransport } from '../../src/transport/smtp/smtp.ts';
import { describeWith } from '../peers/need.ts';
import { type StoringPostfix, startPostfix } from '../peers/postfix.ts';
import { POSTFIX_PROGRAMS } from '../peers/postfix-instance.ts';
import { deliver, only, relayTo } from '../protocol/smtp-out/rig.ts';
import {
  askMailauth,
  askPython,
  contentOf,
  pythonWithDkim,
  recordsOf,
  sendingDomain,
  signerFor,
} from '../support/dkim.ts';

const DOMAINS = [sendingDomain('example.com')];
const RECORDS = recordsOf(DOMAINS);
const signer = signerFor(DOMAINS);
const EIGHT_BIT =
  'MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n';

interface Letter {
  readonly header?: string;
  readonly body: string;
  readonly flags?: Partial<Content['flags']>;
}

const LETTERS: readonly (readonly [what: string, letter: Letter])[] = [
  ['plain', { body: 'Hello\r\n' }],
  ['without a body', { body: '' }],
  ['with empty lines at its end', { body: 'Hello\r\n\r\n\r\n' }],
  ['with dots', { body: '.\r\n..\r\n.x\r\nx.\r\n.\r\n', flags: { dotStuffing: true } }],
  ['with blanks at its ends', { body: 'a \r\nb\t\r\n \r\n  c  d\r\n' }],
  ['with the longest lines', { body: `${'x'.repeat(998)}\r\n${' y'.repeat(499)}\r\n` }],
  ['with a line that no hop takes', { body: `${'lang '.repeat(400)}\r\n` }],
  ['of 8 bits', { header: EIGHT_BIT, body: 'Grüße, 日本語\u00a0\r\n', flags: { eightBit: true } }],
  [
    'with a header in UTF-8',
    {
      header: `X-Note: ü\r\nCc: Jürgen <j@example.org>\r\n${EIGHT_BIT}`,
      body: 'ü\r\n',
      flags: { eightBit: true, utf8: true },
    },
  ],
  [
    'with folded fields',
    {
      header: 'References: <a@x.test>\r\n\t<b@x.test>\r\n  <c@x.test>\r\nList-Id:\r\n <x.test>\r\n',
      body: 'x\r\n',
    },
  ],
  ['from a line that looks like a mailbox', { body: 'From here on\r\n>From there\r\n' }],
];

describeWith(POSTFIX_PROGRAMS, 'behind Postfix, signatures hold', () => {
  let full: StoringPostfix;
  let old: StoringPostfix;
  beforeAll(async () => {
    // The second takes neither 8 bits nor UTF-8: what needs them is converted, and signed again.
    const plain = 'smtpd_discard_ehlo_keywords = 8bitmime, smtputf8, chunking\n';
    [full, old] = await Promise.all([startPostfix('smtputf8_enable = yes\n'), startPostfix(plain)]);
  });
  afterAll(async () => {
    await Promise.all([full.stop(), old.stop()]);
  });

  test.each(LETTERS)('%s', async (_what, { header = '', body, flags = {} }) => {
    for (const postfix of [full, old]) {
      const to = `dkim${LETTERS.findIndex(([, letter]) => letter.body === body)}@example.net`;
      const known =
        'From: a@example.com\r\nTo: b@example.net\r\nSubject: x\r\nDate: Sun, 22 Nov 2026 00:00:00 +0000\r\n';
      const text = `${known}Message-ID: <1@example.com>\r\n${header}\r\n${body}`;
      const signed = await signer.sign(contentOf(Buffer.from(text)), 'any');
      const transport = createSmtpTransport({
        relay: relayTo({ port: postfix.port }),
        hostname: 'client.example',
        clock: systemClock,
        log: silentLog,
        resign: (original, converted) => signer.resign(original, converted),
      });
      onTestFinished(() => transport.close());
      const mail = { to: [to], content: [...signed.chunks].map((chunk) => Buffer.from(chunk)), flags };
      expect(only(await deliver(transport, mail))).toMatchObject({ kind: 'delivered' });
      const stored = (await postfix.mailFor(to)).toString('latin1').replaceAll('\n', '\r\n');
      const arrived = Buffer.from(stored, 'latin1');
      expect(await askMailauth(arrived, RECORDS), stored).toEqual(['pass', 'pass']);
      if (pythonWithDkim() !== null) expect(askPython([arrived], RECORDS), stored).toEqual([[true, true]]);
    }
  });
});
