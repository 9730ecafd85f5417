import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:https';
import { vi } from 'vitest';
import type { RunningServer } from '../peers/server.ts';
import type { SmtpSink } from '../peers/smtp-sink.ts';

/** An answer, with its body read as JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly [field: string]: unknown };
}

/** How long something that must happen by itself is waited for. */
const PATIENCE_MS = 15_000;
const LOOK_EVERY_MS = 100;

/** Someone who sends mail with a key, and remembers what was acknowledged. */
export class Customer {
  /** Subjects of the messages that were answered with 202. Each is unique. */
  readonly acknowledged = new Set<string>();
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  /** Sends one message. */
  async send(server: RunningServer): Promise<Answer> {
    const subject = randomUUID();
    const response = await fetch(`${server.api}/api/v1/messages`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${this.#key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        from: 'shop@example.com',
        to: ['a@example.net'],
        subject,
        text: 'x'.repeat(3000),
      }),
    });
    if (response.status === 202) this.acknowledged.add(subject);
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Answer['body'],
    };
  }

  /** Sends one message after the other until one is not acknowledged, and gives that answer. */
  async sendUntilRefused(server: RunningServer): Promise<Answer> {
    for (;;) {
      const answer = await this.send(server);
      if (answer.status !== 202) return answer;
    }
  }

  /** Sends again and again until one message is acknowledged. */
  async sendUntilAcknowledged(server: RunningServer): Promise<void> {
    const attempt = async () => {
      const { status, body } = await this.send(server);
      if (status !== 202) throw new Error(`${status} ${body['detail']}`);
    };
    await vi.waitFor(attempt, { timeout: PATIENCE_MS, interval: LOOK_EVERY_MS });
  }

  /** Waits until everything acknowledged has arrived. */
  async untilDelivered(sink: SmtpSink): Promise<void> {
    await sink.until(() => {
      const arrived = new Set(sink.messages.map(({ content }) => subjectOf(content)));
      return [...this.acknowledged].every((subject) => arrived.has(subject));
    });
  }
}

/** Asks the port of health and metrics. Its certificate is its own. */
export function ask(server: RunningServer, path: string): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const url = `https://127.0.0.1:${server.runtime.webui}${path}`;
  const call = request(url, { rejectUnauthorized: false, agent: new Agent() }, (response) => {
    let body = '';
    response.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    response.on('error', reject).on('end', () => resolve({ status: response.statusCode ?? 0, body }));
  });
  call.on('error', reject).end();
  return promise;
}

/** What health says. */
export interface HealthAnswer {
  readonly httpStatus: number;
  readonly status: string;
  readonly checks: readonly { readonly name: string; readonly status: string; readonly detail: string }[];
}

/** Asks for health. */
export async function healthOf(server: RunningServer): Promise<HealthAnswer> {
  const { status, body } = await ask(server, '/health');
  return { ...(JSON.parse(body) as Omit<HealthAnswer, 'httpStatus'>), httpStatus: status };
}

function subjectOf(content: Buffer): string {
  return /^Subject: (.*)\r$/m.exec(content.toString('latin1'))?.[1] ?? '';
}
