import type { IncomingMessage } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { STATUS_CODES } from '../lib/node-http.ts';
import { PROBLEM_TYPE, Problem, problemBody } from './problem.ts';

/** Refuses malformed requests before routing, and bytes that are not a request at all. */

/** Limits on a request's header. */
export interface HeadLimits {
  /** Fields, counting repeated ones each time. */
  readonly maxHeaders: number;
}

/** The longest request target accepted; RFC 9112 §3 requires at least 8,000. */
const MAX_TARGET_BYTES = 8192;

/** Fields that must not be repeated: Node keeps the first, or joins them. */
const SINGLE = new Set(['host', 'authorization', 'content-type', 'idempotency-key']);
const LONGEST_SINGLE = 'idempotency-key'.length;
/** A host and an optional port (RFC 9110 §7.2); empty if the target has no host. */
const HOST = /^(?:[\w.~%!$&'()*+,;=-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/**
 * The fault of a request's head that RFC 9110 and 9112 want refused, and Node does not refuse. Null if there is none.
 */
export function checkHead(request: IncomingMessage, limits: HeadLimits): Problem | null {
  const { rawHeaders, headers, httpVersion } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return wrongVersion();
  if ((request.url ?? '').length > MAX_TARGET_BYTES) return targetTooLong();
  if (rawHeaders.length > 2 * limits.maxHeaders) return tooManyHeaders(limits.maxHeaders);
  const repeated = repeatedField(rawHeaders);
  if (repeated !== null)
    return new Problem(400, 'header_repeated', `The field ${repeated} may appear only once in a header.`);
  return checkHost(headers.host, httpVersion) ?? checkFraming(request);
}

function targetTooLong(): Problem {
  return new Problem(
    414,
    'target_too_long',
    `The request target may have at most ${MAX_TARGET_BYTES} bytes.`,
  );
}

/** The refusal of another version of HTTP (RFC 9110 §15.6.6). */
function wrongVersion(): Problem {
  return new Problem(505, 'unsupported_http_version', 'Use HTTP/1.1 on this port.');
}

function tooManyHeaders(max: number): Problem {
  return new Problem(
    431,
    'too_many_headers',
    `A request may have at most ${max} header fields (api.max_request_headers).`,
  );
}

/** The first such field that is repeated. */
function repeatedField(rawHeaders: readonly string[]): string | null {
  let seen: string[] | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i] ?? '';
    if (raw.length > LONGEST_SINGLE) continue;
    const name = raw.toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen?.includes(name)) return name;
    seen ??= [];
    seen.push(name);
  }
  return null;
}

function checkHost(host: string | undefined, httpVersion: string): Problem | null {
  if (host === undefined)
    return httpVersion === '1.1'
      ? new Problem(400, 'host_missing', 'An HTTP/1.1 request must name its Host.')
      : null;
  if (HOST.test(host)) return null;
  return new Problem(400, 'host_malformed', 'Host must be a host name or address, with an optional port.');
}

function checkFraming({ headers, httpVersion }: IncomingMessage): Problem | null {
  if (httpVersion === '1.0') {
    // RFC 9112 §6.1: the end of such a message is uncertain. And §10.1.1: its Expect must be ignored.
    if (headers['transfer-encoding'] === undefined) return null;
    return new Problem(400, 'malformed_request', 'HTTP/1.0 has no Transfer-Encoding; send Content-Length.');
  }
  const { expect } = headers;
  if (expect === undefined || expect.toLowerCase() === '100-continue') return null;
  return new Problem(417, 'expectation_failed', 'The only supported expectation is 100-continue.');
}

/** Node's error for an unreadable request. */
export interface ClientError extends Error {
  readonly code?: string;
  /** The last bytes read from the socket. */
  readonly rawPacket?: Buffer;
  /** How many of them were understood. */
  readonly bytesParsed?: number;
}

/** The first bytes of a TLS connection: a record of type handshake, version 3 (RFC 8446 §5.1). */
const TLS_HANDSHAKE = '\x16\x03';

/** Bytes after the last request of a connection (`Connection: close`) are ignored (RFC 9112 §9.6). */
export function isBeyondLast(error: ClientError): boolean {
  return error.code === 'HPE_CLOSED_CONNECTION';
}

/** The answer to an unreadable request; null if there is nobody to answer. */
export function problemOfClientError(error: ClientError, socket: Socket): Problem | null {
  const { code = '' } = error;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    // Opened in advance, as browsers do, but unused: no request was made.
    if (socket.bytesRead === 0) return null;
    return new Problem(408, 'request_timeout', 'The request did not arrive in time; send it faster.');
  }
  if (!code.startsWith('HPE_')) return null;
  const line = faultyLine(error);
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return line.length > MAX_TARGET_BYTES && /^[A-Z]+ /.test(line) ? targetTooLong() : headerTooLarge();
    case 'HPE_INVALID_METHOD':
      if (line.startsWith(TLS_HANDSHAKE)) return tlsOnPlainPort();
      return /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r?$/.test(line) ? unsupportedMethod() : malformed();
    case 'HPE_INVALID_VERSION':
      return / HTTP\/(?!1\.[01]\s*$)\S+\s*$/.test(line) ? wrongVersion() : malformed();
    case 'HPE_PAUSED_H2_UPGRADE':
      return wrongVersion();
    default:
      return malformed();
  }
}

/** The unreadable line, as far as the last packet has it. */
function faultyLine({ rawPacket, bytesParsed = 0 }: ClientError): string {
  const text = rawPacket?.toString('latin1') ?? '';
  const start = bytesParsed === 0 ? 0 : text.lastIndexOf('\n', bytesParsed - 1) + 1;
  const end = text.indexOf('\n', start);
  return text.slice(start, end < 0 ? undefined : end);
}

/** The refusal of a method that none of our servers knows (RFC 9110 §9.1). */
export function unsupportedMethod(): Problem {
  return new Problem(501, 'unsupported_method', 'This server does not know that method.');
}

/** The refusal of a connection over the limit. */
export function tooManyConnections(max: number): Problem {
  const detail = `There are too many connections; at most ${max} are allowed. Nothing was accepted.`;
  return new Problem(503, 'too_many_connections', detail, { headers: { 'Retry-After': '1' } });
}

/** The refusal of HTTP on an SMTP port (contract §1). */
export function spokenToSmtp(webuiPort: number | null): Problem {
  return new Problem(404, 'not_found', `This port speaks SMTP. ${whereHealthIs(webuiPort)}`);
}

/** Where this server reports its health, given its dashboard's port, or none. */
export function whereHealthIs(webuiPort: number | null): string {
  return webuiPort === null
    ? 'This server has no dashboard, /health or /metrics: webui.port is off, or another node has that role.'
    : `/health, /metrics and the dashboard are on port ${webuiPort} (webui.port), over HTTPS.`;
}

/** Answers on a connection without Node's server, for requests it did not or could not read; does not end it. */
export function answerRaw(problem: Problem, socket: Socket, requestId: string, isHead = false): void {
  const body = problemBody(problem, requestId);
  socket.write(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\n` +
      `X-Request-Id: ${requestId}\r\nContent-Type: ${PROBLEM_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${isHead ? '' : body}`,
  );
}

function headerTooLarge(): Problem {
  return new Problem(
    431,
    'header_too_large',
    'The header of the request is too large; send fewer or shorter fields (api.max_request_header_bytes).',
  );
}

function tlsOnPlainPort(): Problem {
  return new Problem(400, 'tls_on_plain_port', 'This port speaks plain HTTP; use http:// or the TLS port.');
}

function malformed(): Problem {
  return new Problem(400, 'malformed_request', 'The request is not well-formed HTTP/1.1 (RFC 9112).');
}

/** The first byte of every TLS connection: a record of type handshake (RFC 8446 §5.1). */
const HANDSHAKE_RECORD = 0x16;

/** The refusal of plain HTTP on a TLS port. */
export function plainOnTlsPort(): Problem {
  return new Problem(400, 'plain_on_tls_port', 'This port speaks TLS; use https:// or the plain port.');
}

/**
 * Lets an HTTPS server accept plain HTTP on the same port, so that a client who forgot the `s` can be told. The first
 * byte decides; a connection that sends none for `patienceMs` is ended. Must be called before anything else listens for
 * connections.
 */
export function takePlainToo(
  server: TlsServer,
  patienceMs: number,
  challenges: { readonly looksAtTls: boolean; receive(socket: Socket, other: () => void): void } | null,
): void {
  const startTls = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const giveUp = () => socket.destroy();
    // Until a protocol takes over, nobody else listens, and an unhandled error would end the process.
    socket.on('error', giveUp);
    socket.setTimeout(patienceMs, giveUp);
    socket.once('readable', () => {
      const first: Buffer | null = socket.read(1);
      if (first === null) {
        giveUp();
        return;
      }
      socket.unshift(first);
      const isTls = first[0] === HANDSHAKE_RECORD;
      const handOver = () => {
        socket.setTimeout(0, giveUp);
        if (isTls) for (const start of startTls) start.call(server, socket);
        // From here on it is treated like a decrypted connection.
        else server.emit('secureConnection', socket);
      };
      if (isTls && challenges?.looksAtTls) challenges.receive(socket, handOver);
      else handOver();
    });
  });
}
