import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

const HTTPS_PORT = 443;
const KIB = 1024;

/** One GET over HTTPS. */
export interface HttpsGet {
  /** The name that is resolved, sent, and verified. */
  readonly host: string;
  /** The path with its query. */
  readonly path: string;
  readonly accept: string;
  /** A longer body is a failure. */
  readonly maxBytes: number;
  /** What is wrong with an answer, told before its body is read; null if nothing is. */
  readonly flawOf: (head: HttpsHead) => string | null;
  /** Ends the attempt: the server “does not answer”. */
  readonly signal: AbortSignal;
  /** The address to connect to. Default: what the system's resolver finds for the host. */
  readonly address?: string | undefined;
  /** Roots to trust as PEM, and the port: for tests. Default the system's, and 443. */
  readonly ca?: string | undefined;
  readonly port?: number | undefined;
}

/** How an answer begins. */
export interface HttpsHead {
  readonly status: number;
  /** `Content-Type` as sent; empty if there is none. */
  readonly type: string;
}

/**
 * What came of a GET. `text` of a failure begins with the host, and is fit for a log line; `isUntrusted`: its certificate
 * was not valid for the host.
 */
export type HttpsAnswer =
  | { readonly kind: 'answer'; readonly body: Buffer }
  | { readonly kind: 'failed'; readonly text: string; readonly isUntrusted?: boolean };

/**
 * Fetches something small over a connection of its own: the certificate must be valid for the host, whatever the
 * environment says; a redirect is an answer like any other, and not followed. Never rejects.
 */
export function getByHttps(get: HttpsGet): Promise<HttpsAnswer> {
  const { host, path, accept, address = host, port = HTTPS_PORT, ca, signal } = get;
  return new Promise((resolve) => {
    const asking = request({
      host: address,
      port,
      servername: host,
      path,
      headers: { host, accept },
      agent: false,
      // Set explicitly: the environment (NODE_TLS_REJECT_UNAUTHORIZED) can switch the default off.
      rejectUnauthorized: true,
      signal,
      ...(ca === undefined ? {} : { ca }),
    });
    const finish = (answer: HttpsAnswer) => {
      resolve(answer);
      asking.destroy();
    };
    const fail = (error: Error) =>
      finish(
        signal.aborted
          ? failed(`${host} does not answer`)
          : { kind: 'failed', text: `${host}: ${error.message}`, isUntrusted: isUntrusted(asking.socket) },
      );
    asking.on('error', fail);
    asking.on('response', (response) => {
      const flaw = get.flawOf(headOf(response));
      if (flaw !== null) return finish(failed(`${host} ${flaw}`));
      readBody(response, get, finish, fail);
    });
    asking.end();
  });
}

function headOf({ statusCode = 0, headers }: IncomingMessage): HttpsHead {
  return { status: statusCode, type: headers['content-type'] ?? '' };
}

function readBody(
  response: IncomingMessage,
  { host, maxBytes }: HttpsGet,
  finish: (answer: HttpsAnswer) => void,
  fail: (error: Error) => void,
): void {
  const chunks: Buffer[] = [];
  let received = 0;
  response.on('error', fail);
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    received += chunk.length;
    if (received > maxBytes) finish(failed(`${host} sends more than ${Math.floor(maxBytes / KIB)} KiB`));
  });
  response.on('end', () => finish({ kind: 'answer', body: Buffer.concat(chunks) }));
}

function failed(text: string): HttpsAnswer {
  return { kind: 'failed', text };
}

/** Set where the check of the certificate failed, and only there; the types call it an error that is always there. */
function isUntrusted(socket: Socket | null): boolean {
  return socket instanceof TLSSocket && Boolean(socket.authorizationError);
}
