import type { ReactNode } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatBytes } from '../../format.ts';
import { Card, KeyValue } from '../../parts/card.tsx';
import { PartsBar, Progress } from '../../parts/progress.tsx';
import { Fetched } from '../../parts/states.tsx';
import { Bytes } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';

type Storage = ResultOf<'system'>['storage'];

const EVERY_MS = 30_000;
/** Used so far, the disk's bar says so. */
const FULL = 0.95;
const FILLING = 0.85;

/** What lies on the disk, by what it is kept for. */
export function StorageTab() {
  const system = useCall('system', {}, { everyMs: EVERY_MS });
  return (
    <Fetched query={system} lines={6}>
      {({ storage }) => (
        <div className="space-y-4">
          <Disk storage={storage} />
          <Card title="Contents of messages" note="Removed by retention; see Settings.">
            <PartsBar
              label="Contents by class"
              format={formatBytes}
              parts={[
                { label: 'On their way', value: storage.queuedBytes },
                { label: 'Sent or failed, kept for a while', value: storage.keptBytes },
                { label: 'Captured', value: storage.capturedBytes },
              ]}
            />
            <div className="mt-4">
              <KeyValue
                rows={[
                  ...spoolRows(storage),
                  ['Database', <Bytes key="database" bytes={storage.databaseBytes} />],
                ]}
              />
            </div>
          </Card>
        </div>
      )}
    </Fetched>
  );
}

/** Over PostgreSQL contents lie in the database. */
function spoolRows({ spoolBytes }: Storage): [string, ReactNode][] {
  return spoolBytes === null ? [] : [['Files of the spool', <Bytes key="spool" bytes={spoolBytes} />]];
}

function Disk({ storage: { freeBytes, totalBytes, spoolBytes } }: { readonly storage: Storage }) {
  const title = spoolBytes === null ? "This node's disk, on which no mail lies" : 'Disk';
  if (freeBytes === null || totalBytes === null)
    return <Card title={title}>The room on the disk could not be asked for.</Card>;
  const used = 1 - freeBytes / totalBytes;
  return (
    <Card title={title} note={`${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} are free.`}>
      <Progress
        label="Disk used"
        value={used}
        tone={used > FULL ? 'bad' : used > FILLING ? 'warn' : 'accent'}
      />
    </Card>
  );
}
