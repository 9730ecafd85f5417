/**
 * Every series of `GET /metrics`, declared once: the exposition and docs/metrics.md both come from this table.
 * No address, subject, key, id or content is ever a label's value.
 */

import { DMARC_VERDICTS } from '../domain/dmarc-report.ts';
import { BOUNCE_TYPES, FEEDBACK_KINDS } from '../domain/feedback.ts';
import { SUPPRESSION_REASONS } from '../domain/suppression.ts';
import { SIGN_IN_RESULTS, SIGN_IN_WAYS, WEBHOOK_RESULTS } from './events.ts';

/** A series' name, kind, meaning and labels. */
export interface MetricDeclaration {
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  /** Label names, each with the values it takes. */
  readonly labels: Readonly<Record<string, string>>;
}

const FEEDBACK_RESULTS = ['matched', 'unmatched', 'ignored', 'refused'];
const MESSAGES_TODAY = 'received, delivered, failed, retried, denied';
const RELAY = 'name of the relay';

/** Names are the part of the contract that dashboards depend on: they never change. */
export const METRICS = {
  svc_up: gauge('Always 1: the service answers.'),
  svc_database_reachable: gauge('1 if the database answers and commits in time, else 0.'),
  svc_messages_today: gauge(
    'Messages since midnight UTC: received (accepted), delivered and failed (reached that status), retried (attempts deferred), denied (refused requests and clients).',
    { event: MESSAGES_TODAY },
  ),
  svc_messages_last5m: gauge('Messages of the last five minutes: received (accepted) and sent (delivered).', {
    event: 'received, sent',
  }),
  svc_spool_files: gauge(
    'Messages now: incoming (queued or retrying), processing, failed (content still kept).',
    { state: 'incoming, processing, failed' },
  ),
  svc_relay_inflight: gauge('Delivery attempts in progress, on all nodes together.', { relay: RELAY }),
  svc_relay_delivered_today: gauge('Recipients delivered since midnight UTC.', { relay: RELAY }),
  svc_relay_failed_today: gauge('Recipients failed since midnight UTC.', { relay: RELAY }),

  svc_accepted_total: counter('Messages accepted by this process.', { source: 'api, smtp, cli' }),
  svc_accepted_bytes_total: counter('Bytes of the messages accepted by this process.'),
  svc_attempt_results_total: counter('Recipients of delivery attempts, by the result of the attempt.', {
    result: 'delivered, deferred, rejected, unknown',
  }),
  svc_denied_total: counter('Requests and clients refused by this process.'),
  svc_possible_duplicates_total: counter(
    'Messages that a next hop may have received twice, because the outcome of an attempt is unknown.',
  ),
  svc_accept_duration_seconds: histogram('Time from a submission to its durable acceptance.'),
  svc_attempt_duration_seconds: histogram('Time a delivery attempt took.'),

  svc_feedback_total: counter(
    'What this process was told of mail after its delivery: matched (about a message of ours), unmatched (about none), ignored (it means nothing here, or was told before), refused (not proven).',
    {
      source: 'api, dsn, arf, one_click, mailto, webhook: and the name of the relay',
      kind: `${FEEDBACK_KINDS.join(', ')}, none`,
      result: FEEDBACK_RESULTS.join(', '),
    },
  ),
  svc_dmarc_reports_total: counter(
    'DMARC aggregate reports that came in: added, known (kept before), not_ours (about no registered domain), dated (too old, or of the future), unreadable.',
    { result: DMARC_VERDICTS.join(', ') },
  ),
  svc_webhook_tries_total: counter('Tries to tell endpoints of webhooks of an event.', {
    result: WEBHOOK_RESULTS.join(', '),
  }),
  svc_webhook_pending: gauge(
    'Events that endpoints of webhooks are still to be told, as counted once a minute by the node that tells them.',
  ),
  svc_bounces_total: counter('Recipients that bounced after delivery, as this process was told.', {
    relay: RELAY,
    type: BOUNCE_TYPES.join(', '),
  }),
  svc_complaints_total: counter('Recipients that called a message spam, as this process was told.', {
    relay: RELAY,
  }),
  svc_suppressed_total: counter('Recipients that got no mail because they are on the suppression list.', {
    reason: SUPPRESSION_REASONS.join(', '),
  }),

  svc_sign_ins_total: counter(
    'How sign-ins to the dashboard of this process ended: done, refused, slowed (not tried, after too many tries), failed (something that it takes could not be used). With a second factor, one by password ends with the code.',
    { way: SIGN_IN_WAYS.join(', '), result: SIGN_IN_RESULTS.join(', ') },
  ),

  svc_smtp_connections: gauge('Open connections to the SMTP listener of this process.'),
  svc_bytes_in_flight: gauge(
    'Memory held by messages that are arriving at this process, being composed, or written to the disk; at most limits.max_bytes_in_flight.',
  ),
  svc_oldest_due_seconds: gauge('How long the longest-waiting due delivery has been due.'),
  svc_relay_quota_used: gauge(
    'Recipients that count towards the relay’s quota for today (UTC): handed over, or in progress; 0 without a limit.',
    { relay: RELAY },
  ),
  svc_relay_quota_limit: gauge(
    'The relay’s quota of recipients for today (UTC), by its daily limit and its warm-up; 0 without a limit.',
    { relay: RELAY },
  ),
  svc_relay_breaker_open: gauge('1 while the relay rests on any node because its next hop fails.', {
    relay: RELAY,
  }),
  svc_database_bytes: gauge('Size of the database.'),
  svc_database_latency_seconds: gauge('How long the database took to answer, or has been taking.'),
  svc_disk_free_bytes: gauge('Free space on the volume of the data directory; -1 if it is unknown.'),
  svc_store_commits_total: counter('Transactions committed by the store. Each is flushed to stable storage.'),
  svc_spool_flushes_total: counter('Flushes to stable storage made by the spool.'),
  svc_certificate_expiry_timestamp_seconds: gauge(
    'When the TLS certificate expires, in seconds since 1970; 0 without one.',
  ),
  svc_certificate_order_failures: gauge(
    'Orders of a certificate by ACME that failed since the last one that did not.',
  ),

  svc_build_info: gauge('Always 1; the label has the version.', { version: 'version of the program' }),
  svc_process_start_time_seconds: gauge('When the process started, in seconds since 1970.'),
  svc_process_cpu_seconds_total: counter('User and system CPU time of the process, all threads.'),
  svc_process_resident_memory_bytes: gauge('Resident memory of the process.'),
  svc_process_heap_bytes: gauge('JavaScript heap in use on the main thread.'),
  svc_event_loop_delay_seconds: gauge(
    'How late timers of the main thread fired in the last ten seconds or more before a scrape. The first scrape begins to measure.',
    { stat: 'mean, p99, max' },
  ),
} as const satisfies Readonly<Record<string, MetricDeclaration>>;

/** A declared series. */
export type MetricName = keyof typeof METRICS;

type Labels = Readonly<Record<string, string>>;
type Declared<T extends MetricDeclaration['type']> = MetricDeclaration & { readonly type: T };

function gauge(help: string, labels: Labels = {}): Declared<'gauge'> {
  return { type: 'gauge', help, labels };
}

function counter(help: string, labels: Labels = {}): Declared<'counter'> {
  return { type: 'counter', help, labels };
}

function histogram(help: string): Declared<'histogram'> {
  return { type: 'histogram', help, labels: {} };
}

/** Text exposition format 0.0.4, as read by Prometheus. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** One value of a series, under its labels. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Observations counted in buckets. */
export interface HistogramSample {
  /** Upper bounds, rising, in the series' unit. */
  readonly bounds: readonly number[];
  /** Observations in each bucket, and beyond the last bound: one more than there are bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** A value for every declared series: a histogram's buckets, or samples for everything else. */
export type MetricValues = {
  readonly [N in MetricName]: (typeof METRICS)[N] extends { readonly type: 'histogram' }
    ? HistogramSample
    : readonly Sample[];
};

/** Writes every series, in the table's order. */
export function renderExposition(values: MetricValues): string {
  let text = '';
  for (const [name, { type, help }] of Object.entries(METRICS)) {
    text += `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
    const value = values[name as MetricName];
    text += isHistogram(value) ? renderHistogram(name, value) : renderSamples(name, value);
  }
  return text;
}

function isHistogram(value: HistogramSample | readonly Sample[]): value is HistogramSample {
  return 'bounds' in value;
}

function renderSamples(name: string, samples: readonly Sample[]): string {
  return samples.map(({ labels, value }) => `${name}${renderLabels(labels)} ${value}\n`).join('');
}

function renderHistogram(name: string, { bounds, counts, sum }: HistogramSample): string {
  let text = '';
  let total = 0;
  counts.forEach((count, i) => {
    total += count;
    text += `${name}_bucket{le="${bounds[i] ?? '+Inf'}"} ${total}\n`;
  });
  return `${text}${name}_sum ${sum}\n${name}_count ${total}\n`;
}

function renderLabels(labels: Sample['labels']): string {
  if (labels === undefined) return '';
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return `{${pairs.join(',')}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
