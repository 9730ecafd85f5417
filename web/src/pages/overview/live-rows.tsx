import { Link } from '@tanstack/react-router';
import { Inbox } from 'lucide-react';
import { useLayoutEffect, useRef } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { classNames } from '../../parts/class-names.ts';
import { EmptyState } from '../../parts/states.tsx';
import { SPANS_ROW } from '../../parts/table-row.tsx';
import { bareAddress, Said, Time } from '../../parts/values.tsx';
import { shownStatus } from '../messages/columns.tsx';

type Message = ResultOf<'live'>['messages'][number];

/** How long rows take to slide, in ms: less than from one answer to the next. */
const SLIDE_MS = 350;

/** How many rows are new since these ids were shown: those above the first that was there. All, if none is left. */
export function newSince(before: readonly string[], now: readonly string[]): number {
  const place = now.findIndex((id) => before.includes(id));
  return place < 0 ? now.length : place;
}

/** The newest messages. New ones push the others down, all in one movement; who wants less of that sees them stand there. */
export function LiveRows({ messages }: { readonly messages: readonly Message[] }) {
  const list = useRef<HTMLUListElement>(null);
  const shown = useRef<readonly string[] | null>(null);
  useLayoutEffect(() => {
    const ids = messages.map(({ id }) => id);
    const before = shown.current;
    shown.current = ids;
    const fresh = before === null ? 0 : newSince(before, ids);
    const top = list.current?.children[fresh - 1]?.getBoundingClientRect();
    const bottom = list.current?.firstElementChild?.getBoundingClientRect();
    if (fresh === 0 || top === undefined || bottom === undefined) return;
    slide(list.current, top.bottom - bottom.top);
  }, [messages]);
  if (messages.length === 0)
    return (
      <EmptyState icon={Inbox} title="No message yet">
        Messages appear here as they come in.
      </EmptyState>
    );
  return (
    <div className="overflow-hidden">
      <ul ref={list} data-list className="divide-y divide-line">
        {messages.map((message) => (
          <Row key={message.id} message={message} />
        ))}
      </ul>
    </div>
  );
}

/** Begins where a slide that is still under way has come to. */
function slide(list: HTMLElement | null, by: number): void {
  if (list === null || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const { m42: left } = new DOMMatrixReadOnly(getComputedStyle(list).transform);
  list.animate(
    { transform: [`translateY(${left - by}px)`, 'none'] },
    { duration: SLIDE_MS, easing: 'cubic-bezier(0.2, 0.7, 0.2, 1)' },
  );
}

function Row({ message }: { readonly message: Message }) {
  const { id, subject, to, cc, bcc, createdAt } = message;
  const [first, ...others] = [...to, ...cc, ...bcc];
  return (
    <li className="relative grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 px-4 py-1.5 hover:bg-sunken/60 sm:grid-cols-[minmax(0,1.4fr)_minmax(0,1fr)_7rem_5rem]">
      <Link
        to="/messages/$id"
        params={{ id }}
        data-row=""
        className={classNames('min-w-0 truncate font-medium', SPANS_ROW)}
      >
        <Said text={subject} none="(no subject)" />
      </Link>
      <span className="min-w-0 text-soft max-sm:order-3">
        <Said
          text={
            first === undefined
              ? null
              : `${bareAddress(first)}${others.length > 0 ? ` +${others.length}` : ''}`
          }
          none="(nobody)"
        />
      </span>
      <span className="max-sm:text-right">
        <StatusBadge status={shownStatus(message)} />
      </span>
      <span className="text-right text-sm whitespace-nowrap text-soft max-sm:order-4">
        <Time at={createdAt} />
      </span>
    </li>
  );
}
