import { CircleAlert, CircleCheck, CircleDashed, CircleMinus } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatDuration } from '../format.ts';
import { Spinner } from './button.tsx';
import { classNames, FILLS } from './class-names.ts';

/** How far something is, from 0 to 1; null while that is not known. */
export function Progress({
  label,
  value,
  tone = 'accent',
}: {
  readonly label: string;
  readonly value: number | null;
  readonly tone?: 'accent' | 'warn' | 'bad';
}) {
  const fill = { accent: 'bg-accent', warn: FILLS.retrying, bad: FILLS.failed }[tone];
  const percent = value === null ? undefined : Math.round(Math.min(1, Math.max(0, value)) * 100);
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      className="h-1.5 overflow-hidden rounded-full bg-sunken"
    >
      <div
        className={classNames(
          'h-full rounded-full transition-[width]',
          fill,
          percent === undefined && 'w-1/3 animate-pulse',
        )}
        style={percent === undefined ? undefined : { width: `${percent}%` }}
      />
    </div>
  );
}

/** A part of the whole, in its own colour. */
export interface Part {
  readonly label: string;
  readonly value: number;
}

const PARTS = ['captured', 'processing', 'delivered', 'retrying', 'failed', 'denied'] as const;

function fillOf(index: number): string {
  return FILLS[PARTS[index % PARTS.length] ?? 'captured'];
}

/** Parts of a whole side by side, with their names and values beneath: phases of an attempt, classes of storage. */
export function PartsBar({
  label,
  parts,
  format = formatDuration,
}: {
  readonly label: string;
  readonly parts: readonly Part[];
  readonly format?: (value: number) => string;
}) {
  const total = parts.reduce((sum, { value }) => sum + value, 0);
  return (
    <figure aria-label={label} className="min-w-0">
      <div aria-hidden className="flex h-2 gap-px overflow-hidden rounded-full bg-sunken">
        {parts.map(({ label: name, value }, index) =>
          value <= 0 ? null : (
            <div
              key={name}
              className={classNames('min-w-0.5', fillOf(index))}
              style={{ width: `${(value / total) * 100}%` }}
            />
          ),
        )}
      </div>
      <figcaption className="mt-1.5 flex flex-wrap gap-x-4 gap-y-0.5 text-xs">
        {parts.map(({ label: name, value }, index) => (
          <span key={name} className="inline-flex items-center gap-1.5">
            <span aria-hidden className={classNames('size-2 rounded-xs', fillOf(index))} />
            <span className="text-soft">{name}</span> {format(value)}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** A step of something that takes a while. */
export interface Step {
  readonly title: ReactNode;
  readonly state: 'waiting' | 'running' | 'ok' | 'failed' | 'skipped';
  readonly detail?: ReactNode;
  readonly ms?: number | null;
}

const STEP_SIGNS = {
  waiting: <CircleDashed aria-hidden size={17} className="text-faint" />,
  running: <Spinner />,
  ok: <CircleCheck aria-hidden size={17} className="text-delivered" />,
  failed: <CircleAlert aria-hidden size={17} className="text-failed" />,
  skipped: <CircleMinus aria-hidden size={17} className="text-faint" />,
};

/** Steps as they are told of, the last one at the foot. */
export function StepList({ label, steps }: { readonly label: string; readonly steps: readonly Step[] }) {
  return (
    <ol aria-label={label} aria-live="polite" className="space-y-2.5">
      {steps.map(({ title, state, detail, ms }, index) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are added at the end, and keep their places
          key={index}
          className="grid grid-cols-[1.3rem_minmax(0,1fr)_auto] gap-x-2"
        >
          <span className="flex h-[1.5em] items-center">{STEP_SIGNS[state]}</span>
          <div className="min-w-0">
            <div className={classNames('break-words', state === 'failed' && 'text-failed')}>
              {title}
              <span className="sr-only">: {state}</span>
            </div>
            {detail != null && <div className="text-sm break-words text-soft">{detail}</div>}
          </div>
          {ms != null && <span className="text-sm text-soft">{formatDuration(ms)}</span>}
        </li>
      ))}
    </ol>
  );
}
