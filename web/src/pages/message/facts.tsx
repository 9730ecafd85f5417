import type { ReactNode } from 'react';
import { Copyable } from '../../parts/copy.tsx';
import { Said } from '../../parts/said.tsx';
import { Bytes, Duration, Time } from '../../parts/values.tsx';
import { LongList, LongValue } from './long-value.tsx';
import type { Story } from './timeline.ts';

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
