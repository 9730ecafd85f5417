import type { MessageRecord } from '../../../domain/message.ts';
import type { ListPage } from '../../../store/views.ts';
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
/** Messages that are read at once; pages of them that are read, of which a sparse one may be short. */
const PAGE = 500;
const MAX_PAGES = 20;

const ANY = { tag: null, to: null, from: null, subject: null, since: null, until: null };

/** What the calls of Mailpit's API need. */
export interface MailpitDeps extends ProviderDeps {
  readonly summaries: Summaries;
  readonly spool: IngestDeps['spool'];
  readonly watchers: Watchers;
}

/** The newest messages of an account, at most `most`. */
export async function newestOf(
  { keyId, box }: Account,
  { views }: { readonly views: Pick<MailpitDeps['views'], 'list'> },
  most: number = MAX_SEEN,
): Promise<MessageRecord[]> {
  const query = {
    owner: { keyId },
    asker: keyId,
    statuses: [],
    filter: { ...ANY, captured: true as const, ...(box !== null && { box }) },
  };
  const found: MessageRecord[] = [];
  let before: string | null = null;
  for (let pages = 0; pages < MAX_PAGES && found.length < most; pages++) {
    const limit = Math.min(PAGE, most - found.length);
    const { messages, next }: ListPage = await views.list({ ...query, before, limit });
    found.push(...messages);
    before = next;
    if (before === null) break;
  }
  return found;
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
