/** Somebody who signs in to the dashboard of one node, and goes on at any. */
import type { IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { SessionCalls } from '../../src/dashboard/contract.ts';
import type { RunningServer } from '../peers/server.ts';

/** See the top of the file. */
export class Visitor {
  readonly #cookie: string;

  private constructor(cookie: string) {
    this.#cookie = cookie;
  }

  /** Signs in by a password. */
  static async signIn(server: RunningServer, name: string, password: string): Promise<Visitor> {
    const { status, body, cookie } = await Visitor.call(server, 'login', { name, password });
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return new Visitor(cookie);
  }

  /** Makes a call of the session, with a cookie if it has one: the answer, and the first cookie that it sets. */
  static async call(
    server: RunningServer,
    name: keyof SessionCalls,
    request: object,
    cookie = '',
  ): Promise<{ readonly status: number | undefined; readonly body: unknown; readonly cookie: string }> {
    const answer = await send(
      server,
      `/api/session/${name}`,
      { method: 'POST', headers: { cookie } },
      request,
    );
    const [given = ''] = answer.headers['set-cookie']?.[0]?.split(';') ?? [];
    return { status: answer.statusCode, body: JSON.parse(await text(answer)), cookie: given };
  }

  /** Who the server takes them for. */
  async session(server: RunningServer): Promise<unknown> {
    const headers = { cookie: this.#cookie };
    return JSON.parse(await text(await send(server, '/api/session', { headers })));
  }

  /** Asks for something; the answer once it begins, of which nothing is read. */
  async ask(server: RunningServer, path: string): Promise<IncomingMessage> {
    const answer = await send(server, path, { headers: { cookie: this.#cookie } });
    // The server may cut off whoever does not read; those who wait for that see it by the answer's end.
    return answer.on('error', () => {});
  }

  /** Begins to listen to hints. */
  async listen(server: RunningServer): Promise<Hints> {
    return new Hints(await send(server, '/api/events', { headers: { cookie: this.#cookie } }));
  }
}

/** What a page is told. */
export class Hints {
  readonly #stream: IncomingMessage;
  #told = '';

  constructor(stream: IncomingMessage) {
    this.#stream = stream;
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      this.#told += chunk;
    });
  }

  /** Whether a topic was told of so far. */
  has(topic: string): boolean {
    return this.#told.includes(`"${topic}"`);
  }

  /** Listens no more. */
  end(): void {
    this.#stream.destroy();
  }
}

/** Asks; the answer once it begins. Its certificate is its own. */
function send(
  { runtime }: RunningServer,
  path: string,
  options: RequestOptions,
  body?: object,
): Promise<IncomingMessage> {
  const port = runtime.webui ?? 0;
  const origin = `https://localhost:${port}`;
  const headers = {
    ...options.headers,
    host: `localhost:${port}`,
    origin,
    'content-type': 'application/json',
  };
  const all = { host: '127.0.0.1', port, path, agent: false, rejectUnauthorized: false, ...options, headers };
  return new Promise((resolve, reject) => {
    request(all, resolve)
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
  });
}
