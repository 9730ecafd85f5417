import { Link } from '@tanstack/react-router';
import { Building2, Cloud, Globe, Inbox, Lock, type LucideIcon, Server, Webhook } from 'lucide-react';
import { formatCount, formatShort } from '../../format.ts';
import { Badge, StatusBadge } from '../../parts/badge.tsx';
import { classNames } from '../../parts/class-names.ts';
import { Progress } from '../../parts/progress.tsx';
import { RelayMenu, type RelayView } from './relay-menu.tsx';
import { RestActs, RestWords, useRestDialog } from './rest.tsx';

/** A relay at a glance. */
export function RelayCard({ relay }: { readonly relay: RelayView }) {
  const { name, type, state, rest, isDefault, disabled, origin, waiting, processing } = relay;
  const { open, dialog } = useRestDialog();
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
        {relay.credentialsUnreadable && <Badge tone="bad">Secret unreadable</Badge>}
        {origin === 'file' && (
          <Badge title="Declared in the configuration file, and changed there">
            <Lock aria-hidden size={11} /> From the file
          </Badge>
        )}
      </div>
      <p className="mt-2 min-h-5 truncate px-4 text-sm text-soft" title={whereTo(relay)}>
        {whereTo(relay)}
      </p>
      <div className="mt-3 flex-1 space-y-3 px-4">
        {rest && (
          <div className="space-y-2 rounded-md border border-failed/30 bg-failed-soft p-3">
            <p>
              <RestWords rest={rest} waiting={waiting} />
            </p>
            <RestActs relay={name} open={open} />
          </div>
        )}
        <RelayQuota relay={relay} />
      </div>
      <dl className="mt-3 grid grid-cols-2 divide-x divide-line border-t border-line">
        <Figure label="Waiting" value={waiting} />
        <Figure label="Under way" value={processing} />
      </dl>
      {dialog}
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

/** How much of what a relay may have today is used; nothing where there is no limit. */
export function RelayQuota({ relay: { allowedToday, usedToday, warmUp } }: { readonly relay: RelayView }) {
  if (allowedToday === null) return null;
  const used = usedToday ?? 0;
  const share = allowedToday === 0 ? 1 : used / allowedToday;
  return (
    <div>
      <div className="mb-1 flex flex-wrap justify-between gap-x-3 text-sm">
        <span className="text-soft">
          {warmUp?.day === null || warmUp === null
            ? 'Today (UTC)'
            : warmUp.day === 0
              ? `Warm-up begins ${warmUp.start}`
              : `Warm-up, day ${warmUp.day} of ${warmUp.days}`}
        </span>
        <span>
          {formatCount(used)} <span className="text-soft">of {formatCount(allowedToday)}</span>
        </span>
      </div>
      <Progress
        label="Recipients of today"
        value={share}
        tone={share >= 1 ? 'bad' : share > 0.8 ? 'warn' : 'accent'}
      />
    </div>
  );
}

const ICONS: Readonly<Record<string, LucideIcon>> = {
  inbox: Inbox,
  smtp: Server,
  mx: Globe,
  graph: Building2,
  webhook: Webhook,
};

/** Providers have letters: their own signs are not ours to use, and one cloud for all tells nothing apart. */
const LETTERS: Readonly<Record<string, string>> = {
  ses: 'SES',
  mailgun: 'Mg',
  postmark: 'Pm',
  sendgrid: 'Sg',
  resend: 'Re',
};

/** The sign of a type of relay. */
export function RelayIcon({ type }: { readonly type: string }) {
  const letters = LETTERS[type];
  const Icon = ICONS[type] ?? Cloud;
  return (
    <span className="flex size-9 shrink-0 items-center justify-center rounded-md border border-line bg-paper text-soft">
      {letters === undefined ? (
        <Icon aria-hidden size={17} strokeWidth={1.75} />
      ) : (
        <span aria-hidden className="text-xs font-semibold">
          {letters}
        </span>
      )}
    </span>
  );
}

const TITLES: Readonly<Record<string, string>> = {
  inbox: 'Local inbox',
  smtp: 'SMTP smarthost',
  mx: 'Direct delivery',
  ses: 'Amazon SES',
  mailgun: 'Mailgun',
  postmark: 'Postmark',
  sendgrid: 'SendGrid',
  resend: 'Resend',
  graph: 'Microsoft 365',
  webhook: 'Webhook',
};

/** What people call a type. */
export function typeTitle(type: string): string {
  return TITLES[type] ?? type;
}
