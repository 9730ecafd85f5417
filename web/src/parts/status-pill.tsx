import { Link } from '@tanstack/react-router';
import { useLiveState } from '../live.ts';
import { useCall } from '../queries.ts';
import { toneOf } from './badge.tsx';
import { classNames } from './class-names.ts';

const LIVE_WORDS = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
};

const DOTS = {
  good: 'bg-chart-delivered',
  warn: 'bg-chart-retrying',
  bad: 'bg-chart-failed',
  neutral: 'bg-chart-denied',
  busy: 'bg-processing',
  accent: 'bg-accent',
};

/** How the service is, and whether what is shown is up to date. */
export function StatusPill({ wide = false }: { readonly wide?: boolean }) {
  const live = useLiveState();
  const health = useCall('health', {}, { topics: ['health'], everyMs: 60_000 });
  const status = health.data?.status;
  const word =
    status === undefined
      ? health.error
        ? 'Unreachable'
        : 'Looking'
      : status.charAt(0).toUpperCase() + status.slice(1);
  const tone = status === undefined ? (health.error ? 'bad' : 'neutral') : toneOf(status);
  return (
    <Link
      to="/system"
      title={health.data?.message}
      className={classNames(
        'flex items-center gap-2 rounded-md text-sm hover:bg-sunken',
        wide ? 'h-8.5 px-2.5' : 'h-8 border border-line px-2.5',
      )}
    >
      <span
        aria-hidden
        className={classNames(
          'size-2 shrink-0 rounded-full',
          DOTS[tone],
          live === 'reconnecting' && 'animate-[pulse-dot_1.2s_ease-in-out_infinite]',
        )}
      />
      <span className="font-medium">{word}</span>
      <span role="status" className={classNames('text-soft', !wide && live === 'live' && 'max-sm:sr-only')}>
        {LIVE_WORDS[live]}
      </span>
    </Link>
  );
}
