import { useMemo } from 'react';
import { StatusBadge } from '../../parts/badge.tsx';
import { Card } from '../../parts/card.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Said } from '../../parts/said.tsx';
import { DueAt } from './due-at.tsx';
import { replyText, type Story } from './timeline.ts';
import { waitingWords } from './waiting-words.ts';

type Recipient = Story['record']['recipients'][number];

/** What became of each recipient's copy. */
export function RecipientTable({ story }: { readonly story: Story }) {
  const { recipients } = story.record;
  const columns = useMemo(() => columnsOf(story.captured), [story.captured]);
  return (
    <Card
      title={recipients.length === 1 ? 'Recipient' : 'Recipients'}
      {...(recipients.length > 1 && { note: counted(recipients) })}
      flush
    >
      <DataTable
        label="Recipients"
        columns={columns}
        rows={recipients}
        rowId={({ address, type }) => `${type} ${address}`}
      />
    </Card>
  );
}

/** `8 delivered, 2 failed`. */
function counted(recipients: readonly Recipient[]): string {
  const counts = new Map<string, number>();
  for (const { status } of recipients) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${status}`).join(', ');
}

function columnsOf(captured: boolean): readonly Column<Recipient>[] {
  return [
    {
      id: 'address',
      header: 'Address',
      width: 'minmax(0, 1.8fr)',
      sort: ({ address }) => address,
      cell: ({ address, type }) => (
        <span className="flex min-w-0 items-baseline gap-2">
          <Said text={address} className="min-w-0" />
          {type !== 'to' && <span className="caption shrink-0">{type}</span>}
        </span>
      ),
    },
    {
      id: 'status',
      header: 'Status',
      width: '6.75rem',
      card: 'aside',
      sort: ({ status }) => status,
      cell: ({ status, outcome }) => (
        <StatusBadge
          status={
            captured && status === 'delivered'
              ? 'captured'
              : status === 'failed'
                ? (outcome ?? status)
                : status
          }
        />
      ),
    },
    {
      id: 'relay',
      header: 'Relay',
      width: 'minmax(0, 5rem)',
      card: 'hidden',
      cell: ({ relay }) => <Said text={relay} className="text-soft" />,
    },
    {
      id: 'reply',
      header: 'Last reply',
      width: 'minmax(0, 2fr)',
      card: 'plain',
      cell: ({ lastCode, lastEnhancedCode, lastReply }) => (
        <Said
          text={replyText(lastCode, lastEnhancedCode, lastReply)}
          lines="several"
          className="line-clamp-3 text-sm text-soft"
        />
      ),
    },
    {
      id: 'attempts',
      header: 'Attempts',
      width: '4.25rem',
      align: 'end',
      cell: ({ attempts }) => attempts,
    },
    {
      id: 'next',
      header: 'Next',
      width: '4.75rem',
      align: 'end',
      cell: ({ nextAttemptAt, waitingFor }) => (
        <span {...(waitingFor !== null && { title: waitingWords(waitingFor) })}>
          {nextAttemptAt === null ? <span className="text-faint">–</span> : <DueAt at={nextAttemptAt} />}
        </span>
      ),
    },
  ];
}
