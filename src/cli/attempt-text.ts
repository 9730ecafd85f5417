import type { Attempts } from '../operations/messages.ts';
import { fold, oneLine } from './terminal.ts';

/** A message's attempts as a story for people. */

type Attempt = Attempts['attempts'][number];

/** Which attempts are told with their conversation. */
export type StepsShown = 'last' | 'all';

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
