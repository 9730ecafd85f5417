import type { ApiKey } from '../../../domain/key.ts';
import type { MessageRecord } from '../../../domain/message.ts';
import type { ParsedMessage } from '../../../preview/parsed.ts';
import type { ListQuery } from '../../../store/views.ts';
import type { ProviderDeps } from './provider.ts';

/** What a key may read of messages, whichever provider's API shows them. A file of its own: each of them reads. */

/** Whose messages a key sees. */
export function ownerFor({ id, scopes }: ApiKey): ListQuery['owner'] {
  return scopes.includes('messages:read_all') ? 'all' : { keyId: id };
}

/** What is read from a message's contents; null where the key may not, or they are gone. */
export async function wordsOf(
  message: MessageRecord,
  key: ApiKey,
  { readWords }: Pick<ProviderDeps, 'readWords'>,
): Promise<ParsedMessage | null> {
  return message.content === null || !mayRead(message, key) ? null : await readWords(message);
}

/** The content of a test key's mail is meant for the tester. */
function mayRead({ test }: MessageRecord, { mode, scopes }: ApiKey): boolean {
  return scopes.includes('messages:content') || (test && mode === 'test');
}
