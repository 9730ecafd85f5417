import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Copyable } from '../../parts/copy.tsx';
import { type Column, countColumn, DataTable, statusColumn } from '../../parts/data-table.tsx';
import { Card, entriesOf } from '../../parts/page.tsx';
import { Bytes, DueAt, Duration, Said, Time } from '../../parts/values.tsx';
import { BOUNCE_WORDS, type Bounce, sourceWords } from './aftermath.ts';
import { type Recipient, replyText, type Story } from './story.ts';
import { counted, waitingWords, wayIn } from './timeline.ts';

/** What a message demands of the way. */
const TLS_WORDS = {
  required: 'Required all the way',
  optional: 'Not required, whatever the domain says',
};

/** What is known of a message, by name: narrow, names over values. */
export function Facts({ story }: { readonly story: Story }) {
  const { record, key, sourceAddress, content } = story;
  const { id, from, to, cc, bcc, createdAt, sendAt, durationMs, sizeBytes, priority, tags, tls } = record;
  const { messageId, providerMessageId } = record;
  const rows = [
    ...entriesOf({
      Id: <Copyable text={id} />,
      From: long('From', from),
      To: people('To', to),
      Cc: people('Cc', cc),
      Bcc: people('Bcc', bcc),
      Accepted: <Time at={createdAt} exact />,
      'Not before': sendAt && <Time at={sendAt} exact />,
      Took: durationMs === undefined ? undefined : <Duration ms={durationMs} />,
      Size: <Bytes bytes={sizeBytes} />,
      Came: came(record, sourceAddress),
      'API key': key && long('API key', key.name),
      Priority: priority === 'normal' ? undefined : priority,
      TLS: tls && TLS_WORDS[tls],
      Tags: tags.length === 0 ? undefined : long('Tags', tags.join(', ')),
    }),
    ...Object.entries(record.metadata)
      .slice(0, 20)
      .map(([name, value]) => [name, long(name, value)] as const),
    ...entriesOf({
      'Message-ID': <Copyable text={messageId} />,
      "Peer's id": providerMessageId && <Copyable text={providerMessageId} />,
      Content: kept(content),
    }),
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
    <LongValue name={name}>
      <Said text={text} lines="several" />
    </LongValue>
  );
}

function people(name: string, list: readonly string[]): ReactNode {
  return list.length === 0 ? undefined : <LongList name={name} items={list} />;
}

function came(record: Story['record'], address: string | null): ReactNode {
  const way = address === null ? wayIn(record) : `${wayIn(record)}, from ${address}`;
  if (record.source !== 'smtp') return way;
  return (
    <>
      {way}{' '}
      <Link to="/requests" search={{ message: record.id }} className="link whitespace-nowrap">
        Session
      </Link>
    </>
  );
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

/** What became of each recipient's copy. */
export function RecipientTable({ story }: { readonly story: Story }) {
  const { recipients } = story.record;
  const hasRelays = recipients.some(({ relay }) => relay !== null);
  const columns = useMemo(() => columnsOf(story.captured, hasRelays), [story.captured, hasRelays]);
  return (
    <Card
      title={recipients.length === 1 ? 'Recipient' : 'Recipients'}
      {...(recipients.length > 1 && { note: counted(recipients.map(({ status }) => status)) })}
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

const RELAY: Column<Recipient> = {
  header: 'Relay',
  width: 'minmax(0, 5rem)',
  card: 'hidden',
  cell: ({ relay }) => <Said text={relay} className="text-soft" />,
};

function columnsOf(captured: boolean, hasRelays: boolean): readonly Column<Recipient>[] {
  return [
    {
      header: 'Address',
      width: 'minmax(0, 1.8fr)',
      sort: ({ address }) => address,
      cell: (recipient) => (
        <>
          <span className="flex min-w-0 items-baseline gap-2">
            <Said text={recipient.address} lines="several" className="min-w-0" />
            {recipient.type !== 'to' && <span className="caption shrink-0">{recipient.type}</span>}
          </span>
          <Since recipient={recipient} />
        </>
      ),
    },
    statusColumn(
      { header: 'Status', width: '6.75rem', card: 'aside', sorts: true },
      ({ status, outcome, waitingFor }) => {
        if (captured && status === 'delivered') return 'captured';
        if (waitingFor === 'scheduled') return 'scheduled';
        return status === 'failed' ? (outcome ?? status) : status;
      },
    ),
    ...(hasRelays ? [RELAY] : []),
    {
      header: 'Last reply',
      width: 'minmax(0, 2fr)',
      card: 'plain',
      cell: ({ address, bounce, lastCode, lastEnhancedCode, lastReply, nextAttemptAt }) =>
        bounce === null ? (
          <>
            <Said
              text={replyText(lastCode, lastEnhancedCode, lastReply)}
              lines="several"
              className="line-clamp-3 text-sm text-soft"
            />
            {nextAttemptAt !== null && lastReply !== null && <WhyLate address={address} />}
          </>
        ) : (
          <BounceText bounce={bounce} />
        ),
    },
    countColumn({ header: 'Attempts', width: '4.25rem' }, ({ attempts }) => attempts),
    {
      header: 'Next',
      width: '6.25rem',
      align: 'end',
      cell: ({ nextAttemptAt, waitingFor }) => (
        <span {...(waitingFor !== null && { title: waitingWords(waitingFor) })}>
          {nextAttemptAt === null ? <span className="text-faint">–</span> : <DueAt at={nextAttemptAt} />}
        </span>
      ),
    },
  ];
}

/** Leads to what is known of all mail to the same domain. */
function WhyLate({ address }: { readonly address: string }) {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return (
    <Link to="/explore" search={{ domain }} className="link text-sm break-all">
      Why mail to {domain} is late
    </Link>
  );
}

/** What is known of a recipient besides its delivery. */
function Since({
  recipient: { confirmedAt, complainedAt, unsubscribedAt, suppression },
}: {
  readonly recipient: Recipient;
}) {
  const known = [
    confirmedAt !== null && (
      <span key="confirmed" title="Its own server took it">
        Confirmed <Time at={confirmedAt} />
      </span>
    ),
    complainedAt !== null && (
      <span key="complained" className="text-failed">
        Called it spam <Time at={complainedAt} />
      </span>
    ),
    unsubscribedAt !== null && (
      <span key="unsubscribed" className="text-retrying">
        Unsubscribed <Time at={unsubscribedAt} />
      </span>
    ),
    suppression !== null && (
      <Link key="suppression" to="/suppressions" search={{ id: suppression }} className="link">
        Why it is suppressed
      </Link>
    ),
  ].filter(Boolean);
  if (known.length === 0) return null;
  return <span className="flex flex-wrap gap-x-3 text-xs font-normal text-soft">{known}</span>;
}

/** Why a recipient bounced, what that means, and how it became known. */
function BounceText({ bounce: { type, source, code, enhancedCode, text } }: { readonly bounce: Bounce }) {
  const { name, means } = BOUNCE_WORDS[type];
  return (
    <div className="min-w-0 text-sm">
      <span className="font-medium text-failed" title={means}>
        {name}
      </span>
      {source !== 'smtp' && <span className="text-soft">, told {sourceWords(source)}</span>}
      <Said
        text={replyText(code, enhancedCode, text)}
        none=""
        lines="several"
        className="line-clamp-3 text-soft"
      />
    </div>
  );
}

/** Of a list, so many stand there at once; one more alone is no reason to fold it. */
const SHOWN_AT_ONCE = 5;

/** What strangers wrote, one a line: the first of them, and a button for all. */
function LongList({ name, items }: { readonly name: string; readonly items: readonly string[] }) {
  const [isOpen, setOpen] = useState(false);
  const isLong = items.length > SHOWN_AT_ONCE + 1;
  const list = (
    <ul className="space-y-1">
      {(isLong && !isOpen ? items.slice(0, SHOWN_AT_ONCE) : items).map((item, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same address may stand there twice; the list does not change
        <li key={place}>
          <Said text={item} lines="several" />
        </li>
      ))}
    </ul>
  );
  if (!isLong) return list;
  return (
    <>
      {isOpen ? <Scrolled name={`${name}: all ${items.length}`}>{list}</Scrolled> : list}
      <Fold name={name} isOpen={isOpen} onChange={setOpen}>
        {isOpen ? `only the first ${SHOWN_AT_ONCE}` : `and ${items.length - SHOWN_AT_ONCE} more`}
      </Fold>
    </>
  );
}

/** A value of some lines, and where it has more of them, a button for all. */
function LongValue({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const [isCut, setCut] = useState(false);
  const cut = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = cut.current;
    if (isOpen || !element) return;
    const observer = new ResizeObserver(() => setCut(element.scrollHeight > element.clientHeight + 1));
    observer.observe(element);
    return () => observer.disconnect();
  }, [isOpen]);
  return (
    <>
      {isOpen ? (
        <Scrolled name={name}>{children}</Scrolled>
      ) : (
        <div ref={cut} className="max-h-32 overflow-hidden">
          {children}
        </div>
      )}
      {isCut && (
        <Fold name={name} isOpen={isOpen} onChange={setOpen}>
          {isOpen ? 'less of it' : 'all of it'}
        </Fold>
      )}
    </>
  );
}

/** What may be higher than there is room for. Keys can scroll it. */
function Scrolled({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <section
      aria-label={name}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys can scroll what has the focus
      tabIndex={0}
      className="mb-1 max-h-80 overflow-y-auto rounded-md border border-line bg-paper px-2 py-1"
    >
      {children}
    </section>
  );
}

function Fold({
  name,
  isOpen,
  onChange,
  children,
}: {
  readonly name: string;
  readonly isOpen: boolean;
  readonly onChange: (open: boolean) => void;
  readonly children: string;
}) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-label={`${name}: ${children}`}
      onClick={() => onChange(!isOpen)}
      className="link text-sm"
    >
      {children}
    </button>
  );
}
