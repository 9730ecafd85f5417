import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { Banner } from '../../parts/banner.tsx';
import { Button } from '../../parts/button.tsx';
import { Page } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { AddRelay } from './add-relay.tsx';
import { RelayCard } from './relay-card.tsx';

/** Relays: where mail goes from here. */
export function RelaysPage() {
  const relays = useCall('relays', {}, { topics: ['relays', 'queue'] });
  const { add } = useSearch({ from: '/relays' });
  const navigate = useNavigate({ from: '/relays' });
  const mayAdd = useMay('admin');
  const open = (type: string | null) => void navigate({ search: { add: type ?? 'choose' } });
  return (
    <Page
      title="Relays"
      note="Where mail goes from here."
      actions={mayAdd && <Button look="primary" icon={Plus} label="Add relay" onClick={() => open(null)} />}
    >
      <Fetched query={relays} lines={8}>
        {(rows) => (
          <div className="space-y-4">
            {rows.every(({ type }) => type === 'inbox') && (
              <Banner
                title="All mail is captured"
                actions={mayAdd && <Button small label="Add a relay" onClick={() => open(null)} />}
              >
                Nothing leaves this server until there is a relay, and it is the default.
              </Banner>
            )}
            <ul data-list="" className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
              {rows.map((relay) => (
                <RelayCard key={relay.name} relay={relay} />
              ))}
            </ul>
            {mayAdd && (
              <AddRelay
                type={add}
                relays={rows}
                onChoose={open}
                onClose={() => void navigate({ search: {} })}
              />
            )}
          </div>
        )}
      </Fetched>
    </Page>
  );
}
