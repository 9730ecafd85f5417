import client from '@sendgrid/client';
import sgMail from '@sendgrid/mail';
import { expect } from 'vitest';
import type { World } from '../world.ts';

/** SendGrid's own unchanged SDK, in front of a world of ours. */

/** A mail as an application gives it to the SDK. */
export type Mail = Exclude<Parameters<typeof sgMail.send>[0], readonly unknown[]>;

/** The smallest mail. */
export const MAIL = { from: 'Jane <jane@example.com>', to: 'bob@example.org', subject: 'Hello', text: 'Hi.' };
/** The same as SendGrid has it. */
export const BODY = {
  personalizations: [{ to: [{ email: 'bob@example.org' }] }],
  from: { email: 'jane@example.com', name: 'Jane' },
  subject: 'Hello',
  content: [{ type: 'text/plain', value: 'Hi.' }],
};

/** The SDK with a key of this world; `below` is where the API lies. */
export class Sendgrid {
  readonly #world: World;
  readonly #key: string;

  constructor(world: World, key: string) {
    this.#world = world;
    this.#key = key;
  }

  mail(below = ''): typeof sgMail {
    client.setApiKey(this.#key);
    client.setDefaultRequest('baseUrl', `http://127.0.0.1:${this.#world.port}${below}/`);
    sgMail.setClient(client);
    return sgMail;
  }

  /** Sends a copy, as the SDK writes into what it is given. */
  async send(
    mail: Mail,
    below = '',
  ): Promise<{ status: number; body: unknown; id: string; replayed: boolean }> {
    const [{ statusCode, headers }, body] = await this.mail(below).send({ ...mail });
    const header = (name: string): unknown => Reflect.get(headers, name);
    return {
      status: statusCode,
      body,
      id: String(header('x-message-id')),
      replayed: header('idempotency-replayed') === 'true',
    };
  }

  /** Asks for anything else. */
  async ask(method: 'GET' | 'POST' | 'DELETE', url: `/${string}`, body?: object): Promise<[number, unknown]> {
    this.mail();
    const [answer] = await client.request({ method, url, ...(body !== undefined && { body }) });
    return [answer.statusCode, answer.body];
  }
}

/** What an application catches. */
export function caught(sent: Promise<unknown>): Promise<unknown> {
  return sent.then(
    () => expect.fail('it was taken'),
    (error: unknown) => {
      expect(Object(error).constructor.name).toBe('ResponseError');
      return error;
    },
  );
}
