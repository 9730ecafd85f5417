import type { IncomingMessage } from 'node:http';
import { COMMAND, ownerOf, ownUser, sudoTo, userText } from '../lib/command.ts';
import { request as httpRequest } from '../lib/node-http.ts';
import { errorSchema, OperationError } from '../operations/call.ts';
import { type Progress, UNWATCHED } from '../operations/operation.ts';
import { OPERATION_NAMES, type Operations } from '../operations/table.ts';
import { readStream, type SocketAddress, STREAM_TYPE, socketAddress, socketFile } from './socket.ts';

/** Connection errors that mean no server is there. */
const NOBODY = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];

/** Longer than any operation takes: a relay test waits for each of its replies. */
const CALL_TIMEOUT_MS = 120_000;
/** Long enough for a busy server. */
const GREETING_TIMEOUT_MS = 30_000;

/**
 * The operations of the server on a data directory. A call without any answer for `timeoutMs` fails (`unavailable`).
 */
export function createControlClient(dataDir: string, timeoutMs = CALL_TIMEOUT_MS): Operations {
  const entries = OPERATION_NAMES.map((name) => [
    name,
    (request: unknown, progress: Progress<unknown> = UNWATCHED) =>
      call({ dataDir, name, body: JSON.stringify(request), timeoutMs, progress }),
  ]);
  // Sound because both ends of the socket are this one interface, and the server checks every request.
  return Object.fromEntries(entries) as Operations;
}

/** Whether a server listens on the data directory's control socket. Throws `OperationError` when it does not answer. */
export async function isServerRunning(dataDir: string, timeoutMs = GREETING_TIMEOUT_MS): Promise<boolean> {
  try {
    await exchange({ dataDir, name: '', body: '', timeoutMs, progress: UNWATCHED }, ignored);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && NOBODY.includes(String(error.code))) return false;
    throw asForeign(error, dataDir);
  }
}

/** Only the owner may use the socket: others are told who that is. */
function asForeign(error: unknown, dataDir: string): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) return error;
  const file = socketFile(dataDir);
  const owner = ownerOf(file);
  return new OperationError(
    'refused',
    `The server on ${dataDir} belongs to ${userText(owner)}, and only that user may use ${file}; this command runs as ${userText(ownUser())}. Run it as that user: ${sudoTo(owner)} ${COMMAND} …`,
    { cause: error },
  );
}

interface Call {
  readonly dataDir: string;
  readonly name: string;
  readonly body: string;
  readonly timeoutMs: number;
  readonly progress: Progress<unknown>;
}

async function call(asked: Call): Promise<unknown> {
  return await exchange(asked, (response) => resultOf(response, asked.progress)).catch((error: unknown) => {
    if (error instanceof OperationError) throw error;
    throw new OperationError('unavailable', `The server disconnected: ${String(error)}`, { cause: error });
  });
}

async function resultOf(response: IncomingMessage, progress: Progress<unknown>): Promise<unknown> {
  if (response.headers['content-type'] === STREAM_TYPE) return await readStream(response, progress);
  const result: unknown = JSON.parse(await textOf(response));
  if (response.statusCode === 200) return result;
  const { code, message } = errorSchema.parse(result);
  throw new OperationError(code, message);
}

async function textOf(response: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function ignored(response: IncomingMessage): Promise<void> {
  await textOf(response);
}

async function exchange<T>(asked: Call, read: (response: IncomingMessage) => Promise<T>): Promise<T> {
  const address = socketAddress(asked.dataDir);
  try {
    return await read(await send(address, asked));
  } finally {
    address.release();
  }
}

function send(address: SocketAddress, { name, body, timeoutMs, progress }: Call): Promise<IncomingMessage> {
  const target = { socketPath: address.path, path: `/${name}`, method: 'POST', timeout: timeoutMs };
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | null = null;
    const request = httpRequest({ ...target, signal: progress.signal }, (response) => {
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
    `The server has the data directory open but did not answer for ${timeoutMs / 1000} s. It may be stopped or overloaded: check its log, and try again; the request may have been carried out.`,
  );
}
