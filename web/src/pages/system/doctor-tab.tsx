import { Stethoscope } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { plural } from '../../format.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx';
import { useCall } from '../../queries.ts';

type Finding = ResultOf<'doctor'>[number];

const RANKS = { fail: 0, warn: 1, ok: 2, skipped: 3 };

/** Looks for what could keep mail from coming in or going out; takes a few seconds, and so waits to be asked. */
export function DoctorTab() {
  const doctor = useCall('doctor', {}, { enabled: false });
  const { data: findings, error, isFetching } = doctor;
  const run = () => void doctor.refetch();
  return (
    <Card
      flush
      title="Doctor"
      note={findings ? summary(findings) : 'Looks at ports, names, DNS, relays, certificate and clock.'}
      actions={
        <Button small icon={Stethoscope} busy={isFetching} onClick={run}>
          {findings ? 'Look again' : 'Look now'}
        </Button>
      }
    >
      {error && <ErrorState error={error} onRetry={run} />}
      {findings && <Findings findings={findings} />}
      {!findings && !error && isFetching && <LoadingState lines={6} label="The doctor is looking" />}
      {!findings && !error && !isFetching && (
        <EmptyState icon={Stethoscope} title="Is something wrong?">
          The doctor tries what mail needs, and says what to do about what it finds. It sends nothing.
        </EmptyState>
      )}
    </Card>
  );
}

function summary(findings: readonly Finding[]): string {
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  if (count('fail') + count('warn') === 0) return 'All is well.';
  return `${plural(count('fail'), 'fault')}, ${plural(count('warn'), 'thing')} to look at, ${count('ok')} well.`;
}

function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  const sorted = [...findings].sort((one, other) => RANKS[one.status] - RANKS[other.status]);
  return (
    <ul className="divide-y divide-line">
      {sorted.map(({ name, status, found, cure }) => (
        <li key={name} className="px-4 py-3">
          <div className="flex items-start gap-3">
            <div className="min-w-0 flex-1">
              <span className="font-medium">{name}</span>
              <p className="break-words text-soft">{found}</p>
            </div>
            <StatusBadge status={status} />
          </div>
          {cure !== null && (
            <div className="mt-2">
              <CodeBlock label="What to do" code={cure} wrap />
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
