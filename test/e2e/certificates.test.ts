/**
 * Certificates by ACME: ordered of Pebble, and served on every port without a restart. One server after the other lives
 * through all of it.
 */
import type { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createControlClient } from '../../src/control/client.ts';
import type { Finding } from '../../src/operations/system.ts';
import type { Operations } from '../../src/operations/table.ts';
import { ask, healthOf } from '../crash/customer.ts';
import { startAuthority, type TestAuthority } from '../peers/acme-authority.ts';
import { createCertificate } from '../peers/certificate.ts';
import { type Forwarder, startForwarder } from '../peers/forwarder.ts';
import { freePort } from '../peers/free-port.ts';
import { describeWith } from '../peers/need.ts';
import { PEBBLE_PROGRAMS, type Pebble, startPebble } from '../peers/pebble.ts';
import { Installation, type RunningServer, type Runtime } from '../peers/server.ts';
import { SmtpClient } from '../peers/smtp-client.ts';

const NAME = 'mail.waybill-test.example';
const DAY_MS = 86_400_000;
const SLOW = { timeout: 120_000, interval: 100 };
/** Of the account at an authority that wants one. */
const BINDING = {
  keyId: 'kid-1',
  hmacKey: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W',
};

function open(port: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = tlsConnect({ port, host: '127.0.0.1', servername: NAME, rejectUnauthorized: false });
    socket.on('error', reject).once('secureConnect', () => resolve(socket));
  });
}

async function shown(port: number): Promise<X509Certificate> {
  const socket = await open(port);
  const found = socket.getPeerX509Certificate();
  socket.destroy();
  if (found === undefined) throw new Error('no certificate');
  return found;
}

async function shownByStartTls(port: number): Promise<X509Certificate> {
  const client = await SmtpClient.connect(port);
  await client.reply();
  await client.ask('EHLO test.example');
  await client.startTls();
  const found = (client.socket as TLSSocket).getPeerX509Certificate();
  client.socket.destroy();
  if (found === undefined) throw new Error('no certificate');
  return found;
}

/** The certificates of all ports that speak TLS. */
async function everywhere({ runtime }: RunningServer): Promise<X509Certificate[]> {
  return [
    await shown(runtime.webui ?? 0),
    await shown(runtime.apiTls ?? 0),
    await shown(runtime.smtpTls[0] ?? 0),
    await shownByStartTls(runtime.smtp[0] ?? 0),
  ];
}

type Way = readonly [
  how: string,
  challenge: 'http-01' | 'tls-alpn-01',
  port: (runtime: Runtime) => number | null,
  settings: object,
];

/** Threads take mail. */
const WITH_THREADS: readonly Way[] = [
  ['http-01 at the plain port of the API', 'http-01', ({ api }) => api, {}],
  ['http-01 at the dashboard’s port', 'http-01', ({ webui }) => webui, { 'tls.acme.key_type': 'ec-384' }],
  ['tls-alpn-01 at the TLS port of the API', 'tls-alpn-01', ({ apiTls }) => apiTls, {}],
];
const WITHOUT: readonly Way[] = [
  ['http-01 at the plain port of the API', 'http-01', ({ api }) => api, {}],
  ['tls-alpn-01 at the dashboard’s port', 'tls-alpn-01', ({ webui }) => webui, {}],
];

describeWith(PEBBLE_PROGRAMS, 'certificates by ACME', () => {
  const ends: (() => unknown)[] = [];
  const untilTheEnd = { onTestFinished: (end: () => void) => void ends.push(end) };
  /** Where the authorities look, in place of the ports 80 and 443. */
  let port80: Forwarder;
  let port443: Forwarder;
  /** Nothing listens there. */
  let nowhere: number;
  let pebble: Pebble;
  let strict: Pebble;
  let own: TestAuthority;
  let installation: Installation;
  let server: RunningServer;
  let operations: Operations;

  beforeAll(async () => {
    const [alone, free] = await Promise.all([freePort(), freePort()]);
    nowhere = free;
    [port80, port443] = await Promise.all([
      startForwarder(alone, untilTheEnd),
      startForwarder(nowhere, untilTheEnd),
    ]);
    const ports = { httpPort: port80.port, tlsPort: port443.port };
    [pebble, strict, own] = await Promise.all([
      startPebble(ports),
      startPebble({ ...ports, binding: BINDING }),
      // What it issues has 13 days left of 90, and the next order is refused.
      startAuthority(
        async (token) => {
          own.faults.rateLimited = '7200';
          return (await ask(server, `/.well-known/acme-challenge/${token}`)).body;
        },
        () => Date.now() - 77 * DAY_MS,
      ),
    ]);
    ends.push(pebble.stop, strict.stop, () => own.stop());
    installation = new Installation('');
    ends.push(() => installation.remove());
    configure(pebble, `http_port: ${alone}`, 'threads: { ingest: 2 }');
    operations = createControlClient(installation.dataDir);
    server = await installation.start();
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  function configure(
    { directory, caFile }: Pick<Pebble, 'directory' | 'caFile'>,
    acme = '',
    more = '',
  ): void {
    installation.configure(`
server: { hostname: ${NAME} }
dns: { servers: ["127.0.0.1:1"] }
api: { bind: ["127.0.0.1"], tls_enabled: true, port: 0, tls_port: 0 }
webui: { bind: ["127.0.0.1"], port: 0 }
listener: { ports: [0], implicit_tls_ports: [0], bind: ["127.0.0.1"] }
tls:
  acme:
    domains: [${NAME}, smtp.waybill-test.example]
    agree_terms: true
    contact: postmaster@waybill-test.example
    directory: ${directory}
    ca_file: ${caFile}
    ${acme}
${more}`);
  }

  /** Until a certificate of this authority is shown everywhere; its serial number. */
  async function issued(by = 'Pebble Intermediate CA', not = ''): Promise<string> {
    return await vi.waitFor(async () => {
      const found = await everywhere(server);
      const serials = new Set(found.map(({ serialNumber }) => serialNumber));
      expect(found.map(({ issuer }) => issuer)).toEqual(
        Array.from({ length: 4 }, () => expect.stringContaining(by)),
      );
      expect(serials.size).toBe(1);
      const [serial = ''] = serials;
      expect(serial).not.toBe(not);
      expect(found.every((one) => one.checkHost(NAME) === NAME)).toBe(true);
      return serial;
    }, SLOW);
  }

  async function renewBy([, challenge, port, settings]: Way): Promise<void> {
    const first = await issued();
    const way = challenge === 'http-01' ? port80 : port443;
    way.target = port(server.runtime) ?? nowhere;
    await operations.putSettings({ values: { 'tls.acme.challenge': challenge, ...settings } });
    const before = await open(server.runtime.apiTls ?? 0);
    const renewed = await installation.run('certificates', 'renew');
    expect(renewed).toMatchObject({ code: 0, stdout: expect.stringMatching(/From +ordered by ACME/) });
    await issued('Pebble', first);
    const [certificate] = await everywhere(server);
    expect(renewed.stdout, 'the new one is shown').toContain(certificate?.fingerprint256);
    // Connections go on with what they began with.
    before.write('GET /api/v1/ready HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => before.once('data', resolve));
    before.destroy();
    way.target = nowhere;
  }

  test('one is ordered by itself, by http-01 at a port for it alone, and served everywhere', async () => {
    await issued();
    port80.target = nowhere;
  });

  test.each(WITH_THREADS)('threads that take mail: one is renewed without a restart, by %s', (...way) =>
    renewBy(way),
  );

  test('a server killed during an order has the former one when it is back', async () => {
    const first = await issued();
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    // Takes connections of the authority, and answers nothing.
    const silent = createServer(() => resolve());
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    port80.target = (silent.address() as { readonly port: number }).port;
    await operations.putSettings({ values: { 'tls.acme.challenge': 'http-01' } });
    const order = installation.run('certificates', 'renew');
    await asked;
    await server.end('SIGKILL');
    expect(await order).not.toMatchObject({ code: 0 });
    silent.close();
    configure(pebble);
    server = await installation.start();
    expect(await issued()).toBe(first);
  });

  test.each(WITHOUT)('no thread of its own: one is renewed without a restart, by %s', (...way) =>
    renewBy(way),
  );

  test('an uploaded certificate wins, until it is removed', async () => {
    const { cert, key } = createCertificate({ hosts: ['uploaded.example.com'] });
    await operations.putCertificate({ certificate: cert, key });
    expect((await everywhere(server)).map(({ subject }) => subject)).toEqual(
      Array.from({ length: 4 }, () => 'CN=uploaded.example.com'),
    );
    expect((await installation.run('certificates', 'list')).stdout).toContain(
      'not while the certificate in use is your own',
    );
    port443.target = server.runtime.webui ?? nowhere;
    expect(await installation.run('certificates', 'renew')).toMatchObject({ code: 0 });
    await issued();
    port443.target = nowhere;
  });

  test('a failure keeps the present certificate, and says what to do', async () => {
    const first = await issued();
    await operations.putSettings({ values: { 'tls.acme.challenge': 'http-01' } });
    const renewed = await installation.run('certificates', 'renew');
    expect(renewed.code).not.toBe(0);
    expect(renewed.stderr).toContain('The authority must reach this server');
    const { stdout } = await installation.run('certificates', 'list');
    expect(stdout).toMatch(/From +ordered by ACME/);
    expect(stdout).toMatch(/Failed +1 time, last at /);
    expect(stdout).toMatch(/To do +The authority must reach this server/);
    expect(await issued()).toBe(first);
  });

  test('another authority is asked once it is configured, with an account bound to one that it knows', async () => {
    const first = await issued();
    port80.target = server.runtime.webui ?? nowhere;
    configure(strict, `eab_key_id: ${BINDING.keyId}\n    eab_hmac: ${BINDING.hmacKey}`);
    server.signal('SIGHUP');
    await issued('Pebble', first);
  });

  test('13 days before the end a renewal that fails is told by the doctor and in health', async () => {
    const caFile = join(installation.dataDir, 'root.pem');
    writeFileSync(caFile, own.ca);
    configure({ directory: own.directory, caFile });
    server.signal('SIGHUP');
    const last = await issued('Test Authority');
    const renewed = await installation.run('certificates', 'renew');
    expect(renewed.code).not.toBe(0);
    expect(renewed.stderr).toContain('too many certificates for this name');
    expect(await issued('Test Authority')).toBe(last);
    await vi.waitFor(async () => {
      const { status, checks } = await healthOf(server);
      expect(status).toBe('degraded');
      expect(checks.find(({ name }) => name === 'certificate')?.detail).toMatch(/expires within 14 days/);
    }, SLOW);
    const examined = await installation.run('doctor', '--json');
    const { findings }: { readonly findings: readonly Finding[] } = JSON.parse(examined.stdout);
    expect(findings.filter(({ name }) => name.startsWith('certificate'))).toMatchObject([
      { status: 'warn', found: expect.stringContaining('expires in 12 days') },
      { status: 'warn', found: expect.stringContaining('too many certificates for this name') },
    ]);
  });
});
