import { isFinal } from '../domain/delivery.ts';
import type { ApiKey } from '../domain/key.ts';
import { attemptsJson } from '../ingest/http/attempts.ts';
import { MAX_LIMIT } from '../ingest/http/paging.ts';
import { statusJson } from '../ingest/http/record.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { MessageStory } from '../operations/search.ts';
import type { MessageDetail } from '../store/views.ts';
import type { LocalDeps } from './local-deps.ts';
import { outlookOf } from './outlook.ts';
import { wayOf } from './ways.ts';

const DAY_MS = 86_400_000;

/** All that is known of a message. */
export async function messageStory(detail: MessageDetail, deps: LocalDeps): Promise<MessageStory> {
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
    content: { kept: message.content !== null, until: keptUntil(detail, key, deps) },
    captured: isCaptured(detail),
    may: mayDo(detail),
  };
}

function isCaptured({ message }: MessageDetail): boolean {
  return message.test || message.outcome === 'captured';
}

/** Null where nothing is kept any more, or what will become of it is not known yet. */
function keptUntil(
  { message }: MessageDetail,
  key: ApiKey | null,
  { resolution }: Pick<LocalDeps, 'resolution'>,
): string | null {
  const { contentDays, capturedDays } = resolution().config.retention;
  if (message.content === null || message.finalAt === null) return null;
  const usual = message.outcome === 'captured' ? capturedDays : contentDays;
  return formatTimestamp(message.finalAt + (key?.contentDays ?? usual) * DAY_MS);
}

/** What the API would do, as far as the record tells. */
function mayDo({ message, recipients }: MessageDetail): MessageStory['may'] {
  const states = new Set(recipients.map(({ state }) => state));
  const kept = message.content !== null;
  return {
    retry: !message.test && kept && (states.has('failed') || states.has('retrying')),
    cancel: !isFinal(message.status),
    resend: !message.test && kept,
  };
}
