import { Ban, Check, CircleDashed, Clock, Inbox, type LucideIcon, RotateCw, Send, X } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { DueAt, Said, Time } from '../../parts/values.tsx';
import { AttemptEvidence } from './attempt-evidence.tsx';
import { type Attempt, type Happening, type Story, timelineOf } from './timeline.ts';

/** Of a long life, so many happenings are shown at its beginning and at its end. */
const HEAD = 3;
const TAIL = 5;

const SIGNS: Readonly<Record<string, readonly [LucideIcon, string]>> = {
  accepted: [Check, 'bg-accent-soft text-accent'],
  captured: [Inbox, 'bg-accent-soft text-accent'],
  delivered: [Check, 'bg-delivered-soft text-delivered'],
  rejected: [X, 'bg-failed-soft text-failed'],
  failed: [Ban, 'bg-failed-soft text-failed'],
  deferred: [RotateCw, 'bg-retrying-soft text-retrying'],
  unknown: [CircleDashed, 'bg-retrying-soft text-retrying'],
  processing: [Send, 'bg-processing-soft text-processing'],
  queued: [Clock, 'bg-queued-soft text-queued'],
};

/** A message's life from its acceptance on; each attempt opens to its evidence. */
export function Happenings({
  story,
  moreAttempts,
  onMore,
  loadingMore,
}: {
  readonly story: Story;
  /** There are attempts that have not been fetched. */
  readonly moreAttempts: boolean;
  readonly onMore: () => void;
  readonly loadingMore: boolean;
}) {
  const [all, setAll] = useState(false);
  const life = timelineOf({ ...story, moreAttempts });
  const isLong = !all && life.length > HEAD + TAIL + 2;
  const head = isLong ? life.slice(0, HEAD) : life;
  const tail = isLong ? life.slice(-TAIL) : [];
  const draw = (one: Happening) => (
    <Point
      key={one.key}
      happening={one}
      attempt={story.attempts.find(({ number }) => number === one.attempt)}
      {...(one.key === 'more' && {
        action: <Button small label="Show more attempts" busy={loadingMore} onClick={onMore} />,
      })}
    />
  );
  return (
    <ol aria-label="What happened" className="relative">
      {head.map(draw)}
      {isLong && (
        <li className="relative flex gap-3 pb-4">
          <Line />
          <span className="flex w-6.5 shrink-0 justify-center">
            <span aria-hidden className="z-1 bg-surface py-1 text-faint">
              ⋮
            </span>
          </span>
          <Button
            small
            look="quiet"
            label={`Show ${life.length - HEAD - TAIL} more`}
            className="-ml-2"
            onClick={() => setAll(true)}
          />
        </li>
      )}
      {tail.map(draw)}
    </ol>
  );
}

function Line() {
  return (
    <span
      aria-hidden
      className="absolute top-0 bottom-0 left-[calc(0.8125rem_-_0.5px)] w-px bg-line group-last/point:hidden"
    />
  );
}

function Point({
  happening: { at, title, detail, mark, ahead },
  attempt,
  action,
}: {
  readonly happening: Happening;
  readonly attempt: Attempt | undefined;
  readonly action?: React.ReactNode;
}) {
  const [Icon, tone] = SIGNS[mark] ?? [CircleDashed, 'bg-queued-soft text-queued'];
  const [open, setOpen] = useState(false);
  return (
    <li className="group/point relative flex gap-3 pb-4 last:pb-0">
      <Line />
      <span
        className={classNames(
          'z-1 flex size-6.5 shrink-0 items-center justify-center rounded-full',
          tone,
          ahead && 'border border-dashed border-current',
        )}
      >
        <Icon aria-hidden size={14} />
      </span>
      <div className="min-w-0 flex-1 pt-0.5">
        <div className="flex flex-wrap items-baseline justify-between gap-x-4">
          <span className={classNames('min-w-0 font-medium break-words', ahead && 'text-soft')}>
            {title}
            {ahead && <span className="sr-only"> (not yet)</span>}
          </span>
          {at !== null && (
            <span className="text-sm text-soft">{ahead ? <DueAt at={at} /> : <Time at={at} />}</span>
          )}
        </div>
        {detail !== null && <Said text={detail} lines="several" className="block text-sm text-soft" />}
        {action !== undefined && <div className="mt-1.5">{action}</div>}
        {attempt && (
          <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)} className="mt-1">
            <summary className="link inline-block w-fit rounded-sm text-sm">Evidence</summary>
            {open && <AttemptEvidence attempt={attempt} />}
          </details>
        )}
      </div>
    </li>
  );
}
