/** A server that answers like the API, and misbehaves when it is told to. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** What is done to one request instead of answering it as the API would. */
export type Fault =
  /** The connection is lost before anything was accepted. */
  | { readonly kind: 'drop' }
  /** It is accepted, and the connection lost before the answer. */
  | { readonly kind: 'drop-after' }
  /** It is accepted, and the connection lost in the middle of the answer. */
  | { readonly kind: 'cut' }
  /** No answer ever comes. */
  | { readonly kind: 'hang' }
  | Answer;

/** An answer word by word. */
export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request as it came in. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** See this file's comment. */
export class FaultyApi {
  /** One for each request to come, in order; `null` for none. */
  faults: (Fault | null)[] = [];
  /** Everything that was asked, in order. */
  readonly received: Received[] = [];
  /** What was accepted, by idempotency key. */
  readonly accepted = new Map<string, string>();
  /** What is answered to requests that send nothing, by method and path; 404 for the others. */
  readonly answers = new Map<string, Answer>();
  url = '';
  #notify: () => void = () => undefined;

  readonly #server = createServer((request, response) => void this.#handle(request, response));

  /** Serves on a free port until the test's end. */
  static async start(): Promise<FaultyApi> {
    const api = new FaultyApi();
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    api.url = `http://127.0.0.1:${(api.#server.address() as AddressInfo).port}`;
    onTestFinished(() => api.close());
    return api;
  }

  /** Ends it, and every connection. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Resolves once so many requests have come in. */
  async until(count: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#notify = () => {
        if (this.received.length >= count) resolve();
      };
      this.#notify();
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const fault = this.faults.shift() ?? null;
    this.received.push({ method, path: url, headers, body: await text(request) });
    this.#notify();
    switch (fault?.kind) {
      case 'drop':
        return void request.socket.destroy();
      case 'hang':
        return;
      case 'answer':
        return write(response, fault);
    }
    const answer = this.#answer(method, url, String(headers['idempotency-key'] ?? ''));
    if (fault?.kind === 'drop-after') return void request.socket.destroy();
    if (fault?.kind === 'cut') return cut(response, answer);
    write(response, answer);
  }

  #answer(method: string, path: string, key: string): Answer {
    const canned = this.answers.get(`${method} ${path}`);
    if (canned) return canned;
    const sends = method === 'POST' && (path === '/api/v1/messages' || path.endsWith('/resend'));
    if (!sends) return problem(404, 'not_found');
    const first = this.accepted.get(key);
    const id = first ?? `msg_${this.accepted.size + 1}`;
    this.accepted.set(key, id);
    const headers = first === undefined ? {} : { 'Idempotency-Replayed': 'true' };
    return { ...json(202, { id, message: 'Queued for delivery.', status: 'queued' }), headers };
  }
}

/** A JSON answer. */
export function json(status: number, body: unknown): Answer {
  return { kind: 'answer', status, body: JSON.stringify(body) };
}

/** A refusal as the API tells it. */
export function problem(
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const detail = `This is ${code}.`;
  const body = { type: `urn:waybill:problem:${code}`, title: 'No', status, detail, code, error: detail };
  return { ...json(status, { ...body, requestId: 'req-1', errors: [] }), headers };
}

function write(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers).end(body);
}

function cut(response: ServerResponse, { status, body = '' }: Answer): void {
  response.writeHead(status, { 'Content-Length': body.length });
  response.write(body.slice(0, body.length / 2), () => response.destroy());
}
