import { Badge, StatusBadge } from '../../parts/badge.tsx';
import { DueAt, Time } from '../../parts/values.tsx';
import type { Story } from './story.ts';
import { isKept, type WaitingFor, waitingWords } from './timeline.ts';

/** Where a message stands, in a line under its subject. */
export function MessageStatus({ story }: { readonly story: Story }) {
  const { record, captured, key } = story;
  const { status, outcome, recipients } = record;
  const done = recipients.filter(({ status: one }) => one === 'delivered').length;
  const isScheduled = record.waitingFor === 'scheduled';
  const shown = captured && status === 'delivered' ? 'captured' : isScheduled ? 'scheduled' : status;
  return (
    <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <span className="flex flex-wrap gap-1.5" aria-live="polite">
        <StatusBadge status={shown} />
        {outcome !== undefined && outcome !== 'accepted' && outcome !== 'captured' && (
          <StatusBadge status={outcome} />
        )}
      </span>
      {key?.test && <Badge tone="accent">Test key</Badge>}
      {record.possibleDuplicate && (
        <Badge
          tone="warn"
          title="A connection broke when the message may already have been accepted; it was sent again."
        >
          May have been sent twice
        </Badge>
      )}
      {recipients.length > 1 && (
        <span>
          {done} of {recipients.length} recipients {captured ? 'captured' : 'delivered'}
        </span>
      )}
      <span>
        Accepted <Time at={record.createdAt} />
      </span>
      {record.waitingFor !== undefined && <NextAttempt at={record.nextAttemptAt} why={record.waitingFor} />}
    </div>
  );
}

function NextAttempt({ at, why }: { readonly at: string | undefined; readonly why: WaitingFor }) {
  if (at === undefined) return <span>No next attempt yet: {waitingWords(why)}</span>;
  return (
    <span>
      {why === 'scheduled' ? 'Goes out' : 'Next attempt'} <DueAt at={at} />
      {isKept(why) && `: ${waitingWords(why)}`}
    </span>
  );
}
