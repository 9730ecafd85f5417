import type { ReactNode } from 'react';
import type { RequestOf, ResultOf } from '../../../../src/operations/table.ts';
import { plural } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fetched } from '../../parts/states.tsx';
import { Said } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';

type Row = ResultOf<'dmarcSource'>['rows'][number];

const DISPOSITIONS = { none: 'Delivered', quarantine: 'Put into spam', reject: 'Refused' };

/** What each receiver says of the mail from one address. */
export function SourceDrawer({
  request,
  onClose,
}: {
  readonly request: RequestOf<'dmarcSource'>;
  readonly onClose: () => void;
}) {
  const rows = useCall('dmarcSource', request, { topics: ['reports'] });
  const { source } = request;
  return (
    <Dialog
      kind="drawer"
      size="large"
      onClose={onClose}
      title={source === '' ? 'Many addresses' : <Said text={source} lines="several" />}
      description={
        source === ''
          ? 'The rest of reports that were too long: their addresses were not kept.'
          : 'What receivers say of the mail from this address.'
      }
    >
      <Fetched query={rows} lines={8}>
        {(found) => (
          <>
            <ul className="space-y-3">
              {found.rows.map((row) => (
                <Reported key={JSON.stringify({ ...row, messages: 0 })} row={row} />
              ))}
            </ul>
            {found.rows.length === 0 && <p className="text-soft">No report of these days names it.</p>}
            {found.more && <p className="mt-3 text-sm text-soft">and more, with less mail</p>}
          </>
        )}
      </Fetched>
    </Dialog>
  );
}

function Reported({ row }: { readonly row: Row }) {
  const { reporter, messages, disposition, headerFrom } = row;
  const passed = row.dkim || row.spf;
  return (
    <li className="rounded-md border border-line px-3.5 py-2.5">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="min-w-0 flex-1 basis-40">
          <Said text={reporter} none="–" lines="several" className="font-semibold" />
        </span>
        <span>{plural(messages, 'message')}</span>
        <Badge tone={passed ? 'good' : 'bad'}>{passed ? 'Passed' : 'Failed'}</Badge>
        <Badge tone={disposition === 'none' ? 'neutral' : 'warn'}>{DISPOSITIONS[disposition]}</Badge>
      </div>
      <dl className="mt-2 grid gap-x-6 gap-y-1 text-sm sm:grid-cols-3">
        <Fact name="From">
          <Said text={headerFrom} none="–" />
        </Fact>
        <Fact name={`DKIM ${row.dkim ? 'passed' : 'failed'}`}>
          <Said
            text={[row.dkimDomain, row.selector].filter((part) => part !== '').join(', ')}
            none="no signature"
          />
        </Fact>
        <Fact name={`SPF ${row.spf ? 'passed' : 'failed'}`}>
          <Said text={row.spfDomain} none="–" />
        </Fact>
      </dl>
    </li>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}
