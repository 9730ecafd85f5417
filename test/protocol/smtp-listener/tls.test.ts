import type { TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { createCertificate } from '../../peers/certificate.ts';
import type { SmtpClient } from '../../peers/smtp-client.ts';
import { HOSTNAME } from '../../support/smtp-options.ts';
import { beginData, CERTIFICATE, ENVELOPE, MESSAGE, QUEUED, SmtpWorld, sendMessage } from './world.ts';

/** STARTTLS (RFC 3207) and implicit TLS (RFC 8314) over real TLS. */

let world: SmtpWorld;
afterEach(() => world.close());

/** Of the certificate that the server has shown. */
function nameShown({ socket }: SmtpClient): string {
  return String((socket as TLSSocket).getPeerCertificate().subject.CN);
}

test('a message comes in behind STARTTLS', async () => {
  world = await SmtpWorld.start();
  const client = await world.secured();
  expect(await sendMessage(client)).toMatch(QUEUED);
  expect(await client.ask('QUIT')).toMatch(/^221 /);
  client.halfClose();
  await world.expectNothingLeft();
});

test('a message comes in over implicit TLS', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello({ implicitTls: true });
  expect(await sendMessage(client)).toMatch(QUEUED);
  expect(await client.ask('STARTTLS')).toMatch(/^503 /);
  client.halfClose();
  await world.expectNothingLeft();
});

test('STARTTLS is offered in clear, and not again under TLS', async () => {
  world = await SmtpWorld.start();
  const client = await world.greeted();
  expect(await client.ask('EHLO client.test')).toMatch(/\|250[- ]STARTTLS(\||$)/);
  await client.startTls();
  expect(await client.ask('EHLO client.test')).not.toContain('STARTTLS');
});

test('REQUIRETLS is offered under TLS alone, and goes along with its message', async () => {
  world = await SmtpWorld.start();
  const client = await world.greeted();
  expect(await client.ask('EHLO client.test')).not.toContain('REQUIRETLS');
  expect(await client.ask('MAIL FROM:<a@example.com> REQUIRETLS')).toMatch(/^530 5\.7\.10 /);
  await client.startTls();
  expect(await client.ask('EHLO client.test')).toMatch(/\|250-REQUIRETLS\|/);
  await beginData(client, ' REQUIRETLS');
  client.say(...MESSAGE);
  expect(await client.reply()).toMatch(QUEUED);
  expect(await sendMessage(client)).toMatch(QUEUED);
  expect(world.intake.submissions.map(({ tls }) => tls)).toEqual(['required', undefined]);
});

test('a listener without a certificate offers no STARTTLS', async () => {
  world = await SmtpWorld.start({ tls: null });
  const client = await world.greeted();
  expect(await client.ask('EHLO client.test')).not.toContain('STARTTLS');
  expect(await client.ask('STARTTLS')).toMatch(/^502 /);
});

test.each([
  ['in the same packet', true],
  ['in a packet of its own', false],
])('plaintext behind STARTTLS is dropped, %s', async (_case, together) => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  const injected = ['EHLO evil.test', ...ENVELOPE];
  if (together) client.say('STARTTLS', ...injected);
  else client.say('STARTTLS');
  expect(await client.reply()).toMatch(/^220 /);
  if (!together) client.say(...injected);
  const secured = client.secure().then(
    () => true,
    () => false,
  );
  // Plaintext that comes when TLS is awaited breaks the handshake, as it should.
  expect(await secured).toBe(together);
  if (!together) return;
  expect(await client.ask('MAIL FROM:<a@example.com>')).toMatch(/^503 /);
  expect(client.received).toMatch(/^503 [^\r\n]*\r\n$/);
});

test('plaintext behind STARTTLS is dropped that had come before it was its turn', async () => {
  world = await SmtpWorld.start();
  const client = await world.inData();
  const release = world.intake.holdAnswers();
  client.say(...MESSAGE);
  await world.until(() => world.intake.handed === 1);
  for (const line of ['NOOP', 'STARTTLS', 'EHLO evil.test']) await world.write(client, `${line}\r\n`);
  release();
  for (const code of ['250', '250', '220']) expect(await client.reply()).toMatch(new RegExp(`^${code} `));
  await client.secure();
  expect(await client.ask('MAIL FROM:<a@example.com>')).toMatch(/^503 /);
});

test('STARTTLS forgets the greeting and the transaction', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  await client.askAll(...ENVELOPE);
  await client.startTls();
  expect(await client.ask('MAIL FROM:<a@example.com>')).toMatch(/^503 /);
  await client.ask('EHLO client.test');
  expect(await client.ask('RCPT TO:<b@example.org>')).toMatch(/^503 /);
});

test('replies to a batch before STARTTLS come before the handshake', async () => {
  world = await SmtpWorld.start();
  const client = await world.greeted();
  client.say('EHLO client.test', 'NOOP', 'STARTTLS');
  expect(await client.reply()).toMatch(/^250-/);
  expect(await client.reply()).toMatch(/^250 /);
  expect(await client.reply()).toMatch(/^220 /);
  await client.secure();
  expect(await client.ask('EHLO client.test')).toMatch(/^250-/);
});

test('a new certificate holds for handshakes from then on, on every port', async () => {
  world = await SmtpWorld.start();
  const waiting = await world.hello();
  const before = await world.secured();
  world.listener.setSecureContext(createCertificate({ hosts: ['new.waybill.test'] }));
  await waiting.startTls();
  expect(nameShown(waiting)).toBe('new.waybill.test');
  expect(nameShown(await world.greeted({ implicitTls: true }))).toBe('new.waybill.test');
  expect(nameShown(before)).toBe(HOSTNAME);
  expect(await sendMessage(before)).toMatch(QUEUED);
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s is spoken', async (version) => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  expect(await client.ask('STARTTLS')).toMatch(/^220 /);
  await client.secure({ minVersion: version, maxVersion: version });
  expect((client.socket as TLSSocket).getProtocol()).toBe(version);
});

test('of the ciphers that a client knows we choose, whichever it would rather have', async () => {
  world = await SmtpWorld.start();
  const known = ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'];
  const chosen: string[] = [];
  for (const ciphers of [known, known.toReversed()]) {
    const client = await world.hello();
    await client.ask('STARTTLS');
    await client.secure({ maxVersion: 'TLSv1.2', ciphers: ciphers.join(':') });
    chosen.push((client.socket as TLSSocket).getCipher().name);
  }
  expect(chosen[1]).toBe(chosen[0]);
});

test('nobody can have us shake hands again on the same connection', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  await client.ask('STARTTLS');
  await client.secure({ maxVersion: 'TLSv1.2' });
  const socket = client.socket as TLSSocket;
  const again = new Promise<void>((resolve, reject) => {
    socket.once('error', reject).once('close', () => reject(new Error('closed')));
    socket.renegotiate({ rejectUnauthorized: false }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  await expect(again).rejects.toThrow();
});

test.each([true, false])(
  'TLS 1.1 is refused, and the connection is gone (STARTTLS: %s)',
  async (startTls) => {
    // Ciphers with which OpenSSL would speak it.
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    world = await SmtpWorld.start({ tls: { ...CERTIFICATE, ciphers: old.ciphers } });
    const client = startTls ? await world.hello() : await world.reach({ port: world.tlsPort });
    if (startTls) await client.ask('STARTTLS');
    await expect(client.secure(old)).rejects.toThrow();
    client.destroy();
    await world.expectNothingLeft();
  },
);

test.each([true, false])('bytes that are no TLS end the connection (STARTTLS: %s)', async (startTls) => {
  world = await SmtpWorld.start();
  const client = startTls ? await world.hello() : await world.reach({ port: world.tlsPort });
  if (startTls) await client.ask('STARTTLS');
  client.say('EHLO client.test', 'QUIT');
  await client.rest();
  client.destroy();
  await world.expectNothingLeft();
});

test.each([true, false])(
  'a handshake that stalls ends within half a minute (STARTTLS: %s)',
  async (startTls) => {
    world = await SmtpWorld.start();
    const client = startTls ? await world.hello() : await world.reach({ port: world.tlsPort });
    if (startTls) await client.ask('STARTTLS');
    // The beginning of a record, whose rest never comes.
    client.write(Buffer.from('1603010200010001', 'hex'));
    await world.until(() => world.listener.connections === 1);
    await world.clock.advance(29_000);
    expect(world.listener.connections).toBe(1);
    await world.clock.advance(2000);
    await client.rest();
    client.destroy();
    await world.expectNothingLeft();
  },
);

test.each([true, false])(
  'a client that goes away within the handshake leaves nothing (STARTTLS: %s)',
  async (startTls) => {
    world = await SmtpWorld.start();
    for (const leave of ['reset', 'halfClose', 'destroy'] as const) {
      const client = startTls ? await world.hello() : await world.reach({ port: world.tlsPort });
      if (startTls) await client.ask('STARTTLS');
      client.write(Buffer.from('1603010200010001', 'hex'));
      client[leave]();
      await world.expectNothingLeft();
    }
  },
);

test('a client that has closed its side before STARTTLS is its turn is gone at once', async () => {
  world = await SmtpWorld.start();
  const client = await world.inData();
  const release = world.intake.holdAnswers();
  client.say(...MESSAGE, 'STARTTLS');
  await world.until(() => world.intake.handed === 1);
  const end = world.serverEnd(client);
  client.halfClose();
  await world.until(() => end.readableEnded);
  release();
  expect(await client.rest()).toMatch(/^250 [^\r\n]*\r\n220 /);
  await world.expectNothingLeft();
});

test('the end of the service does not wait for a handshake', async () => {
  world = await SmtpWorld.start();
  const clients = [await world.hello(), await world.reach({ port: world.tlsPort })];
  expect(await clients[0]?.ask('STARTTLS')).toMatch(/^220 /);
  const before = world.clock.mono();
  await world.passing(world.listener.close(new AbortController().signal));
  expect(world.clock.mono() - before).toBeLessThan(1000);
  for (const client of clients) await client.rest();
  await world.expectNothingLeft();
});
