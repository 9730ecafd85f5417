import type { ReactNode } from 'react';
import { Copyable } from '../../parts/copy.tsx';
import { Said } from '../../parts/said.tsx';
import { Bytes, Duration, Time } from '../../parts/values.tsx';
import type { Story } from './timeline.ts';

/** What is known of a message, by name: narrow, names over values. */
export function Facts({ story }: { readonly story: Story }) {
  const { record, key, sourceAddress, content } = story;
  const rows: (readonly [string, ReactNode])[] = [
    ['Id', <Copyable key="id" text={record.id} />],
    ['From', <Said key="from" text={record.from} lines="several" />],
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
    ['API key', key === null ? null : <Said key="key" text={key.name} lines="several" />],
    ...(record.priority === 'normal' ? [] : [['Priority', record.priority] as const]),
    ...(record.tags.length === 0
      ? []
      : [['Tags', <Said key="tags" text={record.tags.join(', ')} lines="several" />] as const]),
    ...Object.entries(record.metadata)
      .slice(0, 20)
      .map(([name, value]) => [name, <Said key={name} text={value} lines="several" />] as const),
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
          <dd className="max-h-36 min-w-0 overflow-y-auto">
            {value ?? <span className="text-faint">–</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Addresses that are shown of a list. */
const MAX_SHOWN = 8;

function people(name: string, list: readonly string[]): (readonly [string, ReactNode])[] {
  if (list.length === 0) return [];
  const shown = list.slice(0, MAX_SHOWN);
  return [
    [
      name,
      <ul key={name}>
        {shown.map((one) => (
          <li key={one}>
            <Said text={one} lines="several" />
          </li>
        ))}
        {list.length > shown.length && <li className="text-soft">and {list.length - shown.length} more</li>}
      </ul>,
    ],
  ];
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
