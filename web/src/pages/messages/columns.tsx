import { linkOptions } from '@tanstack/react-router';
import { type Column, statusColumn } from '../../parts/data-table.tsx';
import { bareAddress, Said, Time } from '../../parts/values.tsx';
import type { FoundMessage } from './steady-list.ts';

/** The columns of the list of messages. */
export const MESSAGE_COLUMNS: readonly Column<FoundMessage>[] = [
  {
    header: 'Subject',
    width: 'minmax(0, 2.2fr)',
    card: 'title',
    cell: ({ subject, tags }) => (
      <span className="flex min-w-0 items-baseline gap-2">
        <Said text={subject} none="(no subject)" className="min-w-0 font-medium" />
        {tags.slice(0, 2).map((tag) => (
          <Said
            key={tag}
            text={tag}
            className="max-w-24 shrink-0 rounded-xs bg-sunken px-1.5 text-xs text-soft @max-[42rem]:hidden"
          />
        ))}
      </span>
    ),
  },
  {
    header: 'To',
    width: 'minmax(0, 1.5fr)',
    card: 'plain',
    cell: (message) => <Recipients {...message} />,
  },
  {
    header: 'From',
    width: 'minmax(0, 1.2fr)',
    card: 'hidden',
    cell: ({ from }) => (
      <span title={from}>
        <Said text={bareAddress(from)} className="text-soft" />
      </span>
    ),
  },
  statusColumn({ header: 'Status', width: '7.5rem', card: 'aside' }, shownStatus),
  {
    header: 'Relay',
    width: 'minmax(0, 6.5rem)',
    card: 'hidden',
    cell: ({ relay }) => <Said text={relay} className="text-soft" />,
  },
  {
    header: 'Accepted',
    width: '5.5rem',
    align: 'end',
    card: 'plain',
    cell: ({ createdAt }) => (
      <span className="text-soft">
        <Time at={createdAt} />
      </span>
    ),
  },
];

/** Where a row leads. The same each time, so that rows that stay are not drawn again when further ones come. */
export const messageLink = ({ id }: FoundMessage) => linkOptions({ to: '/messages/$id', params: { id } });

/** Outcomes that say more than their status. */
const TELLING: ReadonlySet<string> = new Set(['cancelled', 'bounced', 'suppressed', 'partial']);

/** What a row says of its message: more than its status where more is known. */
export function shownStatus({
  status,
  outcome,
  captured,
  waitingFor,
}: Pick<FoundMessage, 'status' | 'outcome' | 'captured' | 'waitingFor'>): string {
  if (captured && status === 'delivered') return 'captured';
  if (waitingFor === 'scheduled') return 'scheduled';
  return shownOutcome(outcome) ?? status;
}

function shownOutcome(outcome: string | undefined): string | null {
  return outcome !== undefined && TELLING.has(outcome) ? outcome : null;
}

/** The first recipient, and how many more there are. */
function Recipients({ to, cc, bcc }: Pick<FoundMessage, 'to' | 'cc' | 'bcc'>) {
  const all = [...to, ...cc, ...bcc];
  return (
    <span className="flex min-w-0 items-baseline gap-1.5">
      <Said text={all[0] && bareAddress(all[0])} none="(nobody)" className="min-w-0" />
      {all.length > 1 && (
        <span className="shrink-0 text-xs text-soft" title={all.slice(1, 11).join(', ')}>
          +{all.length - 1}
        </span>
      )}
    </span>
  );
}
