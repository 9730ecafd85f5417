import { lazy, Suspense, useMemo, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { steadily } from '../../connection.ts';
import { formatCount } from '../../format.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { type Column, countColumn, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Card } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { Said } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { IfMay } from '../../session.tsx';
import { curesIn, cureWords } from './refusal-cures.ts';
import { limitWords } from './refusal-words.ts';

type Refused = ResultOf<'denials'>[number];

const AllowDialog = lazy(steadily(() => import('../overview/allow-dialog.tsx')));

/** As many are shown at first. */
const SHOWN = 5;

/** Who was refused at the door, over HTTP and SMTP: why, with which key, and the limit that held. */
export function RefusedSources({
  source,
  onAll,
}: {
  /** Only this address; undefined: every one. */
  readonly source: string | undefined;
  readonly onAll: () => void;
}) {
  const denials = useCall('denials', {}, { topics: ['denials'] });
  const [all, setAll] = useState(false);
  const [allowing, setAllowing] = useState<Refused | null>(null);
  const columns = useMemo(() => columnsOf(setAllowing), []);
  const asked = (rows: readonly Refused[]) =>
    source === undefined ? rows : rows.filter(({ sourceAddress }) => sourceAddress === source);
  const count = denials.data && asked(denials.data).length;
  if (count === 0 && source === undefined) return null;
  return (
    <Card
      flush
      className="mb-4"
      title={source === undefined ? 'Refused at the door' : `Refused at the door: ${source}`}
      note="By source and key, over HTTP and SMTP, since the server started."
      actions={
        source !== undefined ? (
          <Button small label="Show every source" onClick={onAll} />
        ) : (
          count !== undefined &&
          count > SHOWN && (
            <Button
              small
              label={all ? 'Show fewer' : `Show all ${formatCount(count)}`}
              onClick={() => setAll(!all)}
            />
          )
        )
      }
    >
      <Fetched query={denials} lines={3} shape="table">
        {(rows) => (
          <DataTable
            label="Refused sources"
            columns={columns}
            rows={all || source !== undefined ? asked(rows) : rows.slice(0, SHOWN)}
            rowId={({ sourceAddress, reason, key, setting }) =>
              `${sourceAddress} ${reason} ${key} ${setting}`
            }
            empty={<EmptyState title="Nothing was refused from there" />}
          />
        )}
      </Fetched>
      <Suspense>{allowing && <AllowDialog denied={allowing} onClose={() => setAllowing(null)} />}</Suspense>
    </Card>
  );
}

function columnsOf(onAllow: (row: Refused) => void): readonly Column<Refused>[] {
  return [
    {
      header: 'Source',
      width: 'minmax(0, 1.1fr)',
      cell: ({ sourceAddress, key }) => (
        <span className="block min-w-0">
          <Said text={sourceAddress} mono />
          <span className="block truncate text-xs text-soft">{key === null ? 'no known key' : key}</span>
        </span>
      ),
    },
    {
      header: 'Why',
      width: 'minmax(0, 2.4fr)',
      card: 'plain',
      cell: (row) => <Why of={row} onAllow={() => onAllow(row)} />,
    },
    countColumn({ header: 'Times', width: '5rem' }, ({ count }) => count),
    timeColumn({ header: 'Last', width: '7rem', align: 'end' }, ({ lastAt }) => lastAt),
  ];
}

function Why({ of, onAllow }: { readonly of: Refused; readonly onAllow: () => void }) {
  const { reason, limit, setting, meaning, cure } = of;
  return (
    <span className="block min-w-0">
      <code className="font-mono text-sm break-all">{reason}</code>
      <span className="block text-xs text-soft">
        <Words text={meaning} /> {limit !== null && limitWords(limit)}{' '}
        <Words text={cure === null ? null : cureWords(cure)} />
      </span>
      <span className="mt-1.5 flex flex-wrap gap-1.5 empty:hidden">
        {setting !== null && (
          <IfMay role="admin">
            <Button small label="Allow…" aria-label={`Allow ${of.sourceAddress}`} onClick={onAllow} />
          </IfMay>
        )}
        {curesIn(of, setting).map(({ label, target }) => (
          <ButtonLink key={label} small label={label} {...target} />
        ))}
      </span>
    </span>
  );
}

/** Words of the documents: between backticks is code. */
export function Words({ text }: { readonly text: string | null }) {
  return (text ?? '').split('`').map((piece, place) =>
    place % 2 === 0 ? (
      piece
    ) : (
      <code key={piece} className="font-mono text-[0.95em]">
        {piece}
      </code>
    ),
  );
}
