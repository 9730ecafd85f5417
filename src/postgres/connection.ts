import { readFileSync } from 'node:fs';
import { type ClientConfig, types } from 'pg';
import { StoreError } from '../store/store.ts';

/** The server to connect to, and how. */
export interface ConnectionOptions {
  /** `postgres://…`; its parameters are those of node-postgres and, for TLS, libpq's `sslmode` and its companions. */
  readonly url: string;
  /**
   * Whether to use TLS; `verified`: with a valid certificate for its name. Null or absent: as the URL's `sslmode` says;
   * without one `off` for sockets and loopback addresses, and `required` for all others.
   */
  readonly tls?: 'off' | 'required' | 'verified' | null;
  /** PEM file of the only certificate authorities to trust. Null or absent: the machine's, for `verified`. */
  readonly tlsCaFile?: string | null;
}

/** Time limit for connecting, and for waiting for a connection of the pool, in ms. */
const CONNECT_TIMEOUT_MS = 10_000;

/** The URL's TLS parameters: read here, because node-postgres treats `prefer` and `require` as `verify-full`. */
const TLS_PARAMETERS: ReadonlySet<string> = new Set([
  'ssl',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'uselibpqcompat',
]);

const BIGINT = types.builtins.INT8;

/**
 * A connection's configuration. It sets no session parameters: a pooler refuses those that it does not know. Throws
 * `StoreError` if a named file cannot be read.
 */
export function clientConfigOf(options: ConnectionOptions): ClientConfig {
  const [base = '', query = ''] = options.url.split('?', 2);
  const parameters = new URLSearchParams(query);
  const others = query.split('&').filter((one) => !TLS_PARAMETERS.has(one.split('=', 1)[0] ?? ''));
  const ssl = tlsOf(options, parameters, hostOf(base, parameters));
  const negotiation = parameters.get('sslnegotiation') === 'direct' ? 'direct' : 'postgres';
  return {
    connectionString: `${base}?${others.join('&')}`,
    application_name: 'waybill',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: { getTypeParser: (oid, format) => (oid === BIGINT ? Number : types.getTypeParser(oid, format)) },
    ssl,
    ...(ssl === false ? {} : { sslnegotiation: negotiation }),
  };
}

type Tls = Exclude<ClientConfig['ssl'], boolean | undefined>;

function tlsOf(
  { tls, tlsCaFile }: ConnectionOptions,
  parameters: URLSearchParams,
  host: string,
): Tls | false {
  const mode = modeOf(tls ?? null, parameters, host);
  if (mode === 'disable' || host.startsWith('/')) return false;
  const named = tlsCaFile ?? parameters.get('sslrootcert');
  const caFile = named === 'system' ? null : named;
  const [certFile, keyFile] = [parameters.get('sslcert'), parameters.get('sslkey')];
  return {
    // With authorities given, a certificate from any other is refused, whatever the mode (libpq does the same).
    rejectUnauthorized: mode !== 'require' || caFile !== null,
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
    ...(caFile === null ? {} : { ca: read(caFile) }),
    ...(certFile === null ? {} : { cert: read(certFile) }),
    ...(keyFile === null ? {} : { key: read(keyFile) }),
  };
}

type Mode = 'disable' | 'require' | 'verify-ca' | 'verify-full';

function modeOf(tls: ConnectionOptions['tls'], parameters: URLSearchParams, host: string): Mode {
  if (tls === 'off') return 'disable';
  if (tls === 'required') return 'require';
  if (tls === 'verified') return 'verify-full';
  const mode = parameters.get('sslmode');
  if (mode === 'disable' || mode === 'verify-ca' || mode === 'verify-full') return mode;
  const ssl = parameters.get('ssl');
  if (mode === null && (ssl === '0' || ssl === 'false')) return 'disable';
  // `allow` and `prefer` would continue in clear with any server that claims to have no TLS.
  return mode !== null || ssl !== null || !isHere(host) ? 'require' : 'disable';
}

/** The host to connect to; a path is a socket's folder. */
function hostOf(base: string, parameters: URLSearchParams): string {
  const named = parameters.get('host');
  if (named !== null) return named;
  const [, host = ''] = /^[a-z]+:\/\/(?:[^@/]*@)?(\[[^\]]*\]|[^:/]*)/i.exec(base) ?? [];
  return decodeURIComponent(host.replace(/^\[|\]$/g, ''));
}

function isHere(host: string): boolean {
  return /^(\/.*|localhost|127\.\d+\.\d+\.\d+|::1|)$/i.test(host);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    // No cause: the server is not what is missing.
    throw new StoreError('store_unsuitable', `A file for the connection cannot be read: ${String(error)}`);
  }
}
