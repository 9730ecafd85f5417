import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Package } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { call } from '../../api.ts';
import { FreshButton } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { MoreButton } from '../../parts/data-table.tsx';
import { ErrorState, LoadingState } from '../../parts/states.tsx';
import { type Selection, SelectOne, SPANS_ROW } from '../../parts/table-row.tsx';
import { bareAddress, Said, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { useSteadyList } from '../messages/steady-list.ts';

const ROW_HEIGHT = 68;

/** What is in the address beside the message. */
export interface InboxSearch {
  readonly q: string | undefined;
  readonly key: string | undefined;
  readonly box: string | undefined;
}

interface Props {
  readonly inbox: ReturnType<typeof useInbox>;
  readonly chosen: string | undefined;
  readonly search: InboxSearch;
  readonly onAtTop: (isAtTop: boolean) => void;
  readonly selection: Selection | undefined;
  readonly empty: ReactNode;
  readonly className: string;
}

/** The list of captured mail: only rows in sight are in the document. */
export function InboxList({ inbox, chosen, search, onAtTop, selection, empty, className }: Props) {
  const { rows, more, sparse, fresh, showNewest } = inbox;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const { has, loading, load } = more;
  useEffect(() => {
    if (has && !loading && !sparse && last >= rows.length - 10) load();
  }, [has, loading, sparse, load, last, rows.length]);
  const at = rows.findIndex(({ id }) => id === chosen);
  // What was opened by its address is shown in the list, too.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another choice moves the list
  useEffect(() => {
    if (at >= 0) virtualizer.scrollToIndex(at, { align: 'auto' });
  }, [chosen, at >= 0]);
  const toTop = () => {
    showNewest();
    scroller.current?.scrollTo({ top: 0 });
  };
  return (
    <section
      aria-label="Captured mail"
      className={classNames('relative flex min-h-0 min-w-0 flex-col', className)}
    >
      {fresh > 0 && (
        <div className="absolute top-2 left-1/2 z-10 -translate-x-1/2">
          <FreshButton onClick={toTop}>{fresh}</FreshButton>
        </div>
      )}
      <div
        ref={scroller}
        onScroll={({ currentTarget }) => onAtTop(currentTarget.scrollTop < 20)}
        className="min-h-0 overflow-y-auto max-lg:max-h-[calc(100dvh-8rem)] lg:flex-1 lg:overscroll-contain"
      >
        <Body inbox={inbox} empty={empty}>
          <ul
            data-list
            aria-label="Messages"
            className="relative"
            style={{ height: virtualizer.getTotalSize() }}
          >
            {items.map(({ index, start, key }) => {
              const row = rows[index];
              return (
                row && (
                  <li
                    key={key}
                    ref={virtualizer.measureElement}
                    data-index={index}
                    className="absolute inset-x-0 top-0"
                    style={{ transform: `translateY(${start}px)` }}
                  >
                    <Row message={row} isChosen={row.id === chosen} search={search} selection={selection} />
                  </li>
                )
              );
            })}
          </ul>
        </Body>
        {has && (rows.length > 0 || sparse) && <MoreButton {...more} />}
      </div>
    </section>
  );
}

function Body({
  inbox: { rows, more, sparse, error, loading, retry },
  empty,
  children,
}: Pick<Props, 'inbox' | 'empty'> & { readonly children: ReactNode }) {
  if (rows.length > 0) return children;
  if (error) return <ErrorState error={error} onRetry={retry} />;
  return loading || (more.has && !sparse) ? <LoadingState lines={9} /> : empty;
}

function Row({
  message: { id, subject, from, to, cc, bcc, createdAt, key, box },
  isChosen,
  search,
  selection,
}: Pick<Props, 'search' | 'selection'> & { readonly message: Captured; readonly isChosen: boolean }) {
  const recipients = [...to, ...cc, ...bcc];
  return (
    <div
      className={classNames(
        'relative flex gap-3 border-b border-line px-3 py-2.5 has-[[data-row]:focus-visible]:bg-accent-soft',
        isChosen ? 'bg-accent-soft' : 'hover:bg-sunken/60',
      )}
    >
      {isChosen && <span aria-hidden className="absolute inset-y-0 left-0 w-[3px] bg-accent" />}
      {selection && (
        <span className="relative z-1 pt-px">
          <SelectOne
            selection={selection}
            id={id}
            label={`Select ${subject || 'message without a subject'}`}
          />
        </span>
      )}
      <Link
        to="/inbox/$id"
        params={{ id }}
        search={search}
        data-row=""
        aria-current={isChosen ? 'true' : undefined}
        className={`block flex-1 ${SPANS_ROW}`}
      >
        <span className="flex min-w-0 items-baseline justify-between gap-3">
          <Said
            text={recipients[0] && bareAddress(recipients[0])}
            none="(nobody)"
            className="min-w-0 text-sm text-soft"
          />
          <span className="shrink-0 text-xs text-soft">
            <Time at={createdAt} />
          </span>
        </span>
        <Said text={subject} none="(no subject)" className="font-medium" />
        <span className="flex min-w-0 gap-2 text-xs text-soft">
          <Said text={from} className="min-w-0 flex-1" />
          {key !== null && <Said text={key} className="max-w-28 shrink-0" />}
          {box !== null && <InBox box={box} className="max-w-28 shrink-0" />}
        </span>
      </Link>
    </div>
  );
}

/** The box that a message is in. */
export function InBox({ box, className }: { readonly box: string; readonly className: string }) {
  return (
    <span className={classNames('inline-flex min-w-0 items-center gap-1', className)}>
      <Package role="img" aria-label="Box" size={12} className="shrink-0" />
      <Said text={box} className="min-w-0" />
    </span>
  );
}

/** A captured message of the list. */
export type Captured = ResultOf<'inbox'>['messages'][number];

const PAGE_ROWS = 50;

/**
 * Captured mail, the newest first. What comes in is put on top while the reader is there; further down the list keeps
 * still, and the newcomers are counted.
 */
export function useInbox({ q: query = '', key: ofKey, box: ofBox }: InboxSearch, isAtTop: boolean) {
  const [key, box] = [ofKey ?? null, ofBox ?? null];
  const list = useSteadyList({
    name: 'inbox',
    asked: JSON.stringify([key, box, query]),
    topic: 'inbox',
    restless: true,
    fetchPage: (before, signal) => call('inbox', { query, key, box, limit: PAGE_ROWS, before }, signal),
  });
  const newest = useCall(
    'inbox',
    { query, key, box, limit: PAGE_ROWS, before: null },
    { topics: ['inbox'], keep: true },
  );
  const first = list.loading ? undefined : list.rows[0]?.id;
  const fresh = first === undefined ? 0 : (newest.data?.messages ?? []).filter(({ id }) => id > first).length;
  const { showNewest } = list;
  useEffect(() => {
    if (isAtTop && fresh > 0 && !newest.isPlaceholderData) showNewest();
  }, [isAtTop, fresh, newest.isPlaceholderData, showNewest]);
  return { ...list, newest: newest.data, fresh: isAtTop ? 0 : fresh };
}
