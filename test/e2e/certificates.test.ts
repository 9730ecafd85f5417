/** Certificates by ACME: ordered of Pebble, and served on every port without a restart. */
import type { X509Certificate } from 'node:crypto';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import { expect, type TestContext, test, vi } from 'vitest';
import { createControlClient } from '../../src/control/client.ts';
import { createCertificate } from '../peers/certificate.ts';
import { freePort } from '../peers/free-port.ts';
import { describeWith } from '../peers/need.ts';
import { PEBBLE_PROGRAMS, type Pebble, type PebbleOptions, startPebble } from '../peers/pebble.ts';
import type { Installation, RunningServer } from '../peers/server.ts';
import { SmtpClient } from '../peers/smtp-client.ts';
import { installed } from './service.ts';

const NAME = 'mail.waybill-test.example';
const SLOW = { timeout: 120_000, interval: 100 };

interface Setup {
  readonly installation: Installation;
  readonly server: RunningServer;
  readonly pebble: Pebble;
}

/** Where the authority validates is where the server listens: at ports of ours, in place of 80 and 443. */
async function start(
  context: TestContext,
  acme: string,
  more = '',
  binding: Pick<PebbleOptions, 'binding'> = {},
): Promise<Setup> {
  const [httpPort, tlsPort, apiPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const pebble = await startPebble({ httpPort, tlsPort, ...binding });
  context.onTestFinished(() => pebble.stop());
  const ports = acme
    .replaceAll('HTTP_PORT', String(httpPort))
    .replaceAll('TLS_PORT', String(tlsPort))
    .replaceAll('FREE_PORT', String(apiPort));
  const [api = '', webui = '', settings = ''] = ports.split('|').map((part) => part.trim());
  const installation = installed(
    context,
    `
api: { bind: ["127.0.0.1"], tls_enabled: true, ${api} }
webui: { bind: ["127.0.0.1"], ${webui} }
listener: { ports: [0], implicit_tls_ports: [0], bind: ["127.0.0.1"] }
tls:
  acme:
    domains: [${NAME}, smtp.waybill-test.example]
    agree_terms: true
    contact: postmaster@waybill-test.example
    directory: ${pebble.directory}
    ca_file: ${pebble.caFile}
    ${settings}
${more}`,
  );
  return { installation, server: await installation.start(), pebble };
}

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

/** Until Pebble's certificate is shown everywhere; its serial number. */
async function issued(server: RunningServer, not = ''): Promise<string> {
  return await vi.waitFor(async () => {
    const found = await everywhere(server);
    const serials = new Set(found.map(({ serialNumber }) => serialNumber));
    expect(found.map(({ issuer }) => issuer)).toEqual(
      Array.from({ length: 4 }, () => expect.stringContaining('Pebble Intermediate CA')),
    );
    expect(serials.size).toBe(1);
    const [serial = ''] = serials;
    expect(serial).not.toBe(not);
    expect(found.every((one) => one.checkHost(NAME) === NAME)).toBe(true);
    return serial;
  }, SLOW);
}

const WAYS = [
  ['http-01 at a port for it alone', 'port: 0, tls_port: 0 | port: 0 | http_port: HTTP_PORT', ''],
  ['http-01 at the plain port of the API', 'port: HTTP_PORT, tls_port: 0 | port: 0 | challenge: http-01', ''],
  ['http-01 at the dashboard’s port', 'port: 0, tls_port: 0 | port: HTTP_PORT | key_type: ec-384', ''],
  [
    'tls-alpn-01 at the dashboard’s port',
    'port: 0, tls_port: 0 | port: TLS_PORT | challenge: tls-alpn-01',
    '',
  ],
  [
    'tls-alpn-01 at a port of threads that take mail',
    'port: 0, tls_port: TLS_PORT | port: 0 | challenge: tls-alpn-01',
    'threads: { ingest: 2 }',
  ],
] as const;

describeWith(PEBBLE_PROGRAMS, 'certificates by ACME', () => {
  for (const [way, acme, more] of WAYS)
    test(`one is ordered, served everywhere and renewed without a restart, by ${way}`, {
      timeout: 120_000,
    }, async (context) => {
      const { installation, server } = await start(context, acme, more);
      const first = await issued(server);
      const before = await open(server.runtime.apiTls ?? 0);
      const renewed = await installation.run('certificates', 'renew');
      expect(renewed).toMatchObject({ code: 0, stdout: expect.stringMatching(/From +ordered by ACME/) });
      await issued(server, first);
      const [certificate] = await everywhere(server);
      expect(renewed.stdout, 'the new one is shown').toContain(certificate?.fingerprint256);
      // Connections go on with what they began with.
      before.write('GET /api/v1/ready HTTP/1.1\r\nHost: x\r\n\r\n');
      await new Promise((resolve) => before.once('data', resolve));
      before.destroy();
    });

  test('it is the same after a restart', { timeout: 120_000 }, async (context) => {
    const { installation, server } = await start(context, WAYS[0][1]);
    const first = await issued(server);
    await server.end('SIGTERM');
    const again = await installation.start();
    expect((await everywhere(again)).map(({ serialNumber }) => serialNumber)).toEqual([
      first,
      first,
      first,
      first,
    ]);
  });

  test('an uploaded certificate wins, until it is removed', { timeout: 300_000 }, async (context) => {
    const { installation, server } = await start(context, WAYS[0][1]);
    await issued(server);
    const { cert, key } = createCertificate({ hosts: ['uploaded.example.com'] });
    await createControlClient(installation.dataDir).putCertificate({ certificate: cert, key });
    expect((await everywhere(server)).map(({ subject }) => subject)).toEqual(
      Array.from({ length: 4 }, () => 'CN=uploaded.example.com'),
    );
    expect((await installation.run('certificates', 'list')).stdout).toContain(
      'not while the certificate in use is your own',
    );
    expect(await installation.run('certificates', 'renew')).toMatchObject({ code: 0 });
    await issued(server);
  });

  test('an account is bound to one that the authority knows', { timeout: 300_000 }, async (context) => {
    const binding = {
      keyId: 'kid-1',
      hmacKey: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W',
    };
    const settings = `http_port: HTTP_PORT\n    eab_key_id: kid-1\n    eab_hmac: ${binding.hmacKey}`;
    const { server } = await start(context, `port: 0, tls_port: 0 | port: 0 | ${settings}`, '', { binding });
    await issued(server);
  });

  test('a failure keeps the present certificate, and says what to do', {
    timeout: 120_000,
  }, async (context) => {
    // Nothing listens where the authority looks.
    const { installation, server } = await start(
      context,
      'port: 0, tls_port: 0 | port: 0 | challenge: http-01',
    );
    await server.printed(/certificate\.order_failed/);
    const { stdout } = await installation.run('certificates', 'list');
    expect(stdout).toMatch(/From +self-signed by this server/);
    expect(stdout).toMatch(/Failed +1 time, last at .*connection refused/i);
    expect(stdout).toMatch(/To do +The authority must reach this server/);
    const renewed = await installation.run('certificates', 'renew');
    expect(renewed.code).not.toBe(0);
    expect(renewed.stderr).toContain('The authority must reach this server');
  });
});
