/**
 * Alerts: a rule's condition holds for long enough, whoever is to know of it is told, and told again once it is over. All
 * of it as values: what was measured goes in, alerts and what is to be told come out. Times are wall ms.
 */
import { ALERT_SEVERITIES, type AlertRule, type AlertRuleName, type AlertSeverity } from './alert-rules.ts';

/** A rule's condition that holds now. */
export interface AlertFinding {
  readonly rule: AlertRuleName;
  /** What it is about, such as `relay:out`; empty: the server. One alert at a time for each. */
  readonly subject: string;
  readonly severity: AlertSeverity;
  /** What is so, as a sentence for people. */
  readonly text: string;
}

/** An alert, from its first sign to its end. */
export interface Alert {
  /** `alr_…`; sorts by time. */
  readonly id: string;
  readonly rule: AlertRuleName;
  readonly subject: string;
  readonly severity: AlertSeverity;
  /** What was so at `seenAt`. */
  readonly text: string;
  readonly state: 'pending' | 'firing' | 'resolved';
  /** Since when the condition has held. */
  readonly since: number;
  readonly seenAt: number;
  readonly firedAt: number | null;
  /** Since when it has not held, while the alert is not resolved yet; null: it holds. */
  readonly clearSince: number | null;
  /** Since when it has not been known whether it is so, such as of a node that is gone; null: it is known. */
  readonly unseenSince: number | null;
  readonly resolvedAt: number | null;
  /** When it was decided to tell of it; null: nobody was told. */
  readonly toldAt: number | null;
  readonly notices: readonly AlertNotice[];
}

/** What a channel is told of an alert. */
export interface AlertNotice {
  readonly channel: string;
  readonly kind: 'fired' | 'resolved';
  /** `dropped`: it was over, or its channel was gone, before it could be told. */
  readonly state: 'pending' | 'sent' | 'failed' | 'dropped';
  readonly tries: number;
  /** Of the next try while it is pending, else of the last one. */
  readonly at: number;
  /** Why the last try failed; null: it did not. */
  readonly error: string | null;
}

/** What channels have in common, for deciding whom to tell. */
export interface AlertListener {
  readonly id: string;
  readonly enabled: boolean;
  /** It is told of alerts of this severity and above. */
  readonly severity: AlertSeverity;
  /** It is told of these rules alone; empty: of all. */
  readonly rules: readonly AlertRuleName[];
}

/** Alerts that nobody is told of for a while. */
export interface AlertSilence {
  /** `als_…` */
  readonly id: string;
  /** Null: all rules. */
  readonly rule: AlertRuleName | null;
  /** Null: whatever it is about. */
  readonly subject: string | null;
  readonly createdAt: number;
  readonly until: number;
  readonly by: string;
  readonly note: string;
}

/** What decides about alerts, besides what is measured. */
export interface AlertPolicy {
  readonly rules: ReadonlyMap<AlertRuleName, AlertRule>;
  readonly listeners: readonly AlertListener[];
  readonly silences: readonly AlertSilence[];
}

/** What alerts about one thing have in common. */
export type AlertName = Pick<Alert, 'rule' | 'subject'>;

/** What was measured. */
export interface AlertMeasures {
  readonly findings: readonly AlertFinding[];
  /** The rules that could be measured: of the others, nothing new is known. */
  readonly known: ReadonlySet<AlertRuleName>;
  /** What such a rule could not measure, such as the disk of a node that is gone: nothing new is known of it, either. */
  readonly isUnseen: (of: AlertName) => boolean;
}

/** Most alerts that are not over. Further findings wait until there is room: what is most urgent comes first. */
export const MAX_OPEN_ALERTS = 500;
/** A condition must not hold for this long before its alert is over: what comes and goes is one alert. */
export const CLEAR_MS = 60_000;
/** What cannot be measured for so long is given up: a node that does not come back, and what was wrong with it. */
const GIVEN_UP_MS = 86_400_000;
/** How long an ended alert is remembered for its cool-down: as long as that may be. */
export const REMEMBERED_MS = 86_400_000;
/** What an alert says is written anew at most this often. */
const SEEN_EVERY_MS = 60_000;
const SECOND_MS = 1_000;

/**
 * The alerts after a look at `now`: those that are not over, and those that ended within {@link REMEMBERED_MS}. What did
 * not change is the same object; pending ones whose condition is gone are missing.
 */
export function afterLook(
  alerts: readonly Alert[],
  { findings, known, isUnseen }: AlertMeasures,
  policy: AlertPolicy,
  now: number,
  newId: () => string,
): readonly Alert[] {
  const found = new Map(findings.filter(({ rule }) => known.has(rule)).map((one) => [nameOf(one), one]));
  const kept = alerts.flatMap((alert): Alert[] => {
    if (alert.state === 'resolved') return now - (alert.resolvedAt ?? now) < REMEMBERED_MS ? [alert] : [];
    const rule = policy.rules.get(alert.rule);
    if (rule === undefined || !rule.enabled) return ended(alert, now);
    const finding = found.get(nameOf(alert));
    found.delete(nameOf(alert));
    if (!known.has(alert.rule)) return [alert];
    if (finding !== undefined) return [seen(alert, finding, rule, now)];
    return isUnseen(alert) ? unseen(alert, now) : cleared(alert, now);
  });
  const room = MAX_OPEN_ALERTS - kept.filter(({ state }) => state !== 'resolved').length;
  const fresh = [...found.values()]
    .filter(({ rule }) => policy.rules.get(rule)?.enabled === true)
    .sort(moreUrgent)
    .slice(0, Math.max(0, room));
  const begun = fresh.flatMap((finding): Alert[] => {
    const rule = policy.rules.get(finding.rule);
    return rule === undefined ? [] : [beginning(finding, rule, now, newId())];
  });
  const all = [...kept, ...begun];
  return all.map((alert) => withNotices(alert, all, policy, now));
}

function beginning(
  { rule, subject, severity, text }: AlertFinding,
  { forSeconds }: AlertRule,
  now: number,
  id: string,
): Alert {
  const fires = forSeconds === 0;
  return {
    id,
    rule,
    subject,
    severity,
    text,
    state: fires ? 'firing' : 'pending',
    since: now,
    seenAt: now,
    firedAt: fires ? now : null,
    clearSince: null,
    unseenSince: null,
    resolvedAt: null,
    toldAt: null,
    notices: [],
  };
}

function seen(alert: Alert, { severity, text }: AlertFinding, rule: AlertRule, now: number): Alert {
  const fires = alert.state === 'pending' && now - alert.since >= rule.forSeconds * SECOND_MS;
  const isNews = alert.text !== text && now - alert.seenAt >= SEEN_EVERY_MS;
  const isAsBefore = alert.clearSince === null && alert.unseenSince === null && alert.severity === severity;
  if (!fires && !isNews && isAsBefore) return alert;
  return {
    ...alert,
    severity,
    text,
    seenAt: now,
    clearSince: null,
    unseenSince: null,
    ...(fires && { state: 'firing', firedAt: now }),
  };
}

/** Its condition does not hold. */
function cleared(alert: Alert, now: number): Alert[] {
  if (alert.state === 'pending') return [];
  const clearSince = alert.clearSince ?? now;
  if (now - clearSince >= CLEAR_MS) return ended(alert, now);
  return [alert.clearSince === null ? { ...alert, clearSince, unseenSince: null } : alert];
}

/** It is not known whether its condition holds: it neither fires nor ends, unless that is so for too long. */
function unseen(alert: Alert, now: number): Alert[] {
  const unseenSince = alert.unseenSince ?? now;
  if (now - unseenSince >= GIVEN_UP_MS) return ended(alert, now);
  return [alert.unseenSince === null ? { ...alert, unseenSince, clearSince: null } : alert];
}

function ended(alert: Alert, now: number): Alert[] {
  if (alert.state === 'pending') return [];
  const notices = alert.notices.map((notice): AlertNotice => {
    if (notice.kind !== 'fired' || notice.state !== 'pending') return notice;
    return { ...notice, state: notice.tries === 0 ? 'dropped' : 'failed' };
  });
  // Whoever may have heard of it hears that it is over.
  const told = notices.filter(({ kind, state }) => kind === 'fired' && state !== 'dropped');
  const over = told.map(({ channel }) => pending(channel, 'resolved', now));
  return [{ ...alert, state: 'resolved', resolvedAt: now, notices: [...notices, ...over] }];
}

/** With what is to be told of it now: to whom nobody told it yet. Who only hears of worse hears once it is worse. */
function withNotices(alert: Alert, all: readonly Alert[], policy: AlertPolicy, now: number): Alert {
  if (alert.state !== 'firing' || isSilenced(alert, policy.silences, now)) return alert;
  const coolDownMs = (policy.rules.get(alert.rule)?.coolDownSeconds ?? 0) * SECOND_MS;
  const isCooling = all.some(
    (other) =>
      other !== alert &&
      nameOf(other) === nameOf(alert) &&
      other.toldAt !== null &&
      now - other.toldAt < coolDownMs,
  );
  if (isCooling) return alert;
  const listeners = policy.listeners.filter((one) => hearsOf(one, alert) && !isTold(alert, one));
  if (listeners.length === 0) return alert;
  // In the stead of what was dropped while its channel was off.
  const others = alert.notices.filter(({ channel }) => !listeners.some(({ id }) => id === channel));
  const notices = [...others, ...listeners.map(({ id }) => pending(id, 'fired', now))];
  return { ...alert, toldAt: alert.toldAt ?? now, notices };
}

function pending(channel: string, kind: AlertNotice['kind'], at: number): AlertNotice {
  return { channel, kind, state: 'pending', tries: 0, at, error: null };
}

function isTold({ notices }: Alert, { id }: AlertListener): boolean {
  return notices.some(
    ({ channel, kind, state }) => channel === id && kind === 'fired' && state !== 'dropped',
  );
}

/** Whether a channel is told of an alert. */
function hearsOf({ enabled, severity, rules }: AlertListener, alert: Alert): boolean {
  if (!enabled || rankOf(alert.severity) < rankOf(severity)) return false;
  return rules.length === 0 || rules.includes(alert.rule);
}

/** Whether nobody is to be told of an alert at `now`. */
export function isSilenced(
  { rule, subject }: AlertName,
  silences: readonly AlertSilence[],
  now: number,
): boolean {
  return silences.some(
    (one) =>
      one.until > now &&
      (one.rule === null || one.rule === rule) &&
      (one.subject === null || one.subject === subject),
  );
}

/** The pause before each further try, in ms: six tries over three hours. */
const PAUSES = [30 * SECOND_MS, 120 * SECOND_MS, 600 * SECOND_MS, 1_800 * SECOND_MS, 7_200 * SECOND_MS];

/** An alert after a try to tell a channel of it, which ended at `now`; `error` null: it was told. */
export function afterTry(
  alert: Alert,
  { channel, kind }: Pick<AlertNotice, 'channel' | 'kind'>,
  error: string | null,
  now: number,
): Alert {
  const notices = alert.notices.map((one) =>
    one.channel === channel && one.kind === kind ? noticeAfter(one, error, now) : one,
  );
  // It ended while this try was under way.
  const isOwed =
    kind === 'fired' &&
    alert.state === 'resolved' &&
    error === null &&
    !notices.some((one) => one.channel === channel && one.kind === 'resolved');
  return { ...alert, notices: isOwed ? [...notices, pending(channel, 'resolved', now)] : notices };
}

function noticeAfter(notice: AlertNotice, error: string | null, now: number): AlertNotice {
  const tries = notice.tries + 1;
  if (error === null) return { ...notice, state: 'sent', tries, at: now, error };
  const pause = PAUSES[notice.tries];
  return notice.state !== 'pending' || pause === undefined
    ? { ...notice, state: 'failed', tries, at: now, error }
    : { ...notice, tries, at: now + pause, error };
}

/** The notices of an alert that are to be tried at `now`. */
export function dueNotices({ notices }: Alert, now: number): readonly AlertNotice[] {
  return notices.filter(({ state, at }) => state === 'pending' && at <= now);
}

/**
 * An alert after the clock was set by so many ms, forwards or backwards: what is measured from its times takes as long as
 * before. When it began and fired stays as it was written.
 */
export function afterClockSet(alert: Alert, ms: number): Alert {
  const moved = (at: number | null) => (at === null ? null : at + ms);
  return {
    ...alert,
    ...(alert.state === 'pending' && { since: alert.since + ms }),
    seenAt: alert.seenAt + ms,
    clearSince: moved(alert.clearSince),
    unseenSince: moved(alert.unseenSince),
    toldAt: moved(alert.toldAt),
    notices: alert.notices.map((one) => (one.state === 'pending' ? { ...one, at: one.at + ms } : one)),
  };
}

/** An alert as it was stored, at `now`: whatever it has of the future comes from a clock that was wrong. */
export function asOfNow(alert: Alert, now: number): Alert {
  const past = (at: number) => Math.min(at, now);
  const pastOrNull = (at: number | null) => (at === null ? null : past(at));
  const last = now + Math.max(...PAUSES);
  return {
    ...alert,
    since: past(alert.since),
    seenAt: past(alert.seenAt),
    clearSince: pastOrNull(alert.clearSince),
    unseenSince: pastOrNull(alert.unseenSince),
    toldAt: pastOrNull(alert.toldAt),
    notices: alert.notices.map((one) =>
      one.state === 'pending' && one.at > last ? { ...one, at: now } : one,
    ),
  };
}

/** An alert whose channels that are gone are told nothing more. */
export function withoutChannels(alert: Alert, isThere: (channel: string) => boolean): Alert {
  const isGone = ({ channel, state }: AlertNotice) => state === 'pending' && !isThere(channel);
  if (!alert.notices.some(isGone)) return alert;
  const notices = alert.notices.map((one): AlertNotice => (isGone(one) ? { ...one, state: 'dropped' } : one));
  return { ...alert, notices };
}

function nameOf({ rule, subject }: AlertName): string {
  return `${rule} ${subject}`;
}

/** Orders alerts by how urgent they are, the most urgent first. */
export function moreUrgent(a: Pick<Alert, 'severity'>, b: Pick<Alert, 'severity'>): number {
  return rankOf(b.severity) - rankOf(a.severity);
}

function rankOf(severity: AlertSeverity): number {
  return ALERT_SEVERITIES.indexOf(severity);
}
