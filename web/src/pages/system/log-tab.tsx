import { ScrollText } from 'lucide-react';
import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { useAddress } from '../../address.ts';
import { classNames } from '../../parts/class-names.ts';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { Switch } from '../../parts/switch.tsx';
import { SearchField, Segments, Toolbar } from '../../parts/toolbar.tsx';
import { useCall } from '../../queries.ts';

type Line = ResultOf<'logTail'>['lines'][number];
type Level = Line['level'];

const LEVELS: readonly { readonly value: Level; readonly label: string }[] = [
  { value: 'debug', label: 'All' },
  { value: 'info', label: 'Info' },
  { value: 'warn', label: 'Warnings' },
  { value: 'error', label: 'Errors' },
];

const COLORS: Readonly<Record<Level, string>> = {
  debug: 'text-faint',
  info: 'text-processing',
  warn: 'text-retrying',
  error: 'text-failed',
};

const LINES = 400;
const EVERY_MS = 3_000;
/** So near to the end, the view stays at the end when lines are added. */
const NEAR_END_PX = 40;

/** The log's last lines, as they are written. */
export function LogTab() {
  const [{ level = 'info', q = '' }, put] = useAddress();
  const [follow, setFollow] = useState(true);
  const log = useCall(
    'logTail',
    { level, contains: q, after: null, limit: LINES },
    { keep: true, ...(follow && { everyMs: EVERY_MS }) },
  );
  const search = useCallback((text: string) => put({ q: text || undefined }), [put]);
  return (
    <>
      <Toolbar>
        <SearchField label="Search the log" value={q} onSearch={search} />
        <Segments
          label="Level"
          choices={LEVELS}
          value={level}
          onChange={(next) => put({ level: next === 'info' ? undefined : next })}
        />
        <Switch label="Follow" checked={follow} onChange={setFollow} />
        {log.data && <span className="text-sm text-soft">Of the node {log.data.node}</span>}
      </Toolbar>
      <div className="overflow-hidden rounded-lg border border-line bg-surface">
        <Fetched query={log} lines={10}>
          {({ lines, last }) =>
            lines.length === 0 ? (
              <EmptyState icon={ScrollText} title="No such line">
                {q === ''
                  ? 'Nothing of this level was logged since the start.'
                  : 'Try another word, or all levels.'}
              </EmptyState>
            ) : (
              <Lines lines={lines} last={last} follow={follow} />
            )
          }
        </Fetched>
      </div>
    </>
  );
}

function Lines({
  lines,
  last,
  follow,
}: {
  readonly lines: readonly Line[];
  readonly last: number;
  readonly follow: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view moves when there are new lines
  useLayoutEffect(() => {
    if (follow && isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [last, follow]);
  return (
    <div
      ref={box}
      role="log"
      aria-label="Log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys can scroll it
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
      }}
      className="h-[min(70dvh,46rem)] overflow-y-auto py-2 font-mono text-xs leading-relaxed -outline-offset-2"
    >
      {lines.map((line) => (
        <LogLine key={line.number} line={line} />
      ))}
    </div>
  );
}

function LogLine({ line: { time, level, event, fields } }: { readonly line: Line }) {
  return (
    <div className="grid gap-x-3 px-4 py-0.5 hover:bg-sunken/60 sm:grid-cols-[6.6rem_2.8rem_minmax(0,1fr)]">
      <time className="whitespace-nowrap text-faint" dateTime={time} title={time}>
        {time.slice(11, 23)}
      </time>
      <span className={classNames('font-medium max-sm:hidden', COLORS[level])}>{level}</span>
      <span className="min-w-0 break-words">
        <span className={classNames('font-semibold', level !== 'info' && level !== 'debug' && COLORS[level])}>
          {event}
        </span>
        {Object.entries(fields).map(([name, value]) =>
          value === null ? null : (
            <span key={name}>
              {' '}
              <span className="text-soft">{name}=</span>
              {String(value)}
            </span>
          ),
        )}
      </span>
    </div>
  );
}
