/** From what the server knows of itself to the conditions of rules that hold (`alert-rules.ts`). */
import type { AlertFinding, AlertMeasures, AlertName } from './alert.ts';
import {
  ALERT_RULE_NAMES,
  type AlertRule,
  type AlertRuleName,
  type AlertSeverity,
  LEAST_EVENTS,
  LEAST_RECIPIENTS,
  LEAST_WAITING,
  secondsText,
} from './alert-rules.ts';
import type { HealthCheck } from './health.ts';

/** What rules are measured by. Times are wall ms. */
export interface AlertFacts {
  readonly now: number;
  /** This node's name. */
  readonly node: string;
  /** What is known of this node's database, without it: see {@link databaseFindings}. */
  readonly databaseWell: boolean;
  /** The checks of health that are not well, on any node. */
  readonly checks: readonly NodeCheck[];
  /** How long the longest waiting due delivery has been due. */
  readonly oldestDueSeconds: number;
  readonly relays: readonly RelayFacts[];
  /** When the certificate of each node ends. */
  readonly certificates: readonly { readonly node: string; readonly endsAt: number }[];
  /** Endpoints that are disabled because they fail. */
  readonly disabledWebhooks: readonly {
    readonly id: string;
    readonly host: string;
    readonly reason: string;
  }[];
  /** Names of nodes that are there, this one included. */
  readonly nodes: readonly string[];
  /** Names of nodes that are gone, and of which none with the same name is there. */
  readonly missingNodes: readonly string[];
  /** What the doctor found when it last looked at this node; null: it did not look yet. */
  readonly examined: readonly Examined[] | null;
  readonly rates: readonly RateFacts[];
  readonly trend: TrendFacts;
}

/** A check that is not well, and where. */
export interface NodeCheck {
  readonly node: string;
  readonly check: HealthCheck;
}

/** What the doctor found in one place. */
export interface Examined {
  readonly name: string;
  /** `late`: the check did not end, so that nothing is known of whatever it looks at. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skipped' | 'late';
  /** A sentence for people. */
  readonly found: string;
}

/** What rules ask of a relay. */
export interface RelayFacts {
  readonly name: string;
  readonly rests: boolean;
  /** It is known whether its next hop works: it is not just being tried, and was tried since the start. */
  readonly isTried: boolean;
  /** Its next hop's refusal, or why it rests, in short; null: that is not known. */
  readonly cause: string | null;
  /** Null: without a limit. */
  readonly quota: { readonly used: number; readonly allowance: number } | null;
}

/** Recipients of a relay or of a domain, by what became of them. */
export interface RateFacts {
  readonly about: 'relay' | 'domain';
  readonly name: string;
  /** Of six hours. */
  readonly recent: { readonly delivered: number; readonly failed: number };
  /** Of a day. */
  readonly day: { readonly delivered: number; readonly bounced: number; readonly complained: number };
}

/** What changed of late; null: it is not known yet. */
export interface TrendFacts {
  readonly waiting: number;
  /** How many more wait than half an hour ago. */
  readonly grown: number | null;
  /** Messages of the last hour that may have arrived twice. */
  readonly duplicates: number | null;
  /** Refusals a second, over ten minutes. */
  readonly refusals: number | null;
}

/** The checks of health that each node has of its own. What others fail concerns all of them. */
export const CHECKS_OF_ONE_NODE: readonly string[] = ['disk', 'ports', 'room', 'intake', 'configuration'];
/** Checks that other rules watch. */
const WATCHED = ['database', 'disk', 'relays', 'queue', 'quotas', 'node_missing', 'certificate'];
/** What the doctor examines that other rules watch, too. */
const WATCHED_WELL = ['database', 'disk', 'ports', 'certificate'];
const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
/** Four hours are so many half hours. */
const HALF_HOURS = 8;
/** Most findings of one rule: the worst first. */
const MAX_OF_RULE = 50;

type Rules = ReadonlyMap<AlertRuleName, AlertRule>;

/** One condition that holds; its severity is the rule's unless it says more. */
interface Condition {
  readonly subject: string;
  readonly text: string;
  readonly severity?: AlertSeverity;
  /** For order: the worst first. */
  readonly weight?: number;
}

type Measure = (facts: AlertFacts, threshold: number) => readonly Condition[];

const MEASURES: Readonly<Record<AlertRuleName, Measure>> = {
  node_gone: ({ missingNodes }) =>
    missingNodes.map((name) => ({
      subject: `node:${name}`,
      text: `The node ${name} has not reported for more than 30 seconds.`,
    })),
  database: ({ node, databaseWell }) =>
    databaseWell
      ? []
      : [{ subject: `node:${node}`, text: `The database of the node ${node} does not answer.` }],
  disk: ({ checks }) =>
    checks
      .filter(({ check }) => check.name === 'disk')
      .map(({ node, check }) => ({
        subject: `node:${node}`,
        text: `The node ${node}: ${check.detail}`,
        ...(check.status === 'critical' && { severity: 'critical' }),
      })),
  mail_late: ({ oldestDueSeconds }, threshold) =>
    oldestDueSeconds > threshold
      ? [{ subject: '', text: `A delivery has been due for ${roughly(oldestDueSeconds)}.` }]
      : [],
  relay_resting: ({ relays }) =>
    relays
      .filter(({ rests }) => rests)
      .map(({ name, cause }) => ({
        subject: `relay:${name}`,
        text: `The relay ${name} rests${cause === null ? '' : `: ${cause}`}.`,
      })),
  failure_rate: ({ rates }, threshold) =>
    rates.flatMap(({ about, name, recent: { delivered, failed } }) =>
      shareAbove(
        { about, name, of: delivered + failed, part: failed, words: 'failed within six hours' },
        threshold,
      ),
    ),
  bounce_rate: ({ rates }, threshold) =>
    rates.flatMap(({ about, name, day: { delivered, bounced } }) =>
      shareAbove({ about, name, of: delivered, part: bounced, words: 'bounced within a day' }, threshold),
    ),
  complaint_rate: ({ rates }, threshold) =>
    rates.flatMap(({ about, name, day: { delivered, complained } }) =>
      shareAbove(
        { about, name, of: delivered, part: complained, words: 'complained within a day' },
        threshold,
      ),
    ),
  queue_grows: ({ trend: { waiting, grown } }, threshold) =>
    grown !== null && waiting > LEAST_WAITING && waiting + HALF_HOURS * grown > threshold * waiting
      ? [{ subject: '', text: `${waiting} messages wait, ${grown} more than half an hour ago.` }]
      : [],
  quota: ({ relays }, threshold) =>
    relays.flatMap(({ name, quota }) =>
      quota !== null && quota.allowance > 0 && 100 * quota.used > threshold * quota.allowance
        ? [
            {
              subject: `relay:${name}`,
              text: `The relay ${name} has had ${quota.used} of the ${quota.allowance} recipients that it may have today (UTC).`,
            },
          ]
        : [],
    ),
  certificate: ({ certificates, now }, threshold) =>
    certificates
      .filter(({ endsAt }) => endsAt - now < threshold * DAY_MS)
      .map(({ node, endsAt }) => ({
        subject: `node:${node}`,
        text:
          endsAt <= now
            ? `The certificate of the node ${node} has expired.`
            : `The certificate of the node ${node} ends in ${roughly((endsAt - now) / SECOND_MS)}.`,
        weight: -endsAt,
      })),
  webhook_disabled: ({ disabledWebhooks }) =>
    disabledWebhooks.map(({ id, host, reason }) => ({
      subject: `webhook:${id}`,
      text: `The webhook ${id} at ${host} is disabled: ${reason}`,
    })),
  health: ({ checks }) =>
    checks
      .filter(({ check }) => !WATCHED.includes(check.name))
      .map(({ node, check: { name, status, detail } }) => ({
        subject: `check:${name}${CHECKS_OF_ONE_NODE.includes(name) ? `@${node}` : ''}`,
        text: detail,
        ...(status === 'critical' && { severity: 'critical' }),
      })),
  doctor: ({ examined, relays }) =>
    (examined ?? [])
      .filter(({ name, status }) => status === 'fail' && !WATCHED_WELL.includes(name))
      // Of a relay that rests is told already.
      .filter((one) => !relays.some(({ name, rests }) => rests && one.name === `relay ${name}`))
      .map(({ name, found }) => ({ subject: subjectOf(name), text: `${name}: ${found}` })),
  duplicates: ({ trend: { duplicates } }, threshold) =>
    duplicates !== null && duplicates > threshold
      ? [
          {
            subject: '',
            text: `${duplicates} message${duplicates === 1 ? '' : 's'} of the last hour may have arrived twice.`,
          },
        ]
      : [],
  refusals: ({ trend: { refusals } }, threshold) =>
    refusals !== null && refusals > threshold
      ? [{ subject: '', text: `${refusals.toFixed(1)} requests a second are refused.` }]
      : [],
};

/** What rules of trends go by, which is not known at first: null then. */
const TRENDS: Readonly<Partial<Record<AlertRuleName, (trend: TrendFacts) => number | null>>> = {
  queue_grows: ({ grown }) => grown,
  duplicates: ({ duplicates }) => duplicates,
  refusals: ({ refusals }) => refusals,
};

/** The rules that can be measured. Without its database, a node knows of nothing else. */
function measurable({ databaseWell, trend, examined }: AlertFacts): readonly AlertRuleName[] {
  if (!databaseWell) return ['database'];
  return ALERT_RULE_NAMES.filter(
    (name) => TRENDS[name]?.(trend) !== null && (name !== 'doctor' || examined !== null),
  );
}

/** Whether nothing is known now of what an alert is about, though its rule could be measured. */
function isUnseenIn({ nodes, relays, examined }: AlertFacts, { rule, subject }: AlertName): boolean {
  if (rule === 'relay_resting')
    return relays.some(({ name, isTried }) => subject === `relay:${name}` && !isTried);
  if (rule === 'doctor') {
    const found = examined?.find(({ name }) => subject === subjectOf(name));
    const isLate = examined?.some(({ status }) => status === 'late') === true;
    return found === undefined ? isLate : !['ok', 'warn'].includes(found.status);
  }
  const node = nodeIn(subject);
  return node !== null && !nodes.includes(node);
}

/** What an alert of the doctor's is about: mail about a relay goes by another one. */
function subjectOf(name: string): string {
  return name.startsWith('relay ') ? name.replace(' ', ':') : `check:${name}`;
}

/** The node that an alert is about; null: none. */
function nodeIn(subject: string): string | null {
  return /^node:(.*)$/s.exec(subject)?.[1] ?? /^check:[a-z_]+@(.*)$/s.exec(subject)?.[1] ?? null;
}

/** Measures all rules in force that can be measured. */
export function measureAlerts(facts: AlertFacts, rules: Rules): AlertMeasures {
  const known = measurable(facts);
  const found = known.map((name) => foundBy(name, facts, rules));
  const findings = found.flatMap((ofRule) => ofRule.slice(0, MAX_OF_RULE));
  // They hold, too: an alert about one of them is not over.
  const beyond = found.flatMap((ofRule) => ofRule.slice(MAX_OF_RULE));
  const isBeyond = (of: AlertName) =>
    beyond.some((one) => one.rule === of.rule && one.subject === of.subject);
  return { findings, known: new Set(known), isUnseen: (of) => isBeyond(of) || isUnseenIn(facts, of) };
}

/** What a rule finds, the worst first. */
function foundBy(name: AlertRuleName, facts: AlertFacts, rules: Rules): readonly AlertFinding[] {
  const rule = rules.get(name);
  if (rule === undefined || !rule.enabled) return [];
  return MEASURES[name](facts, rule.threshold)
    .toSorted((a, b) => (b.weight ?? 0) - (a.weight ?? 0))
    .map(({ subject, text, severity }) => ({
      rule: name,
      subject,
      text,
      severity: severity ?? rule.severity,
    }));
}

interface Share {
  readonly about: RateFacts['about'];
  readonly name: string;
  readonly of: number;
  readonly part: number;
  readonly words: string;
}

function shareAbove({ about, name, of, part, words }: Share, threshold: number): readonly Condition[] {
  if (of < LEAST_RECIPIENTS || part < LEAST_EVENTS || 100 * part <= threshold * of) return [];
  const percent = ((100 * part) / of).toFixed(part * 100 < of ? 2 : 1);
  const where = about === 'relay' ? `of the relay ${name}` : `at ${name}`;
  return [
    {
      subject: `${about}:${name}`,
      text: `${percent} % of the recipients ${where} ${words}: ${part} of ${of}.`,
      weight: part,
    },
  ];
}

/** A time that goes on, in whole units of a suitable size. */
function roughly(seconds: number): string {
  const unit = seconds >= 2 * 86_400 ? 86_400 : seconds >= 2 * 3_600 ? 3_600 : 60;
  return secondsText(Math.max(unit, Math.floor(seconds / unit) * unit));
}
