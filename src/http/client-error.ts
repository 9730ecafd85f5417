import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Connection } from './connections.ts';
import { PROBLEM_TYPE, Problem, problemBody } from './problem.ts';

/** What Node says when it cannot read a request. */
export interface ClientError extends Error {
  readonly code?: string;
}

/** The answer to a request that could not be read; null when there is nobody to answer. */
export function problemOfClientError(error: ClientError): Problem | null {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem(431, 'header_too_large', 'The request header is too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem(408, 'request_timeout', 'The request did not arrive in time.');
    default:
      if (error.code?.startsWith('HPE_') !== true) return null;
      return new Problem(400, 'malformed_request', 'The request is not well-formed HTTP.');
  }
}

/**
 * Answers on a connection whose request could not be read, and ends it. With exchanges under way the answer is
 * the first one's; a pipelining client's others go down with the connection.
 */
export function answerClientError(
  problem: Problem,
  socket: Socket,
  connection: Connection | undefined,
  requestId: string,
): void {
  const [exchange] = connection?.exchanges ?? [];
  if (exchange !== undefined) {
    exchange.cutOff(problem);
    return;
  }
  const body = problemBody(problem, requestId);
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\n` +
      `X-Request-Id: ${requestId}\r\nContent-Type: ${PROBLEM_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
