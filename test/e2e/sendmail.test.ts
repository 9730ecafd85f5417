/** Programs that hand mail to sendmail(8), which is a link to ./waybill. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeIf, locate } from '../peers/need.ts';
import type { CommandEnd } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { Client, configurationFor, createKey, type Service, startService } from './service.ts';

const PROGRAM = join(import.meta.dirname, '../../waybill');

let sink: SmtpSink;
let service: Service;
let folder: string;
/** A link to a link to the program, relative to where it lies, as /usr/sbin/sendmail is to /etc/alternatives. */
let sendmail: string;
beforeAll(async () => {
  sink = await startSmtpSink({ extensions: ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'DSN'] });
  service = await startService(`${configurationFor(sink.port)}server: { hostname: mail.example.com }\n`);
  folder = mkdtempSync(join(tmpdir(), 'waybill-sendmail-'));
  mkdirSync(join(folder, 'sbin'));
  symlinkSync(PROGRAM, join(folder, 'mta'));
  sendmail = join(folder, 'sbin/sendmail');
  symlinkSync('../mta', sendmail);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
  await sink.close();
});

/** Runs a program that finds the installation by WAYBILL_DATA, and waits for what it sends. */
async function sentBy(program: string, args: readonly string[], input = '') {
  const before = sink.messages.length;
  const end = await run(program, args, input);
  expect(end).toMatchObject({ code: 0, stderr: '' });
  await sink.until(() => sink.messages.length > before);
  const message = sink.messages.at(-1);
  return { from: message?.from ?? '', to: message?.to, content: String(message?.content) };
}

function run(program: string, args: readonly string[], input: string): Promise<CommandEnd> {
  const env = { ...service.installation.environment, WAYBILL_DATA: service.installation.dataDir };
  return new Promise((resolve) => {
    const child = execFile(program, args, { env, cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    child.stdin?.end(input);
  });
}

test('cron hands its report to a link that is named sendmail', async () => {
  const report = [
    'From: root (Cron Daemon)',
    'To: root',
    'Subject: Cron <root@mail> backup',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=UTF-8',
    'X-Cron-Env: <SHELL=/bin/sh>',
    '',
    'done',
    '.',
    'done again',
    '',
  ].join('\n');
  const pipe = `exec ${sendmail} -FCronDaemon -i -B8BITMIME -oem root`;
  const sent = await sentBy('/bin/sh', ['-c', pipe], report);
  expect(sent.to).toEqual(['root@mail.example.com']);
  expect(sent.content).toContain(
    'From: root@mail.example.com (Cron Daemon)\r\nTo: root@mail.example.com\r\n',
  );
  expect(sent.content).toMatch(/\r\n\r\ndone\r\n[.]\r\ndone again\r\n$/);
});

test('the sender of the envelope and what it asks of reports go on', async () => {
  const args = ['-f', 'bounce@example.org', '-N', 'failure,delay', '-R', 'hdrs', '-V', 'run 7', '-t'];
  const sent = await sentBy(sendmail, args, 'To: b@example.net\n\nhi\n');
  expect(sent.from).toMatch(/^<bounce@example[.]org> .*RET=HDRS ENVID=run[+]207/);
  const nobodys = await sentBy(sendmail, ['-f', '<>', 'b@example.net'], 'hi\n');
  expect(nobodys.from).toMatch(/^<>/);
});

test('an account without access to the installation hands in over HTTP, with a key', async () => {
  const keyFile = join(folder, 'php.key');
  const key = await createKey(service.installation, 'php');
  writeFileSync(keyFile, `${key}\n`);
  const far = ['--url', service.server.api, '--key-file', keyFile];
  const sent = await sentBy(
    sendmail,
    ['-t', '-i', '-f', 'shop@example.org', ...far],
    'To: b@example.net\n\nhi\n',
  );
  expect([sent.to, sent.content]).toEqual([
    ['b@example.net'],
    expect.stringContaining('From: shop@example.org\r\n'),
  ]);
  const strict = await run(sendmail, [...far, '--require-tls', '--json', 'b@example.net'], 'hi\n');
  const { id } = JSON.parse(strict.stdout);
  expect(await new Client(service.server, key).record(id)).toMatchObject({ tls: 'required' });
});

test('a status of sysexits tells what went wrong, and nothing is told of success', async () => {
  expect(await run(sendmail, ['-bs'], '')).toMatchObject({ code: 64, stdout: '' });
  expect(await run(sendmail, ['b@'], 'hi\n')).toMatchObject({ code: 67, stdout: '' });
});

describeIf(locate('php') !== null, 'php', 'PHP', () => {
  test('mail() works with the link as its sendmail_path', async () => {
    const code = `exit(mail('Jane <jane@example.net>', 'Grüße', "one\\n.\\ntwo", "From: shop@example.org\\r\\nBcc: b@example.net", '-fbounce@example.org') ? 0 : 1);`;
    const sent = await sentBy('php', ['-n', '-d', `sendmail_path=${sendmail} -t -i`, '-r', code]);
    expect(sent.from).toMatch(/^<bounce@example[.]org>/);
    expect(sent.to).toEqual(['jane@example.net', 'b@example.net']);
    expect(sent.content).toMatch(/^From: shop@example.org\r$/m);
    expect(sent.content).toMatch(/\r\n\r\none\r\n[.]\r\ntwo\r\n$/);
    expect(sent.content).not.toContain('b@example.net');
  });
});

describeIf(locate('s-nail') !== null, 's-nail', 's-nail', () => {
  test('mail(1) works with the link as its mta', async () => {
    const settings = ['-S', `mta=${sendmail}`, '-S', 'v15-compat', '-S', 'sendwait'];
    const letter = ['-s', 'Hello', '-r', 'shop@example.org', 'jane@example.net'];
    const sent = await sentBy('s-nail', ['-:/', ...settings, ...letter], 'hi\n');
    expect([sent.from, sent.to]).toEqual([
      expect.stringMatching(/^<shop@example[.]org>/),
      ['jane@example.net'],
    ]);
    expect(sent.content).toMatch(/^Subject: Hello\r$[\s\S]*\r\n\r\nhi\r\n$/m);
  });
});
