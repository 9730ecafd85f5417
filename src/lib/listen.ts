import { isIPv4, type Server } from 'node:net';

/**
 * TLS on every port of ours: no versions deprecated by RFC 8996, and only suites with forward secrecy and authenticated
 * encryption (RFC 9325 §4.2), so no CBC. Names of TLS 1.3 and 1.2, in our order.
 */
export const TLS_RULES = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_128_GCM_SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
  ].join(':'),
} as const;
/** With port 0 the first address chooses; how often to choose again if another address has that port taken. */
const PORT_TRIES = 5;

/** An address and port that could not be bound. */
export class ListenError extends Error {
  /** `address_in_use`, `permission_denied` (low ports), `address_unavailable`, or `listen_failed`. */
  readonly code: ListenErrorCode;
  readonly host: string;
  readonly port: number;
  constructor(code: ListenErrorCode, host: string, port: number, options?: ErrorOptions) {
    super(`cannot listen on ${host} port ${port}: ${code}`, options);
    this.name = 'ListenError';
    this.code = code;
    this.host = host;
    this.port = port;
  }
}

/** See {@link ListenError.code}. */
export type ListenErrorCode =
  | 'address_in_use'
  | 'permission_denied'
  | 'address_unavailable'
  | 'listen_failed';

const CODES: Readonly<Record<string, ListenErrorCode>> = {
  EADDRINUSE: 'address_in_use',
  EACCES: 'permission_denied',
  EPERM: 'permission_denied',
  EADDRNOTAVAIL: 'address_unavailable',
  EAFNOSUPPORT: 'address_unavailable',
};

/** Servers that listen on the same port, one per address. */
export interface Bound<S extends Server> {
  readonly servers: readonly S[];
  readonly port: number;
}

/**
 * Binds a port on each of these addresses, with a server each; 0 takes a free one, the same on all. `::` includes IPv4,
 * unless an IPv4 address is listed. Rejects with {@link ListenError}, and then has bound none.
 *
 * `onError` gets later errors of a server, such as a connection that could not be accepted. With `sharesPort`, others
 * may bind the same port if they do the same (SO_REUSEPORT): the kernel distributes the connections among them.
 */
export async function bindAll<S extends Server>(
  hosts: readonly string[],
  port: number,
  make: () => S,
  onError: (error: Error) => void,
  sharesPort = false,
): Promise<Bound<S>> {
  const tries = port === 0 && hosts.length > 1 ? PORT_TRIES : 1;
  for (let attempt = 1; ; attempt++) {
    try {
      return await bindEach(hosts, port, make, onError, sharesPort);
    } catch (error) {
      if (attempt === tries) throw error;
    }
  }
}

async function bindEach<S extends Server>(
  hosts: readonly string[],
  port: number,
  make: () => S,
  onError: (error: Error) => void,
  sharesPort: boolean,
): Promise<Bound<S>> {
  const hasIpv4 = hosts.some((host) => isIPv4(host));
  const servers: S[] = [];
  let chosen = port;
  try {
    for (const host of hosts) {
      const server = make();
      const ipv6Only = host === '::' && hasIpv4;
      chosen = await bind(server, { host, port: chosen, ipv6Only, reusePort: sharesPort });
      server.on('error', onError);
      servers.push(server);
    }
  } catch (error) {
    // The port is free at once; clients that have connected meanwhile leave on their own.
    for (const server of servers) server.close();
    throw error;
  }
  return { servers, port: chosen };
}

/** The place for `server.listen`. */
interface Place {
  readonly host: string;
  readonly port: number;
  readonly ipv6Only: boolean;
  readonly reusePort: boolean;
}

/** Binds a server to an address; resolves to the port. `::` becomes `0.0.0.0` on a machine without IPv6. */
async function bind(server: Server, place: Place): Promise<number> {
  try {
    return await listenOnce(server, place);
  } catch (error) {
    const unavailable = error instanceof ListenError && error.code === 'address_unavailable';
    if (place.host === '::' && unavailable)
      return await listenOnce(server, { ...place, host: '0.0.0.0', ipv6Only: false });
    throw error;
  }
}

function listenOnce(server: Server, place: Place): Promise<number> {
  const { host, port } = place;
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      server.off('listening', done);
      reject(new ListenError(CODES[error.code ?? ''] ?? 'listen_failed', host, port, { cause: error }));
    };
    const done = () => {
      server.off('error', fail);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    };
    server.once('error', fail).once('listening', done);
    server.listen(place);
  });
}
