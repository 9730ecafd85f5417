import { Page } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { PageTabs } from '../../parts/tabs.tsx';
import { LeaveGuard } from '../../parts/unsaved.tsx';
import { useCall } from '../../queries.ts';
import { type Table, useTableInHand } from './editing.ts';
import { ExplainTab } from './explain-tab.tsx';
import { RulesTab } from './rules-tab.tsx';
import { VersionsTab } from './versions-tab.tsx';

/** Routes: which relay each message goes by, and why. */
export function RoutesPage() {
  const table = useCall('routeTable', { version: null }, { topics: ['routes', 'settings'] });
  return (
    <Page title="Routes" note="Which relay each message goes through, and why.">
      <Fetched query={table} lines={8}>
        {(inForce) => <Routing inForce={inForce} />}
      </Fetched>
    </Page>
  );
}

/** The tabs. What is changed of the table stays while another of them is looked at. */
function Routing({ inForce }: { readonly inForce: Table }) {
  const hand = useTableInHand(inForce);
  return (
    <>
      <PageTabs
        label="About routing"
        tabs={[
          { value: 'rules', label: 'Rules', content: <RulesTab table={inForce} hand={hand} /> },
          { value: 'explain', label: 'Explain', content: <ExplainTab /> },
          { value: 'versions', label: 'Versions', content: <VersionsTab inForce={inForce} /> },
        ]}
      />
      <LeaveGuard isDirty={hand.isDirty} within="/routes" title="Leave without publishing?">
        The changes of the table would be lost.
      </LeaveGuard>
    </>
  );
}
