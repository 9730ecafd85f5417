/** Pebble, the small authority that Let's Encrypt makes for tests of ACME clients. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { systemRandom } from '../../src/lib/random.ts';
import { createSelfSigned } from '../../src/tls/self-signed.ts';
import { freePort } from './free-port.ts';
import { locate } from './need.ts';

/** Where `.ci/run` unpacks Debian's package: no program of it needs to be installed. */
const UNPACKED = join(import.meta.dirname, '../../node_modules/.cache/pebble/usr/bin');
const PROGRAM = locate('pebble') ?? join(UNPACKED, 'pebble');
const NAMES = locate('pebble-challtestsrv') ?? join(UNPACKED, 'pebble-challtestsrv');

/** The programs it needs. */
export const PEBBLE_PROGRAMS =
  existsSync(PROGRAM) && existsSync(NAMES) ? [] : ['pebble (unpacked by .ci/run)'];

const DAY_MS = 86_400_000;

/** Where it validates, and what it asks for. */
export interface PebbleOptions {
  /** Where a server answers http-01, and tls-alpn-01, under every name. */
  readonly httpPort: number;
  readonly tlsPort: number;
  /** Accounts must be bound to this one: a key's id, and the key in base64url. */
  readonly binding?: { readonly keyId: string; readonly hmacKey: string };
}

/** An authority, running. */
export interface Pebble {
  /** The URL of its directory. */
  readonly directory: string;
  /** The file with the root of its own certificate: what clients must trust to speak to it. */
  readonly caFile: string;
  stop(): void;
}

/** Starts it; resolves when it answers. Every name resolves to 127.0.0.1. */
export async function startPebble({ httpPort, tlsPort, binding }: PebbleOptions): Promise<Pebble> {
  const directory = mkdtempSync(join(tmpdir(), 'waybill-pebble-'));
  const [port, management, dns, names] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const now = Date.now();
  const { cert, key } = createSelfSigned({
    hosts: ['localhost'],
    notBefore: now - DAY_MS,
    notAfter: now + DAY_MS,
    random: systemRandom,
  });
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: file('cert.pem', cert),
    privateKey: file('key.pem', key),
    httpPort,
    tlsPort,
    ocspResponderURL: '',
    externalAccountBindingRequired: binding !== undefined,
    ...(binding === undefined ? {} : { externalAccountMACKeys: { [binding.keyId]: binding.hmacKey } }),
  };
  const config = file('pebble.json', JSON.stringify({ pebble }));
  const none = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-defaultIPv6', ''];
  // It waits before it validates, as authorities do, but tests need not.
  const env = { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_AUTHZREUSE: '0' };
  const children: ChildProcess[] = [
    spawn(NAMES, [...none, '-dns01', `127.0.0.1:${dns}`, '-management', `127.0.0.1:${names}`], {
      stdio: 'ignore',
    }),
    spawn(PROGRAM, ['-config', config, '-strict', '-dnsserver', `127.0.0.1:${dns}`], {
      stdio: 'ignore',
      env,
    }),
  ];
  const stop = () => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  };
  const url = `https://localhost:${port}/dir`;
  try {
    await vi.waitFor(() => Promise.all([answers(url, cert), accepts(dns)]), {
      timeout: 20_000,
      interval: 50,
    });
  } catch (error) {
    stop();
    throw error;
  }
  return { directory: url, caFile: join(directory, 'cert.pem'), stop };
}

function answers(url: string, ca: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { ca, agent: false }, (response) => {
      response.resume();
      resolve();
    }).on('error', reject);
  });
}

function accepts(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
  });
}
