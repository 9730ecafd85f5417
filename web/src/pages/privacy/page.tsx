import { UserX } from 'lucide-react';
import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount } from '../../format.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { type Column, countColumn, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Progress } from '../../parts/progress.tsx';
import { EmptyState, Fetched, Forbidden } from '../../parts/states.tsx';
import { useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { EraseDialog } from './erase-dialog.tsx';

type Erasure = ResultOf<'listErasures'>['erasures'][number];

/** The people whose mail passes through: erasing one of them, and how far that has come. */
export function PrivacyPage() {
  return useMay('admin') ? <Erasures /> : <Forbidden />;
}

/** Nothing tells of each slice. */
const EVERY_MS = 3_000;

function Erasures() {
  const [asks, setAsks] = useState(false);
  const list = useCall('listErasures', {}, { topics: ['activity'], everyMs: EVERY_MS });
  const erase = <Button look="danger" icon={UserX} label="Erase a person" onClick={() => setAsks(true)} />;
  return (
    <Page
      title="Privacy"
      note="People who asked to be forgotten. What is kept of an address is removed, or becomes a hash that nobody can read."
      actions={erase}
    >
      <Card flush>
        <Fetched query={list} lines={3}>
          {({ erasures }) => (
            <DataTable
              label="Erased people"
              columns={COLUMNS}
              rows={erasures}
              rowId={({ id }) => id}
              empty={
                <EmptyState icon={UserX} title="Nobody was erased">
                  You see what would be touched before anything is erased. Suppressed addresses stay
                  suppressed.
                </EmptyState>
              }
            />
          )}
        </Fetched>
      </Card>
      {asks && <EraseDialog onClose={() => setAsks(false)} />}
    </Page>
  );
}

const STATES: Readonly<Record<Erasure['state'], readonly [name: string, tone: Tone]>> = {
  working: ['Working', 'busy'],
  waiting: ['Waiting', 'warn'],
  done: ['Done', 'good'],
  failed: ['Failed', 'bad'],
};

/** What it looks through, for people. */
const STEP_WORDS: Readonly<Record<string, string>> = {
  messages: 'Messages',
  spool: 'Files of the spool',
  database: 'The file of the database',
};

const COLUMNS: readonly Column<Erasure>[] = [
  {
    header: 'Pseudonym',
    width: 'minmax(0, 2fr)',
    cell: ({ pseudonym }) => <Pseudonym of={pseudonym} />,
  },
  {
    header: 'State',
    width: '7rem',
    card: 'aside',
    cell: ({ state }) => {
      const [name, tone] = STATES[state];
      return (
        <Badge tone={tone} dot>
          {name}
        </Badge>
      );
    },
  },
  {
    header: 'Progress',
    width: 'minmax(0, 2fr)',
    card: 'plain',
    cell: (erasure) => <HowFar of={erasure} />,
  },
  countColumn({ header: 'Records changed', width: '8.5rem', card: 'figure' }, ({ changed }) => changed),
  timeColumn({ header: 'Asked for', width: '6.5rem', card: 'figure' }, ({ requestedAt }) => requestedAt),
  timeColumn(
    { header: 'Finished', width: '6.5rem', card: 'figure' },
    ({ finishedAt }) => finishedAt,
    'not yet',
  ),
];

/** Breaks before the @ where it does not fit, not in the middle of a word. */
function Pseudonym({ of }: { readonly of: string }) {
  const [local, domain] = of.split('@');
  return (
    <code className="font-mono text-sm break-words">
      {local}
      <wbr />@{domain}
    </code>
  );
}

function HowFar({ of: { step, stepsDone, steps, notice } }: { readonly of: Erasure }) {
  if (step === null && notice === null) return <span className="text-soft">Nothing is left.</span>;
  return (
    <div className="space-y-1">
      {step !== null && (
        <>
          <Progress label="How far the erasure is" value={stepsDone / steps} />
          <div className="text-xs text-soft">
            {STEP_WORDS[step] ?? 'Other records'}, step {formatCount(stepsDone + 1)} of {formatCount(steps)}
          </div>
        </>
      )}
      {notice !== null && <div className="text-sm break-words">{notice}</div>}
    </div>
  );
}
