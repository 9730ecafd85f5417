import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { PROBLEM_TYPE, Problem, problemBody } from './problem.ts';
import { MAX_TARGET_BYTES, targetTooLong, wrongVersion } from './request-head.ts';

/** What Node says when it cannot read a request. */
export interface ClientError extends Error {
  readonly code?: string;
  /** What the last read from the socket brought. */
  readonly rawPacket?: Buffer;
  /** How much of it was understood. */
  readonly bytesParsed?: number;
}

/** The first bytes of a TLS connection: a record of type handshake, version 3 (RFC 8446 §5.1). */
const TLS_HANDSHAKE = '\x16\x03';

/** Bytes behind the last request of a connection (`Connection: close`): to be ignored (RFC 9112 §9.6). */
export function isBeyondLast(error: ClientError): boolean {
  return error.code === 'HPE_CLOSED_CONNECTION';
}

/** The answer to a request that could not be read; null when there is nobody to answer. */
export function problemOfClientError(error: ClientError, socket: Socket): Problem | null {
  const { code = '' } = error;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    // Opened in advance, as browsers do, and not used: nobody has asked anything.
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

/** The line that could not be read, as far as it lies in the last packet. */
function faultyLine({ rawPacket, bytesParsed = 0 }: ClientError): string {
  const text = rawPacket?.toString('latin1') ?? '';
  const start = bytesParsed === 0 ? 0 : text.lastIndexOf('\n', bytesParsed - 1) + 1;
  const end = text.indexOf('\n', start);
  return text.slice(start, end < 0 ? undefined : end);
}

/** The refusal of a method that no server of ours knows (RFC 9110 §9.1). */
export function unsupportedMethod(): Problem {
  return new Problem(501, 'unsupported_method', 'This server does not know that method.');
}

/** The refusal of a connection too many. */
export function tooManyConnections(max: number): Problem {
  const detail = `There are too many connections; at most ${max} are taken. Nothing was accepted.`;
  return new Problem(503, 'too_many_connections', detail, { headers: { 'Retry-After': '1' } });
}

/** The refusal of HTTP that is spoken to an SMTP port (contract §1). */
export function spokenToSmtp(webuiPort: number | null): Problem {
  return new Problem(404, 'not_found', `This port speaks SMTP. ${whereHealthIs(webuiPort)}`);
}

/** Where to look for health on this server, whose dashboard has this port, or none. */
export function whereHealthIs(webuiPort: number | null): string {
  return webuiPort === null
    ? 'This server has no dashboard, /health or /metrics: webui.port is off, or another node has that role.'
    : `/health, /metrics and the dashboard are on port ${webuiPort} (webui.port), over HTTPS.`;
}

/** Answers on a connection whose request no server of Node's has read, or could read; ends nothing. */
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
