import type { MessageRecord } from '../../../domain/message.ts';
import { attachmentHeader } from '../../../http/disposition.ts';
import { Problem } from '../../../http/problem.ts';
import { readLooseHeader } from '../../../mail/header-block.ts';
import { DOCUMENT_POLICY, withPictures } from '../../../preview/parsed.ts';
import type { SpoolContent } from '../../../spool/spool.ts';
import type { Call } from '../call.ts';
import { messageNotFound, openContent } from '../find-message.ts';
import { servedType } from '../inbox/reading.ts';
import { accountOf } from './account.ts';
import { type MailpitDeps, newestOf, searched, searchOf } from './mailbox.ts';
import { badRequest } from './refusals.ts';
import { type Condition, readSearch } from './search.ts';
import { htmlOf, messageJson, type Part, partId, summaryJson, textOf } from './shapes.ts';
import { tagsOf } from './summaries.ts';

/** What Mailpit's clients read: lists, searches, and a message in all its forms (contract-2 §G2). */

/** Messages of a list, if its client does not say; and at most. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;

/** Answers with messages, the newest first. */
export async function listMessages(call: Call, deps: MailpitDeps): Promise<void> {
  const all = await newestOf(accountOf(call), deps, call.exchange.signal);
  const { start, limit } = partIn(call);
  await answerList(call, all, all, { start, limit: limit === 0 ? MAX_LIMIT : limit }, deps);
}

/** Answers with the messages that a query finds. */
export async function searchMessages(call: Call, deps: MailpitDeps): Promise<void> {
  const conditions = conditionsIn(call);
  const all = await newestOf(accountOf(call), deps, call.exchange.signal);
  const found = await searched(all, conditions, deps, call.exchange.signal);
  await answerList(call, all, found, partIn(call), deps);
}

/** The conditions of a request's query. Throws the problem 400, without a query too. */
export function conditionsIn({ exchange: { query } }: Call): readonly Condition[] {
  const text = query.get('query')?.trim() ?? '';
  if (text === '') throw badRequest('no search query');
  return conditionsOf(text, query.get('tz'));
}

/** The conditions of a query. Throws the problem 400. */
export function conditionsOf(text: string, timeZone: string | null): readonly Condition[] {
  const search = readSearch(text, timeZone);
  if (!search.ok) throw badRequest(search.detail);
  return search.conditions;
}

/** As Mailpit does, takes what is no number as not given. */
function partIn({ exchange: { query } }: Call): Part {
  const number = (name: string, otherwise: number) => {
    const text = query.get(name) ?? '';
    return /^\d{1,9}$/.test(text) ? Number(text) : otherwise;
  };
  return { start: number('start', 0), limit: Math.min(number('limit', DEFAULT_LIMIT), MAX_LIMIT) };
}

async function answerList(
  { exchange }: Call,
  all: readonly MessageRecord[],
  found: readonly MessageRecord[],
  { start, limit }: Part,
  { summaries }: MailpitDeps,
): Promise<void> {
  const messages: object[] = [];
  for (const message of found.slice(start, start + limit)) {
    if (exchange.over) return;
    messages.push(summaryJson(message, await summaries.of(message)));
  }
  exchange.json(200, {
    total: all.length,
    unread: unreadOf(all),
    count: messages.length,
    messages_count: found.length,
    messages_unread: unreadOf(found),
    start,
    tags: [...countTags(all).keys()],
    messages,
  });
}

/** How many of these are not read. */
export function unreadOf(messages: readonly MessageRecord[]): number {
  return messages.reduce((count, { inboxRead }) => (inboxRead ? count : count + 1), 0);
}

/** The tags of these, in order, and how many have each. */
export function countTags(messages: readonly MessageRecord[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const message of messages)
    for (const tag of new Set(tagsOf(message))) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Answers with a message, which is read then. */
export async function showMessage(call: Call, deps: MailpitDeps): Promise<void> {
  const message = await findMessage(call, call.params['id'] ?? '', deps);
  const words = await deps.capturedWords.words(message);
  await markRead(message, deps);
  call.exchange.json(200, await messageJson(message, words));
}

/**
 * The message of an account that a path names: by its id, or `latest`, of those that the request's `query` finds.
 * Throws the problem 404.
 */
async function findMessage(call: Call, id: string, deps: MailpitDeps): Promise<MessageRecord> {
  const account = accountOf(call);
  const { query, signal } = call.exchange;
  if (id !== 'latest' || (query.get('query')?.trim() ?? '') === '')
    return await deps.captured.find(id, searchOf(account), signal);
  const conditions = conditionsIn(call);
  const [message] = await searched(await newestOf(account, deps, signal), conditions, deps, signal, 1);
  if (message === undefined) throw messageNotFound();
  return message;
}

function markRead({ id, inboxRead }: MessageRecord, { acts }: Pick<MailpitDeps, 'acts'>): Promise<unknown> {
  return inboxRead ? Promise.resolve() : acts.mark([{ id, read: true }]);
}

/** The longest header that is shown. */
const MAX_HEADER_BYTES = 512 * 1024;

/** Answers with the header: each name, and its values as they are written. */
export async function showHeaders(call: Call, deps: MailpitDeps): Promise<void> {
  const message = await findMessage(call, call.params['id'] ?? '', deps);
  const text = await beginningOf(await openContent(message, deps.spool, 404));
  const fields = readLooseHeader(text, MAX_HEADER_BYTES)?.fields ?? [];
  const byName = Map.groupBy(fields, ({ name }) => canonicalName(name));
  const sorted = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
  const values = sorted.map(([name, all]): [string, string[]] => [name, all.map(({ value }) => utf8(value))]);
  // Not assigned one by one: a field may be called `__proto__`.
  call.exchange.json(200, Object.fromEntries(values));
}

/** As many bytes as a header may have, each as one character. */
async function beginningOf(content: SpoolContent): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of content.chunks()) {
    pieces.push(piece);
    length += piece.length;
    if (length > MAX_HEADER_BYTES) break;
  }
  return Buffer.concat(pieces).toString('latin1', 0, MAX_HEADER_BYTES + 2);
}

function utf8(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}

/** As Go writes the names of fields: `Message-Id`. */
function canonicalName(name: string): string {
  return name.toLowerCase().replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

/** Answers with the bytes of a message. */
export async function showRaw(call: Call, deps: MailpitDeps): Promise<void> {
  const { exchange, params } = call;
  const message = await findMessage(call, params['id'] ?? '', deps);
  const content = await openContent(message, deps.spool, 404);
  await exchange.stream(200, 'text/plain; charset=utf-8', content, {
    'Content-Security-Policy': DOCUMENT_POLICY,
    ...(exchange.query.get('dl') === '1' && {
      'Content-Disposition': `attachment; filename="${message.id}.eml"`,
    }),
  });
}

/** Answers with a file. */
export async function showPart(call: Call, deps: MailpitDeps): Promise<void> {
  const { exchange, params } = call;
  const message = await findMessage(call, params['id'] ?? '', deps);
  const { attachments } = await deps.capturedWords.words(message);
  const file = attachments.find((_, place) => partId(place) === params['part']);
  if (file === undefined) throw new Problem(404, 'message_not_found', 'The message has no such part.');
  // Nothing in a file runs, whatever it is, and it is stored rather than shown.
  exchange.send(200, servedType(file.contentType), file.content, {
    'Content-Disposition': attachmentHeader(file.filename, `part-${params['part']}`),
    'Content-Security-Policy': "sandbox; default-src 'none'",
  });
}

const VIEW = /^(.{1,100})\.(txt|html)$/;

/**
 * Answers with a message's text or HTML, which is read then. The HTML is as it was written, but for pictures that travel
 * with it; the policy keeps a browser from running or fetching anything.
 */
export async function showView(call: Call, deps: MailpitDeps): Promise<void> {
  const { exchange, params } = call;
  const [, id = '', form] = VIEW.exec(params['file'] ?? '') ?? [];
  const message = await findMessage(call, id, deps);
  const words = await deps.capturedWords.words(message);
  if (form === 'html' && words.html === null)
    throw new Problem(404, 'message_not_found', 'This message does not contain a HTML part.');
  await markRead(message, deps);
  const headers = { 'Content-Security-Policy': DOCUMENT_POLICY, 'Referrer-Policy': 'no-referrer' };
  if (form === 'txt') exchange.text(200, textOf(words), headers);
  else
    exchange.send(200, 'text/html; charset=utf-8', withPictures(htmlOf(words), words.attachments), headers);
}
