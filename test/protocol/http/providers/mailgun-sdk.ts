import Mailgun from 'mailgun.js';
import { expect } from 'vitest';
import type { World } from '../world.ts';

/** Mailgun's own unchanged SDK, in front of a world of ours. */

/** The SDK's client. */
export type MailgunClient = ReturnType<Mailgun['client']>;

/** The SDK with a key of this world; `below` is where the API lies. */
export function mailgunClient(world: World, key: string, below = ''): MailgunClient {
  return new Mailgun(FormData).client({
    username: 'api',
    key,
    url: `http://127.0.0.1:${world.port}${below}`,
  });
}

/** What `Authorization` says for a key. */
export function basicAuth(key: string): string {
  return `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
}

/** What an application catches. */
export function caught(sent: Promise<unknown>): Promise<unknown> {
  return sent.then(
    () => expect.fail('it was taken'),
    (error: unknown) => {
      expect(error).toMatchObject({ type: 'MailgunAPIError' });
      expect(error).toBeInstanceOf(Error);
      return error;
    },
  );
}
