/** Mail programs that others made, each told to hand one letter to an SMTP server. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How a program connects. */
export interface Way {
  readonly tls: 'none' | 'starttls' | 'implicit';
  /** Null: it does not authenticate. */
  readonly auth: 'PLAIN' | 'LOGIN' | null;
}

/** Where a letter goes, and who says so. The server is `localhost`, and under TLS it must prove to be. */
export interface Target extends Way {
  readonly port: number;
  /** File with the only root that is trusted. */
  readonly ca: string;
  /** The password, if `auth` asks for one. */
  readonly key: string;
  readonly recipient: string;
}

/** How it went. */
export interface Handed {
  readonly ok: boolean;
  /** The dialogue as the program tells it. */
  readonly transcript: string;
  /** The content as the program sent it, dots unstuffed; empty if it never came to that. */
  readonly sent: Buffer;
}

/** A mail program. */
export interface MailClient {
  readonly name: string;
  /** What must be installed. */
  readonly programs: readonly string[];
  /** The ways it knows to connect. */
  readonly ways: readonly Way[];
  readonly send: (target: Target) => Promise<Handed>;
}

const SENDER = 'shop@example.com';
const NO_TLS: Way = { tls: 'none', auth: null };
const EVERY_WAY: readonly Way[] = [
  { tls: 'starttls', auth: 'PLAIN' },
  { tls: 'starttls', auth: 'LOGIN' },
  { tls: 'implicit', auth: 'PLAIN' },
  { tls: 'implicit', auth: 'LOGIN' },
];

/** What no text has. */
const EVERY_BYTE = Buffer.from(Array.from({ length: 4096 }, (_, at) => at % 256));

/** A letter with what likes to get lost: dots, blanks at the end of a line, empty lines, letters beyond ASCII. */
function letterTo(recipient: string): Buffer {
  const fields = [
    `From: Shop <${SENDER}>`,
    `To: ${recipient}`,
    'Subject: A letter with a long',
    '\tand folded subject',
    'Date: Sat, 21 Nov 2026 17:22:08 +0000',
    `Message-ID: <to-${recipient}>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
  ];
  const body = ['Grüße', '', '.', '..', '.dot', '...dots', 'blanks \t ', 'x'.repeat(990), '', 'the end'];
  return Buffer.from([...fields, '', ...body, ''].join('\r\n'));
}

/** What a program printed, standard error behind standard output, and whether its status was 0. */
interface Ended {
  readonly ok: boolean;
  readonly output: string;
}

/** A folder that is there while a program runs, which takes it for its home. */
class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), 'waybill-client-'));

  file(name: string, content: string | Buffer): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    chmodSync(path, 0o600);
    return path;
  }

  run(program: string, args: readonly string[], input: string | Buffer = ''): Promise<Ended> {
    const env = { PATH: process.env['PATH'], HOME: this.folder, MAILRC: '/dev/null', DEAD: '/dev/null' };
    return new Promise((resolve) => {
      const done = (error: Error | null, out: string, err: string) =>
        resolve({ ok: error === null, output: `${out}${err}` });
      const child = execFile(program, args, { cwd: this.folder, env, encoding: 'latin1' }, done);
      child.stdin?.end(input);
    });
  }
}

/** Makes a client of a function that works in a place of its own. */
function client(
  name: string,
  programs: readonly string[],
  ways: readonly Way[],
  send: (target: Target, place: Workplace) => Promise<Handed>,
): MailClient {
  const within = async (target: Target) => {
    const place = new Workplace();
    try {
      return await send(target, place);
    } finally {
      rmSync(place.folder, { recursive: true });
    }
  };
  return { name, programs, ways, send: within };
}

/** What a transcript shows to have been sent between the answer 354 and the lone dot. */
function sentLines(transcript: string, isSent: RegExp): Buffer {
  const lines = transcript.split(/\r?\n/);
  const begin = lines.findIndex((line) => / 354 /.test(line));
  const sent = lines.slice(begin + 1).filter((line) => isSent.test(line));
  const content = sent.map((line) => line.replace(isSent, ''));
  const unstuffed = content
    .slice(0, Math.max(content.indexOf('.'), 0))
    .map((line) => line.replace(/^\./, ''));
  return Buffer.from(unstuffed.map((line) => `${line}\r\n`).join(''), 'latin1');
}

/** `content` gives the options that say what is sent. */
function swaks(name: string, ways: readonly Way[], content: (place: Workplace, to: string) => string[]) {
  return client(name, ['swaks'], ways, async (target, place) => {
    const tls = { none: [], starttls: ['--tls'], implicit: ['--tls-on-connect'] }[target.tls];
    const verify = target.tls === 'none' ? [] : ['--tls-verify', '--tls-ca-path', target.ca];
    const user = ['--auth-user', 'app', '--auth-password', target.key];
    const auth = target.auth === null ? [] : ['--auth', target.auth, ...user];
    const server = ['--server', 'localhost', '--port', String(target.port)];
    const envelope = ['--from', SENDER, '--to', target.recipient];
    const args = [...server, ...tls, ...verify, ...auth, ...envelope, ...content(place, target.recipient)];
    const { ok, output } = await place.run('swaks', args);
    return { ok, transcript: output, sent: sentLines(output, /^ [-~]> ?/) };
  });
}

function letterForSwaks(place: Workplace, recipient: string): string[] {
  return ['--data', `@${place.file('letter.eml', letterTo(recipient))}`];
}

function attachmentForSwaks(place: Workplace): string[] {
  const attached = ['--attach-name', 'data.bin', '--attach', `@${place.file('data.bin', EVERY_BYTE)}`];
  return ['--body', 'see the attachment', ...attached];
}

const curl = client('curl', ['curl'], [NO_TLS, ...EVERY_WAY], async (target, place) => {
  const url = `${target.tls === 'implicit' ? 'smtps' : 'smtp'}://localhost:${target.port}/client.example.com`;
  const tls = target.tls === 'none' ? [] : ['--ssl-reqd', '--cacert', target.ca];
  const user = ['--login-options', `AUTH=${target.auth}`, '-u', `app:${target.key}`];
  const sent = letterTo(target.recipient);
  const letter = [
    '-T',
    place.file('letter.eml', sent),
    '--mail-from',
    SENDER,
    '--mail-rcpt',
    target.recipient,
  ];
  const args = ['-sS', '-v', ...tls, ...(target.auth === null ? [] : user), ...letter, '--url', url];
  const { ok, output } = await place.run('curl', args);
  return { ok, transcript: output, sent };
});

const msmtp = client('msmtp', ['msmtp'], [NO_TLS, ...EVERY_WAY], async (target, place) => {
  const settings = `account default
host localhost
port ${target.port}
from ${SENDER}
tls ${target.tls === 'none' ? 'off' : 'on'}
tls_starttls ${target.tls === 'implicit' ? 'off' : 'on'}
tls_trust_file ${target.ca}
auth ${target.auth?.toLowerCase() ?? 'off'}
user app
password ${target.key}
`;
  const sent = letterTo(target.recipient);
  const asFile = sent.toString('latin1').replaceAll('\r\n', '\n');
  const args = ['-C', place.file('msmtprc', settings), '-d', target.recipient];
  const { ok, output } = await place.run('msmtp', args, Buffer.from(asFile, 'latin1'));
  return { ok, transcript: output, sent };
});

const snail = client('s-nail', ['s-nail'], [NO_TLS, ...EVERY_WAY], async (target, place) => {
  const user = target.auth === null ? '' : `app:${target.key}@`;
  const record = join(place.folder, 'sent');
  const variables = [
    'v15-compat',
    `mta=${target.tls === 'implicit' ? 'smtps' : 'smtp'}://${user}localhost:${target.port}`,
    `smtp-auth=${target.auth?.toLowerCase() ?? 'none'}`,
    ...(target.tls === 'none' ? [] : ['smtp-use-starttls', 'tls-verify=strict']),
    'tls-ca-no-defaults',
    `tls-ca-file=${target.ca}`,
    `record=${record}`,
    'sendcharsets=utf-8',
    'ttycharset=utf-8',
  ];
  const attached = place.file('data.bin', EVERY_BYTE);
  const what = ['-r', SENDER, '-s', 'Grüße', '-a', attached, target.recipient];
  const args = ['-n', '-vv', ...variables.flatMap((variable) => ['-S', variable]), ...what];
  const { ok, output } = await place.run('s-nail', args, 'Grüße\n.dot\n..dots\n\nthe end\n');
  return { ok, transcript: output, sent: ok ? fromMbox(readFileSync(record, 'latin1')) : Buffer.alloc(0) };
});

/** The only message of a file in mbox form: behind its first line, before the empty line at its end. */
function fromMbox(mbox: string): Buffer {
  const message = mbox.slice(mbox.indexOf('\n') + 1).replace(/\n$/, '');
  return Buffer.from(message.replaceAll('\n', '\r\n'), 'latin1');
}

const SMTPLIB = fileURLToPath(new URL('./smtplib_client.py', import.meta.url));

/** What `smtplib_client.py` prints. */
interface SmtplibEnd {
  readonly ok: boolean;
  readonly transcript: string;
  /** Base64. */
  readonly sent: string;
}

const smtplib = client('smtplib', ['python3'], [NO_TLS, ...EVERY_WAY], async (target, place) => {
  const { output } = await place.run('python3', [SMTPLIB], JSON.stringify(target));
  const { ok, transcript, sent }: SmtplibEnd = JSON.parse(output);
  return { ok, transcript, sent: Buffer.from(sent, 'base64') };
});

/** All of them. */
export const MAIL_CLIENTS: readonly MailClient[] = [
  swaks('swaks', [NO_TLS, ...EVERY_WAY], letterForSwaks),
  swaks('swaks with pipelining', [NO_TLS, ...EVERY_WAY], (...of) => ['--pipeline', ...letterForSwaks(...of)]),
  swaks('swaks with an attachment', EVERY_WAY.slice(0, 1), attachmentForSwaks),
  curl,
  smtplib,
  msmtp,
  snail,
];
