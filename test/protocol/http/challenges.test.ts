/** What an authority that asks whether a name is ours is answered, while others are served as ever. */
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, type TLSSocket, connect as tlsConnect } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer, type HttpLimits } from '../../../src/http/server.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Log } from '../../../src/lib/log.ts';
import { systemRandom } from '../../../src/lib/random.ts';
import { ChallengeDesk } from '../../../src/tls/challenge-desk.ts';
import { createCertificate } from '../../peers/certificate.ts';
import { challengeAnswer } from '../../support/issuing.ts';

const NAME = 'mail.example.com';
const quiet = () => {};
const log: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const limits: HttpLimits = {
  maxConnections: 100,
  headerTimeoutMs: 5_000,
  bodyTimeoutMs: 5_000,
  keepAliveMs: 5_000,
  maxHeaderBytes: 16_384,
  maxHeaders: 100,
  maxPipelinedRequests: 4,
  minBodyBytesPerSecond: 0,
  maxUnsentBytes: 1024 * 1024,
};

interface Started {
  readonly desk: ChallengeDesk;
  readonly port: number;
  /** Resolves when the beginning of a connection has been looked at. */
  readonly looked: Promise<void>;
}

/** `step`: ms that pass, for the desk, whenever it looks at its clock. */
async function start(step = 0): Promise<Started> {
  const { promise: looked, resolve } = Promise.withResolvers<void>();
  let now = 0;
  const mono = () => {
    resolve();
    now += step;
    return now;
  };
  const desk = new ChallengeDesk({ ...systemClock, mono }, systemRandom);
  const server = createHttpServer({
    hosts: ['127.0.0.1'],
    port: 0,
    tls: createCertificate({ hosts: ['usual.example.com'] }),
    challenges: desk,
    limits,
    clock: systemClock,
    random: systemRandom,
    log,
    handler: (exchange) => exchange.text(200, 'usual'),
  });
  const port = await server.listen();
  onTestFinished(() => server.close(AbortSignal.abort()));
  return { desk, port, looked };
}

/** A connection by TLS; with `after`, only three bytes are sent before that. */
function open(port: number, options: ConnectionOptions, after?: Promise<void>): Promise<TLSSocket> {
  const tcp = connect({ port, host: '127.0.0.1', noDelay: true });
  const through = after === undefined ? tcp : inPieces(tcp, after);
  return new Promise((resolve, reject) => {
    const socket = tlsConnect({ socket: through, rejectUnauthorized: false, ...options });
    socket.on('error', reject).once('secureConnect', () => resolve(socket));
  });
}

function inPieces(tcp: ReturnType<typeof connect>, after: Promise<void>): Duplex {
  const duplex = new Duplex({
    read: () => {},
    write: (chunk: Buffer, _encoding, done) => {
      tcp.write(chunk.subarray(0, 3));
      void after.then(() => tcp.write(chunk.subarray(3), () => done()));
    },
  });
  // The server closes it once it has proven the name.
  tcp.on('error', () => {}).on('data', (chunk) => duplex.push(chunk));
  tcp.on('close', () => duplex.push(null));
  return duplex;
}

const TLS = challengeAnswer({ kind: 'tls-alpn-01', name: NAME, keyAuthorization: 'token.print' });
const ASKING = { servername: NAME, ALPNProtocols: ['acme-tls/1'] };

test.each([false, true])('an authority by TLS sees the proof, in pieces: %s', async (slowly) => {
  const { desk, port, looked } = await start();
  desk.set([TLS]);
  const socket = await open(port, ASKING, slowly ? looked : undefined);
  const certificate = socket.getPeerX509Certificate();
  expect(socket.alpnProtocol).toBe('acme-tls/1');
  expect(certificate?.subjectAltName).toBe(`DNS:${NAME}`);
  // RFC 8737 §3: a critical extension with the digest of the key authorization.
  const digest = createHash('sha256').update('token.print').digest('hex');
  expect(certificate?.raw.toString('hex')).toContain(`06082b0601050507011f0101ff04220420${digest}`);
  if (!slowly) await new Promise((resolve) => socket.resume().once('close', resolve));
});

test.each<[string, ConnectionOptions]>([
  ['a client that asks for the same name', { servername: NAME }],
  ['one that speaks HTTP/1.1', { servername: NAME, ALPNProtocols: ['http/1.1'] }],
  ['one that names nobody', {}],
])('while a proof is awaited, %s is served as ever', async (_who, options) => {
  const { desk, port, looked } = await start();
  desk.set([TLS]);
  const socket = await open(port, options, looked);
  expect(socket.getPeerX509Certificate()?.subject).toBe('CN=usual.example.com');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(String(await new Promise((resolve) => socket.once('data', resolve)))).toMatch(/^HTTP\/1.1 200 /);
  socket.destroy();
});

test('an authority that asks for a name that is not proven is refused in the handshake', async () => {
  const { desk, port } = await start();
  desk.set([TLS]);
  const other = { servername: 'other.example.com', ALPNProtocols: ['acme-tls/1'] };
  const socket = await open(port, other).catch((error: Error) => error);
  if (!(socket instanceof Error)) {
    expect(socket.alpnProtocol).toBe(false);
    socket.destroy();
  }
});

test('while a proof is awaited, nobody may take longer over the beginning than over a handshake', async () => {
  const { desk, port, looked } = await start(10_000);
  desk.set([TLS]);
  const socket = await open(port, { servername: NAME, ALPNProtocols: ['acme-tls/1', 'http/1.1'] }, looked);
  expect(socket.getPeerX509Certificate()?.subject).toBe('CN=usual.example.com');
  socket.destroy();
});

test('while a proof is awaited, a beginning without end is refused at once', async () => {
  const { desk, port } = await start();
  desk.set([TLS]);
  const tcp = connect({ port, host: '127.0.0.1' }).on('error', () => {});
  onTestFinished(() => void tcp.destroy());
  // A record of 64 KiB, which TLS does not have.
  tcp.write(Buffer.concat([Buffer.of(22, 3, 1, 255, 255), Buffer.alloc(17_000)]));
  const [first]: number[] = await new Promise((resolve) => tcp.once('data', (data) => resolve([...data])));
  expect(first, 'an alert').toBe(21);
});

test('who is told of the answers is told of those that are given already', () => {
  const desk = new ChallengeDesk(systemClock, systemRandom);
  desk.set([TLS]);
  const told: unknown[] = [];
  desk.onChange((answers) => told.push(answers));
  desk.set([]);
  expect(told).toEqual([[TLS], []]);
});

test('over HTTP the token’s answer is given, to GET alone, and forgotten with the order', async () => {
  const { desk, port } = await start();
  desk.set([challengeAnswer()]);
  const ask = async (method: string, token: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/.well-known/acme-challenge/${token}`, { method });
    return `${answer.status} ${answer.headers.get('content-type')} ${await answer.text()}`;
  };
  expect(await ask('GET', 'a')).toBe('200 application/octet-stream a.print');
  expect(await ask('GET', 'b')).toMatch(/^400 /);
  expect(await ask('POST', 'a')).toMatch(/^400 /);
  desk.set([]);
  expect(await ask('GET', 'a')).toMatch(/^400 /);
});
