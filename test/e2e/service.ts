/** The real server on an installation of its own, and an application that posts messages and asks after them. */
import { type TestContext, vi } from 'vitest';
import type { Message } from '../../src/client/message.ts';
import { unwrap } from '../../src/client/result.ts';
import type { MessageStatus, StatusRecord } from '../../src/client/types.ts';
import { Waybill } from '../../src/client/waybill.ts';
import { Installation, type RunningServer } from '../peers/server.ts';
import { heldFetch } from '../support/openapi.ts';

/** A server, started on a fresh installation, and a client with a key of it. */
export class Service {
  readonly installation: Installation;
  server: RunningServer;
  client: Client;

  constructor(installation: Installation, server: RunningServer, key: string) {
    this.installation = installation;
    this.server = server;
    this.client = new Client(server, key);
  }

  /** Starts the server again after its end; its ports are others now. */
  async restart(): Promise<void> {
    this.server = await this.installation.start();
    this.client = new Client(this.server, this.client.key);
  }

  /** Kills the server and removes everything. */
  async stop(): Promise<void> {
    await this.server.end('SIGKILL');
    this.installation.remove();
  }
}

/** Starts a service. */
export async function startService(configuration: string): Promise<Service> {
  const installation = new Installation(configuration);
  try {
    const server = await installation.start();
    return new Service(installation, server, await createKey(installation, 'app'));
  } catch (error) {
    installation.remove();
    throw error;
  }
}

/**
 * A server's API, with a key: the typed client where things go well, plain requests where answers are
 * looked at. Every answer must be as the OpenAPI document says.
 */
export class Client {
  readonly api: Waybill;
  readonly messages: string;
  readonly key: string;

  constructor(server: RunningServer, key: string) {
    // A failure that would pass by itself is one that a test must see.
    this.api = new Waybill({ url: server.api, key, maxRetries: 0, fetch: heldFetch });
    this.messages = `${server.api}/api/v1/messages`;
    this.key = key;
  }

  /** Posts a form, or anything else as JSON; the answer as it comes. */
  post(message: object): Promise<Response> {
    const authorization = `Bearer ${this.key}`;
    if (message instanceof FormData)
      return heldFetch(this.messages, { method: 'POST', headers: { authorization }, body: message });
    const headers = { authorization, 'content-type': 'application/json' };
    return heldFetch(this.messages, { method: 'POST', headers, body: JSON.stringify(message) });
  }

  /** Sends a message that must be accepted; its id. */
  async send(message: Message): Promise<string> {
    return unwrap(await this.api.send(message)).id;
  }

  /** Asks for something under `/api/v1/messages`; the answer as it comes. */
  get(path: string): Promise<Response> {
    return heldFetch(`${this.messages}${path}`, { headers: { authorization: `Bearer ${this.key}` } });
  }

  /** Tells what became of mail (contract-2 §A3); it must be taken. */
  async tell(feedback: object): Promise<void> {
    const headers = { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' };
    const url = this.messages.replace(/messages$/, 'feedback');
    const answer = await heldFetch(url, { method: 'POST', headers, body: JSON.stringify(feedback) });
    if (answer.status !== 202) throw new Error(`feedback was not taken: ${await answer.text()}`);
  }

  /** A message's record as it is now. */
  async record(id: string): Promise<StatusRecord> {
    return unwrap(await this.api.get(id));
  }

  /** A message's record once it is final. */
  async end(id: string): Promise<StatusRecord> {
    return unwrap(await this.api.wait(id, { timeoutMs: 30_000 }));
  }

  /** A message's record once it has a status that is not final. */
  until(id: string, status: MessageStatus): Promise<StatusRecord> {
    return vi.waitFor(
      async () => {
        const record = await this.record(id);
        if (record.status !== status) throw new Error(`${id} is ${record.status}, not ${status}`);
        return record;
      },
      { timeout: 60_000, interval: 50 },
    );
  }
}

/** An installation that goes with the test. */
export function installed({ onTestFinished }: TestContext, configuration: string): Installation {
  const installation = new Installation(configuration);
  onTestFinished(() => installation.remove());
  return installation;
}

/** Makes a key; its secret. */
export async function createKey(installation: Installation, ...args: readonly string[]): Promise<string> {
  return (await installation.run('keys', 'create', '--quiet', ...args)).stdout.trim();
}

/** A configuration on free ports and without limits, whose mail goes to a smarthost, and soon again if refused. */
export function configurationFor(port: number, relay = 'tls: none'): string {
  return `
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: null }
listener: { ports: [] }
delivery: { default_relay: out, retry_first_seconds: 1, retry_max_seconds: 1 }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${port}, ${relay} }]
`;
}
