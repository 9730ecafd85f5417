import { linkOptions } from '@tanstack/react-router';
import { Lock, Plus, Webhook } from 'lucide-react';
import { useMemo } from 'react';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { actsColumn, type Column, countColumn, DataTable } from '../../parts/data-table.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { EmptyState, Fetched, Forbidden } from '../../parts/states.tsx';
import { Said, Time } from '../../parts/values.tsx';
import { useMay } from '../../session.tsx';
import { EndpointMenu, type Open, useEndpoints, useWebhookActs } from './acts.tsx';
import { type Endpoint, STATES, stateOf } from './words.ts';

/** Endpoints: programs that are told what becomes of mail. */
export function WebhooksPage() {
  const mayManage = useMay('admin');
  const endpoints = useEndpoints();
  const { open, dialog } = useWebhookActs();
  const columns = useMemo(() => columnsOf(open), [open]);
  const add = <Button look="primary" icon={Plus} label="Add endpoint" onClick={() => open({ act: 'add' })} />;
  return (
    <Page
      title="Webhooks"
      note="Programs that are told what becomes of mail, as it happens."
      actions={mayManage && add}
    >
      <Card flush>
        {mayManage ? (
          <Fetched query={endpoints} lines={6} shape="table">
            {({ webhooks }) => (
              <DataTable
                label="Endpoints"
                columns={columns}
                rows={webhooks}
                rowId={({ id }) => id}
                rowLink={({ id }) => linkOptions({ to: '/webhooks/$id', params: { id } })}
                empty={
                  <EmptyState icon={Webhook} title="Nobody is told yet" actions={add}>
                    Let a program of yours know at once that a message was delivered, came back, or was called
                    spam, in place of asking again and again. Add the URL at which it listens: events are
                    posted there, signed, and tried again for three days.
                  </EmptyState>
                }
              />
            )}
          </Fetched>
        ) : (
          <Forbidden />
        )}
      </Card>
      {dialog}
    </Page>
  );
}

function columnsOf(open: Open): readonly Column<Endpoint>[] {
  return [
    {
      header: 'Endpoint',
      width: 'minmax(0, 1.7fr)',
      sort: ({ url }) => url,
      cell: ({ url, description, source }) => (
        <>
          <Said text={url} className="font-medium" />
          {description !== '' && <Said text={description} className="text-xs text-soft" />}
          {source === 'file' && <FromFile />}
        </>
      ),
    },
    { header: 'Told of', card: 'plain', cell: (endpoint) => <ToldOf of={endpoint} /> },
    {
      header: 'Health',
      width: 'minmax(0, 1.1fr)',
      card: 'plain',
      cell: (endpoint) => <Health of={endpoint} />,
    },
    countColumn({ header: 'Pending', width: '5rem', sorts: true }, ({ pending }) => pending),
    actsColumn('2.25rem', (endpoint) => <EndpointMenu of={endpoint} open={open} />),
  ];
}

/** Types that are named before the rest is counted. */
const NAMED = 2;

function ToldOf({ of: { types, key, keys, tags } }: { readonly of: Endpoint }) {
  const more = types.length - NAMED;
  const bounds = [
    key !== null && `its key ${key}`,
    keys.length > 0 && `key${keys.length === 1 ? '' : 's'} ${keys.join(', ')}`,
    tags.length > 0 && `tag${tags.length === 1 ? '' : 's'} ${tags.join(', ')}`,
  ].filter((one) => one !== false);
  return (
    <div className="min-w-0">
      <div className="truncate font-mono text-xs" title={types.join(', ')}>
        {types.slice(0, NAMED).join(', ')}
        {more > 0 && <span className="text-soft">, {more} more</span>}
      </div>
      {bounds.length > 0 && <Said text={`of ${bounds.join('; ')}`} className="text-xs text-soft" />}
    </div>
  );
}

/** How an endpoint fares, and why. */
function Health({ of }: { readonly of: Endpoint }) {
  const { reason, failingSince } = of.health;
  return (
    <div className="min-w-0">
      <EndpointBadge of={of} />
      {reason !== null && of.enabled && (
        <div className="flex min-w-0 gap-1 text-xs text-soft">
          <Said text={reason} className="min-w-0" />
          {failingSince !== null && (
            <span className="shrink-0">
              · <Time at={failingSince} />
            </span>
          )}
        </div>
      )}
    </div>
  );
}

/** An endpoint that stands in the configuration file is changed only there. */
export function FromFile() {
  return (
    <span
      className="inline-flex items-center gap-1 text-xs text-soft"
      title="It is changed in the configuration file."
    >
      <Lock aria-hidden size={11} /> From the file
    </span>
  );
}

/** The state of an endpoint, in its colour. */
export function EndpointBadge({ of }: { readonly of: Endpoint }) {
  const { name, tone, means } = STATES[stateOf(of)];
  return (
    <Badge tone={tone} dot title={means}>
      {name}
    </Badge>
  );
}
