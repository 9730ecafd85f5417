import { useBlocker, useNavigate, useSearch } from '@tanstack/react-router';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Page } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { useCall } from '../../queries.ts';
import { ExplainTab } from './explain-tab.tsx';
import { RulesTab } from './rules-tab.tsx';
import { type Table, useTableInHand } from './use-table.ts';
import { VersionsTab } from './versions-tab.tsx';

/** Routes: which relay each message goes by, and why. */
export function RoutesPage() {
  const table = useCall('routeTable', { version: null }, { topics: ['routes', 'settings'] });
  return (
    <Page title="Routes" note="Which relay each message goes by, and why.">
      <Fetched query={table} lines={8}>
        {(inForce) => <Routing inForce={inForce} />}
      </Fetched>
    </Page>
  );
}

/** The tabs. What is changed of the table stays while another of them is looked at. */
function Routing({ inForce }: { readonly inForce: Table }) {
  const { tab = 'rules' } = useSearch({ from: '/routes' });
  const navigate = useNavigate({ from: '/routes' });
  const hand = useTableInHand(inForce);
  return (
    <>
      <Tabs
        label="About routing"
        value={tab}
        onChange={(next) => void navigate({ search: next === 'rules' ? {} : { tab: next }, replace: true })}
        tabs={[
          { value: 'rules', label: 'Rules', content: <RulesTab table={inForce} hand={hand} /> },
          { value: 'explain', label: 'Explain', content: <ExplainTab /> },
          { value: 'versions', label: 'Versions', content: <VersionsTab inForce={inForce} /> },
        ]}
      />
      <LeaveGuard isDirty={hand.isDirty} />
    </>
  );
}

function LeaveGuard({ isDirty }: { readonly isDirty: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ next }) => isDirty && next.pathname !== '/routes',
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      open={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      onConfirm={() => blocker.proceed?.()}
      title="Leave without publishing?"
      confirm="Leave"
      danger
    >
      <p>The changes of the table would be lost.</p>
    </ConfirmDialog>
  );
}
