import { z } from 'zod';
import { isTag, type MessageRecord } from '../../../domain/message.ts';
import { readWholeBody } from '../../../http/body.ts';
import { parseJson } from '../../../http/json.ts';
import { readMessageId } from '../../../lib/id.ts';
import type { InboxMark } from '../../../store/acting.ts';
import type { Call } from '../call.ts';
import { anyCase } from '../json-object.ts';
import { checked } from '../providers/submitting.ts';
import { requireType } from '../read-fields.ts';
import { accountOf } from './account.ts';
import { type MailpitDeps, newestOf, searched, searchOf } from './mailbox.ts';
import { conditionsIn, conditionsOf, countTags } from './reading.ts';
import { badRequest } from './refusals.ts';
import { tagsOf } from './summaries.ts';

/** What Mailpit's clients change: read marks, tags, and what there is (contract-2 §G2). */

/** Ids in a request, and tags of a message. */
const MAX_IDS = 5000;
const MAX_TAGS = 50;
const BODY = { maxBytes: 512 * 1024, advice: 'Name fewer messages in it.' };
const JSON_LIMITS = { maxDepth: 4, maxValues: 2 * MAX_IDS };

const ids = z.array(z.string().max(100)).max(MAX_IDS).nullish();
const tag = z.string().refine(isTag, 'a tag is 1 to 128 printable characters');

const readMarksSchema = anyCase({ Read: z.boolean().nullish(), IDs: ids, Search: z.string().nullish() });
const deletionSchema = anyCase({ IDs: ids });
const tagsSchema = anyCase({ Tags: z.array(tag).max(MAX_TAGS).nullish(), IDs: ids });
const renamingSchema = anyCase({ Name: tag });

/** Says whether messages are read: those named, those that a query finds, or all. */
export async function setReadMarks(call: Call, deps: MailpitDeps): Promise<void> {
  const { Read, IDs, Search } = await readJson(call, readMarksSchema, deps);
  const query = Search?.trim() ?? '';
  if (query !== '' && IDs != null && IDs.length > 0)
    throw badRequest('You may specify either IDs or a search query, not both');
  const { query: parameters, signal } = call.exchange;
  const conditions = query === '' ? [] : conditionsOf(query, parameters.get('tz'));
  const found = await searched(await messagesOf(call, IDs, deps), conditions, deps, signal);
  const read = Read ?? false;
  await mark(
    call,
    found.filter((message) => message.inboxRead !== read).map(({ id }) => ({ id, read })),
    deps,
  );
}

/** Deletes messages: those named, or all. */
export async function deleteMessages(call: Call, deps: MailpitDeps): Promise<void> {
  const { IDs } = hasBody(call) ? await readJson(call, deletionSchema, deps) : {};
  if (IDs != null && IDs.length > 0) return await discard(call, await messagesOf(call, IDs, deps), deps);
  const account = accountOf(call);
  await call.checkKey();
  await deps.captured.removeAll(searchOf(account), call.exchange.signal);
  call.exchange.text(200, 'ok');
}

/** Deletes the messages that a query finds. A query without a condition would delete all, so it is refused. */
export async function deleteFound(call: Call, deps: MailpitDeps): Promise<void> {
  const conditions = conditionsIn(call);
  if (conditions.length === 0) throw badRequest('no search query');
  const { signal } = call.exchange;
  const all = await newestOf(accountOf(call), deps, signal);
  await discard(call, await searched(all, conditions, deps, signal), deps);
}

/** Answers with all tags. */
export async function listTags(call: Call, deps: MailpitDeps): Promise<void> {
  const all = await newestOf(accountOf(call), deps, call.exchange.signal);
  call.exchange.json(200, [...countTags(all).keys()]);
}

/** Gives messages these tags, instead of those that they have. */
export async function setTags(call: Call, deps: MailpitDeps): Promise<void> {
  const { Tags, IDs } = await readJson(call, tagsSchema, deps);
  const messages = IDs == null || IDs.length === 0 ? [] : await messagesOf(call, IDs, deps);
  const tags = unique(Tags ?? []);
  await mark(
    call,
    messages.map(({ id }) => ({ id, tags })),
    deps,
  );
}

/** Gives a tag another name, on all messages that have it. */
export async function renameTag(call: Call, deps: MailpitDeps): Promise<void> {
  const { Name } = await readJson(call, renamingSchema, deps);
  await replaceTag(call, [Name], deps);
}

/** Takes a tag off all messages. */
export async function deleteTag(call: Call, deps: MailpitDeps): Promise<void> {
  await replaceTag(call, [], deps);
}

async function replaceTag(call: Call, by: readonly string[], deps: MailpitDeps): Promise<void> {
  const tag = call.params['tag'] ?? '';
  const messages = await newestOf(accountOf(call), deps, call.exchange.signal);
  const tagged = messages.filter((message) => tagsOf(message).includes(tag));
  if (tagged.length === 0) throw badRequest(`tag not found: ${tag}`);
  const replaced = (message: MessageRecord) =>
    unique(tagsOf(message).flatMap((one) => (one === tag ? by : [one])));
  await mark(
    call,
    tagged.map((message) => ({ id: message.id, tags: replaced(message) })),
    deps,
  );
}

/** Each once, whatever its case. */
function unique(tags: readonly string[]): string[] {
  const found = new Map<string, string>();
  for (const one of tags) found.set(one.toLowerCase(), found.get(one.toLowerCase()) ?? one);
  return [...found.values()];
}

/** The messages of the account with these ids, also as UUIDs, however old; the newest of all without any. */
async function messagesOf(
  call: Call,
  wanted: readonly string[] | null | undefined,
  deps: MailpitDeps,
): Promise<MessageRecord[]> {
  const account = accountOf(call);
  const { signal } = call.exchange;
  if (wanted == null || wanted.length === 0) return await newestOf(account, deps, signal);
  const found: MessageRecord[] = [];
  for (const id of new Set(wanted.map(readMessageId))) {
    if (signal.aborted) break;
    const message = id === null ? null : await deps.captured.byId(id, searchOf(account));
    if (message !== null) found.push(message);
  }
  return found;
}

async function mark(call: Call, marks: readonly InboxMark[], { acts }: MailpitDeps): Promise<void> {
  await call.checkKey();
  if (marks.length > 0) await acts.mark(marks);
  call.exchange.text(200, 'ok');
}

async function discard(
  call: Call,
  messages: readonly MessageRecord[],
  { captured }: MailpitDeps,
): Promise<void> {
  await call.checkKey();
  await captured.remove(messages.map(({ id }) => id));
  call.exchange.text(200, 'ok');
}

function hasBody({ exchange: { headers } }: Call): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Reads a small object. Throws 415, 413, 400. */
async function readJson<T>(
  { exchange, caller }: Call,
  schema: z.ZodType<T>,
  { budget }: MailpitDeps,
): Promise<T> {
  requireType(exchange, ['application/json']);
  const body = await readWholeBody(exchange, { ...BODY, budget: budget.share(caller.key.id) });
  return checked(parseJson(body, JSON_LIMITS), schema);
}
