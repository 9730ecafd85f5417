import { Errors, type Message, ServerClient } from 'postmark';
import type { Answer, Ask, World } from '../world.ts';

/** Postmark's own unchanged SDK, in front of a world of ours. */

/** The smallest email. */
export const EMAIL: Message = {
  From: 'Jane <jane@example.com>',
  To: 'bob@example.org',
  Subject: 'Hello',
  TextBody: 'Hi.',
};

/** The SDK with a key; `below` is where the API lies. */
export function clientOf(world: World, key: string, below = ''): ServerClient {
  return new ServerClient(key, { useHttps: false, requestHost: `127.0.0.1:${world.port}${below}` });
}

/** Asks as Postmark's clients do, without the SDK; with {@link EMAIL} unless told otherwise. */
export function askWith(
  world: World,
  token: string,
  path: string,
  { headers, ...rest }: Partial<Ask> = {},
): Promise<Answer> {
  return world.ask({
    method: 'POST',
    path,
    body: EMAIL,
    headers: { 'X-Postmark-Server-Token': token, ...headers },
    ...rest,
  });
}

/** What the SDK throws. */
export async function thrown(work: Promise<unknown>): Promise<Errors.PostmarkError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof Errors.PostmarkError) return error;
  throw new Error('nothing was refused');
}
