import { z } from 'zod';
import { AccountRefusal, type Reception, resumed, slowed } from '../accounts/reception.ts';
import { isToken } from '../accounts/secrets.ts';
import type { Visit } from '../accounts/sessions.ts';
import { NO_EVIDENCE } from '../domain/attempt.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { hashSecret } from '../lib/id.ts';
import { sourceGroup } from '../lib/network.ts';
import { OperationError } from '../operations/call.ts';
import type { MessageStory } from '../operations/search.ts';
import type { Operations, ResultOf } from '../operations/table.ts';
import type { Sharing, StoryLink } from '../store/sharing.ts';

type Recipient = MessageStory['record']['recipients'][number];
type Attempt = MessageStory['attempts'][number];

/** What a link shows of a message to whoever has it. The rest of a story stays here. */
export interface SharedStory {
  /** Has the shape of a story; what is not shown is empty. */
  readonly story: MessageStory;
  /** When the link ends, RFC 3339. */
  readonly expiresAt: string;
  /** What the message says; null: the link does not show it, or it is not kept any more. */
  readonly content: SharedContent | null;
  readonly showsContent: boolean;
}

/** See {@link SharedStory.content}. */
interface SharedContent extends Pick<ResultOf<'messagePreview'>, 'text' | 'notes'> {
  readonly attachments: readonly Pick<
    ResultOf<'messagePreview'>['attachments'][number],
    'number' | 'filename' | 'contentType' | 'sizeBytes' | 'inline'
  >[];
  /** The path of its document for a frame, for some minutes; null: it has no HTML. */
  readonly document: string | null;
}

/** Reads stories by links. Refusals are `AccountRefusal`: all links that show nothing are refused alike. */
export interface SharedStories {
  read(token: string, visit: Visit): Promise<SharedStory>;
  /** The document of a message's HTML, and the policy for it. */
  document(
    ticket: string,
    isDark: boolean,
    visit: Visit,
  ): Promise<{ readonly html: string; readonly policy: string }>;
}

/** What reading needs. */
export interface SharedStoryDeps {
  readonly reception: Pick<Reception, 'throttle' | 'box' | 'clock' | 'now'>;
  readonly sharing: Pick<Sharing, 'storyLink'>;
  readonly operations: Pick<Operations, 'messageStory' | 'messagePreview'>;
  readonly document: (
    id: string,
    look: { readonly isDark: boolean; readonly hasRemotePictures: false },
  ) => Promise<{ readonly html: string; readonly policy: string }>;
  /** Counts what each source read within a minute. */
  readonly readings: Readings;
  /** `webui.story_link_max_days`; 0: no link shows anything. */
  readonly maxDays: () => number;
}

/** See {@link SharedStoryDeps.readings}. */
interface Readings {
  /** Counts one at a monotonic time in ms, unless the source has reached the limit. Null: `limit` is 0, which is none. */
  take(
    source: string,
    window: 'read',
    limit: number,
    now: number,
  ): { readonly allowed: boolean; readonly resetSeconds: number } | null;
}

/** Where the document lies. */
export const STORY_DOCUMENT = '/preview/story';
const PURPOSE = 'document of a shared story';
/** For so long a frame is drawn anew, as in dark mode, before the page has to be loaded again. */
const TICKET_MS = 10 * 60_000;
const ticketShape = z.strictObject({ hash: z.string(), at: z.number() });

/** Stories and documents that a source is shown in a minute. */
const PER_MINUTE = 60;

/** See {@link SharedStories}. */
export function createSharedStories(deps: SharedStoryDeps): SharedStories {
  const { reception, operations } = deps;
  return {
    read: async (token, visit) => {
      slowDown(visit, deps);
      const { link, hash } = await findLink(token, visit, deps);
      const story = await unlessGone(operations.messageStory({ id: link.message }));
      const expiresAt = formatTimestamp(link.expiresAt);
      const told = toldOf(story, link.hasContent);
      if (!link.hasContent) return { story: told, expiresAt, content: null, showsContent: false };
      return { story: told, expiresAt, content: await contentOf(link, hash, deps), showsContent: true };
    },
    document: async (ticket, isDark, visit) => {
      slowDown(visit, deps);
      const begun = resumed(reception, ticket, { shape: ticketShape, purpose: PURPOSE, forMs: TICKET_MS });
      const link = begun === null ? null : await validLink(begun.hash, deps);
      if (link?.hasContent !== true) throw refused();
      return await unlessGone(deps.document(link.message, { isDark, hasRemotePictures: false }));
    },
  };
}

/** Counts a reading. Throws the refusal of one too many. */
function slowDown({ sourceAddress }: Visit, { readings, reception }: SharedStoryDeps): void {
  const verdict = readings.take(sourceGroup(sourceAddress), 'read', PER_MINUTE, reception.now());
  if (verdict?.allowed === false) throw slowed(verdict.resetSeconds * 1000);
}

/** The link of a token. Wrong ones, and those that have ended, are counted and refused alike. */
async function findLink(token: string, { sourceAddress }: Visit, deps: SharedStoryDeps) {
  const { throttle, now } = deps.reception;
  const answer = throttle.begin('story', '', sourceAddress, now());
  if (!answer.ok) throw slowed(answer.waitMs);
  const hash = hashSecret(token);
  const link = isToken(token) ? await validLink(hash, deps) : null;
  if (link === null) throw refused();
  throttle.succeeded(answer.attempt);
  return { link, hash };
}

async function validLink(
  hash: string,
  { sharing, reception, maxDays }: SharedStoryDeps,
): Promise<StoryLink | null> {
  const link = await sharing.storyLink(hash, reception.clock.wall());
  return maxDays() === 0 ? null : link;
}

function refused(): AccountRefusal {
  return new AccountRefusal('story_refused', 'This link shows nothing: it has ended, or is not whole.');
}

/** A message whose record is gone has no story. */
async function unlessGone<T>(found: Promise<T>): Promise<T> {
  return await found.catch((error: unknown) => {
    throw error instanceof OperationError && error.code === 'not_found' ? refused() : error;
  });
}

/** Its content as far as it can be read; null: it is not kept any more. */
async function contentOf(
  { message: id }: StoryLink,
  hash: string,
  { operations, reception }: SharedStoryDeps,
): Promise<SharedContent | null> {
  const preview = await operations.messagePreview({ id }).catch((error: unknown) => {
    if (error instanceof OperationError) return null;
    throw error;
  });
  if (preview === null) return null;
  const { text, notes, attachments, hasHtml } = preview;
  const box = reception.box();
  const ticket = box?.seal(JSON.stringify({ hash, at: reception.clock.wall() }), PURPOSE);
  return {
    text,
    notes,
    attachments: attachments.map(({ number, filename, contentType, sizeBytes, inline }) => ({
      number,
      filename,
      contentType,
      sizeBytes,
      inline,
    })),
    document:
      hasHtml && ticket !== undefined ? `${STORY_DOCUMENT}?ticket=${encodeURIComponent(ticket)}` : null,
  };
}

/** What is told of a story to strangers: each field of it is named here, or empty. */
function toldOf(
  { record, attempts, moreAttempts, captured }: MessageStory,
  hasContent: boolean,
): MessageStory {
  const { id, status, timestamp, createdAt, updatedAt, from, to, cc, bcc, subject, attempts: tries } = record;
  const { durationMs, deliveredAt, nextAttemptAt, waitingFor, sendAt, outcome, possibleDuplicate } = record;
  return {
    record: {
      id,
      status,
      timestamp,
      createdAt,
      updatedAt,
      from,
      to,
      cc,
      bcc,
      attempts: tries,
      source: record.source,
      ...(durationMs !== undefined && { durationMs }),
      ...(deliveredAt !== undefined && { deliveredAt }),
      ...(nextAttemptAt !== undefined && { nextAttemptAt }),
      ...(waitingFor !== undefined && { waitingFor }),
      ...(sendAt !== undefined && { sendAt }),
      ...(outcome !== undefined && { outcome }),
      ...(possibleDuplicate !== undefined && { possibleDuplicate }),
      subject: hasContent ? subject : '',
      recipients: record.recipients.map(recipientOf),
      tags: [],
      metadata: {},
      sizeBytes: 0,
      messageId: '',
      box: null,
      priority: 'normal',
    },
    attempts: attempts.map(attemptOf),
    moreAttempts,
    captured,
    ways: [],
    key: null,
    sourceAddress: null,
    routeTable: 0,
    content: { kept: false, until: null },
    may: { retry: false, cancel: false, resend: false },
  };
}

function recipientOf({ address, type, status, outcome, attempts, bounce, ...told }: Recipient): Recipient {
  return {
    address,
    type,
    status,
    outcome,
    attempts,
    lastCode: told.lastCode,
    lastEnhancedCode: told.lastEnhancedCode,
    lastReply: told.lastReply,
    nextAttemptAt: told.nextAttemptAt,
    waitingFor: told.waitingFor,
    confirmedAt: told.confirmedAt,
    complainedAt: told.complainedAt,
    unsubscribedAt: told.unsubscribedAt,
    // Behind a colon stands the relay.
    bounce: bounce && { ...bounce, source: bounce.source.replace(/:.*/s, '') },
    relay: null,
    providerMessageId: null,
    suppression: null,
  };
}

function attemptOf({ number, startedAt, host, timings: { totalMs }, results }: Attempt): Attempt {
  return {
    ...NO_EVIDENCE,
    number,
    startedAt,
    host,
    timings: { ...NO_EVIDENCE.timings, totalMs },
    results: results.map(({ recipient, outcome, class: kind, code, enhancedCode, reply }) => ({
      recipient,
      outcome,
      class: kind,
      code,
      enhancedCode,
      reply,
      providerMessageId: null,
    })),
    relay: '',
  };
}
