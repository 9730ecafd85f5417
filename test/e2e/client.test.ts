/** The typed client against the real server: every call, and answers that are lost. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '../../src/client/result.ts';
import { Waybill } from '../../src/client/waybill.ts';
import { freePort } from '../peers/free-port.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { heldFetch } from '../support/openapi.ts';
import { configurationFor, createKey, type Service, startService } from './service.ts';

const LETTER = { from: 'Shop <a@example.com>', to: 'b@example.net', subject: 'Hello', text: 'hi' };
const SCOPES = ['messages:send', 'messages:read', 'messages:content'].flatMap((scope) => ['--scope', scope]);
const HOUR_MS = 3_600_000;

let sink: SmtpSink;
let service: Service;
let key: string;
let client: Waybill;
beforeAll(async () => {
  sink = await startSmtpSink();
  const port = await freePort();
  // A port that is the same after a restart.
  service = await startService(configurationFor(sink.port).replace('port: 0', `port: ${port}`));
  key = await createKey(service.installation, 'typed', ...SCOPES);
  client = new Waybill({ url: service.server.api, key, fetch: heldFetch });
});
afterEach(() => {
  sink.script = {};
});
afterAll(async () => {
  await service.stop();
  await sink.close();
});

describe('every call', () => {
  test('send, wait, get, attempts and content tell of one message', async () => {
    const attachments = [
      { filename: 'bytes.bin', content: new Uint8Array([1, 2, 3]) },
      { content: new File(['as text'], 'file.txt', { type: 'text/plain' }) },
      { filename: 'base64.bin', content: 'AQID' },
    ];
    const sent = unwrap(
      await client.send({ ...LETTER, attachments, tags: ['a'], metadata: { order: '4711' } }),
    );
    expect(sent).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-z]{26}$/),
      message: 'Queued for delivery.',
      status: 'queued',
      idempotencyKey: expect.stringMatching(/^[0-9a-f]{32}$/),
      replayed: false,
    });
    const record = unwrap(await client.wait(sent.id));
    expect(record).toMatchObject({ status: 'delivered', tags: ['a'], metadata: { order: '4711' } });
    expect(unwrap(await client.get(sent.id))).toEqual(record);
    expect(unwrap(await client.attempts(sent.id))).toMatchObject([
      { number: 1, relay: 'out', results: [{ recipient: 'b@example.net', outcome: 'delivered', code: 250 }] },
    ]);
    const content = new TextDecoder().decode(unwrap(await client.content(sent.id)));
    expect(content).toContain(`Message-ID: ${record.messageId}`);
    for (const name of ['bytes.bin', 'file.txt', 'base64.bin']) expect(content).toContain(name);
  });

  test('sendBatch accepts what is right and refuses what is not, one by one', async () => {
    const batch = [LETTER, { ...LETTER, to: 'nobody' }, LETTER];
    const sent = unwrap(await client.sendBatch(batch));
    expect(sent.results).toMatchObject([
      { index: 0, id: expect.stringMatching(/^msg_/), status: 'queued' },
      { index: 1, error: { status: 400, errors: [{ pointer: '/to' }] } },
      { index: 2, id: expect.stringMatching(/^msg_/), status: 'queued' },
    ]);
    const { idempotencyKey } = sent;
    const again = unwrap(await client.sendBatch(batch, { idempotencyKey }));
    expect(again).toEqual({ ...sent, replayed: true });
  });

  test('sendRaw sends a finished message to whom the envelope says', async () => {
    const content = new TextEncoder().encode('From: a@example.com\nSubject: Raw\n\nAs it is.\n');
    const envelope = { from: 'a@example.com', to: ['raw@example.net'], tags: ['raw'] };
    const { id } = unwrap(await client.sendRaw(content, envelope));
    expect(unwrap(await client.wait(id))).toMatchObject({
      status: 'delivered',
      subject: 'Raw',
      tags: ['raw'],
    });
    expect(sink.messages.at(-1)?.to).toEqual(['raw@example.net']);
  });

  test('check tells the way and stores nothing', async () => {
    const before = unwrap(await client.listPage());
    expect(unwrap(await client.check(LETTER))).toMatchObject({
      dryRun: true,
      recipients: [{ address: 'b@example.net', type: 'to', relay: 'out', rule: null }],
    });
    const { findings } = unwrap(await client.check({ ...LETTER, text: 'Hello {{name}}' }));
    expect(findings[0]).toMatchObject({ code: 'placeholder', severity: 'error', where: '/text#L1' });
    expect(unwrap(await client.listPage())).toEqual(before);
  });

  test('resend makes a new message of one that is there', async () => {
    const { id } = unwrap(await client.send(LETTER));
    const first = unwrap(await client.wait(id));
    const again = unwrap(await client.resend(id, { idempotencyKey: 'again' }));
    expect(again.id).not.toBe(id);
    expect(unwrap(await client.resend(id, { idempotencyKey: 'again' }))).toEqual({
      ...again,
      replayed: true,
    });
    const second = unwrap(await client.wait(again.id));
    expect(second).toMatchObject({ status: 'delivered', subject: first.subject, to: first.to });
    expect(second.messageId).not.toBe(first.messageId);
  });

  test('cancel ends what waits, and retry brings it back, to wait for its time', async () => {
    const sendAt = new Date(Date.now() + HOUR_MS);
    const { id } = unwrap(await client.send({ ...LETTER, sendAt }));
    expect(unwrap(await client.cancel(id))).toMatchObject({ status: 'failed', outcome: 'cancelled' });
    expect(await client.cancel(id)).toMatchObject({ ok: false, error: { code: 'not_cancellable' } });
    const { status, sendAt: kept } = unwrap(await client.retry(id));
    expect([status, Date.parse(kept ?? '')]).toEqual(['queued', sendAt.getTime()]);
    expect(await client.retry(id)).toMatchObject({ ok: false, error: { code: 'nothing_to_retry' } });
  });

  test('list goes through all pages, newest first', async () => {
    const sent: string[] = [];
    for (const text of ['1', '2', '3', '4', '5'])
      sent.push(unwrap(await client.send({ ...LETTER, text, tags: ['listed'] })).id);
    const listed: string[] = [];
    for await (const { id } of client.list({ tag: 'listed', since: new Date(0), limit: 2 })) listed.push(id);
    expect(listed).toEqual(sent.reverse());
  });

  test('ready says whether messages are taken', async () => {
    expect(await client.ready()).toEqual({ ok: true, value: true });
  });
});

describe('an answer that is lost', () => {
  /** A client whose first answer gets lost after the server gave it. */
  function forgetful(): Waybill {
    let lost = false;
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (lost) return response;
      lost = true;
      await response.arrayBuffer();
      throw new TypeError('the connection is gone');
    };
    return new Waybill({ url: service.server.api, key, fetch: losing });
  }

  test('sends nothing twice', async () => {
    const { id, replayed } = unwrap(await forgetful().send({ ...LETTER, tags: ['lost'] }));
    expect(replayed).toBe(true);
    const { messages } = unwrap(await client.listPage({ tag: 'lost' }));
    expect(messages).toMatchObject([{ id }]);
  });

  test('of a batch sends nothing twice', async () => {
    const message = { ...LETTER, tags: ['lost-batch'] };
    const { results, replayed } = unwrap(await forgetful().sendBatch([message, message]));
    expect([results.length, replayed]).toEqual([2, true]);
    expect(unwrap(await client.listPage({ tag: 'lost-batch' })).messages).toHaveLength(2);
  });

  test('of a cancellation is no refusal the second time', async () => {
    const { id } = unwrap(await client.send({ ...LETTER, sendAt: new Date(Date.now() + HOUR_MS) }));
    expect(unwrap(await forgetful().cancel(id))).toMatchObject({ id, outcome: 'cancelled' });
  });
});

test('a call outlives a restart of the server', async () => {
  const patient = new Waybill({ url: service.server.api, key, maxRetries: 1000, fetch: heldFetch });
  await service.server.end('SIGKILL');
  const sent = patient.send({ ...LETTER, tags: ['restart'] });
  await service.restart();
  const { id } = unwrap(await sent);
  expect(unwrap(await patient.wait(id))).toMatchObject({ status: 'delivered', tags: ['restart'] });
});
