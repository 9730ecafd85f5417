import { Card } from '../../parts/card.tsx';
import { Page } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { useCall } from '../../queries.ts';
import { Banners } from './banners.tsx';
import { Failures } from './failures.tsx';
import { Flow } from './flow.tsx';
import { OutcomesChart } from './outcomes-chart.tsx';
import { RelaysTable } from './relays-table.tsx';
import { dayNote, Today } from './today.tsx';
import { Welcome } from './welcome.tsx';

/** The figures of the last minutes move with time, which no hint tells of. */
const EVERY_MS = 15_000;

/** How the service does: what someone sees who looks in for five seconds, and what they should know. */
export function OverviewPage() {
  const overview = useCall(
    'overview',
    {},
    { topics: ['messages', 'queue', 'relays', 'health'], everyMs: EVERY_MS },
  );
  return (
    <Page title="Overview" {...(overview.data && { note: dayNote(overview.data) })}>
      <Fetched query={overview} lines={8}>
        {(view) => (
          <div className="space-y-4">
            <Banners banners={view.banners} />
            {view.empty && <Welcome />}
            <Flow view={view} />
            <Today view={view} />
            <div className="grid gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
              <OutcomesChart />
              <Failures failures={view.failures} />
            </div>
            <Card flush title="Relays" note="Recipients, today by UTC.">
              <RelaysTable relays={view.relays} />
            </Card>
          </div>
        )}
      </Fetched>
    </Page>
  );
}
