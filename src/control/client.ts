import { request as httpRequest, type IncomingMessage } from 'node:http';
import { errorSchema, OPERATION_NAMES, OperationError, type Operations } from './operations.ts';
import { type SocketAddress, socketAddress } from './socket.ts';

/** Errors of connecting that say: no server is there. */
const NOBODY = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];

/** The operations of the server that runs on a data directory. */
export function createControlClient(dataDir: string): Operations {
  const entries = OPERATION_NAMES.map((name) => [name, (request: unknown) => call(dataDir, name, request)]);
  // Sound because both ends of the socket are this one interface, and the server checks every request.
  return Object.fromEntries(entries) as Operations;
}

/** Whether a server listens on the data directory's control socket. */
export async function isServerRunning(dataDir: string): Promise<boolean> {
  try {
    await exchange(dataDir, '', '');
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && NOBODY.includes(String(error.code))) return false;
    throw error;
  }
}

async function call(dataDir: string, name: string, request: unknown): Promise<unknown> {
  const { status, body } = await exchange(dataDir, name, JSON.stringify(request)).catch((error: unknown) => {
    throw new OperationError('unavailable', `The server went away: ${String(error)}`, { cause: error });
  });
  const result: unknown = JSON.parse(body);
  if (status === 200) return result;
  const { code, message } = errorSchema.parse(result);
  throw new OperationError(code, message);
}

async function exchange(
  dataDir: string,
  name: string,
  body: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const address = socketAddress(dataDir);
  try {
    const response = await send(address, name, body);
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() };
  } finally {
    address.release();
  }
}

function send(address: SocketAddress, name: string, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest({ socketPath: address.path, path: `/${name}`, method: 'POST' }, resolve)
      .once('error', reject)
      .end(body);
  });
}
