/** Large messages, by every way in. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { SmtpClient } from '../peers/smtp-client.ts';

/** Bytes of a message as it is sent, or of its body of JSON. */
export const LARGE = 25_000_000;
/** Bytes of a chunk (RFC 3030). */
const CHUNK = 1_000_000;
const FROM = 'large@example.com';
const TO = 'a@example.net';
const ENVELOPE = [`MAIL FROM:<${FROM}>`, `RCPT TO:<${TO}>`];
const LINE = `${'x'.repeat(74)}\r\n`;
const CONTENT = Buffer.from(`Subject: large\r\n\r\n${LINE.repeat(Math.floor(LARGE / LINE.length))}`);
const BASE64 = 'eHh4'.repeat(Math.floor(LARGE / 4) - 100);
const JSON_BODY = Buffer.from(
  JSON.stringify({
    from: FROM,
    to: TO,
    subject: 'large',
    text: 'x',
    attachments: [{ filename: 'large.bin', content: BASE64 }],
  }),
);
const BOUNDARY = 'a-boundary';
const field = (name: string, value: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
/** As a form it comes in without base64, a quarter smaller. */
const FORM = Buffer.concat([
  Buffer.from(field('from', FROM) + field('to', TO) + field('text', 'x')),
  Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="attachment"; filename="large.bin"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  ),
  Buffer.alloc(Math.floor((LARGE / 4) * 3) - 1000, 'x'),
  Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
]);

/** Where they go, and with whose key. */
export interface Target {
  readonly api: string;
  readonly smtp: number;
  readonly key: string;
  readonly from: string;
}

/** What it came to: the code of the reply or the status. Rejects when the connection ends without. */
type Upload = (target: Target) => Promise<number>;

/** By their names. */
export const UPLOADS: readonly (readonly [name: string, upload: Upload])[] = [
  ['JSON', (target) => post(target, 'application/json', JSON_BODY)],
  ['multipart', (target) => post(target, `multipart/form-data; boundary=${BOUNDARY}`, FORM)],
  ['DATA', (target) => overSmtp(target, sendData)],
  ['BDAT', (target) => overSmtp(target, sendChunks)],
];

async function post({ api, key, from }: Target, type: string, body: Buffer): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { authorization: `Bearer ${key}`, 'content-type': type, 'content-length': body.length };
  const options = { method: 'POST', headers, agent: false, localAddress: from };
  const call = request(`${api}/api/v1/messages`, options, (response) => {
    text(response).then(() => resolve(response.statusCode ?? 0), reject);
  });
  call.on('error', reject).end(body);
  return await promise;
}

/** A session of SMTP with that key. */
export async function smtpSession({ smtp, from, key }: Target): Promise<SmtpClient> {
  const client = await SmtpClient.connect(smtp, { from, test: { onTestFinished: () => {} } });
  await client.reply();
  await client.ask('EHLO large.test');
  await client.ask(`AUTH PLAIN ${Buffer.from(`\0large\0${key}`).toString('base64')}`);
  return client;
}

async function overSmtp(target: Target, send: (client: SmtpClient) => Promise<string>): Promise<number> {
  const client = await smtpSession(target);
  try {
    return Number((await send(client)).slice(0, 3));
  } finally {
    client.destroy();
  }
}

/** Sends one by DATA; the last reply. */
export async function sendData(client: SmtpClient): Promise<string> {
  const replies = await client.askAll(...ENVELOPE, 'DATA');
  const refusal = replies.find((reply) => !/^(?:250|354) /.test(reply));
  if (refusal !== undefined) return refusal;
  client.write(CONTENT);
  return await client.ask('.');
}

/** One after the other, each after the reply to the one before. */
async function sendChunks(client: SmtpClient): Promise<string> {
  await client.askAll(...ENVELOPE);
  for (let at = 0; ; at += CHUNK) {
    const chunk = CONTENT.subarray(at, at + CHUNK);
    const isLast = at + CHUNK >= CONTENT.length;
    client.write(`BDAT ${chunk.length}${isLast ? ' LAST' : ''}\r\n`);
    client.write(chunk);
    const reply = await client.reply();
    if (isLast || !reply.startsWith('250 ')) return reply;
  }
}
