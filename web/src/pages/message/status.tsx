import { Badge, StatusBadge } from '../../parts/badge.tsx';
import { Time } from '../../parts/values.tsx';
import { DueAt } from './due-at.tsx';
import type { Story } from './timeline.ts';
import { isKept, type WaitingFor, waitingWords } from './waiting-words.ts';

/** Where a message stands, in a line under its subject. */
export function MessageStatus({ story }: { readonly story: Story }) {
  const { record, captured, key } = story;
  const { status, outcome, recipients } = record;
  const done = recipients.filter(({ status: one }) => one === 'delivered').length;
  const shown = captured && status === 'delivered' ? 'captured' : status;
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
        <Badge tone="warn" title="A connection broke when it may have been taken already; it was sent again.">
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
      Next attempt <DueAt at={at} />
      {isKept(why) && `: ${waitingWords(why)}`}
    </span>
  );
}
