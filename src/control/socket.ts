import { closeSync, openSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { errorSchema, OperationError } from '../operations/call.ts';
import type { Progress } from '../operations/operation.ts';

/** The name of the control socket in the data directory. */
const SOCKET = 'control.sock';

/** Longer paths do not fit into a socket address: `sun_path` has 108 bytes with its end. */
const MAX_PATH_BYTES = 107;

/** The socket's address while it is being bound or connected to. */
export interface SocketAddress {
  readonly path: string;
  /** Call this once bound or connected. */
  release(): void;
}

/** The file of the control socket. */
export function socketFile(dataDir: string): string {
  return join(dataDir, SOCKET);
}

/** The address of the control socket, even if the data directory's path is too long for one. */
export function socketAddress(dataDir: string): SocketAddress {
  const path = socketFile(dataDir);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { path, release() {} };
  // The path through an open folder is short, whatever the folder's own path.
  const folder = openSync(dataDir, 'r');
  return { path: `/proc/self/fd/${folder}/${SOCKET}`, release: () => closeSync(folder) };
}

// Streamed answers over the control socket (`application/x-ndjson`): a line `{"step": …}` for each step as it happens,
// then one line `{"result": …}` or `{"error": …}`. An operation without steps is answered at once, as plain JSON.

/** The media type of a streamed answer. */
export const STREAM_TYPE = 'application/x-ndjson';

/** Bytes that a client may leave unread before it is dropped. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** Characters of one line: far more than any result of an operation with steps. */
const MAX_LINE = 4 * 1024 * 1024;

const lineSchema = z.union([
  z.strictObject({ step: z.unknown() }),
  z.strictObject({ result: z.unknown() }),
  z.strictObject({ error: errorSchema }),
]);

/** Writes steps into an answer. */
interface StepWriter {
  readonly progress: Progress<unknown>;
  /** Writes the last line and ends the answer; false if there was no step and nothing was written. */
  end(last: { readonly result: unknown } | { readonly error: unknown }): boolean;
}

/** Steps as lines of an answer. Its signal aborts when the client disconnects, or does not read. */
export function stepWriter(response: ServerResponse): StepWriter {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const write = (line: object) => {
    if (!response.headersSent) response.writeHead(200, { 'Content-Type': STREAM_TYPE, Connection: 'close' });
    response.write(`${JSON.stringify(line)}\n`);
  };
  return {
    progress: {
      signal: gone.signal,
      tell: (step) => {
        if (gone.signal.aborted) return;
        write({ step });
        if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
      },
    },
    end: (last) => {
      if (!response.headersSent) return false;
      if (!gone.signal.aborted) write(last);
      response.end();
      return true;
    },
  };
}

/** Reads a streamed answer: reports its steps, and returns its result. Throws `OperationError`. */
export async function readStream(
  chunks: AsyncIterable<Buffer>,
  { tell }: Progress<unknown>,
): Promise<unknown> {
  for await (const text of linesOf(chunks)) {
    const line = lineSchema.parse(JSON.parse(text));
    if ('step' in line) tell(line.step);
    else if ('error' in line) throw new OperationError(line.error.code, line.error.message);
    else return line.result;
  }
  throw new OperationError('unavailable', 'The server disconnected before the result.');
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE)
      throw new OperationError('unavailable', 'The server sent a line without an end.');
    yield* lines;
  }
}
