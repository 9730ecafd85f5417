/**
 * The rules of alerts, declared once: what the server watches by itself, the rules for Prometheus
 * (deploy/prometheus/alerts.yaml) and the table in docs/alerts.md all come from here.
 */

/** From least to most urgent. */
export const ALERT_SEVERITIES = ['info', 'warning', 'critical'] as const;

/** See {@link ALERT_SEVERITIES}. */
export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];

/** What thresholds are counted in. */
export const ALERT_UNITS = ['seconds', 'percent', 'days', 'messages', 'per_second'] as const;

/** See {@link ALERT_UNITS}. */
export type AlertUnit = (typeof ALERT_UNITS)[number];

/** Above which value a rule fires; a certificate's days: below which. */
export interface AlertThreshold {
  readonly unit: AlertUnit;
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

/** A rule as it is declared. */
export interface AlertRuleDeclaration {
  /** A few words, for headings. */
  readonly title: string;
  /** When it fires, as a sentence; `{threshold}` stands for the threshold with its unit. */
  readonly when: string;
  /** What to do, for whoever is woken up by it. */
  readonly advice: string;
  readonly severity: AlertSeverity;
  readonly threshold: AlertThreshold | null;
  /** How long it must be so before the alert fires. */
  readonly forSeconds: number;
  /** The same for Prometheus; null: no series says it. */
  readonly prometheus: PrometheusRule | null;
}

/** A rule for Prometheus. */
export interface PrometheusRule {
  readonly alert: string;
  readonly expr: (threshold: number) => string;
  readonly summary: string;
}

/** Of a rate, so many recipients must be counted before a share of them means anything. */
export const LEAST_RECIPIENTS = 100;
/** And so many of them must have failed, bounced or complained. */
export const LEAST_EVENTS = 3;
/** Fewer messages than this are no queue that grows. */
export const LEAST_WAITING = 1_000;

const DAY_SECONDS = 86_400;
const RESULTS = 'svc_attempt_results_total';
const DELIVERED = `increase(${RESULTS}{result="delivered"}[1d])`;
const CERTIFICATE = 'svc_certificate_expiry_timestamp_seconds';

/** A share as rules count it: of enough recipients, and of enough events. */
function shareOf({ part, of, threshold }: { part: string; of: string; threshold: number }): string {
  return `sum by (job) (${part}) > ${threshold / 100} * sum by (job) (${of})
and sum by (job) (${of}) >= ${LEAST_RECIPIENTS}
and sum by (job) (${part}) >= ${LEAST_EVENTS}`;
}

/** Every rule, the most urgent first. */
export const ALERT_RULES = {
  node_gone: {
    title: 'A node is gone',
    when: 'A node has not reported for more than 30 seconds, without announcing its end.',
    advice:
      'Nothing is lost: what was accepted is on disk. Look at the service and the end of its log; exit status 74 means that the disk or the database failed.',
    severity: 'critical',
    threshold: null,
    forSeconds: 60,
    prometheus: {
      alert: 'WaybillDown',
      expr: () => 'up{job="waybill"} == 0',
      summary: '{{ $labels.instance }} does not answer.',
    },
  },
  database: {
    title: 'The database does not answer',
    when: 'A node cannot read or write its database.',
    advice:
      'Mail is refused with 503 and 421, and senders keep it. The node goes on by itself when the database is back.',
    severity: 'critical',
    threshold: null,
    forSeconds: 60,
    prometheus: {
      alert: 'WaybillDatabaseUnreachable',
      expr: () => 'svc_database_reachable == 0',
      summary: '{{ $labels.instance }} cannot write to its database.',
    },
  },
  disk: {
    title: 'Disk space is low or unknown',
    when: 'A node has less disk left than health.disk_low_bytes, or cannot tell how much is left.',
    advice:
      'Below health.disk_critical_bytes mail is refused. Shorten retention.content_days, or give it a larger disk.',
    severity: 'warning',
    threshold: null,
    forSeconds: 300,
    prometheus: {
      alert: 'WaybillDiskNearlyFull',
      expr: () => 'svc_disk_free_bytes >= 0 and svc_disk_free_bytes < 1073741824',
      summary: '{{ $labels.instance }} has {{ $value | humanize1024 }}B of disk left.',
    },
  },
  mail_late: {
    title: 'Mail is late',
    when: 'A delivery has been due for more than {threshold}.',
    advice:
      'Next hops are slow, or relays are paused or have used up their quota: `waybill queue` says which lane waits for what.',
    severity: 'warning',
    threshold: { unit: 'seconds', default: 900, min: 60, max: 7 * DAY_SECONDS },
    forSeconds: 300,
    prometheus: {
      alert: 'WaybillMailLate',
      expr: (threshold) => `max by (job) (svc_oldest_due_seconds) > ${threshold}`,
      summary: 'A delivery has been due for {{ $value | humanizeDuration }}.',
    },
  },
  relay_resting: {
    title: 'A relay fails',
    when: 'A relay rests because its next hop fails.',
    advice:
      '`waybill relays test NAME` says where: name, connection, TLS or sign-in. Its mail waits, or goes by the next relay of its group.',
    severity: 'warning',
    threshold: null,
    forSeconds: 600,
    prometheus: {
      alert: 'WaybillRelayResting',
      // Between two rests its next hop is tried, which may take a minute.
      expr: () => 'max by (job, relay) (max_over_time(svc_relay_breaker_open[2m])) == 1',
      summary: 'The relay {{ $labels.relay }} fails.',
    },
  },
  failure_rate: {
    title: 'Much mail fails',
    when: 'Of the recipients of a relay or a recipient domain, more than {threshold} failed within the last six hours.',
    advice:
      'Look at the replies of recent failures in the dashboard: a list of old addresses, or a sender that receivers do not believe (`waybill domains check`).',
    severity: 'warning',
    threshold: { unit: 'percent', default: 5, min: 0.01, max: 100 },
    forSeconds: 900,
    prometheus: {
      alert: 'WaybillManyFailures',
      expr: (threshold) =>
        shareOf({
          part: `increase(${RESULTS}{result="rejected"}[6h])`,
          of: `increase(${RESULTS}{result=~"delivered|rejected"}[6h])`,
          threshold,
        }),
      summary: 'More than one recipient in twenty is refused for good.',
    },
  },
  bounce_rate: {
    title: 'Much mail bounces',
    when: 'Of the recipients of a relay or a recipient domain, more than {threshold} bounced within the last day, after the next hop had taken the message.',
    advice:
      'Addresses are old, or receivers distrust the sender. Stop sending to the list that they come from, and look at Reputation.',
    severity: 'warning',
    threshold: { unit: 'percent', default: 5, min: 0.01, max: 100 },
    forSeconds: 900,
    prometheus: {
      alert: 'WaybillManyBounces',
      expr: (threshold) => shareOf({ part: 'increase(svc_bounces_total[1d])', of: DELIVERED, threshold }),
      summary: 'Much of what was delivered comes back.',
    },
  },
  complaint_rate: {
    title: 'Recipients complain',
    when: 'Of the recipients of a relay or a recipient domain, more than {threshold} called the mail spam within the last day.',
    advice:
      'Large mailbox providers block senders above 0.3 %. Find the stream by its tag on the page Reputation, and stop it.',
    severity: 'critical',
    threshold: { unit: 'percent', default: 0.3, min: 0.01, max: 100 },
    forSeconds: 300,
    prometheus: {
      alert: 'WaybillManyComplaints',
      expr: (threshold) => shareOf({ part: 'increase(svc_complaints_total[1d])', of: DELIVERED, threshold }),
      summary: 'Recipients call the mail spam.',
    },
  },
  queue_grows: {
    title: 'The queue grows',
    when: `More than ${String(LEAST_WAITING).replace(/(?=000$)/, ',')} messages wait, and at the pace of the last half hour it will be {threshold} times as many in four hours.`,
    advice:
      '`waybill queue` says which relay is the bound; limits.max_queued_bytes is where mail begins to be refused.',
    severity: 'warning',
    threshold: { unit: 'messages', default: 4, min: 2, max: 1_000 },
    forSeconds: 1_800,
    prometheus: {
      alert: 'WaybillQueueGrows',
      expr: (threshold) => `max by (job) (predict_linear(svc_spool_files{state="incoming"}[30m], 4 * 3600))
  > ${threshold} * max by (job) (svc_spool_files{state="incoming"})
and max by (job) (svc_spool_files{state="incoming"}) > ${LEAST_WAITING}`,
      summary: 'More comes in than goes out.',
    },
  },
  quota: {
    title: 'A quota is nearly used up',
    when: 'A relay has had more than {threshold} of the recipients that it may have today (UTC).',
    advice: 'What is beyond waits for tomorrow (UTC), or goes by another relay of its group.',
    severity: 'info',
    threshold: { unit: 'percent', default: 90, min: 1, max: 100 },
    forSeconds: 0,
    prometheus: {
      alert: 'WaybillQuotaNearlyUsed',
      expr: (threshold) =>
        `max by (job, relay) (svc_relay_quota_used) > ${threshold / 100} * (max by (job, relay) (svc_relay_quota_limit) > 0)`,
      summary: 'The relay {{ $labels.relay }} has had nine tenths of what it may have today.',
    },
  },
  certificate: {
    title: 'A certificate ends',
    when: 'The TLS certificate of a node ends in less than {threshold}.',
    advice:
      'A self-signed one renews itself; yours is replaced in tls.cert_file and tls.key_file, or uploaded in the dashboard.',
    severity: 'warning',
    threshold: { unit: 'days', default: 14, min: 1, max: 90 },
    forSeconds: 3_600,
    prometheus: {
      alert: 'WaybillCertificateEnds',
      expr: (threshold) => `${CERTIFICATE} > 0 and ${CERTIFICATE} - time() < ${threshold} * ${DAY_SECONDS}`,
      summary: 'The certificate of {{ $labels.instance }} ends in {{ $value | humanizeDuration }}.',
    },
  },
  webhook_disabled: {
    title: 'A webhook is disabled',
    when: 'An endpoint of a webhook took nothing for five days, or wants no more.',
    advice: 'Repair the receiver, enable the endpoint again on the page Webhooks, and replay what it missed.',
    severity: 'warning',
    threshold: null,
    forSeconds: 0,
    prometheus: null,
  },
  health: {
    title: 'A check of health is not well',
    when: 'Any other check of health is not well: ports, routes, the configuration, what a restore brought back.',
    advice: 'The check says what is wrong, and `waybill doctor` what to do.',
    severity: 'warning',
    threshold: null,
    forSeconds: 600,
    prometheus: null,
  },
  doctor: {
    title: 'The doctor found a fault',
    when: 'The doctor calls something a fault that no other rule tells of. Every six hours it examines the node that watches.',
    advice: '`waybill doctor` shows it with what to do. It is looked at again every half hour.',
    severity: 'warning',
    threshold: null,
    forSeconds: 0,
    prometheus: null,
  },
  duplicates: {
    title: 'Messages may have arrived twice',
    when: 'More than {threshold} messages may have arrived twice within the last hour.',
    advice:
      'A connection ended after the message was sent and before the answer came. Each is marked in the list (possible duplicate).',
    severity: 'info',
    threshold: { unit: 'messages', default: 0, min: 0, max: 1_000_000 },
    forSeconds: 0,
    prometheus: {
      alert: 'WaybillDuplicatesPossible',
      expr: (threshold) => `sum by (job) (increase(svc_possible_duplicates_total[1h])) > ${threshold}`,
      summary: '{{ $value | humanize }} messages may have arrived twice.',
    },
  },
  refusals: {
    title: 'Many are refused',
    when: 'Requests and clients are refused, more than {threshold} over ten minutes.',
    advice: 'The dashboard lists the sources, and with which setting each could be allowed.',
    severity: 'info',
    threshold: { unit: 'per_second', default: 10, min: 0.1, max: 100_000 },
    forSeconds: 600,
    prometheus: {
      alert: 'WaybillManyRefused',
      expr: (threshold) => `sum by (job) (rate(svc_denied_total[10m])) > ${threshold}`,
      summary: '{{ $value | humanize }} requests a second are refused.',
    },
  },
} as const satisfies Readonly<Record<string, AlertRuleDeclaration>>;

/** The name of a rule. */
export type AlertRuleName = keyof typeof ALERT_RULES;

/** The names of all rules. */
export const ALERT_RULE_NAMES = Object.keys(ALERT_RULES) as AlertRuleName[];

/** The declaration of a rule. */
export function alertRule(name: AlertRuleName): AlertRuleDeclaration {
  return ALERT_RULES[name];
}

/** What to do about an alert of a rule that is about this, such as `relay:out`. */
export function adviceOn(rule: AlertRuleName, subject: string): string {
  const relay = /^relay:(.+)$/.exec(subject)?.[1];
  const { advice } = alertRule(rule);
  return relay === undefined ? advice : advice.replace('NAME', () => relay);
}

/** What operators changed of a rule; what is absent is as declared. */
export interface AlertRuleChange {
  readonly enabled?: boolean;
  readonly threshold?: number;
  readonly forSeconds?: number;
  readonly coolDownSeconds?: number;
  readonly severity?: AlertSeverity;
}

/** A rule in force. */
export interface AlertRule {
  readonly name: AlertRuleName;
  readonly enabled: boolean;
  readonly severity: AlertSeverity;
  /** 0 for rules without. */
  readonly threshold: number;
  readonly forSeconds: number;
  /** For so long after somebody was told of an alert, nobody is told of the same again. */
  readonly coolDownSeconds: number;
}

const COOL_DOWN_SECONDS = 3_600;

/** A rule with what operators changed of it. */
export function ruleInForce(name: AlertRuleName, change: AlertRuleChange): AlertRule {
  const { severity, threshold, forSeconds } = alertRule(name);
  const declared = { enabled: true, severity, forSeconds, coolDownSeconds: COOL_DOWN_SECONDS };
  return { name, threshold: threshold?.default ?? 0, ...declared, ...change };
}

const HOUR_SECONDS = 3_600;
const SECOND_UNITS = [
  [DAY_SECONDS, 'day'],
  [HOUR_SECONDS, 'hour'],
  [60, 'minute'],
] as const;

/** A number of seconds in the largest unit that says it exactly: `15 minutes`. */
export function secondsText(seconds: number): string {
  const [size, name] = SECOND_UNITS.find(([unit]) => seconds >= unit && seconds % unit === 0) ?? [
    1,
    'second',
  ];
  return `${seconds / size} ${name}${seconds === size ? '' : 's'}`;
}

/** A threshold with its unit. */
export function thresholdText(value: number, unit: AlertUnit): string {
  switch (unit) {
    case 'seconds':
      return secondsText(value);
    case 'percent':
      return `${value} %`;
    case 'days':
      return `${value} day${value === 1 ? '' : 's'}`;
    case 'per_second':
      return `${value} a second`;
    case 'messages':
      return String(value);
  }
}

/** When a rule fires, as a sentence. */
export function whenText({ name, threshold }: Pick<AlertRule, 'name' | 'threshold'>): string {
  const { when, threshold: declared } = alertRule(name);
  return declared === null ? when : when.replace('{threshold}', thresholdText(threshold, declared.unit));
}
