import { expect } from 'vitest';
import { type Answer, faultsOf, World } from './world.ts';

/** The header lines of the usual finished message. */
export const HEADER = [
  'Date: Fri, 20 Nov 2026 10:00:00 +0100',
  'From: Jane <jane@example.com>',
  'To: Bob <bob@example.org>',
  'Subject: Hello',
  'Message-ID: <1@example.com>',
];

/** A message of these header lines, or of the usual ones. */
export function messageOf(lines: readonly string[] = HEADER, body = 'Hi.\r\n'): string {
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** The usual header lines, one of them replaced or left out. */
export function headerWith(name: string, ...lines: readonly string[]): string[] {
  return [...HEADER.filter((line) => !line.startsWith(`${name}:`)), ...lines];
}

/** The usual envelope, as a query. */
export const ENVELOPE = 'from=jane%40example.com&to=bob%40example.org';

/** What goes with a finished message. */
export interface RawAsk {
  readonly query?: string;
  readonly headers?: Record<string, string>;
  /** Another key's secret. */
  readonly as?: string;
}

/** A client that sends finished messages. */
export class RawClient {
  readonly world: World;
  readonly key: string;

  constructor(world: World, key: string) {
    this.world = world;
    this.key = key;
  }

  static async start(): Promise<RawClient> {
    const world = await World.start();
    return new RawClient(world, await world.key());
  }

  send(
    body: string | Buffer,
    { query = ENVELOPE, headers = {}, as = this.key }: RawAsk = {},
  ): Promise<Answer> {
    const type = { 'Content-Type': 'message/rfc822', ...headers };
    const path = `/api/v1/messages/raw?${query}`;
    return this.world.ask({ method: 'POST', path, key: as, headers: type, body });
  }

  /** Sends what must be taken, and gives it as it will be sent without the Received field on top. */
  async take(body: string | Buffer, ask: RawAsk = {}): Promise<string> {
    const answer = await this.send(body, ask);
    expect([answer.status, answer.json['detail']]).toEqual([202, undefined]);
    const { lastText } = this.world;
    const [received = ''] = /^Received: .*\r\n(?:[ \t].*\r\n)*/.exec(lastText) ?? [];
    return lastText.slice(received.length);
  }

  /** Sends what must be refused; `pointer code` of each fault. */
  async refuse(body: string | Buffer, ask: RawAsk = {}): Promise<string[]> {
    const answer = await this.send(body, ask);
    expect([answer.status, answer.json['code']]).toEqual([400, 'invalid_submission']);
    return faultsOf(answer);
  }
}
