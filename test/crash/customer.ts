import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:https';
import { expect, vi } from 'vitest';
import type { RunningServer } from '../peers/server.ts';
import type { SmtpSink } from '../peers/smtp-sink.ts';

/** How long something that must happen by itself is waited for. */
const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 100;

/** Someone who hands in mail, one way or the other, and remembers what was acknowledged. */
export abstract class Customer<Answer> {
  /** Ids of the messages that were acknowledged, by their subjects, each of which is unique. */
  readonly acknowledged = new Map<string, string>();

  /** Hands in one message. Rejects when there is no answer. */
  async send(server: RunningServer): Promise<Answer> {
    const subject = randomUUID();
    const answer = await this.hand(server, subject);
    const id = this.idIn(answer);
    if (id !== null) this.acknowledged.set(subject, id);
    return answer;
  }

  /** Sends one message after the other until one is not acknowledged, and gives that answer. */
  async sendUntilRefused(server: RunningServer): Promise<Answer> {
    for (;;) {
      const answer = await this.send(server);
      if (this.idIn(answer) === null) return answer;
    }
  }

  /** Sends again and again until one message is acknowledged. */
  async sendUntilAcknowledged(server: RunningServer): Promise<void> {
    const attempt = async () => {
      const answer = await this.send(server);
      if (this.idIn(answer) === null) throw new Error(JSON.stringify(answer));
    };
    await vi.waitFor(attempt, { timeout: PATIENCE_MS, interval: LOOK_EVERY_MS });
  }

  /** Waits until everything acknowledged has arrived. */
  async untilDelivered(sink: SmtpSink): Promise<void> {
    await sink.until(() => {
      const arrived = new Set(sink.messages.map(({ content }) => subjectOf(content)));
      return [...this.acknowledged.keys()].every((subject) => arrived.has(subject));
    });
  }

  /** The id that an answer gives to the message; null when it does not acknowledge it. */
  abstract idIn(answer: Answer): string | null;

  protected abstract hand(server: RunningServer, subject: string): Promise<Answer>;
}

/** What every customer writes, and to whom. */
export const LETTER = {
  from: 'shop@example.com',
  to: ['a@example.net', 'b@example.net'],
  text: `${'x'.repeat(73)}\r\n`.repeat(40),
} as const;

/** The subject of a message that the sink took. */
export function subjectOf(content: Buffer): string {
  return /^Subject: (.*)\r$/m.exec(content.toString('latin1'))?.[1] ?? 'no subject';
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

/** Waits until health finds nothing. Not at once: it looks at the store from time to time. */
export async function untilHealthy(server: RunningServer): Promise<void> {
  const look = async () => {
    const { httpStatus, status } = await healthOf(server);
    expect([httpStatus, status]).toEqual([200, 'healthy']);
  };
  await vi.waitFor(look, { timeout: PATIENCE_MS, interval: LOOK_EVERY_MS });
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
