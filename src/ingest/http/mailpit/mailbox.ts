import type { MessageRecord } from '../../../domain/message.ts';
import { ANY_CAPTURED, type CapturedMail, type CapturedSearch } from '../inbox/captured-mail.ts';
import type { CapturedWords } from '../inbox/captured-words.ts';
import type { IngestDeps } from '../options.ts';
import type { ProviderDeps } from '../providers/provider.ts';
import type { Watchers } from '../watchers.ts';
import type { Account } from './account.ts';
import { type Condition, holdsListed, holdsSaid, isListed } from './search.ts';
import { messageIdOf } from './shapes.ts';
import { type Said, type Summaries, tagsOf } from './summaries.ts';

/** A mailbox as Mailpit has it: the captured mail of an account, the newest first. */

/** The most messages of a mailbox that are seen: the newest. */
export const MAX_SEEN = 2000;

/** What the calls of Mailpit's API need. */
export interface MailpitDeps extends ProviderDeps {
  readonly captured: CapturedMail;
  readonly capturedWords: CapturedWords;
  readonly summaries: Summaries;
  readonly spool: IngestDeps['spool'];
  readonly watchers: Watchers;
}

/** Which captured messages are those of an account. */
export function searchOf({ keyId, box }: Account): CapturedSearch {
  return { keyId, filter: { ...ANY_CAPTURED, box } };
}

/** The newest messages of an account. */
export function newestOf(
  account: Account,
  { captured }: Pick<MailpitDeps, 'captured'>,
  signal: AbortSignal,
): Promise<MessageRecord[]> {
  return captured.newest(searchOf(account), MAX_SEEN, signal);
}

/**
 * The first of these messages, at most `most`, that meet all conditions. Contents are read only where the record does not
 * decide, one after the other, so that a search never takes more than one turn of whatever reads them.
 */
export async function searched(
  messages: readonly MessageRecord[],
  conditions: readonly Condition[],
  { summaries }: Pick<MailpitDeps, 'summaries'>,
  signal: AbortSignal,
  most: number = MAX_SEEN,
): Promise<MessageRecord[]> {
  const byRecord = conditions.filter(isListed);
  const byContents = conditions.filter((condition) => !isListed(condition));
  const found: MessageRecord[] = [];
  for (const message of messages) {
    if (signal.aborted || found.length >= most) break;
    const facts = listedFacts(message);
    if (!byRecord.every((condition) => holdsListed(condition, facts))) continue;
    const said: Said | null = byContents.length === 0 ? null : await summaries.of(message);
    if (said === null || byContents.every((condition) => holdsSaid(condition, said))) found.push(message);
  }
  return found;
}

function listedFacts(message: MessageRecord) {
  const { header, inboxRead, createdAt, sizeBytes } = message;
  const { subject } = header;
  const messageId = messageIdOf(message);
  return { subject, messageId, tags: tagsOf(message), read: inboxRead, createdAt, sizeBytes };
}
