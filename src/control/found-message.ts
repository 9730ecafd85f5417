import type { MessageRecord } from '../domain/message.ts';
import { messageJson } from '../ingest/http/record.ts';
import type { Keyring } from '../store/keyring.ts';
import type { FoundMessage } from './search-operations.ts';

/** Messages as lists show them, with the names of their keys. */
export async function foundMessages(
  records: readonly MessageRecord[],
  keyring: Pick<Keyring, 'list'>,
): Promise<FoundMessage[]> {
  const owned = records.some(({ keyId }) => keyId !== null);
  const names = new Map(owned ? (await keyring.list()).map(({ id, name }) => [id, name]) : []);
  return records.map((record) => ({
    ...messageJson(record),
    key: record.keyId === null ? null : (names.get(record.keyId) ?? null),
    captured: record.test || record.outcome === 'captured',
  }));
}
