import type { MessageRecord } from '../domain/message.ts';
import { type Findable, namedId } from '../ingest/http/find-message.ts';
import { messageJson } from '../ingest/http/record.ts';
import { OperationError } from '../operations/call.ts';
import type { FoundMessage } from '../operations/search.ts';
import type { Keyring } from '../store/keyring.ts';
import type { MessageDetail } from '../store/views.ts';
import { asOperationError } from './operation-error.ts';
import { type OutlookDeps, outlookOf } from './outlook.ts';

/** Messages as lists show them, with the names of their keys. */
export async function foundMessages(
  records: readonly MessageRecord[],
  deps: OutlookDeps & { readonly keyring: Pick<Keyring, 'list'> },
): Promise<FoundMessage[]> {
  const owned = records.some(({ keyId }) => keyId !== null);
  const names = new Map(owned ? (await deps.keyring.list()).map(({ id, name }) => [id, name]) : []);
  const lanes = await outlookOf(deps)(records);
  return records.map((record) => ({
    ...messageJson(record, lanes),
    key: record.keyId === null ? null : (names.get(record.keyId) ?? null),
    captured: record.test || record.outcome === 'captured',
  }));
}

/** The message that an id or a Message-ID names, of whichever key. Throws `OperationError`; `hint` says what to do then. */
export async function findNamed(text: string, views: Findable, hint = ''): Promise<MessageDetail> {
  const id = await namedId(text, 'all', views).catch((error: unknown) => {
    throw asOperationError(error);
  });
  const detail = id === null ? null : await views.message(id);
  if (detail === null) throw new OperationError('not_found', `There is no message ${text}.${hint}`);
  return detail;
}
