import { z } from 'zod';
import type { ApiKey } from '../../domain/key.ts';
import type { MessageRecord } from '../../domain/message.ts';
import { Problem } from '../../http/problem.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Shown } from '../../operations/operation.ts';
import type { ParsedMessage } from '../../preview/parsed.ts';
import type { Views } from '../../store/views.ts';
import type { LanesSeen, Outlook } from '../service.ts';
import type { Call } from './call.ts';
import { FILTER_PARAMETERS, listFilter } from './list.ts';
import type { capturedMessageSchema } from './operator-answers.ts';
import { asInteger, readParameters } from './query.ts';
import { messageJson } from './record.ts';
import { CAPTURED, type Watchers } from './watchers.ts';

/**
 * `GET /api/v1/inbox/wait`: the newest matching captured message, as soon as it arrives, with its text, links and
 * codes.
 */

const MAX_TIMEOUT_SECONDS = 60;
const DEFAULT_TIMEOUT_SECONDS = 30;
/** How far back to look without `since`: a test asks shortly after it caused the message. */
const LOOK_BACK_MS = 10 * 60_000;
/** Another node may capture it, so waiting readers also poll. */
const REREAD_MS = 1000;

const { since, to, from, subject, tag } = FILTER_PARAMETERS;

/** The endpoint's parameters. */
// biome-ignore format: a table
export const INBOX_WAIT_PARAMETERS = {
  to, from, subject, tag,
  since: { ...since, meaning: 'Only messages accepted at this time or later (RFC 3339); without it, within the last ten minutes. Give the time at which the test began, so that it does not find mail of an earlier test.' },
  timeout: { schema: z.int().min(0).max(MAX_TIMEOUT_SECONDS).default(DEFAULT_TIMEOUT_SECONDS), fromText: asInteger, code: 'out_of_range', rule: `an integer from 0 to ${MAX_TIMEOUT_SECONDS}`, meaning: 'How many seconds to wait for it.', example: '30' },
};

/** Parses a message's text. Throws a `Problem`: 404 when it is no longer kept, 409 when it cannot be read. */
export type ReadWords = (message: MessageRecord) => Promise<ParsedMessage>;

/** What the endpoint needs. */
export interface InboxDeps {
  readonly views: Pick<Views, 'list'>;
  readonly readWords: ReadWords;
  readonly watchers: Watchers;
  readonly clock: Clock;
  readonly outlook: Outlook;
}

/** Answers with the message, or with 404 when the time is up. */
export async function answerWait({ exchange, caller }: Call, deps: InboxDeps): Promise<void> {
  const { timeout, ...rest } = readParameters(exchange.query, INBOX_WAIT_PARAMETERS);
  requireContent(caller.key);
  const { clock } = deps;
  const filter = listFilter({ until: undefined, ...rest, since: rest.since ?? clock.wall() - LOOK_BACK_MS });
  const deadline = clock.mono() + timeout * 1000;
  const watch = timeout > 0 ? deps.watchers.watch(CAPTURED) : null;
  if (watch !== null) exchange.onEnd(() => watch.stop());
  for (;;) {
    const found = await newest({ ...filter, captured: true }, caller.key, deps);
    const leftMs = deadline - clock.mono();
    if (found !== null || watch === null || watch.stopped || leftMs <= 0) {
      watch?.stop();
      if (found === null) throw nothingCaptured(timeout);
      const words = await deps.readWords(found);
      return exchange.json(200, capturedJson(found, words, await deps.outlook([found])));
    }
    await watch.wake.wait(clock, Math.min(leftMs, REREAD_MS));
  }
}

/** The content of a test key's mail is meant for the tester; that of other mail needs its scope. */
function requireContent({ mode, scopes }: ApiKey): void {
  if (mode === 'test' || scopes.includes('messages:content')) return;
  throw new Problem(
    403,
    'scope_missing',
    'Only test keys, and keys with the scope messages:content, may read captured mail.',
  );
}

async function newest(
  filter: NonNullable<Parameters<Views['list']>[0]['filter']>,
  key: ApiKey,
  { views }: InboxDeps,
): Promise<MessageRecord | null> {
  const page = await views.list({
    owner: { keyId: key.id },
    statuses: [],
    filter,
    before: null,
    limit: 1,
  });
  return page.messages[0] ?? null;
}

/** A captured message with its text. */
function capturedJson(
  message: MessageRecord,
  words: ParsedMessage,
  lanes: LanesSeen,
): Shown<typeof capturedMessageSchema> {
  const { text, html, links, codes, attachments } = words;
  return {
    message: messageJson(message, lanes),
    text,
    html,
    links,
    codes,
    attachments: attachments.map(({ filename, contentType, inline, contentId, content }) => ({
      filename,
      contentType,
      sizeBytes: content.length,
      inline,
      contentId,
    })),
  };
}

function nothingCaptured(timeout: number): Problem {
  return new Problem(
    404,
    'nothing_captured',
    `Within ${timeout} seconds no such message of this key was captured. Only mail of test keys and mail routed to the inbox is captured; the message’s status says where it went instead.`,
  );
}
