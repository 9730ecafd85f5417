import { useParams } from '@tanstack/react-router';
import { ChartColumn } from 'lucide-react';
import { StatusBadge } from '../../parts/badge.tsx';
import { ButtonLink } from '../../parts/button.tsx';
import { Page } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { PageTabs } from '../../parts/tabs.tsx';
import { useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { typeTitle } from '../relays/relay-card.tsx';
import { RelayMenu } from '../relays/relay-menu.tsx';
import { EditTab } from './edit-tab.tsx';
import { HistoryTab, OverviewTab } from './overview-tab.tsx';

/** One relay: how it does, its test, its form, and what it went through. */
export function RelayPage() {
  const { name } = useParams({ from: '/relays/$name' });
  const relay = useCall('relay', { name }, { topics: ['relays', 'queue', 'routes'] });
  const mayChange = useMay('admin');
  const data = relay.data;
  const canEdit = mayChange && data?.origin === 'stored' && data.definition !== null;
  return (
    <Page
      title={name}
      heading={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="font-mono break-all">{name}</span>
          {data && <StatusBadge status={data.state} />}
        </span>
      }
      back={{ to: '/relays', label: 'Relays' }}
      note={data && typeTitle(data.type)}
      actions={
        data && (
          <>
            <ButtonLink
              small
              icon={ChartColumn}
              label="Explore its mail"
              to="/explore"
              search={{ relay: name, rows: 'domain' }}
            />
            <RelayMenu relay={data} />
          </>
        )
      }
    >
      <Fetched query={relay} lines={8}>
        {(detail) => (
          <PageTabs
            label="About this relay"
            tabs={[
              { value: 'overview', label: 'Overview', content: <OverviewTab relay={detail} /> },
              canEdit && {
                value: 'edit',
                label: 'Edit',
                content: <EditTab key={JSON.stringify(detail.definition)} relay={detail} />,
              },
              {
                value: 'history',
                label: 'Breaker history',
                content: <HistoryTab history={detail.history} />,
              },
            ]}
          />
        )}
      </Fetched>
    </Page>
  );
}
