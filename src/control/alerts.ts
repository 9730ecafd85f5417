import type { Alert } from '../domain/alert.ts';
import { isSilenced } from '../domain/alert.ts';
import { MAX_SILENCES } from '../domain/alert-channel.ts';
import {
  ALERT_RULE_NAMES,
  type AlertRuleChange,
  type AlertRuleName,
  adviceOn,
  alertRule,
  ruleInForce,
  whenText,
} from '../domain/alert-rules.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { createIdSource } from '../lib/id.ts';
import type { AlertOperations, AlertRuleView, AlertSilenceView, AlertView } from '../operations/alerts.ts';
import { OperationError } from '../operations/call.ts';
import type { RequestOf } from '../operations/table.ts';
import type { AlertSettings } from '../store/alerts.ts';
import type { LocalDeps } from './deps.ts';
import { ASKING } from './door.ts';
import { faulty } from './suppression-view.ts';
import { timeOrNull } from './webhook-view.ts';

/** The operations on alerts, their rules and silences. */

type AlertDeps = Pick<LocalDeps, 'alerts' | 'clock' | 'random'>;

/** See {@link AlertOperations}. */
export function alertOperations(deps: AlertDeps): AlertOperations {
  const { alerts, clock } = deps;
  const nextId = createIdSource(clock, deps.random, 'als_');
  return {
    listAlerts: async ({ open = false, limit = 50, cursor = null }) => {
      const settings = await alerts.alertSettings();
      const page = await alerts.alertHistory({ which: open ? 'open' : 'fired', before: cursor, limit });
      return {
        alerts: page.alerts.map((one) => alertView(one, settings, clock.wall())),
        ...(page.next !== null && { nextCursor: page.next }),
      };
    },
    alertRules: async () => {
      const { rules } = await alerts.alertSettings();
      return ALERT_RULE_NAMES.map((name) => ruleView(name, rules.get(name) ?? {}));
    },
    changeAlertRule: (request) => changeRule(request, deps),
    alertSilences: async () => {
      const { silences } = await alerts.alertSettings();
      return silences.filter(({ until }) => until > clock.wall()).map(silenceView);
    },
    silenceAlerts: async ({ rule = null, subject = null, minutes, note = '' }) => {
      const now = clock.wall();
      const by = ASKING.getStore()?.name ?? '';
      const silence = {
        id: nextId(),
        rule,
        subject,
        createdAt: now,
        until: now + minutes * MINUTE_MS,
        by,
        note,
      };
      if (await alerts.addAlertSilence(silence, MAX_SILENCES, now)) return silenceView(silence);
      throw new OperationError('refused', `There are ${MAX_SILENCES} silences already; end one.`);
    },
    endAlertSilence: async ({ id }) => {
      if (await alerts.removeAlertSilence(id)) return { ended: id };
      throw new OperationError('not_found', `There is no silence ${id}. See: waybill alerts silences`);
    },
  };
}

const MINUTE_MS = 60_000;

async function changeRule(
  { rule, reset = false, ...given }: RequestOf<'changeAlertRule'>,
  { alerts }: AlertDeps,
): Promise<AlertRuleView> {
  const { threshold } = alertRule(rule);
  if (given.threshold !== undefined) {
    if (threshold === null) throw faulty('/threshold', 'threshold', `The rule ${rule} has no threshold.`);
    const { min, max } = threshold;
    if (given.threshold < min || given.threshold > max)
      throw faulty('/threshold', 'threshold', `Must be from ${min} to ${max}.`);
  }
  const { rules } = await alerts.alertSettings();
  const { enabled, severity, forSeconds, coolDownSeconds } = given;
  const change: AlertRuleChange = {
    ...(reset ? {} : rules.get(rule)),
    ...(enabled !== undefined && { enabled }),
    ...(severity !== undefined && { severity }),
    ...(given.threshold !== undefined && { threshold: given.threshold }),
    ...(forSeconds !== undefined && { forSeconds }),
    ...(coolDownSeconds !== undefined && { coolDownSeconds }),
  };
  await alerts.setAlertRule(rule, change);
  return ruleView(rule, change);
}

function ruleView(name: AlertRuleName, change: AlertRuleChange): AlertRuleView {
  const { title, advice, threshold } = alertRule(name);
  const rule = ruleInForce(name, change);
  return {
    name,
    title,
    when: whenText(rule),
    advice,
    enabled: rule.enabled,
    severity: rule.severity,
    threshold:
      threshold === null
        ? null
        : { value: rule.threshold, unit: threshold.unit, min: threshold.min, max: threshold.max },
    forSeconds: rule.forSeconds,
    coolDownSeconds: rule.coolDownSeconds,
    changed: Object.keys(change).length > 0,
  };
}

function alertView(alert: Alert, { channels, silences }: AlertSettings, now: number): AlertView {
  const { id, rule, subject, severity, text, state, since, firedAt, resolvedAt, toldAt, notices } = alert;
  const nameOf = (channel: string) =>
    channels.find((one) => one.channel.id === channel)?.channel.name ?? channel;
  return {
    id,
    rule,
    title: alertRule(rule).title,
    subject,
    severity,
    text,
    advice: adviceOn(rule, subject),
    state,
    since: formatTimestamp(since),
    firedAt: timeOrNull(firedAt),
    resolvedAt: timeOrNull(resolvedAt),
    toldAt: timeOrNull(toldAt),
    silenced: state !== 'resolved' && isSilenced(alert, silences, now),
    notices: notices.map(({ channel, at, ...notice }) => ({
      ...notice,
      channel: nameOf(channel),
      at: formatTimestamp(at),
    })),
  };
}

function silenceView({ createdAt, until, ...silence }: AlertSettings['silences'][number]): AlertSilenceView {
  return { ...silence, createdAt: formatTimestamp(createdAt), until: formatTimestamp(until) };
}
