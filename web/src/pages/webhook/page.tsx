import { useNavigate, useParams } from '@tanstack/react-router';
import { FlaskConical, History, Webhook } from 'lucide-react';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { Card, KeyValue, Page } from '../../parts/page.tsx';
import { Banner, EmptyState, Fetched, Forbidden } from '../../parts/states.tsx';
import { Said, Time } from '../../parts/values.tsx';
import { useMay } from '../../session.tsx';
import { EndpointMenu, type Open, useEnable, useEndpoints, useWebhookActs } from '../webhooks/acts.tsx';
import { EndpointBadge, FromFile } from '../webhooks/page.tsx';
import {
  type Endpoint,
  EVENTS,
  type EventType,
  isDown,
  mayEnable,
  STATES,
  stateOf,
} from '../webhooks/words.ts';
import { Deliveries } from './deliveries.tsx';

/** One endpoint: how it fares, what it is told of, and what became of each event. */
export function WebhookPage() {
  const { id } = useParams({ from: '/webhooks/$id' });
  const mayManage = useMay('admin');
  const endpoints = useEndpoints();
  const endpoint = endpoints.data?.webhooks.find((one) => one.id === id);
  const { open, dialog } = useWebhookActs();
  const navigate = useNavigate();
  return (
    <Page
      title={endpoint === undefined ? 'Endpoint' : endpoint.url}
      heading={endpoint && <Heading of={endpoint} />}
      note={endpoint && endpoint.description !== '' && <Said text={endpoint.description} lines="several" />}
      back={{ to: '/webhooks', label: 'Webhooks' }}
      actions={
        endpoint && (
          <>
            <Button icon={FlaskConical} label="Test" onClick={() => open({ act: 'test', of: endpoint })} />
            <Button
              icon={History}
              label="Replay"
              disabled={isDown(endpoint)}
              onClick={() => open({ act: 'replay', of: endpoint })}
            />
            <EndpointMenu of={endpoint} open={open} onRemoved={() => void navigate({ to: '/webhooks' })} />
          </>
        )
      }
    >
      {!mayManage && (
        <Card>
          <Forbidden />
        </Card>
      )}
      {mayManage && endpoint === undefined && (
        <Card>
          <Fetched query={endpoints} lines={8}>
            {() => (
              <EmptyState
                icon={Webhook}
                title="There is no such endpoint"
                actions={<ButtonLink label="All endpoints" to="/webhooks" />}
              >
                It may have been removed.
              </EmptyState>
            )}
          </Fetched>
        </Card>
      )}
      {endpoint && (
        <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_21rem]">
          <div className="min-w-0 space-y-5">
            <HealthBanner of={endpoint} open={open} />
            <Deliveries of={endpoint} />
          </div>
          <aside aria-label="Facts" className="min-w-0">
            <Card title="Facts">
              <Facts of={endpoint} />
            </Card>
          </aside>
        </div>
      )}
      {dialog}
    </Page>
  );
}

function Heading({ of }: { readonly of: Endpoint }) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span className="break-all">{of.url}</span>
      <EndpointBadge of={of} />
      {of.source === 'file' && <FromFile />}
    </span>
  );
}

/** What is wrong with it, since when, and what to do; nothing while it is healthy. */
function HealthBanner({ of, open }: { readonly of: Endpoint; readonly open: Open }) {
  const state = stateOf(of);
  const enable = useEnable(of, open);
  const { reason, failingSince } = of.health;
  if (state === 'healthy' && reason === null) return null;
  return (
    <Banner
      level={state === 'disabled' ? 'critical' : state === 'off' ? 'info' : 'warning'}
      title={state === 'healthy' ? 'Its last try failed' : `It is ${STATES[state].name.toLowerCase()}`}
      actions={
        mayEnable(of) && <Button small label="Enable" busy={enable.isPending} onClick={enable.enable} />
      }
    >
      {reason !== null && state !== 'off' && <Said text={reason.replace(/\.?$/, '.')} lines="several" />}{' '}
      {failingSince !== null && state !== 'off' && (
        <>
          Nothing was taken since <Time at={failingSince} exact />.
        </>
      )}{' '}
      <span className="text-soft">{state === 'healthy' ? '' : STATES[state].means}</span>
    </Banner>
  );
}

function Facts({ of }: { readonly of: Endpoint }) {
  const { id, types, key, keys, tags, include, headers, createdAt, updatedAt } = of;
  const names = Object.keys(headers);
  return (
    <KeyValue
      rows={{
        'Told of': (
          <ul className="space-y-0.5">
            {types.map((type) => (
              <li key={type} className="font-mono text-sm break-all" title={EVENTS[type as EventType]}>
                {type}
              </li>
            ))}
          </ul>
        ),
        'Belongs to': key === null ? undefined : <Said text={`the key ${key}`} lines="several" />,
        Keys: key === null ? <Said text={keys.join(', ')} none="every key" lines="several" /> : undefined,
        Tags: <Said text={tags.join(', ')} none="every tag" lines="several" />,
        Subjects: include.includes('subject') ? 'included' : 'not included',
        Headers: names.length === 0 ? undefined : <Said text={names.join(', ')} lines="several" mono />,
        Created: <Time at={createdAt} />,
        Changed: updatedAt === createdAt ? undefined : <Time at={updatedAt} />,
        Id: <Copyable text={id} />,
      }}
    />
  );
}
