import { X } from 'lucide-react';
import { FilterChips } from '../../parts/toolbar.tsx';
import { readTerms, valuesFor, withoutTerm, withValues } from './query-text.ts';

const STATUSES = [
  { value: 'queued', label: 'Queued' },
  { value: 'processing', label: 'Processing' },
  { value: 'retrying', label: 'Retrying' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
] as const;

/** What a search asks for, a piece at a time: statuses to press, and each other token to take away. */
export function QueryChips({
  query,
  onSearch,
}: {
  readonly query: string;
  readonly onSearch: (query: string) => void;
}) {
  const wanted = valuesFor(query, 'status').map((value) => value.toLowerCase());
  const pressed = STATUSES.map(({ value }) => value).filter((value) => wanted.includes(value));
  const others = readTerms(query).filter(({ token, not }) => token !== null && (token !== 'status' || not));
  return (
    <div className="mb-3 flex flex-wrap items-center gap-1.5">
      <FilterChips
        label="Status"
        choices={STATUSES}
        value={pressed}
        onChange={(next) => onSearch(withValues(query, 'status', next))}
      />
      {others.map((term) => (
        <span
          key={`${term.start} ${term.token}`}
          className="inline-flex h-7.5 max-w-full items-center gap-1 rounded-full border border-accent bg-accent-soft pr-1 pl-3 text-sm text-accent"
        >
          <span className="shrink-0 font-medium">
            {term.not && 'not '}
            {term.token}:
          </span>
          <bdi className="min-w-0 truncate">{term.value}</bdi>
          <button
            type="button"
            aria-label={`Remove ${term.token}: ${term.value}`}
            onClick={() => onSearch(withoutTerm(query, term))}
            className="flex size-5.5 shrink-0 items-center justify-center rounded-full hover:bg-surface"
          >
            <X aria-hidden size={13} />
          </button>
        </span>
      ))}
    </div>
  );
}
