import { Link } from '@tanstack/react-router';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { Card } from '../../parts/card.tsx';
import { Time } from '../../parts/values.tsx';

type Failure = ResultOf<'overview'>['failures'][number];

/** What failed last, and why. */
export function Failures({ failures }: { readonly failures: readonly Failure[] }) {
  return (
    <Card
      flush
      title="Failed last"
      className="flex flex-col"
      actions={
        failures.length > 0 && (
          <Link to="/messages" search={{ q: 'status:failed' }} className="link text-sm">
            All that failed
          </Link>
        )
      }
    >
      {failures.length === 0 ? (
        <p className="px-4 py-10 text-center text-soft">Nothing has failed.</p>
      ) : (
        <ul data-list className="divide-y divide-line">
          {failures.map((failure) => (
            <FailureRow key={failure.id} failure={failure} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function FailureRow({ failure }: { readonly failure: Failure }) {
  const { id, to, cc, bcc, timestamp, lastError, outcome } = failure;
  const recipients = [...to, ...cc, ...bcc];
  const recipient = lastError?.recipient ?? recipients[0] ?? 'nobody';
  const others = recipients.length - 1;
  return (
    <li className="relative px-4 py-2 hover:bg-sunken/60">
      <div className="flex items-baseline gap-2">
        <Link
          to="/messages/$id"
          params={{ id }}
          data-row=""
          className="min-w-0 flex-1 truncate font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        >
          {recipient}
          {others > 0 && <span className="font-normal text-soft"> and {others} more</span>}
        </Link>
        <span className="shrink-0 text-xs text-soft">
          <Time at={timestamp} />
        </span>
      </div>
      <div className="truncate text-sm text-soft" title={lastError?.message}>
        {lastError?.message ?? outcome ?? 'No reason was recorded.'}
      </div>
    </li>
  );
}
