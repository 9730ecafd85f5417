import { isFinal } from '../domain/delivery.ts';
import type { ApiKey } from '../domain/key.ts';
import { isInInbox, isInvitation } from '../domain/message.ts';
import { Problem } from '../http/problem.ts';
import { cancelMessage, retryMessage } from '../ingest/http/acts.ts';
import { attemptsJson } from '../ingest/http/attempts.ts';
import { MAX_LIMIT } from '../ingest/http/list.ts';
import { statusJson } from '../ingest/http/record.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { createTokenSource } from '../lib/id.ts';
import { asOperationError, OperationError } from '../operations/call.ts';
import {
  type ActedMessages,
  MAX_NEW,
  type MessageDraft,
  type MessagePreview,
  type MessageStory,
  type SearchOperations,
  type SearchPage,
} from '../operations/search.ts';
import type { RequestOf } from '../operations/table.ts';
import { draftOf, type ParsedMessage } from '../preview/parsed.ts';
import type { MessageDetail } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';
import type { Doctor } from './doctor/last-look.ts';
import { findNamed, foundMessages, readQuery, requireId } from './found-mail.ts';
import { outlookOf, wayOf } from './outlook.ts';
import { createOverview, series } from './overview.ts';
import { sendAgain } from './submitting.ts';

/** Messages acted on at once: enough to share commits, few enough to read into memory. */
const ACTED_AT_ONCE = 25;

/** See {@link SearchOperations}: all but those that read a message's text. */
export function searchOperations(
  deps: LocalDeps,
  lastLook: Doctor['last'],
): Omit<SearchOperations, keyof PreviewOperations> {
  const nextToken = createTokenSource(deps.clock, deps.random);
  const overview = createOverview(deps, lastLook);
  return {
    search: (request) => search(request, deps),
    countNew: (request) => countNew(request, deps),
    messageStory: async ({ id }) => await messageStory(await findNamed(id, deps.views), deps),
    resendMessage: async ({ id }) =>
      await sendAgain(await findNamed(id, deps.views), nextToken(), null, deps),
    actOnMessages: (request) => actOnMessages(request, deps),
    overview,
    series: (request) => series(request, deps),
  };
}

async function search(
  { query: text, limit, before }: RequestOf<'search'>,
  deps: LocalDeps,
): Promise<SearchPage> {
  const { query, notes } = await readQuery(text, deps);
  const wanted = { query, after: null, before: requireId('before', before), limit };
  const { messages, next, behind } = await deps.views.search(wanted);
  return { messages: await foundMessages(messages, deps), next, notes, behind };
}

async function countNew({ query: text, after }: RequestOf<'countNew'>, deps: LocalDeps) {
  const { query } = await readQuery(text, deps);
  return await deps.views.countFound({
    query,
    after: requireId('after', after),
    before: null,
    limit: MAX_NEW,
  });
}

/** One message's refusal is its own: the others are acted on. */
async function actOnMessages(
  { act, ids }: RequestOf<'actOnMessages'>,
  deps: LocalDeps,
): Promise<ActedMessages> {
  const refused: { readonly id: string; readonly reason: string }[] = [];
  const wanted = [...new Set(ids)];
  for (let start = 0; start < wanted.length; start += ACTED_AT_ONCE) {
    const chunk = wanted.slice(start, start + ACTED_AT_ONCE);
    const reasons = await Promise.all(chunk.map((id) => refusalOf(act, id, deps)));
    for (const [place, reason] of reasons.entries())
      if (reason !== null) refused.push({ id: chunk[place] ?? '', reason });
  }
  return { acted: wanted.length - refused.length, refused };
}

/** Acts on a message. Null when done; otherwise why not. Rejects if nothing can be done at all. */
async function refusalOf(act: 'retry' | 'cancel', id: string, deps: LocalDeps): Promise<string | null> {
  try {
    const { message } = await findNamed(id, deps.views);
    if (act === 'cancel') await cancelMessage(message, deps.acts);
    else await retryMessage(message, deps.acts);
    return null;
  } catch (error) {
    const refusal = error instanceof Problem ? asOperationError(error) : error;
    if (refusal instanceof OperationError && refusal.code !== 'unavailable') return refusal.message;
    throw refusal;
  }
}

/** The operations that read a message's text. */
type PreviewOperations = Pick<SearchOperations, 'messagePreview' | 'messageDraft'>;

/** See {@link PreviewOperations}. */
export function previewOperations({ words }: Pick<LocalDeps, 'words'>): PreviewOperations {
  return {
    messagePreview: async ({ id }) => previewOf((await words.read(id)).words),
    messageDraft: async ({ id }): Promise<MessageDraft> => {
      const { message, words: parsed } = await words.read(id);
      const { header, to, cc, bcc, tags, metadata, priority } = message;
      return draftOf({ from: header.from, to, cc, bcc, tags, metadata, priority }, parsed);
    },
  };
}

/** A message's text for display; its files by number. */
function previewOf(words: ParsedMessage): MessagePreview {
  const { subject, from, headers, html, text, attachments, remotePictures, links, codes, notes } = words;
  return {
    subject,
    from,
    headers,
    hasHtml: html !== null,
    text,
    attachments: attachments.map(({ filename, contentType, inline, contentId, content }, number) => ({
      number,
      filename,
      contentType,
      sizeBytes: content.length,
      inline,
      contentId,
    })),
    remotePictures,
    links,
    codes,
    notes,
  };
}

const DAY_MS = 86_400_000;

/** Everything known of a message. */
async function messageStory(detail: MessageDetail, deps: LocalDeps): Promise<MessageStory> {
  const { message, recipients, origin } = detail;
  const { views, keyring } = deps;
  const [page, keys] = await Promise.all([
    views.attempts(message.id, { after: 0, limit: MAX_LIMIT }),
    message.keyId === null ? [] : keyring.list(),
  ]);
  const key = keys.find(({ id }) => id === message.keyId) ?? null;
  return {
    record: await statusJson(detail, outlookOf(deps)),
    attempts: attemptsJson(page, 0, recipients).attempts,
    moreAttempts: page.next !== null,
    ways: recipients.map((recipient) => wayOf(recipient, deps)),
    key: key === null ? null : { id: key.id, name: key.name, test: key.mode === 'test' },
    sourceAddress: origin.sourceAddress,
    routeTable: origin.routeTable,
    content: { kept: isShown(message), until: keptUntil(detail, key, deps) },
    captured: isCaptured(detail),
    may: mayDo(detail),
  };
}

/** Whether its content can be read. */
function isShown(message: MessageDetail['message']): boolean {
  return message.content !== null && !isInvitation(message);
}

function isCaptured({ message }: MessageDetail): boolean {
  return message.test || message.outcome === 'captured';
}

/** Null if nothing is kept any more, or its end is not known yet. */
function keptUntil(
  { message }: MessageDetail,
  key: ApiKey | null,
  { resolution }: Pick<LocalDeps, 'resolution'>,
): string | null {
  const { contentDays, capturedDays, recordsDays } = resolution().config.retention;
  if (message.content === null || message.finalAt === null) return null;
  const usual = isInInbox(message) ? capturedDays : contentDays;
  const days = Math.min(key?.contentDays ?? usual, key?.recordDays ?? recordsDays, recordsDays);
  return formatTimestamp(message.finalAt + days * DAY_MS);
}

/** The acts that the API would allow, judged by the record. */
function mayDo({ message, recipients }: MessageDetail): MessageStory['may'] {
  const states = new Set(recipients.map(({ state }) => state));
  const kept = message.content !== null;
  return {
    retry: !message.test && kept && (states.has('failed') || states.has('retrying')),
    cancel: !isFinal(message.status),
    resend: !message.test && isShown(message),
  };
}
