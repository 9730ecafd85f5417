import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatDuration, plural } from '../../format.ts';

/** All that is known of a message. */
export type Story = ResultOf<'messageStory'>;
/** One try to hand it on. */
export type Attempt = Story['attempts'][number];

/** A point in a message's life. */
export interface Happening {
  readonly key: string;
  /** RFC 3339; null when it is not known. */
  readonly at: string | null;
  readonly title: string;
  readonly detail: string | null;
  /** A status or outcome, for its colour. */
  readonly mark: string;
  /** The attempt that it was; null for what was none. */
  readonly attempt: number | null;
  /** It has not happened yet. */
  readonly ahead: boolean;
}

const WAYS_IN: Readonly<Record<string, string>> = {
  api: 'by the HTTP API',
  smtp: 'by SMTP',
  cli: 'by the command line',
  report: 'as a report of our own',
};

/** How a message came, in words. */
export function wayIn(source: string): string {
  return WAYS_IN[source] ?? `by ${source}`;
}

/** A point of which only what is special is said. */
function point(
  key: string,
  title: string,
  mark: string,
  { at = null, detail = null, attempt = null, ahead = false }: Partial<Happening> = {},
): Happening {
  return { key, title, mark, at, detail, attempt, ahead };
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
    ...ending(story),
  ];
}

function accepted({ record, key, sourceAddress }: Story): Happening {
  const who = [
    key && `key ${key.name}`,
    sourceAddress !== null && `from ${sourceAddress}`,
    record.possibleDuplicate && 'may have been sent twice',
  ].filter(Boolean);
  return point('accepted', `Accepted ${wayIn(record.source)}`, 'accepted', {
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
  const place = host === null ? relay : `${relay} (${host})`;
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

/** A reply with its codes, each once. */
export function replyText(code: number | null, enhanced: string | null, text: string | null): string {
  const said = (text ?? '').trim();
  const codes = [code === null ? '' : String(code), enhanced ?? ''].filter(
    (one) => one !== '' && !said.split(/\s+/, 2).includes(one),
  );
  return [...codes, said].filter((part) => part !== '').join(' ');
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
