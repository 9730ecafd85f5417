import { chmodSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../lib/log.ts';
import { createServer } from '../lib/node-http.ts';
import { OperationError } from '../operations/call.ts';
import type { Door } from './door.ts';
import { COMMAND_LINE } from './door.ts';
import { socketAddress, socketFile, stepWriter } from './socket.ts';

/** What a control server needs. */
export interface ControlServerOptions {
  readonly dataDir: string;
  readonly door: Door;
  /** The largest request accepted, in bytes; read with every request. */
  readonly maxRequestBytes: () => number;
  readonly log: Log;
}

/** A listening control socket. */
export interface ControlServer {
  /** Stops listening, ends requests under way, and removes the socket. */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 32;
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * Answers operations on `control.sock`: `POST /<operation>` with the request as JSON, answered 200 with the result or
 * 422 with an error, or step by step (see `stepWriter`). Only the owner of the data directory can connect; there is no
 * other key. The caller holds the data directory's lock, so an existing socket is a dead server's.
 */
export async function listenForControl(options: ControlServerOptions): Promise<ControlServer> {
  const file = socketFile(options.dataDir);
  rmSync(file, { force: true });
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    void answer(request, response, options);
  });
  server.maxConnections = MAX_CONNECTIONS;
  const address = socketAddress(options.dataDir);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(address.path, resolve);
    });
  } finally {
    address.release();
  }
  chmodSync(file, 0o600);
  return {
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      rmSync(file, { force: true });
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: ControlServerOptions,
): Promise<void> {
  const name = request.url?.slice(1) ?? '';
  const steps = stepWriter(response);
  try {
    const body = await readJson(request, options.maxRequestBytes());
    const result = await options.door.call(COMMAND_LINE, name, body, steps.progress);
    if (!steps.end({ result })) reply(response, 200, result);
  } catch (thrown) {
    const error = errorOf(thrown, name, options);
    if (!steps.end({ error })) reply(response, 422, error);
  }
}

/** The error as told to the client. */
function errorOf(thrown: unknown, operation: string, { log }: ControlServerOptions): object {
  if (thrown instanceof OperationError) return { code: thrown.code, message: thrown.message };
  log.error('control.failed', { operation, error: String(thrown) });
  return { code: 'unavailable', message: 'Something went wrong; the log says what.' };
}

async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  // An oversized request is still read to its end, so that the client gets the error.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
  }
  if (size > maxBytes)
    throw new OperationError(
      'invalid',
      `The request is larger than ${maxBytes} bytes; see api.max_message_bytes.`,
    );
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new OperationError('invalid', 'The request is not JSON.');
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
  response.end(JSON.stringify(body));
}
