import { useNavigate, useSearch } from '@tanstack/react-router';
import { Page } from '../../parts/page.tsx';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { useMay } from '../../session.tsx';
import { AboutTab } from './about-tab.tsx';
import { BackupTab } from './backup-tab.tsx';
import { DoctorTab } from './doctor-tab.tsx';
import { HealthTab } from './health-tab.tsx';
import { LogTab } from './log-tab.tsx';
import { StorageTab } from './storage-tab.tsx';

type TabName = 'health' | 'storage' | 'backup' | 'log' | 'doctor' | 'about';

/** The installation itself: how it does, what it keeps, what it says. */
export function SystemPage() {
  const { tab = 'health' } = useSearch({ from: '/system' });
  const navigate = useNavigate({ from: '/system' });
  const isOperator = useMay('operator');
  const isAdmin = useMay('admin');
  const tabs: readonly Tab<TabName>[] = [
    { value: 'health', label: 'Health', content: <HealthTab /> },
    { value: 'storage', label: 'Storage', content: <StorageTab /> },
    ...(isAdmin ? [{ value: 'backup', label: 'Backup', content: <BackupTab /> } as const] : []),
    ...(isOperator ? [{ value: 'log', label: 'Log', content: <LogTab /> } as const] : []),
    { value: 'doctor', label: 'Doctor', content: <DoctorTab /> },
    { value: 'about', label: 'About', content: <AboutTab /> },
  ];
  const shown = tabs.some(({ value }) => value === tab) ? tab : 'health';
  return (
    <Page title="System">
      <Tabs
        label="System"
        tabs={tabs}
        value={shown}
        onChange={(next) => void navigate({ search: next === 'health' ? {} : { tab: next }, replace: true })}
      />
    </Page>
  );
}
