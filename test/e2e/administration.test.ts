/** What administrators change while the real program runs holds within a second. */

import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createControlClient } from '../../src/control/client.ts';
import type { Operations } from '../../src/operations/table.ts';
import { createAuthority, createCertificate } from '../peers/certificate.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { inShape } from '../support/in-shape.ts';
import { createKey, type Service, startService } from './service.ts';

let service: Service;
let operations: Operations;

beforeEach(async () => {
  service = await startService(`
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [] }
`);
  operations = inShape(createControlClient(service.installation.dataDir));
});
afterEach(() => service.stop());

const letter = (to: string[] = ['ann@example.net']) => ({
  from: 'a@example.com',
  to,
  subject: 'Hello',
  text: 'hi',
});
const activity = (action: string) =>
  operations.activity({ actor: null, action, subject: null, limit: 10, before: null });

describe('settings', () => {
  // A machine that stood still for a second is given another chance.
  test('that are changed are in force at once, and written down', { retry: 2 }, async () => {
    const two = letter(['ann@example.net', 'bob@example.net']);
    expect((await service.client.post(two)).status).toBe(202);
    const changedAt = performance.now();
    const [row] = await operations.putSettings({ values: { 'api.max_recipients': 1 } });
    expect(row).toMatchObject({ key: 'api.max_recipients', value: 1, origin: 'stored', locked: null });
    expect((await service.client.post(two)).status).toBe(400);
    expect(performance.now() - changedAt).toBeLessThan(1000);
    expect((await activity('putSettings')).entries[0]).toMatchObject({
      before: { 'api.max_recipients': { value: 1000, origin: 'default' } },
      after: { 'api.max_recipients': { value: 1, origin: 'stored' } },
    });
    await operations.putSettings({ values: {}, unset: ['api.max_recipients'] });
    expect((await service.client.post(two)).status).toBe(202);
  });

  test('that need a restart say what they will be, and are so after it', async () => {
    const [row] = await operations.putSettings({ values: { 'api.keep_alive_seconds': 7 } });
    expect(row).toMatchObject({ value: 75, afterRestart: 7, applies: 'restart' });
    await service.server.end('SIGTERM');
    await service.restart();
    const rows = await operations.settings({});
    expect(rows.find(({ key }) => key === 'api.keep_alive_seconds')).toMatchObject({ value: 7 });
  });

  test('let a source in that was refused', async () => {
    await operations.putSettings({ values: { 'api.allowed_cidrs': ['192.0.2.0/24'] } });
    expect((await service.client.post(letter())).status).toBe(403);
    const [denied] = await operations.denials({});
    expect(denied).toMatchObject({
      sourceAddress: '127.0.0.1',
      reason: 'source_not_allowed',
      count: 1,
      setting: 'api.allowed_cidrs',
      key: null,
      limit: null,
      meaning: expect.stringMatching(/./),
    });
    await operations.allowSource({ setting: 'api.allowed_cidrs', cidr: '127.0.0.1' });
    expect((await service.client.post(letter())).status).toBe(202);
  });
});

describe('a key', () => {
  // The same.
  test('is refused from where it may not be used within a second after it was changed', {
    retry: 2,
  }, async () => {
    expect((await service.client.post(letter())).status).toBe(202);
    await operations.updateKey({ key: 'app', cidrs: ['192.0.2.0/24'] });
    const status = async () => expect((await service.client.post(letter())).status).toBe(403);
    await vi.waitFor(status, { timeout: 1000, interval: 20 });
    await operations.updateKey({ key: 'app', cidrs: [], senderDomains: ['other.example'] });
    const why = async () => {
      const problem = (await (await service.client.post(letter())).json()) as { readonly code: string };
      expect(problem.code).toBe('sender_not_allowed');
    };
    await vi.waitFor(why, { timeout: 1000, interval: 20 });
  });

  test('that is revoked takes what it has queued along, where told so', async () => {
    await operations.hold({ target: 'inbox', kind: 'pause' });
    const { client } = service;
    const ids = await Promise.all([1, 2, 3].map(() => client.send(letter())));
    const revoked = await operations.revokeKey({ key: 'app', cancelQueued: true });
    expect(revoked.cancelled).toBe(3);
    await createKey(service.installation, 'reader');
    for (const id of ids)
      expect(await operations.message({ id })).toMatchObject({ status: 'failed', outcome: 'cancelled' });
  });
});

test('a relay that is changed keeps the mail that waits for it, and sends it', async ({ onTestFinished }) => {
  const sink = await startSmtpSink();
  onTestFinished(() => sink.close());
  const definition = { name: 'out', type: 'smtp', host: '127.0.0.1', port: 1, tls: 'none' };
  await operations.addRelay({ definition, secret: null, makeDefault: true });
  const id = await service.client.send(letter());
  await service.client.until(id, 'retrying');
  await operations.updateRelay({ name: 'out', definition: { ...definition, port: sink.port }, secret: null });
  await operations.retryMessage({ id });
  expect(await service.client.end(id)).toMatchObject({ status: 'delivered', relay: 'out' });
  expect((await activity('updateRelay')).entries[0]).toMatchObject({
    subject: 'out',
    actorKind: 'command',
    before: { definition: { port: 1 } },
    after: { definition: { port: sink.port } },
  });
});

test('a test message goes through its relay alone, and what becomes of it is told', async ({
  onTestFinished,
}) => {
  const sink = await startSmtpSink();
  onTestFinished(() => sink.close());
  const definition = { name: 'out', type: 'smtp', host: '127.0.0.1', port: sink.port, tls: 'none' };
  // Not the default: the routes would send it to the inbox.
  await operations.putSettings({ values: { 'delivery.default_relay': 'inbox' } });
  await operations.addRelay({ definition, secret: null, makeDefault: false });
  const send = async (to = 'ann@example.net', from: string | null = null) => {
    const told: string[] = [];
    const { id, status, steps } = await operations.sendTestMessage(
      { name: 'out', to, from },
      { tell: ({ name }) => told.push(name), signal: new AbortController().signal },
    );
    expect(steps.map(({ name }) => name)).toEqual(told);
    return { id, status, told, steps, record: await operations.message({ id }) };
  };
  const good = await send('ann@example.net', 'shop@example.com');
  expect(good).toMatchObject({ status: 'delivered', told: ['ACCEPTED', 'ATTEMPT', 'DELIVERED'] });
  expect(good.record).toMatchObject({ relay: 'out', from: 'shop@example.com', tags: ['relay-test'] });
  expect(sink.messages).toHaveLength(1);
  expect((await activity('sendTestMessage')).entries[0]).toMatchObject({
    subject: 'out',
    after: { id: good.id, status: 'delivered' },
  });

  sink.script = { RCPT: () => '550 5.1.1 Nobody here' };
  const bad = await send();
  expect(bad).toMatchObject({ status: 'failed', told: ['ACCEPTED', 'ATTEMPT', 'FAILED'] });
  expect(bad.steps.at(-1)).toMatchObject({ ok: false, detail: '550 5.1.1 Nobody here' });

  // Nobody is there: from now on nothing is sent to that address.
  const stopped = await send();
  expect(stopped).toMatchObject({ status: 'failed', told: ['ACCEPTED', 'FAILED'] });
  expect(stopped.steps.at(-1)).toMatchObject({ code: 'suppressed' });

  sink.script = { RCPT: () => '451 4.7.1 Come back later' };
  const late = await send('bob@example.net');
  expect(late).toMatchObject({ status: 'retrying', told: ['ACCEPTED', 'ATTEMPT', 'RETRYING', 'WAITING'] });

  await operations.hold({ target: 'out', kind: 'pause' });
  const held = await service.installation.run('relays', 'send-test', 'out', '--to', 'bob@example.net');
  expect([held.code, held.stdout]).toEqual([
    1,
    expect.stringMatching(/WAITING {2}It waits: out is paused\.\n$/),
  ]);
});

describe('the certificate', () => {
  const fingerprint = () =>
    new Promise<string>((resolve, reject) => {
      const port = service.server.runtime.webui ?? 0;
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().fingerprint256);
        socket.destroy();
      }).on('error', reject);
    });

  test('that is uploaded is shown to clients at once, also after a restart, until it is renewed', async () => {
    const first = await operations.certificate({});
    expect(first).toMatchObject({ origin: 'self-signed', fingerprint: await fingerprint() });
    const issuer = createAuthority();
    const pair = createCertificate({ hosts: ['mail.example', '127.0.0.1'], issuer });
    const certificate = pair.cert + issuer.cert;
    const view = await operations.putCertificate({ certificate, key: pair.key });
    expect(view).toMatchObject({ origin: 'uploaded', names: ['mail.example', '127.0.0.1'] });
    expect(view.fingerprint).toBe(new X509Certificate(pair.cert).fingerprint256);
    expect(await fingerprint()).toBe(view.fingerprint);
    await service.server.end('SIGTERM');
    await service.restart();
    expect(await fingerprint()).toBe(view.fingerprint);
    const renewed = await operations.renewCertificate({});
    expect(renewed.origin).toBe('self-signed');
    expect(renewed.fingerprint).not.toBe(first.fingerprint);
    expect(await fingerprint()).toBe(renewed.fingerprint);
  });

  test('is refused with another key, expired, or with a chain that does not hold', async () => {
    const before = await fingerprint();
    const hosts = ['mail.example'];
    const good = createCertificate({ hosts });
    const wrong: readonly [string, string, RegExp][] = [
      [good.cert, createCertificate({ hosts }).key, /key is not the one of the certificate/],
      [good.cert + createAuthority().cert, good.key, /number 2 of 2 did not issue number 1/],
      ['nothing', good.key, /no certificate in PEM form/],
    ];
    const expired = createCertificate({ hosts, expired: true });
    for (const [certificate, key, why] of [...wrong, [expired.cert, expired.key, /it expired at/] as const])
      await expect(operations.putCertificate({ certificate, key })).rejects.toThrow(why);
    expect(await fingerprint()).toBe(before);
  });
});

test('the system tells of itself, and the last lines of its log', async () => {
  const id = await service.client.send(letter());
  await service.client.end(id);
  const system = await operations.system({});
  expect(system).toMatchObject({ pid: service.server.runtime.pid, dataDir: service.installation.dataDir });
  expect(system.storage.capturedBytes).toBeGreaterThan(100);
  expect(system.storage.spoolBytes).toBeGreaterThanOrEqual(system.storage.capturedBytes);
  expect(system.ports).toMatchObject({ webui: service.server.runtime.webui });
  expect((await operations.health({})).status).toBe('healthy');
  const { lines, last } = await operations.logTail({ level: 'info', contains: id, after: null, limit: 10 });
  expect(lines.map(({ event }) => event)).toContain('message.accepted');
  const later = await operations.logTail({ level: 'info', contains: '', after: last, limit: 10 });
  expect(later.lines).toEqual([]);
});

test('operations that no other test holds to their records answer as those say', async () => {
  const id = await service.client.send(letter());
  await service.client.end(id);
  expect(await operations.messagePreview({ id })).toMatchObject({ subject: 'Hello', text: 'hi\n' });
  expect((await operations.messageDraft({ id })).message).toMatchObject({ subject: 'Hello' });
  const out = { name: 'out', type: 'smtp', host: '127.0.0.1', port: 1, tls: 'none' };
  await operations.addRelay({ definition: out, secret: null, makeDefault: true });
  const released = await operations.releaseCaptured({ id, relay: 'out' });
  expect(await service.client.record(released.id)).toMatchObject({ relay: 'out' });
  const routes = [{ name: 'tagged', match: { tag: ['a'] }, via: ['inbox'] }];
  const { version } = await operations.publishRoutes({ routes });
  await operations.publishRoutes({ routes: [] });
  expect(await operations.rollbackRoutes({ version })).toMatchObject({ rules: routes, inForce: true });
  const { name } = await operations.backup({ file: null, passphrase: null });
  expect(await operations.removeBackup({ name })).toMatchObject({ name, verified: true });
  expect(await operations.backups({})).toEqual([]);
  expect(await operations.decideRestored({ act: 'cancel' })).toEqual({ act: 'cancel', recipients: 0 });
});

test('no answer of the running server, and no line of its log, has a secret', async () => {
  const planted = 'planted1secret';
  const definition = { name: 'out', type: 'smtp', host: '127.0.0.1', port: 1, username: 'u' };
  await operations.addRelay({ definition, secret: planted, makeDefault: true });
  await operations.updateRelay({ name: 'out', definition, secret: `${planted}2` });
  const pair = createCertificate({ hosts: ['mail.example'] });
  await operations.putCertificate({ certificate: pair.cert, key: pair.key });
  await operations.resetPassword({ name: 'admin', password: `${planted} ${planted}` }).catch(() => {});
  await service.client.send(letter());
  const answers = [
    operations.relays({}),
    operations.relay({ name: 'out' }),
    operations.configuration({}),
    operations.settings({}),
    operations.certificate({}),
    operations.system({}),
    operations.health({}),
    operations.denials({}),
    operations.listKeys({}),
    operations.users({}),
    operations.doctor({}),
    operations.testRelay({ name: 'out', to: null, unsaved: null }),
    operations.logTail({ level: 'debug', contains: '', after: null, limit: 1000 }),
    operations.activity({ actor: null, action: null, subject: null, limit: 200, before: null }),
  ];
  const text = JSON.stringify(await Promise.all(answers)) + service.server.output;
  const keyLine = pair.key.split('\n')[1] ?? '';
  for (const hidden of [planted, service.client.key, keyLine, 'PRIVATE KEY'])
    expect(text).not.toContain(hidden);
});
