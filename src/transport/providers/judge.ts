/** What an answer means: the first row of the provider's table that matches, else of that for all. Pure. */
import type { Reply } from '../../domain/outcome.ts';
import { MAX_REST_MS } from './limits.ts';
import type { AnswerFacts, AnswerRow, HttpAnswer, Meaning } from './provider.ts';
import { tellAnswer } from './told.ts';
import { causeOf, plainText } from './words.ts';

/** What HTTP's own statuses mean (RFC 9110 §15), where a provider's table has no row. Every status has one. */
export const COMMON_ANSWERS: readonly AnswerRow[] = [
  { status: '2xx', meaning: 'done', enhanced: '2.0.0', note: 'Taken' },
  {
    status: '3xx',
    meaning: 'relay_ill',
    enhanced: '4.3.5',
    note: 'A redirect, which is not followed: correct `endpoint`',
  },
  { status: 401, meaning: 'relay_ill', enhanced: '4.7.8', note: 'The credentials are not good' },
  { status: 402, meaning: 'relay_ill', enhanced: '4.7.0', note: 'The account is not paid' },
  { status: 403, meaning: 'relay_ill', enhanced: '4.7.0', note: 'The credentials may not send' },
  { status: 404, meaning: 'relay_ill', enhanced: '4.3.5', note: 'The endpoint is not there' },
  { status: 405, meaning: 'relay_ill', enhanced: '4.3.5', note: 'The endpoint is another' },
  { status: 407, meaning: 'relay_ill', enhanced: '4.7.0', note: 'A proxy is in between' },
  { status: 408, meaning: 'later', enhanced: '4.4.2', note: 'The request came too slowly' },
  { status: 413, meaning: 'never', enhanced: '5.3.4', note: 'The message is too large' },
  { status: 425, meaning: 'later', enhanced: '4.3.0', note: 'Too early' },
  { status: 429, meaning: 'relay_ill', enhanced: '4.7.1', note: 'Too many requests' },
  { status: '4xx', meaning: 'later', enhanced: '4.6.0', note: 'Refused, and not said in known words why' },
  { status: 502, meaning: 'unknown', enhanced: '4.3.0', note: 'A gateway lost the answer' },
  { status: 503, meaning: 'relay_ill', enhanced: '4.3.2', note: 'Out of service' },
  { status: 504, meaning: 'unknown', enhanced: '4.4.2', note: 'A gateway waited in vain for the answer' },
  { status: '5xx', meaning: 'later', enhanced: '4.3.0', note: 'The provider has a fault' },
];

/** A status below 200 or above 599: not HTTP as we know it. */
const NO_ROW: AnswerRow = { status: '5xx', meaning: 'unknown', enhanced: '4.5.0', note: 'No such status' };

/**
 * Refused in words that we cannot read, such as the page of a proxy: nobody has said that it is the message's fault. 413
 * says so by itself.
 */
const UNREADABLE: AnswerRow = {
  ...{ status: '4xx', meaning: 'later', enhanced: '4.6.0' },
  note: 'Refused in words that are not the provider’s',
};

/** What was decided of an answer. */
export interface Judgement {
  readonly meaning: Meaning;
  readonly reply: Reply;
  readonly messageId: string | null;
  /** How long the provider asks to be left alone, in ms; null: it does not. */
  readonly restMs: number | null;
}

/** What to judge. */
export interface Judged {
  readonly answer: HttpAnswer;
  readonly phrase: string;
  /** The whole request had been handed over. */
  readonly isWhole: boolean;
  readonly facts: AnswerFacts;
  /** Forms of secrets that must not be kept. */
  readonly secrets: readonly string[];
  /** Wall ms. */
  readonly now: number;
}

/** Judges an answer by a provider's table. */
export function judge(answers: readonly AnswerRow[], judged: Judged): Judgement {
  const { answer, phrase, facts, secrets, now } = judged;
  const named = rowFor(answers, answer.status, facts.code);
  const isUnread = named.meaning === 'never' && !facts.understood && answer.status !== 413;
  const row = isUnread ? UNREADABLE : named;
  const meaning = settled(row, judged);
  const isMisread = meaning !== 'done' && row.meaning === 'done';
  return {
    meaning,
    reply: {
      code: answer.status,
      enhanced: isMisread ? '4.5.0' : row.enhanced,
      cause: isMisread
        ? 'provider_bad_answer'
        : causeOf(facts.code === null ? answer.status : plainText(facts.code, secrets)),
      text: tellAnswer({ answer, phrase, facts, row, isMisread, secrets }),
    },
    messageId: facts.messageId === null ? null : plainText(facts.messageId, secrets),
    restMs: restOf(answer.headers['retry-after'], now),
  };
}

/** The first row that matches. */
export function rowFor(answers: readonly AnswerRow[], status: number, code: string | null): AnswerRow {
  const matches = (row: AnswerRow) =>
    (row.status === status || row.status === `${Math.floor(status / 100)}xx`) &&
    (row.code === undefined || row.code === code);
  return answers.find(matches) ?? COMMON_ANSWERS.find(matches) ?? NO_ROW;
}

/**
 * Taken is only what the provider says it took in words that we understand. And who has not had the whole request
 * cannot have taken it, whatever a gateway's status leaves open.
 */
function settled({ meaning }: AnswerRow, { facts, isWhole, answer }: Judged): Meaning {
  if (meaning === 'done' && !isWhole) return 'later';
  if (meaning === 'done' && !facts.understood) return 'unknown';
  if (meaning === 'unknown' && !isWhole && answer.status >= 500) return 'later';
  return meaning;
}

/** Retry-After (RFC 9110 §10.2.3) in ms: seconds or a date, at most an hour. */
export function restOf(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : IMF_DATE.test(text) ? Date.parse(text) - now : 0;
  return ms > 0 ? Math.min(ms, MAX_REST_MS) : null;
}

const IMF_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
