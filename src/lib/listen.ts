import type { Server } from 'node:net';

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

/** Binds a server to an address; resolves to the port. `::` becomes `0.0.0.0` on a machine without IPv6. */
export async function bind(server: Server, host: string, port: number, ipv6Only: boolean): Promise<number> {
  try {
    return await listenOnce(server, host, port, ipv6Only);
  } catch (error) {
    const unavailable = error instanceof ListenError && error.code === 'address_unavailable';
    if (host === '::' && unavailable) return await listenOnce(server, '0.0.0.0', port, false);
    throw error;
  }
}

function listenOnce(server: Server, host: string, port: number, ipv6Only: boolean): Promise<number> {
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
    server.listen({ host, port, ipv6Only });
  });
}
