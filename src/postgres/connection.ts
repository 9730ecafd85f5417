import { readFileSync } from 'node:fs';
import { type ClientConfig, types } from 'pg';
import { StoreError } from '../store/store.ts';

/** Which server is connected to, and how. */
export interface ConnectionOptions {
  /** `postgres://…`; its parameters are those of node-postgres and, for TLS, libpq's `sslmode` and its companions. */
  readonly url: string;
  /**
   * Whether it is spoken to by TLS; `verified`: with a good certificate for its name. Null or absent: as `sslmode` of the
   * address says; without one `off` for sockets and loopback addresses, and `required` for all others.
   */
  readonly tls?: 'off' | 'required' | 'verified' | null;
  /**
   * PEM file of the authorities that its certificate may come from: one from elsewhere is refused. Null or absent: those of
   * the machine, for `verified`.
   */
  readonly tlsCaFile?: string | null;
}

/** How long it may take to connect, and to wait for a connection of the pool, in ms. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Parameters of the address that are TLS's: read here, because node-postgres takes `prefer` and `require` for `verify-full`. */
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
 * A connection's configuration. Nothing of a session is set by it: a pooler refuses what it does not know. Throws
 * `StoreError` when a file that it names cannot be read.
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
    // With authorities of its own, a certificate from elsewhere is a stranger's, whatever the mode (libpq does the same).
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
  // `allow` and `prefer` would continue in the clear with any server that claims to have no TLS.
  return mode !== null || ssl !== null || !isHere(host) ? 'require' : 'disable';
}

/** The host that is connected to; a path is a socket's folder. */
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
    // No cause: it is not the server that is missing.
    throw new StoreError('store_unsuitable', `A file for the connection cannot be read: ${String(error)}`);
  }
}
