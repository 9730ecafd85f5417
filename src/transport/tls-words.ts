/** OpenSSL's reasons when the peer's bytes are not TLS. */
const NO_TLS: ReadonlySet<string> = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_RECORD_TOO_SMALL',
  'ERR_SSL_UNEXPECTED_MESSAGE',
  'ERR_SSL_HTTP_REQUEST',
]);

/** Node.js's advice to whoever starts it, which our operators do not. */
const ADVICE = /; if the root CA is installed locally, .*$/;

/** Why there is no TLS with a host, for an operator: OpenSSL's own texts are for its developers. */
export function noTlsText(host: string, error: unknown): string {
  if (!(error instanceof Error)) return `No TLS with ${host}: ${String(error)}`;
  const code = 'code' in error ? String(error.code) : '';
  if (NO_TLS.has(code)) return `${host} does not use TLS on this port: correct the port`;
  const isRaw = code.startsWith('ERR_SSL_') || error.message.includes(':SSL routines:');
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : code;
  return `No TLS with ${host}: ${isRaw ? reason : error.message.replace(ADVICE, '')}`;
}
