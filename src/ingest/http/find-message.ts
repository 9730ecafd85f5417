import { z } from 'zod';
import type { ApiKey } from '../../domain/key.ts';
import { addressKey } from '../../domain/mailbox.ts';
import { isInvitation, type MessageRecord } from '../../domain/message.ts';
import type { Exchange } from '../../http/exchange.ts';
import { Problem } from '../../http/problem.ts';
import { readMessageId } from '../../lib/id.ts';
import { type Spool, type SpoolContent, SpoolError } from '../../spool/spool.ts';
import {
  type ListPage,
  type ListQuery,
  type MessageDetail,
  UNFILTERED,
  type Views,
} from '../../store/views.ts';
import { invalidQuery, parameterFault, readParameters } from './query.ts';

/** Which messages a key may see and act on, and which acts some messages rule out (contract §3.1, §3.3). */

/** What finding a message reads. */
export type Findable = Pick<Views, 'message' | 'list'>;

/** A Message-ID in place of an id. Without an at sign, the text might be an id. */
const MESSAGE_ID = /^<[^<>]{0,900}@[^<>]{0,900}>$/;
/** Pages to search for a Message-ID. One suffices, unless very many differ from it only in punctuation. */
const MAX_PAGES = 50;

/**
 * The id that a text names: the id itself, also as a UUID, or for a Message-ID, that of the owner's newest message with
 * it. Null if there is none. Throws the problem 409 when too many similar ones exist to look at them all.
 */
export async function namedId(
  text: string,
  owner: ListQuery['owner'],
  views: Pick<Views, 'list'>,
): Promise<string | null> {
  const id = readMessageId(text);
  if (id !== null) return id;
  if (!MESSAGE_ID.test(text)) return null;
  const query = { owner, statuses: [], filter: { ...UNFILTERED, messageId: text }, limit: 1 } as const;
  let before: string | null = null;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { messages, next }: ListPage = await views.list({ ...query, before });
    const [newest] = messages;
    if (newest !== undefined) return newest.id;
    if (next === null) return null;
    before = next;
  }
  throw new Problem(
    409,
    'refused',
    'Too many messages have a similar Message-ID to check all of them. Use the id: GET /api/v1/messages shows it.',
  );
}

/** {@link namedId} among the messages that a key may see; otherwise always throws the same 404. */
export async function readableId(text: string, key: ApiKey, views: Pick<Views, 'list'>): Promise<string> {
  const owner = key.scopes.includes('messages:read_all') ? 'all' : { keyId: key.id };
  const id = await namedId(text, owner, views);
  if (id === null) throw messageNotFound();
  return id;
}

/**
 * The message with this id or Message-ID, if it exists and the key may see it; otherwise throws always the same 404.
 */
export async function findReadable(text: string, key: ApiKey, views: Findable): Promise<MessageDetail> {
  const detail = await views.message(await readableId(text, key, views));
  const visible =
    detail !== null && (detail.message.keyId === key.id || key.scopes.includes('messages:read_all'));
  if (!visible) throw messageNotFound();
  return detail;
}

/**
 * The message, if the key may act on it: its own, or with the scope `admin` any that it may see. Throws 404 for one
 * that it may not see, 403 for one that it may only read.
 */
export async function findActionable(text: string, key: ApiKey, views: Findable): Promise<MessageDetail> {
  const detail = await findReadable(text, key, views);
  if (detail.message.keyId !== key.id && !key.scopes.includes('admin'))
    throw new Problem(
      403,
      'scope_missing',
      "Acting on another key's message needs a key with the scope admin.",
    );
  return detail;
}

/** The answer for a message that does not exist, or that the key may not know of. */
export function messageNotFound(): Problem {
  return new Problem(404, 'message_not_found', 'There is no such message.');
}

/** The answer when retention has removed the bytes: 404 for reading, 409 for acting. */
export function contentExpired(status: 404 | 409): Problem {
  return new Problem(
    status,
    'content_expired',
    'The content is no longer kept: it is removed retention.content_days after the final status, or earlier when retention.content_max_bytes is reached. Submit the message again.',
  );
}

/** The same for an invitation: whoever read the link in it could take its user's place. */
function invitationWithheld(status: 404 | 409): Problem {
  return new Problem(
    status,
    'content_expired',
    'An invitation is shown to nobody, and not sent again: it has a link that lets its reader in. An administrator makes another one.',
  );
}

/** Throws 409 for a message that is only captured: it never leaves (contract §3.3). */
export function refuseTestMessage(message: MessageRecord): void {
  if (!message.test) return;
  throw new Problem(
    409,
    'test_key',
    'The message was only to be captured (sent with a test key, or with o:testmode) and never leaves. To send it, submit it again with a live key and without o:testmode.',
  );
}

/**
 * Opens a message's content for immediate use; reading a piece later may throw `SpoolError`. Throws the problem
 * `content_expired` with this status when the content is no longer kept, or is an invitation's, and 503 when it cannot be
 * read now. Where recipients have copies of their own, it is that of the one with this place in the envelope.
 */
export async function openContent(
  message: MessageRecord,
  spool: Pick<Spool, 'read'>,
  expired: 404 | 409,
  recipient = 0,
): Promise<SpoolContent> {
  const { content, copies } = message;
  if (isInvitation(message)) throw invitationWithheld(expired);
  if (content === null) throw contentExpired(expired);
  return await readOr(expired, () => spool.read(content, copies?.[recipient] ?? null));
}

/** The query of whoever reads the content. */
// biome-ignore format: a table
export const CONTENT_PARAMETERS = {
  recipient: { schema: z.string().optional(), code: 'type', rule: 'one address', meaning: 'Whose copy, where recipients have copies of their own (`unsubscribe`); the first one’s without it.', example: 'bob@example.org' },
};

/** The place in the envelope of the recipient that a query names; the first without one. Throws the problem 400. */
export function recipientIn({ query }: Exchange, { recipients }: MessageDetail): number {
  const { recipient } = readParameters(query, CONTENT_PARAMETERS);
  if (recipient === undefined) return 0;
  const key = addressKey(recipient);
  const found = recipients.find(({ address }) => addressKey(address) === key);
  if (found !== undefined) return found.index;
  const detail = 'The message has no such recipient; give the address as its record has it.';
  throw invalidQuery([parameterFault('recipient', 'unknown_recipient', detail)]);
}

/** As {@link openContent}, but reads all of it into memory. */
export async function readContent(
  message: MessageRecord,
  spool: Pick<Spool, 'read'>,
  expired: 404 | 409,
): Promise<Buffer> {
  const content = await openContent(message, spool, expired);
  return await readOr(expired, async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content.chunks()) chunks.push(chunk);
    return Buffer.concat(chunks, content.sizeBytes);
  });
}

async function readOr<T>(expired: 404 | 409, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof SpoolError) || error.code === 'content_damaged') throw error;
    // Retention may have removed it since the record was read.
    if (error.code === 'content_missing') throw contentExpired(expired);
    throw new Problem(503, 'store_unavailable', 'The content cannot be read now; try again soon.', {
      headers: { 'Retry-After': '1' },
    });
  }
}
