import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** The name of the control socket in the data directory. */
const SOCKET = 'control.sock';

/** Longer paths do not fit into a socket address: `sun_path` has 108 bytes with its end. */
const MAX_PATH_BYTES = 107;

/** The socket's address while it is being bound or connected to. */
export interface SocketAddress {
  readonly path: string;
  /** To be called once bound or connected. */
  release(): void;
}

/** The file of the control socket. */
export function socketFile(dataDir: string): string {
  return join(dataDir, SOCKET);
}

/** The address of the control socket, also where the data directory's path is too long for one. */
export function socketAddress(dataDir: string): SocketAddress {
  const path = socketFile(dataDir);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { path, release() {} };
  // The way through an open folder is short whatever the folder's own path is.
  const folder = openSync(dataDir, 'r');
  return { path: `/proc/self/fd/${folder}/${SOCKET}`, release: () => closeSync(folder) };
}
