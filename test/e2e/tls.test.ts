/** The ingestion API and SMTP over TLS, by the real server (contract §1, §12). */
import { renameSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import { describe, expect, type TestContext, test } from 'vitest';
import { createCertificate } from '../peers/certificate.ts';
import { exchangeRaw } from '../peers/http.ts';
import type { Installation, RunningServer } from '../peers/server.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { createKey, installed } from './service.ts';

const LETTER = { from: 'a@example.com', to: ['b@example.net'], subject: 'x', text: 'x' };

interface Setup {
  readonly installation: Installation;
  readonly server: RunningServer;
  readonly tlsPort: number;
  /** Puts another certificate in place, whole or (with the key of another) broken. */
  readonly replace: (host: string, broken?: 'broken') => void;
}

async function start(context: TestContext, more = '', webui = 'null'): Promise<Setup> {
  const installation = installed(context, '');
  const files = { cert: join(installation.dataDir, 'c.pem'), key: join(installation.dataDir, 'k.pem') };
  const put = (file: string, text: string) => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const replace = (host: string, broken?: 'broken') => {
    const { cert, key } = createCertificate({ hosts: [host] });
    if (broken === undefined) put(files.key, key);
    put(files.cert, cert);
  };
  replace('first.example.com');
  installation.configure(`
api: { port: 0, tls_enabled: true, tls_port: 0, bind: ["127.0.0.1"] }
webui: { port: ${webui} }
listener: { ports: [], implicit_tls_ports: [0], bind: ["127.0.0.1"] }
tls: { cert_file: ${files.cert}, key_file: ${files.key} }
${more}`);
  const server = await installation.start();
  return { installation, server, tlsPort: server.runtime.apiTls ?? 0, replace };
}

/** A TLS connection, once its handshake is done. */
function open(
  port: number,
  options: { readonly maxVersion?: 'TLSv1.1' | 'TLSv1.2'; readonly ciphers?: string } = {},
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const all = { port, host: '127.0.0.1', rejectUnauthorized: false, ...options };
    const socket = tlsConnect({ ...all, ...(options.maxVersion === 'TLSv1.1' && { minVersion: 'TLSv1' }) });
    socket.on('error', reject).once('secureConnect', () => resolve(socket));
  });
}

/** The name in the certificate that new connections are shown. */
async function shown(port: number): Promise<string> {
  const socket = await open(port);
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}

/** Asks for `/api/v1/ready` on an open connection, and leaves it open. */
function ready(socket: TLSSocket): Promise<string> {
  socket.write('GET /api/v1/ready HTTP/1.1\r\nHost: x\r\n\r\n');
  return new Promise((resolve) => socket.once('data', (chunk: Buffer) => resolve(chunk.toString())));
}

/** Posts {@link LETTER} over TLS; the status. */
function post(port: number, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const options = { port, host: '127.0.0.1', path: '/api/v1/messages', method: 'POST', headers };
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ ...options, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject).end(JSON.stringify(LETTER));
  });
}

describe('TLS', { timeout: 40_000 }, () => {
  test('both ports serve the same API, and the trace says which way a message came', async (context) => {
    const sink = await startSmtpSink();
    context.onTestFinished(() => sink.close());
    const relay = `{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }`;
    const more = `relays: [${relay}]\ndelivery: { default_relay: out }`;
    const { installation, server, tlsPort } = await start(context, more);
    const key = await createKey(installation, 'app');
    const { api } = server.runtime;
    expect(new Set([api, tlsPort]).size).toBe(2);
    expect(await post(tlsPort, key)).toBe(202);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const plain = await fetch(`${server.api}/api/v1/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify(LETTER),
    });
    expect(plain.status).toBe(202);
    await sink.until(() => sink.messages.length === 2);
    const traces = sink.messages.map(({ content }) => /\bwith (HTTPS?)\b/.exec(content.toString())?.[1]);
    expect(traces.sort()).toEqual(['HTTP', 'HTTPS']);
  });

  test('a replaced certificate holds for new connections, and open ones live on', async (context) => {
    const { server, tlsPort, replace } = await start(context);
    const kept = await open(tlsPort);
    expect(await ready(kept)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await shown(tlsPort)).toBe('first.example.com');
    replace('second.example.com');
    server.signal('SIGHUP');
    await server.printed(/certificate\.changed/);
    const [smtpTls = 0] = server.runtime.smtpTls;
    for (const port of [tlsPort, smtpTls]) expect(await shown(port)).toBe('second.example.com');
    replace('broken.example.com', 'broken');
    server.signal('SIGHUP');
    await server.printed(/tls\.key_file .*: the key is not .*certificate\.not_reloaded/);
    expect(await shown(tlsPort)).toBe('second.example.com');
    expect(await ready(kept)).toMatch(/^HTTP\/1\.1 200 /);
    kept.destroy();
  });

  test('a replaced certificate is found without a signal', async (context) => {
    const { server, tlsPort, replace } = await start(context);
    replace('second.example.com');
    await server.printed(/certificate\.changed/);
    expect(await shown(tlsPort)).toBe('second.example.com');
  });

  test('what is older than TLS 1.2 is refused', async (context) => {
    const { tlsPort } = await start(context);
    const socket = await open(tlsPort, { maxVersion: 'TLSv1.2' });
    expect(socket.getProtocol()).toBe('TLSv1.2');
    socket.destroy();
    await expect(open(tlsPort, { maxVersion: 'TLSv1.1' })).rejects.toThrow();
  });

  test('suites without authenticated encryption or forward secrecy are refused at every listener', async (context) => {
    const { server, tlsPort, replace } = await start(context, '', '0');
    const [smtpTls = 0] = server.runtime.smtpTls;
    const weak = ['ECDHE-ECDSA-AES128-SHA256', 'ECDHE-ECDSA-AES256-SHA', 'ECDHE-RSA-AES128-SHA256'];
    const refuses = async () => {
      for (const port of [tlsPort, smtpTls, server.runtime.webui ?? 0]) {
        for (const ciphers of [...weak, 'ECDHE-RSA-AES256-SHA', 'AES128-SHA', 'AES128-GCM-SHA256'])
          await expect(open(port, { maxVersion: 'TLSv1.2', ciphers })).rejects.toThrow(/handshake failure/);
        const socket = await open(port, { maxVersion: 'TLSv1.2' });
        expect(socket.getCipher().name).toMatch(/^ECDHE-.*(GCM|POLY1305)/);
        socket.destroy();
      }
    };
    await refuses();
    replace('second.example.com');
    server.signal('SIGHUP');
    await server.printed(/certificate\.changed/);
    await refuses();
  });

  test('each port tells who speaks the other’s language', async (context) => {
    const { server, tlsPort } = await start(context);
    const plain = 'GET /api/v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    for (const path of ['/health', '/metrics?x=1']) {
      const answer = await exchangeRaw(tlsPort, plain.replace('/api/v1/messages', path));
      expect(answer).toMatch(/^HTTP\/1\.1 404 .*"not_found"/s);
    }
    expect(await exchangeRaw(tlsPort, plain)).toMatch(/^HTTP\/1\.1 400 .*"plain_on_tls_port".*https:\/\//s);
    expect(await exchangeRaw(server.runtime.api ?? 0, '\x16\x03\x01\x00\xc8\x01')).toMatch(
      /^HTTP\/1\.1 400 .*"tls_on_plain_port"/s,
    );
  });
});
