import type { ResultOf } from '../../../../src/operations/table.ts';
import type { Tone } from '../../parts/badge.tsx';

/** How alerts, rules and channels are said. */

export type Alert = ResultOf<'listAlerts'>['alerts'][number];
export type Rule = ResultOf<'alertRules'>[number];
export type Channel = ResultOf<'alertChannels'>[number];
export type Silence = ResultOf<'alertSilences'>[number];
export type Kind = Channel['kind'];
export type Severity = Alert['severity'];

/** The colour of a severity. */
export const SEVERITY_TONES: Readonly<Record<Severity, Tone>> = {
  info: 'accent',
  warning: 'warn',
  critical: 'bad',
};

/** What a severity is called. */
export const SEVERITY_NAMES: Readonly<Record<Severity, string>> = {
  info: 'Info',
  warning: 'Warning',
  critical: 'Critical',
};

/** What a channel's kind is called, and what its secret is. */
export const KINDS: Readonly<
  Record<Kind, { readonly name: string; readonly secret: string | null; readonly hint: string }>
> = {
  mail: { name: 'Mail', secret: null, hint: 'By a relay that is well, and not the one that fails.' },
  webhook: {
    name: 'Webhook',
    secret: null,
    hint: 'A URL of yours. Requests are signed, as Standard Webhooks says.',
  },
  slack: {
    name: 'Slack',
    secret: 'Webhook URL',
    hint: 'Of an incoming webhook, as Slack, Mattermost and Rocket.Chat have them.',
  },
  discord: { name: 'Discord', secret: 'Webhook URL', hint: 'Channel settings, Integrations, Webhooks.' },
  teams: {
    name: 'Microsoft Teams',
    secret: 'Workflow URL',
    hint: 'Of a workflow made by the template “Send webhook alerts to a channel”.',
  },
  ntfy: { name: 'ntfy', secret: 'Access token', hint: 'Only where the topic needs one.' },
  pagerduty: {
    name: 'PagerDuty',
    secret: 'Integration key',
    hint: 'Of a service with the integration Events API v2.',
  },
};

/** The kinds, in the order in which they are offered. */
export const KIND_NAMES = Object.keys(KINDS) as Kind[];

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
];

/** Seconds in the largest unit that says them exactly. */
export function secondsWords(seconds: number): string {
  if (seconds === 0) return 'at once';
  const [size, name] = UNITS.find(([unit]) => seconds >= unit && seconds % unit === 0) ?? [1, 'second'];
  return `${seconds / size} ${name}${seconds === size ? '' : 's'}`;
}

type Threshold = NonNullable<Rule['threshold']>;

/** The unit of a threshold, behind its value. */
export const THRESHOLD_UNITS: Readonly<Record<Threshold['unit'], string>> = {
  seconds: 'seconds',
  percent: '%',
  days: 'days',
  messages: '',
  per_second: 'a second',
};

/** What an alert's state is called, and its colour. */
export function stateOf({ state, silenced, toldAt, severity }: Alert): {
  readonly name: string;
  readonly tone: Tone;
  readonly means: string;
} {
  if (state === 'resolved') return { name: 'Over', tone: 'good', means: 'It is over.' };
  if (state === 'pending')
    return { name: 'Pending', tone: 'neutral', means: 'It fires if it stays so for long enough.' };
  if (silenced) return { name: 'Silenced', tone: 'neutral', means: 'Nobody is told of it for a while.' };
  return {
    name: 'Firing',
    tone: SEVERITY_TONES[severity],
    means: toldAt === null ? 'Nobody was told yet.' : 'Channels were told.',
  };
}

/** What a channel was told, in a few words. */
export function noticeWords({ kind, state, tries, error }: Alert['notices'][number]): string {
  const what = kind === 'fired' ? 'that it fires' : 'that it is over';
  switch (state) {
    case 'sent':
      return `was told ${what}`;
    case 'pending':
      return tries === 0 ? `is being told ${what}` : `could not be told ${what} yet: ${error ?? ''}`;
    case 'failed':
      return `could not be told ${what}: ${error ?? ''}`;
    case 'dropped':
      return `was not told ${what}: it was over, or the channel was off, before`;
  }
}
