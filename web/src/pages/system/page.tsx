import { Stethoscope } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatBytes, plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { Card, KeyValue, Page } from '../../parts/page.tsx';
import { PartsBar, Progress } from '../../parts/progress.tsx';
import { EmptyState, ErrorState, Fetched, LoadingState } from '../../parts/states.tsx';
import { PageTabs } from '../../parts/tabs.tsx';
import { Bytes, Duration, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { BackupTab } from './backup-tab.tsx';
import { Findings, HealthTab } from './health-tab.tsx';
import { LogTab } from './log-tab.tsx';

/** The installation itself: how it does, what it keeps, what it says. */
export function SystemPage() {
  const isOperator = useMay('operator');
  const isAdmin = useMay('admin');
  return (
    <Page title="System">
      <PageTabs
        label="System"
        tabs={[
          { value: 'health', label: 'Health', content: <HealthTab /> },
          { value: 'storage', label: 'Storage', content: <StorageTab /> },
          isAdmin && { value: 'backup', label: 'Backup', content: <BackupTab /> },
          isOperator && { value: 'log', label: 'Log', content: <LogTab /> },
          { value: 'doctor', label: 'Doctor', content: <DoctorTab /> },
          { value: 'about', label: 'About', content: <AboutTab /> },
        ]}
      />
    </Page>
  );
}

/** What runs here, and where. */
function AboutTab() {
  const system = useCall('system', {});
  return (
    <Fetched query={system} lines={8}>
      {(view) => (
        <div className="grid items-start gap-4 xl:grid-cols-2">
          <Card title="This installation">
            <KeyValue
              rows={{
                Version: `Waybill ${view.version}`,
                'Node.js': view.nodeVersion,
                Platform: view.platform,
                Host: view.hostname,
                Node: <Copyable text={view.node.id} />,
                'Data directory': <Copyable text={view.dataDir} />,
                Process: view.pid,
                Started: <Time at={view.startedAt} exact />,
                Up: <Duration ms={view.uptimeSeconds * 1000} />,
                Memory: (
                  <>
                    <Bytes bytes={view.memory.residentBytes} />, of which heap{' '}
                    <Bytes bytes={view.memory.heapBytes} />
                  </>
                ),
              }}
            />
          </Card>
          <Card title="For machines">
            <KeyValue
              rows={{
                Health: <MachineLink path="/health" />,
                Metrics: <MachineLink path="/metrics" />,
                Licence: 'Apache 2.0',
              }}
            />
          </Card>
        </div>
      )}
    </Fetched>
  );
}

function MachineLink({ path }: { readonly path: string }) {
  return (
    <a className="link" href={path}>
      {path}
    </a>
  );
}

type Storage = ResultOf<'system'>['storage'];

const EVERY_MS = 30_000;
/** Used so far, the disk's bar says so. */
const FULL = 0.95;
const FILLING = 0.85;

/** What lies on the disk, by what it is kept for. */
function StorageTab() {
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
                rows={{
                  // Over PostgreSQL contents lie in the database.
                  'Files of the spool':
                    storage.spoolBytes === null ? undefined : <Bytes bytes={storage.spoolBytes} />,
                  Database: <Bytes bytes={storage.databaseBytes} />,
                }}
              />
            </div>
          </Card>
        </div>
      )}
    </Fetched>
  );
}

function Disk({ storage: { freeBytes, totalBytes, spoolBytes } }: { readonly storage: Storage }) {
  const title = spoolBytes === null ? "This node's disk, which holds no mail" : 'Disk';
  if (freeBytes === null || totalBytes === null)
    return <Card title={title}>The free disk space is unknown.</Card>;
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

type Finding = ResultOf<'doctor'>[number];

/** Looks for what could keep mail from coming in or going out; takes a few seconds, and so waits to be asked. */
function DoctorTab() {
  const doctor = useCall('doctor', {}, { enabled: false });
  const { data: findings, error, isFetching } = doctor;
  const run = () => void doctor.refetch();
  return (
    <Card
      flush
      title="Doctor"
      note={findings ? summary(findings) : 'Checks ports, names, DNS, relays, certificate and clock.'}
      actions={
        <Button
          small
          icon={Stethoscope}
          label={findings ? 'Look again' : 'Look now'}
          busy={isFetching}
          onClick={run}
        />
      }
    >
      {error && <ErrorState error={error} onRetry={run} />}
      {findings && <Findings findings={findings} />}
      {!findings && !error && isFetching && <LoadingState lines={6} label="The doctor is looking" />}
      {!findings && !error && !isFetching && (
        <EmptyState icon={Stethoscope} title="Is something wrong?">
          The doctor checks everything that mail needs, and says how to fix what it finds. It sends nothing.
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
