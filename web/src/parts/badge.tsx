import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** What a badge means; the colour is never the only sign, its text says the same. */
export type Tone = 'neutral' | 'good' | 'bad' | 'warn' | 'busy' | 'accent';

const TONES: Readonly<Record<Tone, string>> = {
  neutral: 'bg-queued-soft text-queued',
  good: 'bg-delivered-soft text-delivered',
  bad: 'bg-failed-soft text-failed',
  warn: 'bg-retrying-soft text-retrying',
  busy: 'bg-processing-soft text-processing',
  accent: 'bg-accent-soft text-accent',
};

/** A short word on something. */
export function Badge({
  tone = 'neutral',
  dot = false,
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly dot?: boolean;
  readonly title?: string | undefined;
  readonly children: ReactNode;
}) {
  return (
    <span
      title={title}
      className={classNames(
        'inline-flex items-center gap-1.5 rounded-sm align-middle px-1.5 py-px text-xs font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      {dot && <span aria-hidden className="size-1.5 shrink-0 rounded-full bg-current" />}
      {children}
    </span>
  );
}

/** How states are shown, of messages, lanes and relays, DKIM and API keys, health and findings. */
const STATES: Readonly<Record<string, readonly [Tone, string]>> = {
  queued: ['neutral', 'Queued'],
  scheduled: ['neutral', 'Scheduled'],
  processing: ['busy', 'Processing'],
  delivered: ['good', 'Delivered'],
  retrying: ['warn', 'Retrying'],
  failed: ['bad', 'Failed'],
  accepted: ['good', 'Accepted'],
  captured: ['accent', 'Captured'],
  rejected: ['bad', 'Rejected'],
  expired: ['bad', 'Expired'],
  cancelled: ['neutral', 'Cancelled'],
  no_route: ['bad', 'No route'],
  unknown: ['warn', 'Unknown'],
  bounced: ['bad', 'Bounced'],
  suppressed: ['neutral', 'Suppressed'],
  partial: ['warn', 'Partial'],
  deferred: ['warn', 'Deferred'],

  ready: ['good', 'Ready'],
  untried: ['neutral', 'Not tried yet'],
  usable: ['good', 'Usable'],
  paused: ['neutral', 'Paused'],
  draining: ['neutral', 'Draining'],
  resting: ['bad', 'Resting'],
  probing: ['warn', 'Probing'],
  spent: ['warn', 'Quota used'],
  disabled: ['neutral', 'Disabled'],
  missing: ['bad', 'Missing'],
  closed: ['good', 'Closed'],
  half_open: ['warn', 'Half open'],
  'half-open': ['warn', 'Half open'],
  open: ['bad', 'Open'],

  waiting: ['warn', 'Waits for its record'],
  signing: ['good', 'Signs'],
  retired: ['neutral', 'Retired'],
  unreadable: ['bad', 'Unreadable'],

  on: ['good', 'On'],
  off: ['neutral', 'Off'],
  recovered: ['good', 'Recovered'],

  active: ['good', 'Active'],
  expiring: ['warn', 'Expires soon'],
  revoked: ['neutral', 'Revoked'],

  healthy: ['good', 'Healthy'],
  degraded: ['warn', 'Degraded'],
  critical: ['bad', 'Critical'],
  unreachable: ['bad', 'Unreachable'],
  looking: ['neutral', 'Looking'],

  ok: ['good', 'OK'],
  warn: ['warn', 'Look at it'],
  fail: ['bad', 'Failing'],
  skipped: ['neutral', 'Skipped'],
};

/** A state in its colour and words. One that is not known is shown as it is. */
export function StatusBadge({ status, title }: { readonly status: string; readonly title?: string }) {
  return (
    <Badge tone={toneOf(status)} dot title={title}>
      {stateWords(status)}
    </Badge>
  );
}

/** What a state is called. */
export function stateWords(status: string): string {
  return STATES[status]?.[1] ?? status;
}

/** The tone of a state, for what is not a badge. */
export function toneOf(status: string): Tone {
  return STATES[status]?.[0] ?? 'neutral';
}
