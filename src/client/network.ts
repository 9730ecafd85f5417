/** Why a request had no answer, from what `fetch` threw: platforms hide it in causes of causes. */

/** What a request's failure means. */
export interface Loss {
  /** A sentence for people, with the cure where there is one. */
  readonly message: string;
  /** Another try may end better. */
  readonly passing: boolean;
  /** The server may have got the request. */
  readonly maybeDone: boolean;
}

/** No connection was ever made. */
const NOT_CONNECTED = [
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
];

const UNTRUSTED =
  'its certificate is not trusted here. Trust it (for Node.js: NODE_EXTRA_CA_CERTS=tls.crt), or give the server one that is trusted.';
const OUTDATED = 'its certificate is not valid at this time. Renew it, or set the clock.';
const MISNAMED =
  'its certificate is for another name. Use a name that is in it, or give the server another one.';
const NO_TLS = 'there is no TLS at this port. Use http://, or the port of TLS (8026).';
const BAD_PORT = 'programs may not connect to this port over HTTP. Let the server use another (api.port).';

/** Faults that no other try mends, and how to mend them. All of them come before a request is written. */
const CURES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_HAS_EXPIRED: OUTDATED,
  CERT_NOT_YET_VALID: OUTDATED,
  ERR_TLS_CERT_ALTNAME_INVALID: MISNAMED,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  'bad port': BAD_PORT,
};

/** Reads what `fetch` threw for a request to the server at `url`. */
export function lossOf(thrown: unknown, url: string): Loss {
  const reason = reasonOf(thrown);
  const cure = CURES[reason];
  if (cure !== undefined) {
    const message = `The server at ${url} could not be talked to: ${cure} (${reason})`;
    return { message, passing: false, maybeDone: false };
  }
  const isConnected = !NOT_CONNECTED.includes(reason);
  const what = isConnected ? 'could not be reached, or the connection was lost' : 'could not be reached';
  const why = reason === '' ? '' : ` (${reason})`;
  return { message: `The server at ${url} ${what}${why}.`, passing: true, maybeDone: isConnected };
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return '';
  if (thrown.cause instanceof Error) return reasonOf(thrown.cause);
  return 'code' in thrown ? String(thrown.code) : thrown.message;
}
