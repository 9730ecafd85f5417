/** A provider's API on this machine, over HTTP or HTTPS, that answers by script and misbehaves when it is told to. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Certificate } from './certificate.ts';

/** What is answered. */
export interface ApiAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Held back until then. */
  readonly after?: Promise<unknown>;
  /** Given on the request's head, before its body is read; the body is never read then. */
  readonly early?: boolean;
  /** Of the body, what comes later; or the connection is closed after `body`, which is then not all of it. */
  readonly rest?: Promise<string> | 'cut';
}

/** What is done to one request. */
export type ApiAct =
  | ApiAnswer
  /** The connection is closed when so much of the request is there. */
  | { readonly kind: 'close'; readonly when: 'headers' | 'body' }
  /** No answer ever comes; after `headers` nothing more is read either. */
  | { readonly kind: 'hang'; readonly when: 'headers' | 'body' };

/** A request as it came in. */
export interface ApiRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As far as it was read. */
  readonly body: Buffer;
  /** Which connection it came over, counted from 1. */
  readonly connection: number;
}

/** How the server is started. */
export interface ApiOptions {
  /** Over TLS with it; else in clear. */
  readonly certificate?: Certificate;
  /** What is done where `script` has nothing; default: 200 and an empty JSON object. */
  readonly answer?: (request: ApiRequest) => ApiAct;
}

/** A JSON answer. */
export function answerJson(status: number, value: unknown, headers: Record<string, string> = {}): ApiAnswer {
  const body = JSON.stringify(value);
  return { kind: 'answer', status, headers: { 'content-type': 'application/json', ...headers }, body };
}

/** See the file's comment. */
export class ProviderApi {
  /** One for each request to come, in order. */
  readonly script: ApiAct[] = [];
  /** Everything that was asked, in order of arrival of the heads; with bodies once they are read. */
  readonly requests: ApiRequest[] = [];
  readonly #options: ApiOptions;
  readonly #server: Server;
  readonly #sockets = new Map<Socket, number>();
  #connections = 0;
  #closed = 0;
  #notify: () => void = () => undefined;

  private constructor(options: ApiOptions) {
    this.#options = options;
    const { certificate } = options;
    const handle = (request: IncomingMessage, response: ServerResponse) =>
      void this.#handle(request, response);
    this.#server = certificate
      ? createTlsServer({ key: certificate.key, cert: certificate.cert }, handle)
      : createServer(handle);
    this.#server.keepAliveTimeout = 0;
    this.#server.on(certificate ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#connections += 1;
      this.#sockets.set(socket, this.#connections);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        this.#closed += 1;
        this.#notify();
      });
    });
    this.#server.on('tlsClientError', () => undefined);
  }

  /** Serves on a free port of 127.0.0.1 until the test's end. */
  static async start(options: ApiOptions = {}): Promise<ProviderApi> {
    const api = new ProviderApi(options);
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => api.close());
    return api;
  }

  /** Where it listens. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The base of its URLs. */
  get url(): string {
    return `${this.#options.certificate ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  /** Connections accepted until now. */
  get connections(): number {
    return this.#connections;
  }

  /** Connections open now. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Closes every connection, politely. */
  hangUp(): void {
    for (const socket of this.#sockets.keys()) socket.end();
  }

  /** Ends it, and every connection. */
  async close(): Promise<void> {
    for (const socket of this.#sockets.keys()) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Resolves once so many requests have come in whole. */
  until(count: number): Promise<void> {
    return this.#untilTrue(() => this.requests.length >= count);
  }

  /** Resolves once so many connections have been closed. */
  untilClosed(count: number): Promise<void> {
    return this.#untilTrue(() => this.#closed >= count);
  }

  #untilTrue(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const before = this.#notify;
      this.#notify = () => {
        before();
        if (holds()) resolve();
      };
      this.#notify();
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const scripted = this.script.shift();
    const isEarly =
      scripted !== undefined &&
      (scripted.kind === 'answer' ? scripted.early === true : scripted.when === 'headers');
    const body = isEarly ? Buffer.alloc(0) : await bodyOf(request);
    if (body === null) return;
    const recorded: ApiRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      ),
      body,
      connection: this.#sockets.get(request.socket) ?? 0,
    };
    this.requests.push(recorded);
    this.#notify();
    const act = scripted ?? this.#options.answer?.(recorded) ?? answerJson(200, {});
    if (act.kind === 'close') return void request.socket.destroy();
    if (act.kind === 'hang') return;
    await act.after;
    await write(response, act);
  }
}

/** All of it; null when the connection ends before. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch {
    return null;
  }
}

async function write(
  response: ServerResponse,
  { status, headers = {}, body = '', rest }: ApiAnswer,
): Promise<void> {
  const { length } = Buffer.from(body);
  if (rest === undefined)
    return void response.writeHead(status, { 'content-length': length, ...headers }).end(body);
  if (rest === 'cut') {
    response.writeHead(status, { 'content-length': length + 10, ...headers });
    return void response.write(body, () => response.destroy());
  }
  response.writeHead(status, headers);
  response.flushHeaders();
  response.write(body);
  response.end(await rest);
}
