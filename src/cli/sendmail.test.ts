import { hostname } from 'node:os';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { withAndWithoutServer } from '../../test/support/with-server.ts';

let here: Installation;
beforeEach(async () => {
  here = new Installation();
  await here.waybill(['keys', 'create', 'shop']);
});
afterEach(() => here.remove());

const HOST = hostname();
const LETTER = 'Subject: Hello\nTo: b@example.net\n\nhi\n';

/** Hands a message in; what became of it, and its bytes. */
async function handIn(args: readonly string[], input: string | Uint8Array = LETTER) {
  const end = await here.waybill(['sendmail', ...args], { input });
  expect(end).toEqual({ status: 0, out: '', err: '' });
  const { messages } = await here.json(['messages', 'list', '--limit', '1']);
  const record = await here.json(['messages', 'show', messages[0].id]);
  const { out: content } = await here.waybill(['messages', 'content', messages[0].id]);
  const to: string[] = record.recipients.map(({ address }: { address: string }) => address);
  return { record, content, to };
}

withAndWithoutServer(
  () => here,
  () => {
    test('sendmail takes a message for those that are named, and adds what is missing', async () => {
      const { record, content, to } = await handIn([
        '-F',
        'Jürgen Meier',
        '--require-tls',
        'c@example.net',
        'root',
      ]);
      expect(to).toEqual(['c@example.net', `root@${HOST}`]);
      expect(record).toMatchObject({ source: 'cli', tls: 'required' });
      const user = record.from.replace(/^.*<(.*)@.*$/, '$1');
      expect(record.from).toBe(`Jürgen Meier <${user}@${HOST}>`);
      expect(content).toMatch(/^Received: by \S+ id msg_[\s\S]*Date: [\s\S]*Message-ID: </);
      expect(content).toContain(`From: =?utf-8?Q?J=C3=BCrgen_Meier?= <${user}@${HOST}>\r\n`);
      expect(content.endsWith('Subject: Hello\r\nTo: b@example.net\r\n\r\nhi\r\n')).toBe(true);
    });

    test('-t takes the recipients of the header, completes local names, and Bcc goes', async () => {
      const header = 'From: root (Cron Daemon)\nTo: root, Jane <jane@example.net>\nBcc: hidden@example.net\n';
      const { record, content, to } = await handIn(['-ti'], `${header}\nhi\n`);
      expect(record).not.toHaveProperty('tls');
      expect(to).toEqual([`root@${HOST}`, 'jane@example.net', 'hidden@example.net']);
      expect(content).toContain(
        `From: root@${HOST} (Cron Daemon)\r\nTo: root@${HOST}, Jane <jane@example.net>\r\n`,
      );
      expect(content).not.toContain('hidden');
    });
  },
);

test('a line with a lone dot ends the message, unless -i or -oi says that it does not', async () => {
  const text = `${LETTER}one\n.\ntwo\n`;
  expect((await handIn(['b@example.net'], text)).content).toMatch(/hi\r\none\r\n$/);
  for (const flag of ['-i', '-oi'])
    expect((await handIn([flag, 'b@example.net'], text)).content).toMatch(/one\r\n[.]\r\ntwo\r\n$/);
  expect((await handIn(['b@example.net'], `${LETTER}.`)).content).toMatch(/hi\r\n$/);
  expect((await handIn(['b@example.net'], `${LETTER}..\n`)).content).toMatch(/hi\r\n[.][.]\r\n$/);
});

test('lines of any ending become CRLF, and a text without a header is a message', async () => {
  const { content } = await handIn(['b@example.net'], 'one\ntwo\r\nthree\rfour');
  expect(content).toMatch(/From: .*\r\n\r\none\r\ntwo\r\nthree\r\nfour\r\n$/);
});

test('-f gives the From that is missing; one that is there stays', async () => {
  const from = 'From: Shop <shop@example.org>\n';
  const sent = await handIn(['-fbounce@example.org', 'b@example.net'], from + LETTER);
  expect(sent.record.from).toBe('Shop <shop@example.org>');
  expect(sent.content).not.toContain('bounce@example.org');
  const none = await handIn(['-f', '<>', 'b@example.net']);
  expect(none.content).toContain(`From: MAILER-DAEMON@${HOST}\r\n`);
  const local = await handIn(['-r', 'www-data', 'b@example.net']);
  expect(local.content).toContain(`From: www-data@${HOST}\r\n`);
});

test('flags that other programs give are taken', async () => {
  const flags =
    '-oem -odb -B8BITMIME -v -m -V id+1 -N success,failure -R hdrs -bm -G -O Timeout=1 -q30m -h 3';
  const { to } = await handIn([...flags.split(' '), '--', 'b@example.net']);
  expect(to).toEqual(['b@example.net']);
});

test.each([
  [['-bs'], 64, 'SMTP on standard input is not supported'],
  [['-bp'], 64, 'waybill queue'],
  [['-bi'], 64, 'no aliases'],
  [['-z', 'b@example.net'], 64, 'There is no option -z'],
  [['--colour', 'b@example.net'], 64, 'There is no option --colour'],
  [['b@example.net', '-f'], 64, '-f needs a value'],
  [['-N', 'sometimes', 'b@example.net'], 64, '-N must be never'],
  [['-R', 'all', 'b@example.net'], 64, '-R must be full or hdrs'],
  [['-f', 'a@', 'b@example.net'], 64, 'a@: '],
  [[], 64, 'give -t'],
  [['b@'], 67, 'b@: '],
  [['-t', '--data', '/nowhere/at/all'], 78, 'There is no data directory'],
  [['-t', '--url', 'http://127.0.0.1:1'], 78, '--url needs --key-file'],
])('sendmail %j ends with status %i', async (args, status, reason) => {
  const end = await here.waybill(['sendmail', ...args], { input: LETTER });
  expect(end).toEqual({ status, out: '', err: expect.stringContaining(reason) });
});

test('a message that nobody can carry has status 65', async () => {
  const to = ['sendmail', 'b@example.net'];
  const nul = await here.waybill(to, { input: 'a\0b' });
  expect([nul.status, nul.err]).toEqual([65, expect.stringContaining('NUL')]);
  const environment = { WAYBILL_API__MAX_MESSAGE_BYTES: '2000' };
  const large = await here.waybill(to, { input: `${LETTER}${'x'.repeat(3000)}`, environment });
  expect([large.status, large.err]).toEqual([65, expect.stringContaining('max_message_bytes')]);
  const header = await here.waybill(to, { input: `X: ${'x'.repeat(300_000)}\n\n` });
  expect([header.status, header.err]).toEqual([65, expect.stringContaining('The header has more than')]);
});

test('while another program holds the data directory sendmail says: try again later', async () => {
  const holder = await here.open();
  const end = await here.waybill(['sendmail', 'b@example.net'], { input: LETTER });
  await holder.close();
  expect([end.status, end.out]).toEqual([75, '']);
});

test('the help of sendmail names every option', async () => {
  const { status, out } = await here.waybill(['sendmail', '--help']);
  expect(status).toBe(0);
  for (const option of '-t -i -oi -f -r -F -N -R -V -bm -bs --require-tls --data --url --key-file'.split(' '))
    expect(out).toContain(option);
  expect((await here.waybill(['--help'])).out).toContain('sendmail');
});
