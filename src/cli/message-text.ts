import { formatTimestamp } from '../lib/clock.ts';
import { isMessageId, messageIdTime } from '../lib/id.ts';
import type { Attempts, MessagesPage, StatusRecord } from '../operations/messages.ts';
import type { Obstacle, RecipientWay } from '../operations/search.ts';
import { clip, fittingTable, foldedTable, foldLine, shortTime } from './fitting.ts';
import { fold, oneLine, table } from './terminal.ts';

/** Messages as text for people. */

/** A page of messages, one a line. */
export function pageText({ messages, next }: MessagesPage): string {
  if (messages.length === 0 && next === null) return 'There are no such messages.';
  if (messages.length === 0) {
    const newest = isMessageId(next ?? '')
      ? `the messages accepted since ${formatTimestamp(messageIdTime(next ?? ''))}`
      : 'the newest messages';
    return `There are none among ${newest}, but older ones were not searched: repeat the command with --before ${next}`;
  }
  const rows = messages.map((message) => [
    message.id,
    message.status,
    message.createdAt,
    clip(message.from, MAX_CELL),
    recipientsText([...message.to, ...message.cc, ...message.bcc]),
    clip(message.subject, MAX_CELL),
  ]);
  const text = table(['ID', 'STATUS', 'CREATED', 'FROM', 'TO', 'SUBJECT'], rows);
  return next === null ? text : `${text}\n\nThere are more: repeat the command with --before ${next}`;
}

/** Most characters of a cell of a list whose text comes from outside: the rest is what `show` is for. */
const MAX_CELL = 48;

/** The first recipient, and how many there are besides. */
function recipientsText([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? clip(first, MAX_CELL) : `${clip(first, MAX_CELL)} and ${others.length} more`;
}

/** How far the values of a record are moved in. */
const LABEL_WIDTH = 19;

/** A message's record for people; no wider than the terminal, where `columns` is not null. */
export function messageText(record: StatusRecord, columns: number | null): string {
  const { recipients, lastError, metadata, ...fields } = record;
  const named = Object.entries(metadata).map(([name, value]) => [`metadata.${name}`, value]);
  const shown = { ...fields, ...Object.fromEntries(named), lastError: errorText(lastError) };
  const lines = Object.entries(shown)
    .filter(([, value]) => value !== undefined && String(value) !== '')
    .map(([name, value]) => foldLine(`${`${name}:`.padEnd(LABEL_WIDTH)}${value}`, LABEL_WIDTH, columns));
  const rows = recipients.map((recipient) => [
    recipient.address,
    recipient.status,
    recipient.outcome ?? '',
    recipient.relay ?? '',
    String(recipient.attempts),
    shortTime(recipient.nextAttemptAt ?? '', columns) || (recipient.waitingFor ?? ''),
    recipient.lastReply ?? '',
  ]);
  const headings = ['RECIPIENT', 'STATUS', 'OUTCOME', 'RELAY', 'ATTEMPTS', 'NEXT ATTEMPT', 'LAST REPLY'];
  return `${lines.join('\n')}\n\n${fittingTable(headings, rows, columns)}`;
}

/** What the next hop said, after the codes that its words do not repeat. */
function errorText(error: StatusRecord['lastError']): string {
  if (error === undefined) return '';
  const codes = [error.replyCode, error.enhancedCode].filter(
    (code) => code !== undefined && !error.message.split(/\s+/, 2).includes(String(code)),
  );
  return [...codes, error.message].join(' ');
}

/** The way of each copy, one a line where it fits; nothing where none is known. */
export function waysText(ways: readonly RecipientWay[], columns: number | null): string {
  const known = ways.filter(({ group, waits }) => group.length > 0 || waits.length > 0);
  if (known.length === 0) return '';
  const rows = known.map(({ recipient, rule, group, waits }) => [
    recipient,
    rule ?? 'default',
    group.join(', '),
    waits.map(obstacleText).join('; '),
  ]);
  return foldedTable(['RECIPIENT', 'RULE', 'GROUP', 'WAITS FOR'], rows, columns);
}

function obstacleText({ what, until, command }: Obstacle): string {
  return `${what}${until === null ? '' : ` until ${until}`}${command === null ? '' : `: ${command}`}`;
}

/** What each attempt did for each recipient, one a line, oldest first. */
export function attemptsText({ attempts }: Attempts): string {
  if (attempts.length === 0) return 'It has not been tried yet.';
  const rows = attempts.flatMap(({ number, startedAt, relay, host, timings, results }) =>
    results.map(({ recipient, outcome, reply }) => [
      String(number),
      startedAt,
      relay,
      host ?? '',
      `${timings.totalMs} ms`,
      recipient,
      outcome,
      reply,
    ]),
  );
  return table(['NO', 'STARTED', 'RELAY', 'HOST', 'TOOK', 'RECIPIENT', 'OUTCOME', 'REPLY'], rows);
}

type Attempt = Attempts['attempts'][number];

/** Which attempts are told with their conversation. */
type StepsShown = 'last' | 'all';

const INDENT = '  ';
/** Digits of a step's time, so that they stand under each other: an attempt may take many minutes. */
const TIME_WIDTH = 7;
/** The longest verb of SMTP has eight letters. */
const VERB_WIDTH = 8;

/** Every attempt, oldest first: where it went, how long it took, how it was secured, what was said, what came of it. */
export function timelineText({ attempts }: Attempts, steps: StepsShown, columns: number): string {
  return attempts
    .map((attempt, place) => {
      const whole = steps === 'all' || place === attempts.length - 1;
      return attemptLines(attempt, attempts.length, whole)
        .flatMap(({ text, indent }) => fold(oneLine(text), indent, columns))
        .join('\n');
    })
    .join('\n\n');
}

/** A line, and how far its continuation is moved in. */
interface Line {
  readonly text: string;
  readonly indent: number;
}

function attemptLines(attempt: Attempt, count: number, whole: boolean): Line[] {
  const { number, startedAt, relay, steps, results } = attempt;
  const head = `Attempt ${number} of ${count}, ${startedAt}, ${relay}${placeText(attempt)}`;
  const facts = [
    labelled('Took', tookText(attempt)),
    ...securityText(attempt).map((text) => labelled('TLS', text)),
    ...attempt.dns.map((lookup) => labelled('DNS', lookupText(lookup))),
  ];
  const said = whole ? steps.map(stepLine) : [];
  return [{ text: head, indent: 4 }, ...facts, ...said, ...results.map(resultLine)];
}

function labelled(label: string, text: string): Line {
  return { text: `${INDENT}${label.padEnd(5)}${text}`, indent: INDENT.length + 5 };
}

function placeText({ host, address, localAddress, reused }: Attempt): string {
  if (host === null) return '';
  const place = address === null || address === host ? host : `${host} [${address}]`;
  const from = localAddress === null ? '' : ` from ${localAddress}`;
  return ` to ${place}${from}${reused ? ', on an open connection' : ''}`;
}

/** The names of the parts are those of the conversation; the last word is the next hop's. */
function tookText({ timings }: Attempt): string {
  const { queueMs, dnsMs, connectMs, tlsMs, mailMs, transferMs, replyMs, totalMs } = timings;
  const parts = [
    ['dns', dnsMs],
    ['connect', connectMs],
    ['tls', tlsMs],
    ['mail', mailMs],
    ['data', transferMs],
    ['reply', replyMs],
  ] as const;
  const known = parts.flatMap(([name, ms]) => (ms === null ? [] : [`${name} ${ms}`]));
  const split = known.length === 0 ? '' : `: ${known.join(', ')}`;
  return `${totalMs} ms${split}${queueMs === null ? '' : `; queued ${queueMs} ms before`}`;
}

const VERDICTS = {
  verified: 'certificate verified',
  dane: 'certificate matches its TLSA record (DANE)',
  unverified: 'certificate not verified',
  none: 'in clear',
  unknown: 'no session',
} as const;

function securityText({ host, tls, security }: Attempt): string[] {
  if (host === null || (tls === null && security === null)) return [];
  const policies = [
    security?.mtaSts == null ? [] : `MTA-STS ${security.mtaSts}`,
    security?.dane == null ? [] : `DANE ${security.dane}`,
  ];
  const verdict = security === null ? [] : VERDICTS[security.verdict ?? 'unknown'];
  return [[tls ?? [], verdict, ...policies].flat().join(', ')];
}

function lookupText({ name, type, result, answers, authenticated }: Attempt['dns'][number]): string {
  const records = answers.length === 0 ? '' : `: ${answers.join(', ')}`;
  return `${name} ${type} ${result}${authenticated ? ' (DNSSEC)' : ''}${records}`;
}

function stepLine({ verb, reply, atMs }: Attempt['steps'][number]): Line {
  const start = `${INDENT}${String(atMs).padStart(TIME_WIDTH)} ms  ${verb.padEnd(VERB_WIDTH)}  `;
  return { text: `${start}${reply}`, indent: start.length };
}

function resultLine({ recipient, outcome, code, reply }: Attempt['results'][number]): Line {
  // A reply often begins with its code, but not always: of our own replies, never.
  const said = code === null || reply.startsWith(String(code)) ? reply : `${code} ${reply}`;
  return { text: `${INDENT}${recipient} ${outcome}: ${said}`, indent: 4 };
}
