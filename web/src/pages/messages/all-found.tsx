import { useQuery } from '@tanstack/react-query';
import { CheckCheck } from 'lucide-react';
import { call } from '../../api.ts';
import { formatCount, plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { idAfter } from './steady-list.ts';

/** Most messages that can be ticked at once. */
export const MAX_TICKED = 10_000;
/** Pages that are looked at: where few match among many, each may bring none. */
const MAX_PAGES = 100;
const PAGE_ROWS = 200;

/** What a list shows of all that is found. */
export interface ShownPart {
  readonly query: string;
  /** The newest message in it: what came since is not meant. */
  readonly first: string;
}

/**
 * Offers to tick all that is found, and not only what is shown. How many these are is counted first, and only when that is
 * asked for: it may take many searches.
 */
export function AllFound({
  part: { query, first },
  onTick,
}: {
  readonly part: ShownPart;
  readonly onTick: (ids: ReadonlySet<string>) => void;
}) {
  const found = useQuery({
    queryKey: ['all found', query, first],
    queryFn: ({ signal }) =>
      idsFound(
        (before) => call('search', { query, limit: PAGE_ROWS, before }, signal),
        idAfter(first),
        signal,
      ),
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const { data, error, isFetching } = found;
  return (
    <>
      {data === undefined ? (
        <Button
          small
          label={isFetching ? 'Counting…' : `Count all that match${error ? ' again' : ''}`}
          // Not disabled meanwhile, so that it keeps the focus, and is then what selects.
          aria-disabled={isFetching}
          onClick={() => {
            if (!isFetching) void found.refetch();
          }}
        />
      ) : (
        <Button
          small
          icon={CheckCheck}
          label={`Select ${data.whole ? 'all' : 'the newest'} ${formatCount(data.ids.length)} that match`}
          onClick={() => onTick(new Set(data.ids))}
        />
      )}
      <span role="status" className={error && !isFetching ? 'text-sm text-failed' : 'sr-only'}>
        {isFetching
          ? 'Counting…'
          : (error?.message ?? (data && `${plural(data.ids.length, 'message')} found`))}
      </span>
    </>
  );
}

/** The ids of all that a search finds, a page at a time; bounded, `whole` says whether these are all of them. */
export async function idsFound(
  ask: (before: string | null) => Promise<{
    readonly messages: readonly { readonly id: string }[];
    readonly next: string | null;
  }>,
  from: string | null,
  signal: AbortSignal,
): Promise<{ readonly ids: readonly string[]; readonly whole: boolean }> {
  const ids: string[] = [];
  let before = from;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    signal.throwIfAborted();
    const { messages, next } = await ask(before);
    ids.push(...messages.map(({ id }) => id));
    if (ids.length > MAX_TICKED) break;
    if (next === null) return { ids, whole: true };
    before = next;
  }
  return { ids: ids.slice(0, MAX_TICKED), whole: false };
}
