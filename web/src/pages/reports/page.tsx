import { FileUp } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Page } from '../../parts/page.tsx';
import { PageTabs } from '../../parts/tabs.tsx';
import { useMay } from '../../session.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { ReceivedTab } from './received-tab.tsx';
import { SendersTab } from './senders-tab.tsx';
import { TlsTab } from './tls-tab.tsx';

/** What receivers report of mail in the name of our domains, and what is reported to them. */
export function ReportsPage() {
  const [importing, setImporting] = useState(false);
  const mayImport = useMay('operator');
  const act = mayImport && <Button icon={FileUp} label="Import reports" onClick={() => setImporting(true)} />;
  return (
    <Page
      title="Reports"
      note="Who sends mail in the name of your domains, and what of it passes DMARC, as receivers report it."
      actions={act}
    >
      <PageTabs
        label="Reports"
        tabs={[
          { value: 'senders', label: 'Who sends', content: <SendersTab /> },
          { value: 'received', label: 'Reports received', content: <ReceivedTab /> },
          { value: 'tls', label: 'TLS reports', content: <TlsTab /> },
        ]}
      />
      {importing && <ImportDialog onClose={() => setImporting(false)} />}
    </Page>
  );
}
