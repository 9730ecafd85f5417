/** A message from an application's request to a mailbox of a mail server that others wrote. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import PostalMime, { type Email } from 'postal-mime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AIOSMTPD_PROGRAMS, startAiosmtpd } from '../peers/aiosmtpd.ts';
import type { MailServer } from '../peers/mail-server.ts';
import { describeWith } from '../peers/need.ts';
import { startPostfix } from '../peers/postfix.ts';
import { POSTFIX_PROGRAMS } from '../peers/postfix-instance.ts';
import { type Client, configurationFor, type Service, startService } from './service.ts';

const PDF = randomBytes(100_000);

let peer: MailServer;
let service: Service;
let client: Client;

function startWith(startPeer: () => Promise<MailServer>): void {
  const started: { stop(): Promise<void> }[] = [];
  beforeAll(async () => {
    peer = await startPeer();
    started.push(peer);
    service = await startService(configurationFor(peer.port));
    started.push(service);
    client = service.client;
    writeFileSync(join(service.installation.dataDir, 'offer.pdf'), PDF);
  });
  afterAll(async () => {
    // Also where the second could not be started.
    for (const one of started.reverse()) await one.stop();
  });
}

/** What must hold whoever the next hop is. */
function describeDelivery(): void {
  test('the record says processing while the next hop is silent, and delivered once it has the mail', async () => {
    peer.freeze();
    const id = await client.send({
      from: 'a@example.com',
      to: 'before@example.net',
      subject: 'Hi',
      text: 'x',
    });
    const before = await client.record(id);
    peer.thaw();
    const after = await client.end(id);
    expect(before).toMatchObject({
      id,
      status: 'processing',
      attempts: 0,
      subject: 'Hi',
      to: ['before@example.net'],
    });
    expect(before).not.toHaveProperty('deliveredAt');
    expect(before).not.toHaveProperty('durationMs');
    expect(after).toMatchObject({ id, status: 'delivered', outcome: 'accepted', attempts: 1, relay: 'out' });
    expect(after.recipients).toEqual([
      expect.objectContaining({ address: 'before@example.net', status: 'delivered', lastCode: 250 }),
    ]);
    expect(Date.parse(String(after.deliveredAt))).toBeGreaterThanOrEqual(Date.parse(before.createdAt));
  });

  test('a JSON message with an attachment posted by fetch arrives whole', async () => {
    const attachment = {
      filename: 'Angebot Nº 7.pdf',
      content: PDF.toString('base64'),
      contentType: 'application/pdf',
    };
    const id = await client.send({
      from: 'Anja Müller <anja@example.com>',
      to: ['json@example.net'],
      subject: 'Grüße aus Köln',
      text: 'Guten Tag,\n.\n..ein Punkt\nFrom here on',
      html: '<p>Guten Tag</p>',
      headers: { 'X-Order': '7' },
      attachments: [attachment],
    });
    const { mail, raw } = await received('json@example.net');
    const record = await client.end(id);
    expect(mail).toMatchObject({
      from: { name: 'Anja Müller', address: 'anja@example.com' },
      subject: 'Grüße aus Köln',
      messageId: record.messageId,
    });
    expect(mail.text?.replaceAll('\r\n', '\n').trimEnd()).toBe('Guten Tag,\n.\n..ein Punkt\nFrom here on');
    expect(mail.html).toContain('<p>Guten Tag</p>');
    expect(mail.headers.find(({ key }) => key === 'x-order')?.value).toBe('7');
    expectAttachment(mail, 'Angebot Nº 7.pdf');
    expect(raw).toMatch(/^Received: /m);
  });

  test('a multipart message with an attachment posted by curl arrives whole', async () => {
    const fields = {
      from: 'shop@example.com',
      to: 'form@example.net',
      subject: 'Offer',
      text: 'See below.',
      'h:X-Order': '8',
    };
    const form = Object.entries(fields).flatMap(([name, value]) => ['--form-string', `${name}=${value}`]);
    const attachment = `attachment=@${join(service.installation.dataDir, 'offer.pdf')};type=application/pdf`;
    const { status, body } = await curl('-F', attachment, ...form);
    expect([status, body]).toEqual([
      202,
      expect.objectContaining({ status: 'queued', message: 'Queued for delivery.' }),
    ]);
    const { mail } = await received('form@example.net');
    expect(mail).toMatchObject({ subject: 'Offer', to: [{ address: 'form@example.net' }] });
    expect(mail.headers.find(({ key }) => key === 'x-order')?.value).toBe('8');
    expectAttachment(mail, 'offer.pdf');
    expect(await client.end(String(body['id']))).toMatchObject({ status: 'delivered' });
  });

  test('a JSON message posted by curl and a form posted by fetch arrive too', async () => {
    const json = JSON.stringify({
      from: 'a@example.com',
      to: 'curl-json@example.net',
      subject: 'by curl',
      text: 'x',
    });
    expect((await curl('-H', 'Content-Type: application/json', '--data-binary', json)).status).toBe(202);
    const form = new FormData();
    for (const [name, value] of [
      ['from', 'a@example.com'],
      ['to', 'fetch-form@example.net'],
      ['subject', 'by fetch'],
      ['text', 'x'],
    ] as const)
      form.append(name, value);
    form.append('attachment', new Blob([PDF], { type: 'application/pdf' }), 'offer.pdf');
    expect((await client.post(form)).status).toBe(202);
    expect((await received('curl-json@example.net')).mail.subject).toBe('by curl');
    const { mail } = await received('fetch-form@example.net');
    expect(mail.subject).toBe('by fetch');
    expectAttachment(mail, 'offer.pdf');
  });

  test('cc and bcc get their copy, and the bcc appears in no copy of another', async () => {
    const id = await client.send({
      from: 'a@example.com',
      to: 'to@example.net',
      cc: 'cc@example.net',
      bcc: 'hidden@example.net',
      subject: 'Copies',
      text: 'x',
    });
    const [to, cc, bcc] = await Promise.all(
      ['to', 'cc', 'hidden'].map((name) => received(`${name}@example.net`)),
    );
    for (const copy of [to, cc, bcc])
      expect(copy?.mail).toMatchObject({
        subject: 'Copies',
        to: [{ address: 'to@example.net' }],
        cc: [{ address: 'cc@example.net' }],
      });
    expect(to?.raw).not.toContain('hidden');
    expect(cc?.raw).not.toContain('hidden');
    expect(bcc?.mail).not.toHaveProperty('bcc');
    const { recipients } = await client.end(id);
    expect(recipients.map(({ address, type, status }) => [address, type, status])).toEqual([
      ['to@example.net', 'to', 'delivered'],
      ['cc@example.net', 'cc', 'delivered'],
      ['hidden@example.net', 'bcc', 'delivered'],
    ]);
  });
}

describeWith([...POSTFIX_PROGRAMS, 'curl'], 'into a real Postfix', () => {
  startWith(startPostfix);
  describeDelivery();

  test("the provider's message id is the id that Postfix gave the message", async () => {
    const id = await client.send({ from: 'a@example.com', to: 'id@example.net', text: 'x' });
    const { raw } = await received('id@example.net');
    const [, queueId] = /\tby mx\.example\.net \(Postfix\) with E?SMTP id (\w+)/.exec(raw) ?? [];
    expect(queueId).toBeDefined();
    expect((await client.end(id)).providerMessageId).toBe(queueId);
  });
});

describeWith([...AIOSMTPD_PROGRAMS, 'curl'], 'into a real aiosmtpd', () => {
  startWith(startAiosmtpd);
  describeDelivery();
});

/** The mail stored for a recipient, read by a parser that is not ours, and as it is. */
async function received(recipient: string): Promise<{ readonly mail: Email; readonly raw: string }> {
  const raw = await peer.mailFor(recipient);
  return { mail: await PostalMime.parse(raw), raw: raw.toString('latin1') };
}

function expectAttachment(mail: Email, filename: string): void {
  expect(mail.attachments).toMatchObject([
    { filename, mimeType: 'application/pdf', disposition: 'attachment' },
  ]);
  const [attachment] = mail.attachments;
  expect(PDF.equals(Buffer.from(attachment?.content as ArrayBuffer))).toBe(true);
}

/** Posts with curl. */
async function curl(...args: readonly string[]): Promise<{ status: number; body: Record<string, unknown> }> {
  const authorization = `Authorization: Bearer ${client.key}`;
  const options = ['-sS', '-w', '\n%{http_code}', '-H', authorization, client.messages];
  const { stdout } = await promisify(execFile)('curl', [...options, ...args]);
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end + 1)), body: JSON.parse(stdout.slice(0, end)) };
}
