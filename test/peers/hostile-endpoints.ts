import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createCertificate } from './certificate.ts';

/** Receivers of webhooks that do whatever costs a sender most, over real sockets. */

/** One of them, running. */
export interface Hostile {
  /** Where it is posted to. */
  readonly url: string;
  /** Connections that it was given so far. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

/** What one does with a connection; `begun` resolves when the first byte of a request has come. */
type Behaviour = (socket: Socket, begun: Promise<void>) => void;

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
/** Written at once by those that never end. */
const MUCH = 65_536;
/** A trickle: slow, and yet never silent. */
const TRICKLE_MS = 50;

/** Over plain TCP, by what they do. */
const OVER_TCP: Readonly<Record<string, Behaviour>> = {
  'reads the request and never answers': (socket) => void socket.resume(),
  'takes the connection and reads nothing': () => {},
  'sends its answer a byte at a time': (socket, begun) => {
    const text = `${OK}X-Long: ${'x'.repeat(10_000)}`;
    let place = 0;
    void begun.then(() => {
      const timer = setInterval(() => socket.write(text[place++] ?? 'x'), TRICKLE_MS);
      socket.on('close', () => clearInterval(timer));
    });
  },
  'sends a body without end': (socket, begun) =>
    void begun.then(() => {
      socket.write(`${OK}\r\n`);
      flood(socket, 'x'.repeat(MUCH));
    }),
  'sends a header without end': (socket, begun) =>
    void begun.then(() => {
      socket.write(`${OK}X-Long: `);
      flood(socket, 'x'.repeat(MUCH));
    }),
  'sends header fields without end': (socket, begun) =>
    void begun.then(() => {
      socket.write(OK);
      flood(socket, 'X-One-More: of them\r\n'.repeat(MUCH / 20));
    }),
  'sends a phrase without end': (socket, begun) =>
    void begun.then(() => {
      socket.write('HTTP/1.1 200 ');
      flood(socket, 'x'.repeat(MUCH));
    }),
  'sends interim answers without end': (socket, begun) =>
    void begun.then(() => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(MUCH / 28))),
  'sends 100 Continue without end': (socket, begun) =>
    void begun.then(() => flood(socket, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(MUCH / 25))),
  'sends the extension of a chunk without end': (socket, begun) =>
    void begun.then(() => {
      socket.write(`${CHUNKED}1;`);
      flood(socket, 'x'.repeat(MUCH));
    }),
  'sends trailers without end': (socket, begun) =>
    void begun.then(() => {
      socket.write(`${CHUNKED}0\r\n`);
      flood(socket, 'X-One-More: of them\r\n'.repeat(MUCH / 20));
    }),
  'floods before it was asked': (socket) => void flood(socket, 'x'.repeat(MUCH)),
  'resets the connection': (socket) => void socket.resetAndDestroy(),
  'resets it once the request has come': (socket, begun) => void begun.then(() => socket.resetAndDestroy()),
  'resets it within its answer': (socket, begun) =>
    void begun.then(() => socket.write(`${OK}X-Half: `, () => socket.resetAndDestroy())),
  'closes without an answer': (socket, begun) => void begun.then(() => socket.end()),
  'answers something else': (socket, begun) => void begun.then(() => socket.end('220 mx.example ESMTP\r\n')),
};

/** Writes without end, as fast as it is read. */
function flood(socket: Socket, text: string): void {
  const more = (): unknown => socket.writable && socket.write(text, () => setImmediate(more));
  more();
}

async function listening(server: Server, scheme: 'http' | 'https', host: string): Promise<Hostile> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `${scheme}://${host}:${(server.address() as AddressInfo).port}/hook`,
    connections: () => connections,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function overTcp(behave: Behaviour, scheme: 'http' | 'https' = 'http'): Promise<Hostile> {
  const server = createServer((socket) => {
    behave(socket, new Promise((resolve) => socket.once('data', () => resolve())));
  });
  return listening(server, scheme, '127.0.0.1');
}

/** Those that end by themselves never: only a time limit ends them. */
export const HANGING: ReadonlySet<string> = new Set([
  'reads the request and never answers',
  'takes the connection and reads nothing',
  'sends its answer a byte at a time',
  'leaves the handshake of TLS hanging',
]);

/** All of them: what each does, and a way to start it. */
export const HOSTILE: Readonly<Record<string, () => Promise<Hostile>>> = {
  ...Object.fromEntries(
    Object.entries(OVER_TCP).map(([what, behave]) => [what, () => overTcp(behave)] as const),
  ),
  'redirects into the network': () =>
    listening(
      createHttpServer((_, response) =>
        response.writeHead(307, { Location: 'http://169.254.169.254/latest/' }).end(),
      ),
      'http',
      '127.0.0.1',
    ),
  'speaks plain HTTP where TLS is expected': () =>
    overTcp((socket, begun) => void begun.then(() => socket.end(`${OK}\r\n`)), 'https'),
  'leaves the handshake of TLS hanging': () => overTcp((socket) => void socket.resume(), 'https'),
  'floods the handshake of TLS': () =>
    overTcp(
      (socket, begun) => void begun.then(() => flood(socket, '\x16\x03\x03'.repeat(MUCH / 3))),
      'https',
    ),
  'has a certificate that nobody signed': () =>
    listening(createTlsServer(createCertificate({ hosts: ['127.0.0.1'] })), 'https', '127.0.0.1'),
};
