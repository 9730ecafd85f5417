import { Link } from '@tanstack/react-router';
import { Lock } from 'lucide-react';
import { formatShort } from '../../format.ts';
import { Badge, StatusBadge } from '../../parts/badge.tsx';
import { classNames } from '../../parts/class-names.ts';
import { RelayIcon, typeTitle } from './relay-icon.tsx';
import { RelayMenu } from './relay-menu.tsx';
import { RelayQuota, type RelayView } from './relay-quota.tsx';

/** A relay at a glance. */
export function RelayCard({ relay }: { readonly relay: RelayView }) {
  const { name, type, state, isDefault, disabled, origin, waiting, processing, credentialsUnreadable } =
    relay;
  return (
    <li
      className={classNames(
        'relative flex min-w-0 flex-col rounded-lg border bg-surface hover:border-edge',
        isDefault ? 'border-accent/50' : 'border-line',
      )}
    >
      <div className="flex items-start gap-3 p-4 pb-3">
        <RelayIcon type={type} />
        <div className="min-w-0 flex-1">
          <Link
            to="/relays/$name"
            params={{ name }}
            data-row=""
            className={classNames(
              'block truncate font-mono font-medium after:absolute after:inset-0',
              'focus-visible:outline-none focus-visible:after:rounded-lg focus-visible:after:outline-2 focus-visible:after:outline-accent',
              disabled && 'text-soft',
            )}
          >
            {name}
          </Link>
          <div className="truncate text-sm text-soft">{typeTitle(type)}</div>
        </div>
        <span className="relative z-1 -mt-1 -mr-1.5">
          <RelayMenu relay={relay} />
        </span>
      </div>
      <div className="flex flex-wrap gap-1.5 px-4">
        <StatusBadge status={state} />
        {isDefault && <Badge tone="accent">Default</Badge>}
        {credentialsUnreadable && <Badge tone="bad">Secret unreadable</Badge>}
        {origin === 'file' && (
          <Badge title="Declared in the configuration file, and changed there">
            <Lock aria-hidden size={11} /> From the file
          </Badge>
        )}
      </div>
      <p className="mt-2 min-h-5 truncate px-4 text-sm text-soft" title={whereTo(relay)}>
        {whereTo(relay)}
      </p>
      <div className="mt-3 flex-1 px-4">
        <RelayQuota relay={relay} />
      </div>
      <dl className="mt-3 grid grid-cols-2 divide-x divide-line border-t border-line">
        <Figure label="Waiting" value={waiting} />
        <Figure label="Under way" value={processing} />
      </dl>
    </li>
  );
}

/** Where a relay connects to, in a few words. */
export function whereTo({ type, host, port, endpoint }: RelayView): string {
  if (type === 'inbox') return 'Captures, and sends nothing.';
  if (type === 'mx') return "The recipients' own servers";
  if (host !== null) return port === null ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return endpoint ?? '';
}

function Figure({ label, value }: { readonly label: string; readonly value: number }) {
  return (
    <div className="px-4 py-2.5">
      <dt className="caption">{label}</dt>
      <dd className="text-lg font-semibold">{formatShort(value)}</dd>
    </div>
  );
}
