import { type ReactNode, useMemo } from 'react';
import { StatusBadge } from '../../parts/badge.tsx';
import { Card } from '../../parts/card.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Said } from '../../parts/said.tsx';
import { Bytes, Duration, Time } from '../../parts/values.tsx';
import { DueAt } from './due-at.tsx';
import { LongList, LongValue } from './long-value.tsx';
import { replyText, type Story, waitingWords } from './timeline.ts';

/** What is known of a message, by name: narrow, names over values. */
export function Facts({ story }: { readonly story: Story }) {
  const { record, key, sourceAddress, content } = story;
  const rows: (readonly [string, ReactNode])[] = [
    ['Id', <Copyable key="id" text={record.id} />],
    ['From', long('From', record.from)],
    ...people('To', record.to),
    ...people('Cc', record.cc),
    ...people('Bcc', record.bcc),
    ['Accepted', <Time key="accepted" at={record.createdAt} exact />],
    ...(record.sendAt === undefined
      ? []
      : [['Not before', <Time key="sendAt" at={record.sendAt} exact />] as const]),
    ...(record.durationMs === undefined
      ? []
      : [['Took', <Duration key="took" ms={record.durationMs} />] as const]),
    ['Size', <Bytes key="size" bytes={record.sizeBytes} />],
    ['Came', came(record.source, sourceAddress)],
    ['API key', key === null ? null : long('API key', key.name)],
    ...(record.priority === 'normal' ? [] : [['Priority', record.priority] as const]),
    ...(record.tags.length === 0 ? [] : [['Tags', long('Tags', record.tags.join(', '))] as const]),
    ...Object.entries(record.metadata)
      .slice(0, 20)
      .map(([name, value]) => [name, long(name, value)] as const),
    ['Message-ID', <Copyable key="messageId" text={record.messageId} />],
    ...(record.providerMessageId === undefined
      ? []
      : [["Peer's id", <Copyable key="peer" text={record.providerMessageId} />] as const]),
    ['Content', kept(content)],
  ];
  return (
    <dl className="-my-1.5 divide-y divide-line">
      {rows.map(([name, value]) => (
        <div key={name} className="grid grid-cols-[6rem_minmax(0,1fr)] gap-x-2.5 py-1.5">
          <dt className="min-w-0 truncate text-soft" title={name}>
            {name}
          </dt>
          <dd className="min-w-0">{value ?? <span className="text-faint">–</span>}</dd>
        </div>
      ))}
    </dl>
  );
}

function long(name: string, text: string): ReactNode {
  return (
    <LongValue key={name} name={name}>
      <Said text={text} lines="several" />
    </LongValue>
  );
}

function people(name: string, list: readonly string[]): (readonly [string, ReactNode])[] {
  return list.length === 0 ? [] : [[name, <LongList key={name} name={name} items={list} />]];
}

const WAYS_IN: Readonly<Record<string, string>> = {
  api: 'HTTP API',
  smtp: 'SMTP',
  cli: 'Command line',
  report: 'Written here, as a report',
};

function came(source: string, address: string | null): string {
  const way = WAYS_IN[source] ?? source;
  return address === null ? way : `${way}, from ${address}`;
}

function kept({ kept: isKept, until }: Story['content']): ReactNode {
  if (!isKept) return 'Removed';
  return until === null ? (
    'Kept'
  ) : (
    <>
      Kept; goes <Time at={until} />
    </>
  );
}

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
      header: 'Relay',
      width: 'minmax(0, 5rem)',
      card: 'hidden',
      cell: ({ relay }) => <Said text={relay} className="text-soft" />,
    },
    {
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
      header: 'Attempts',
      width: '4.25rem',
      align: 'end',
      cell: ({ attempts }) => attempts,
    },
    {
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
