import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';

/** How far a step is. */
export type StepState = 'done' | 'current' | 'later';

const SIGNS: Readonly<Record<StepState, string>> = {
  done: 'border-delivered bg-delivered-soft text-delivered',
  current: 'border-accent bg-accent text-on-accent',
  later: 'border-edge bg-surface text-soft',
};

/** A step of the guided path. Only the current one shows what it holds. */
export function FirstStep({
  title,
  state,
  outcome,
  onOpen,
  onSkip,
  children,
}: {
  readonly title: string;
  readonly state: StepState;
  /** What came of it, once it is done. */
  readonly outcome?: string | undefined;
  readonly onOpen?: () => void;
  readonly onSkip?: () => void;
  readonly children?: ReactNode;
}) {
  const isCurrent = state === 'current';
  return (
    <li
      aria-current={isCurrent ? 'step' : undefined}
      className="grid grid-cols-[1.75rem_minmax(0,1fr)] gap-x-3 border-b border-line px-4 py-4 last:border-b-0 sm:px-5"
    >
      <span
        aria-hidden
        className={classNames(
          'mt-px flex size-6 items-center justify-center rounded-full border',
          SIGNS[state],
        )}
      >
        {state === 'done' ? (
          <Check size={14} strokeWidth={2.5} />
        ) : (
          <span className="size-1.5 rounded-full bg-current" />
        )}
      </span>
      <div className="min-w-0">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h2 className={classNames('flex-1 font-semibold', state === 'later' && 'text-soft')}>
            {title}
            <span className="sr-only">{state === 'done' ? ' (done)' : ''}</span>
          </h2>
          {!isCurrent && onOpen && (
            <Button small look="quiet" label={state === 'done' ? 'Look again' : 'Open'} onClick={onOpen} />
          )}
          {isCurrent && onSkip && <Button small look="quiet" label="Skip" onClick={onSkip} />}
        </div>
        {!isCurrent && outcome !== undefined && <p className="text-soft">{outcome}</p>}
        {isCurrent && <div className="mt-2 space-y-4">{children}</div>}
      </div>
    </li>
  );
}
