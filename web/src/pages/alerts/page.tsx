import { BellOff } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Page } from '../../parts/page.tsx';
import { PageTabs } from '../../parts/tabs.tsx';
import { useMay } from '../../session.tsx';
import { AlertsTab } from './alerts-tab.tsx';
import { ChannelsTab } from './channels-tab.tsx';
import { RulesTab } from './rules-tab.tsx';
import { SilenceDialog } from './silences.tsx';

/** What the server watches by itself, what it found, and whom it tells. */
export function AlertsPage() {
  const [silencing, setSilencing] = useState(false);
  const isAdmin = useMay('admin');
  const maySilence = useMay('operator');
  return (
    <Page
      title="Alerts"
      note="The server watches itself, and tells you what is wrong."
      actions={maySilence && <Button icon={BellOff} label="Silence" onClick={() => setSilencing(true)} />}
    >
      <PageTabs
        label="Alerts"
        tabs={[
          { value: 'alerts', label: 'Alerts', content: <AlertsTab /> },
          { value: 'rules', label: 'Rules', content: <RulesTab /> },
          isAdmin && { value: 'channels', label: 'Channels', content: <ChannelsTab /> },
        ]}
      />
      {silencing && <SilenceDialog of={null} onClose={() => setSilencing(false)} />}
    </Page>
  );
}
