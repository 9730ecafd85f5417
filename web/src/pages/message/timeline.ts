import { formatDuration, plural } from '../../format.ts';
import { aftermathOf } from './aftermath.ts';
import { type Attempt, type Happening, point, replyText, type Story } from './story.ts';

const WAYS_IN: Readonly<Record<string, string>> = {
  api: 'by the HTTP API',
  smtp: 'by SMTP',
  cli: 'by the command line',
  report: 'from the server itself',
};

/** The providers whose APIs applications may speak. */
const DOORS: Readonly<Record<string, string>> = {
  resend: 'Resend',
  postmark: 'Postmark',
  sendgrid: 'SendGrid',
  mailgun: 'Mailgun',
  ses: 'Amazon SES',
};

/** How a message came, in words. */
export function wayIn({ source, door }: Pick<Story['record'], 'source' | 'door'>): string {
  const way = WAYS_IN[source] ?? `by ${source}`;
  return door === undefined ? way : `${way} in ${DOORS[door] ?? door}’s form`;
}

/** A message's life, from its acceptance to what is ahead. */
export function timelineOf(story: Story): Happening[] {
  const { record, attempts, moreAttempts } = story;
  const detail = `${plural(record.attempts, 'attempt')} in all`;
  return [
    accepted(story),
    ...planned(story),
    ...attempts.map((attempt) => tried(attempt, story)),
    ...(moreAttempts ? [point('more', 'More attempts, not shown here', 'queued', { detail })] : []),
    ...withAftermath(ending(story), aftermathOf(record)),
  ];
}

/** How long after the event before it each one came, by its key, in ms. What is ahead has none, nor what came out of order. */
export function offsetsOf(life: readonly Happening[]): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  let last = Number.NaN;
  for (const { key, at, ahead } of life) {
    if (at === null || ahead) continue;
    const time = Date.parse(at);
    if (time >= last) offsets.set(key, time - last);
    last = time;
  }
  return offsets;
}

/** What was told of recipients stands around the end of their message, in the order of its time. */
function withAftermath(end: readonly Happening[], told: readonly Happening[]): Happening[] {
  const endedAt = end.find(({ ahead }) => !ahead)?.at ?? null;
  const isBefore = ({ at }: Happening) => endedAt === null || at === null || at <= endedAt;
  return [...told.filter(isBefore), ...end, ...told.filter((one) => !isBefore(one))];
}

function accepted({ record, key, sourceAddress }: Story): Happening {
  const who = [
    key && `key ${key.name}`,
    sourceAddress !== null && `from ${sourceAddress}`,
    record.possibleDuplicate && 'may have been sent twice',
  ].filter(Boolean);
  return point('accepted', `Accepted ${wayIn(record)}`, 'accepted', {
    at: record.createdAt,
    detail: who.length > 0 ? who.join(', ') : null,
  });
}

function planned({ record, attempts }: Story): Happening[] {
  if (record.sendAt === undefined || record.sendAt <= record.createdAt) return [];
  const isFinal = record.status === 'delivered' || record.status === 'failed';
  // It ended before: by being cancelled.
  if (isFinal && attempts.length === 0 && record.timestamp < record.sendAt) return [];
  const ahead = record.status === 'queued' && attempts.length === 0;
  const detail = 'as its sender asked';
  return [point('planned', ahead ? 'Goes out' : 'Due', 'queued', { at: record.sendAt, detail, ahead })];
}

function tried(attempt: Attempt, { record, captured }: Story): Happening {
  const { number, startedAt, relay, host, results, timings } = attempt;
  const place = relay === '' ? (host ?? 'a relay') : host === null ? relay : `${relay} (${host})`;
  const many = record.recipients.length > 1;
  const mark = worst(results.map(({ outcome }) => outcome));
  const isTaken = captured && mark === 'delivered';
  const title = isTaken
    ? 'Taken by the local inbox'
    : `Attempt ${number} by ${place}: ${many ? counted(results.map(({ outcome }) => OUTCOMES[outcome] ?? outcome)) : (OUTCOMES[mark] ?? mark)}`;
  return point(`attempt ${number}`, title, isTaken ? 'captured' : mark, {
    at: startedAt,
    detail: [replyOf(results), formatDuration(timings.totalMs)].filter(Boolean).join(' · '),
    attempt: number,
  });
}

const OUTCOMES: Readonly<Record<string, string>> = {
  delivered: 'taken',
  deferred: 'not now',
  rejected: 'refused',
  unknown: 'nobody knows',
};

/** The worst first. */
const SEVERITY = ['rejected', 'unknown', 'deferred', 'delivered'];

function worst(outcomes: readonly string[]): string {
  return SEVERITY.find((outcome) => outcomes.includes(outcome)) ?? outcomes[0] ?? 'unknown';
}

/** How often each word is there: `8 delivered, 2 failed`. */
export function counted(words: readonly string[]): string {
  return [...Map.groupBy(words, (word) => word)].map(([word, all]) => `${all.length} ${word}`).join(', ');
}

/** What the next hop said: of the worst result, with its codes unless they stand in it. */
function replyOf(results: Attempt['results']): string {
  const mark = worst(results.map(({ outcome }) => outcome));
  const result = results.find(({ outcome }) => outcome === mark);
  return result === undefined ? '' : replyText(result.code, result.enhancedCode, result.reply);
}

function ending({ record, captured }: Story): Happening[] {
  const { status, outcome, timestamp, durationMs, nextAttemptAt, waitingFor } = record;
  const detail = durationMs ? `${formatDuration(durationMs)} after it could go out` : null;
  const end = { at: timestamp, detail };
  if (status === 'failed') return [point('end', `Failed${why(outcome)}`, 'failed', end)];
  if (status === 'delivered')
    return captured
      ? [point('end', 'Captured: nothing was sent', 'captured', end)]
      : [point('end', 'Delivered', 'delivered', end)];
  if (status === 'processing') return [point('now', 'Being attempted now', 'processing', { ahead: true })];
  // What its sender asked for stands there already.
  if (waitingFor === undefined || waitingFor === 'scheduled') return [];
  return [
    point('next', record.attempts === 0 ? 'First attempt' : 'Next attempt', 'queued', {
      at: nextAttemptAt ?? null,
      detail: isKept(waitingFor) ? waitingWords(waitingFor) : null,
      ahead: true,
    }),
  ];
}

const REASONS: Readonly<Record<string, string>> = {
  rejected: ': refused for good',
  expired: ': it could not be delivered in time',
  cancelled: ': cancelled',
  no_route: ': no route took it',
  unknown: ': held, because it is unknown whether it was accepted',
  bounced: ': it came back',
  suppressed: ': on the suppression list',
  partial: ' for some of its recipients',
};

function why(outcome: string | undefined): string {
  return (outcome !== undefined && REASONS[outcome]) || '';
}

/** Where an attempt's time went, in order; what did not happen is left out. What no phase explains comes last. */
export function phasesOf({
  timings,
}: Pick<Attempt, 'timings'>): { readonly label: string; readonly value: number }[] {
  const { dnsMs, connectMs, tlsMs, mailMs, transferMs, replyMs, totalMs } = timings;
  const phases = [
    ['DNS', dnsMs],
    ['Connect', connectMs],
    ['TLS', tlsMs],
    ['Envelope', mailMs],
    ['Content', transferMs],
    ['Answer', replyMs],
  ] as const;
  const known = phases.flatMap(([label, value]) => (value === null ? [] : [{ label, value }]));
  const rest = totalMs - known.reduce((sum, { value }) => sum + value, 0);
  return rest > 0 ? [...known, { label: known.length === 0 ? 'In all' : 'Other', value: rest }] : known;
}

/** What a message or a recipient waits for, as the record says it. */
export type WaitingFor = NonNullable<Story['record']['waitingFor']>;

const WORDS: Readonly<Record<WaitingFor, string>> = {
  scheduled: 'as its sender asked',
  backoff: 'after the pause that follows an attempt',
  turn: 'as soon as its relay has room',
  relay_resting: 'its next hop failed and is left alone',
  relay_probing: 'single attempts find out whether its next hop is well again',
  relay_spent: 'its relay has used up today’s quota',
  relay_paused: 'its relay is paused',
  relay_disabled: 'its relay is disabled',
  relay_missing: 'its relay is gone',
  no_route: 'it has no route',
};

/** Why it is not tried now. */
export function waitingWords(waitingFor: WaitingFor): string {
  return WORDS[waitingFor];
}

/** What goes its usual way, of which nobody needs to be told. */
const USUAL: ReadonlySet<WaitingFor> = new Set(['scheduled', 'backoff', 'turn']);

/** Whether something keeps it from being tried when it is due. */
export function isKept(waitingFor: WaitingFor): boolean {
  return !USUAL.has(waitingFor);
}
