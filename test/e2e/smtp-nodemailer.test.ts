/** nodemailer over SMTP: attachments, a pool, addresses beyond ASCII, DSN, keys and roots that are wrong. */
import { readFileSync } from 'node:fs';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAuthority } from '../peers/certificate.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { wrongKey } from '../support/wrong-key.ts';
import type { Client } from './service.ts';
import { queuedId, type SmtpService, startSmtpService, withoutReceived } from './smtp-service.ts';

let service: SmtpService;
let sink: SmtpSink;
let live: Client;

beforeAll(async () => {
  sink = await startSmtpSink();
  const relay = `relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]`;
  const route = `delivery: { default_relay: out }\n${relay}\n`;
  service = await startSmtpService('allowed_cidrs: ["192.0.2.1/32"]', route);
  live = await service.createClient('live');
}, 60_000);
afterAll(async () => {
  await service.stop();
  await sink.close();
});

interface Access {
  readonly key?: string;
  readonly ca?: string;
  readonly implicit?: boolean;
}

function access({ key = live.key, ca, implicit = false }: Access = {}) {
  return {
    host: 'localhost',
    port: implicit ? service.tlsPort : service.port,
    secure: implicit,
    requireTLS: true,
    tls: { ca: ca ?? readFileSync(service.ca, 'utf8') },
    auth: { user: 'app', pass: key },
  };
}

/** A letter that comes out the same whenever it is composed. */
function letter(name: string): SendMailOptions & { readonly baseBoundary: string } {
  return {
    from: 'Shop <shop@example.com>',
    to: `${name}@example.net`,
    subject: 'Grüße',
    text: 'Grüße\n.dot\n..\n.\n\nthe end',
    html: '<p>Grüße</p>',
    attachments: [
      {
        filename: 'every byte.bin',
        content: Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 256)),
      },
    ],
    date: new Date('2026-11-21T17:22:08Z'),
    messageId: `<${name}@example.com>`,
    baseBoundary: name,
  };
}

/** What nodemailer makes of a letter. */
async function composed(mail: SendMailOptions): Promise<Buffer> {
  const { message } = await createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
  }).sendMail(mail);
  if (!Buffer.isBuffer(message)) throw new Error('it was to be a buffer');
  return message;
}

/** What the sink has taken for a recipient. */
async function arrivedFor(recipient: string): Promise<Buffer> {
  const find = () => sink.messages.find(({ to }) => to.includes(recipient));
  await sink.until(() => find() !== undefined);
  return find()?.content ?? Buffer.alloc(0);
}

test.each([
  ['STARTTLS', false],
  ['implicit TLS', true],
])('by %s: arrives as it was composed', async (name, implicit) => {
  const mail = letter(name.replace(' ', '-').toLowerCase());
  const { response, accepted } = await createTransport(access({ implicit })).sendMail(mail);
  expect(accepted).toEqual([mail.to]);
  const content = withoutReceived(await arrivedFor(String(mail.to)));
  expect(content.toString('latin1')).toBe((await composed(mail)).toString('latin1'));
  expect(await live.end(queuedId(response))).toMatchObject({ status: 'delivered', subject: 'Grüße' });
});

test('a pool of connections hands in each of 200 letters once', { timeout: 180_000 }, async () => {
  const pool = createTransport({ ...access(), pool: true, maxConnections: 5, maxMessages: 20 });
  const names = Array.from({ length: 200 }, (_, at) => `pool${at}`);
  const sent = await Promise.all(
    names.map((name) => pool.sendMail({ from: 'shop@example.com', to: `${name}@example.net`, text: name })),
  );
  pool.close();
  expect(new Set(sent.map(({ response }) => queuedId(response))).size).toBe(names.length);
  const arrived = () => sink.messages.flatMap(({ to }) => to.filter((one) => one.startsWith('pool')));
  await sink.until(() => arrived().length >= names.length);
  expect(arrived().sort()).toEqual(names.map((name) => `${name}@example.net`).sort());
});

test('addresses beyond ASCII reach the next hop', async () => {
  const { response } = await createTransport(access()).sendMail({
    from: 'Bärbel <bärbel@example.com>',
    to: 'jürgen@example.net',
    subject: 'Grüße',
    text: 'Grüße',
  });
  await arrivedFor('jürgen@example.net');
  const found = sink.messages.find(({ to }) => to.includes('jürgen@example.net'));
  expect(found?.from).toMatch(/^<bärbel@example\.com> .*SMTPUTF8/);
  expect(await live.end(queuedId(response))).toMatchObject({
    status: 'delivered',
    to: ['jürgen@example.net'],
  });
});

test('an envelope that asks for delivery reports is taken', async () => {
  const { response } = await createTransport(access()).sendMail({
    ...letter('reports'),
    dsn: { id: 'order-4711', return: 'headers', notify: ['failure', 'delay'], recipient: 'shop@example.com' },
  });
  expect(await live.end(queuedId(response))).toMatchObject({ status: 'delivered' });
});

test('with a test key: is captured', async () => {
  const captured = await service.createClient('test', '--test');
  const { response } = await createTransport(access({ key: captured.key })).sendMail(letter('captured'));
  expect(await captured.end(queuedId(response))).toMatchObject({ outcome: 'captured' });
  expect((await live.get(`/${queuedId(response)}`)).status).toBe(404);
});

test('a wrong key is told so', async () => {
  const sending = createTransport(access({ key: wrongKey(live.key) })).sendMail(letter('wrong'));
  await expect(sending).rejects.toMatchObject({ code: 'EAUTH', responseCode: 535 });
});

test('sends nothing to a server that cannot prove its name', async () => {
  const { cert } = createAuthority('Other Root');
  const sending = createTransport(access({ ca: cert })).sendMail(letter('unproven'));
  await expect(sending).rejects.toThrow(/certificate|signature/);
});

test('without a key a stranger is refused, and told what to do', async () => {
  const { auth: _, ...nobody } = access();
  const sending = createTransport(nobody).sendMail(letter('stranger'));
  await expect(sending).rejects.toThrow(/5\.7\.1 .*listener\.allowed_cidrs/);
});
