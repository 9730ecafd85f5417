/** HTTP that is spoken to an SMTP port (contract §1): it gets an answer that every HTTP client understands. */

const BODY = '{"error":"This port speaks SMTP. /health and /metrics are on the dashboard port."}\n';

/** A complete answer, after which the connection closes. */
export const HTTP_404 = [
  'HTTP/1.1 404 Not Found',
  'Content-Type: application/json; charset=utf-8',
  `Content-Length: ${Buffer.byteLength(BODY)}`,
  'Cache-Control: no-store',
  'Connection: close',
  '',
  BODY,
].join('\r\n');
