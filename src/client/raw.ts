import { timeText } from './message.ts';
import type { Priority } from './types.ts';

/** Who gets a finished message, whatever its header says, and how. */
export interface RawEnvelope {
  /** The reverse-path: an address without a name. */
  readonly from: string;
  /** The forward-paths. They travel in the URL, where the server has room for 8 KiB: some 250 addresses. */
  readonly to: string | readonly string[];
  readonly tags?: readonly string[] | undefined;
  /** Not before this time, at most 30 days ahead. */
  readonly sendAt?: Date | string | undefined;
  readonly priority?: Priority | undefined;
}

/** The query that carries an envelope. */
export function rawQuery({ from, to, tags = [], sendAt, priority }: RawEnvelope): string {
  const query = new URLSearchParams({ from });
  for (const address of typeof to === 'string' ? [to] : to) query.append('to', address);
  for (const tag of tags) query.append('tag', tag);
  if (sendAt !== undefined) query.set('sendAt', timeText(sendAt));
  if (priority !== undefined) query.set('priority', priority);
  return `?${query}`;
}
