import { request as httpRequest, type IncomingMessage } from 'node:http';
import { errorSchema, OPERATION_NAMES, OperationError, type Operations } from './operations.ts';
import { type SocketAddress, socketAddress } from './socket.ts';

/** Errors of connecting that say: no server is there. */
const NOBODY = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];

/** Longer than any operation takes: testing a relay waits for each of its replies. */
const CALL_TIMEOUT_MS = 120_000;
/** Long enough for a server that is busy. */
const GREETING_TIMEOUT_MS = 30_000;

/**
 * The operations of the server that runs on a data directory. One that says nothing for `timeoutMs` is given up
 * (`unavailable`).
 */
export function createControlClient(dataDir: string, timeoutMs = CALL_TIMEOUT_MS): Operations {
  const entries = OPERATION_NAMES.map((name) => [
    name,
    (request: unknown) => call(dataDir, name, request, timeoutMs),
  ]);
  // Sound because both ends of the socket are this one interface, and the server checks every request.
  return Object.fromEntries(entries) as Operations;
}

/** Whether a server listens on the data directory's control socket. Throws `OperationError` when it does not answer. */
export async function isServerRunning(dataDir: string, timeoutMs = GREETING_TIMEOUT_MS): Promise<boolean> {
  try {
    await exchange(dataDir, '', '', timeoutMs);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && NOBODY.includes(String(error.code))) return false;
    throw error;
  }
}

async function call(dataDir: string, name: string, request: unknown, timeoutMs: number): Promise<unknown> {
  const { status, body } = await exchange(dataDir, name, JSON.stringify(request), timeoutMs).catch(
    (error: unknown) => {
      if (error instanceof OperationError) throw error;
      throw new OperationError('unavailable', `The server went away: ${String(error)}`, { cause: error });
    },
  );
  const result: unknown = JSON.parse(body);
  if (status === 200) return result;
  const { code, message } = errorSchema.parse(result);
  throw new OperationError(code, message);
}

async function exchange(
  dataDir: string,
  name: string,
  body: string,
  timeoutMs: number,
): Promise<{ readonly status: number; readonly body: string }> {
  const address = socketAddress(dataDir);
  try {
    const response = await send(address, name, body, timeoutMs);
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() };
  } finally {
    address.release();
  }
}

function send(
  address: SocketAddress,
  name: string,
  body: string,
  timeoutMs: number,
): Promise<IncomingMessage> {
  const target = { socketPath: address.path, path: `/${name}`, method: 'POST', timeout: timeoutMs };
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | null = null;
    const request = httpRequest(target, (response) => {
      answer = response;
      resolve(response);
    });
    request.once('timeout', () => (answer ?? request).destroy(noAnswer(timeoutMs)));
    request.once('error', reject).end(body);
  });
}

function noAnswer(timeoutMs: number): OperationError {
  return new OperationError(
    'unavailable',
    `The server has the data directory open and said nothing for ${timeoutMs / 1000} s. It may be stopped or overloaded: look at its log, and try again; what was asked may have been done.`,
  );
}
