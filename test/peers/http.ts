/** Our HTTP server for tests of what stands on it, and a client that writes raw bytes. */

import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { HttpLimits } from '../../src/http/server.ts';
import {
  createHttpServer,
  type Handler,
  type HttpServer,
  type HttpServerOptions,
} from '../../src/http/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { LogFields } from '../../src/lib/log.ts';
import { seededRandom } from '../../src/lib/random.ts';

/** Limits that no test meets unless it sets them lower. */
export const WIDE_LIMITS: HttpLimits = {
  maxConnections: 100,
  headerTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  keepAliveMs: 60_000,
  maxHeaderBytes: 16_384,
  maxHeaders: 100,
  maxPipelinedRequests: 16,
  minBodyBytesPerSecond: 0,
  maxUnsentBytes: 100 * 1024 * 1024,
};

/** A line the server logged. */
export interface LogLine extends LogFields {
  readonly level: string;
  readonly event: string;
}

/** A server that runs until the test's end. */
export interface Served {
  readonly server: HttpServer;
  readonly port: number;
  readonly origin: string;
  readonly log: readonly LogLine[];
}

/** Serves on a free port of 127.0.0.1 until the test ends. */
export async function serve(handler: Handler, options: Partial<HttpServerOptions> = {}): Promise<Served> {
  const lines: LogLine[] = [];
  const write = (level: string) => (event: string, fields?: LogFields) => {
    lines.push({ ...fields, level, event });
  };
  const server = createHttpServer({
    hosts: ['127.0.0.1'],
    port: 0,
    tls: null,
    limits: WIDE_LIMITS,
    clock: systemClock,
    random: seededRandom(1),
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    handler,
    ...options,
  });
  const port = await server.listen();
  onTestFinished(() => server.close(AbortSignal.abort()));
  return { server, port, origin: `http://127.0.0.1:${port}`, log: lines };
}

/** A connection on which bytes are written by hand; what comes back is collected as text. */
export class RawClient {
  readonly socket: Socket;
  /** Everything received so far. */
  received = '';
  /** Resolves when the connection has ended, however it did, to everything received. */
  readonly closed: Promise<string>;
  #notify: () => void = () => undefined;

  /** `from`: where the connection comes from, any address of 127.0.0.0/8. */
  constructor(port: number, first = '', from = '127.0.0.1') {
    this.socket = connect({ port, host: '127.0.0.1', localAddress: from });
    this.socket.setEncoding('utf8');
    this.socket.on('data', (text: string) => {
      this.received += text;
      this.#notify();
    });
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      this.socket.once('close', () => resolve(this.received));
    });
    this.socket.write(first);
    onTestFinished(() => {
      this.socket.destroy();
    });
  }

  /** Resolves once what was received matches; rejects when the connection ends before. */
  async until(pattern: RegExp): Promise<string> {
    const matched = new Promise<string>((resolve) => {
      this.#notify = () => {
        if (pattern.test(this.received)) resolve(this.received);
      };
      this.#notify();
    });
    const ended = this.closed.then((text) => {
      if (pattern.test(text)) return text;
      throw new Error(`the connection ended before ${pattern} came; it gave ${JSON.stringify(text)}`);
    });
    return await Promise.race([matched, ended]);
  }
}

/** Sends bytes on a fresh connection and resolves to all that comes back until it ends. */
export function exchangeRaw(port: number, bytes: string): Promise<string> {
  return new RawClient(port, bytes).closed;
}
