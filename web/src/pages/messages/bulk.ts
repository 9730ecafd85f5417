import type { ResultOf } from '../../../../src/operations/table.ts';
import { plural } from '../../format.ts';

/** Messages that one call may act on. */
export const ACT_CHUNK = 500;

/** What became of an act on several messages. */
export type Acted = ResultOf<'actOnMessages'>;

/** Acts on any number of messages, a bounded part at a time; stops early when `signal` is aborted. */
export async function actInChunks(
  ids: readonly string[],
  act: (part: string[]) => Promise<Acted>,
  onPart: (done: number) => void,
  signal: AbortSignal,
): Promise<Acted> {
  let acted = 0;
  const refused: Acted['refused'][number][] = [];
  for (let start = 0; start < ids.length && !signal.aborted; start += ACT_CHUNK) {
    const part = ids.slice(start, start + ACT_CHUNK);
    const answer = await act(part);
    acted += answer.acted;
    refused.push(...answer.refused);
    onPart(start + part.length);
  }
  return { acted, refused };
}

/** Reasons for which messages were left alone, the most frequent first. */
export function reasonsOf(
  refused: Acted['refused'],
): { readonly reason: string; readonly ids: readonly string[] }[] {
  const byReason = new Map<string, string[]>();
  for (const { id, reason } of refused) {
    // The same sentence about each message, but for its id.
    const words = reason.replaceAll(id, 'it');
    byReason.set(words, [...(byReason.get(words) ?? []), id]);
  }
  return [...byReason]
    .map(([reason, ids]) => ({ reason, ids }))
    .sort((one, other) => other.ids.length - one.ids.length);
}

/** What was done, in a sentence. */
export function actedSentence(act: 'retry' | 'cancel', { acted, refused }: Acted): string {
  const done = act === 'retry' ? 'will be tried again now' : 'cancelled';
  const left = refused.length === 0 ? '' : ` ${plural(refused.length, 'message')} left alone.`;
  return `${plural(acted, 'message')} ${done}.${left}`;
}
