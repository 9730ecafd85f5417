/** The meaning of an answer: the first matching row of the provider's table, otherwise of the common table. Pure. */
import type { Reply } from '../../domain/outcome.ts';
import { MAX_REST_MS } from './limits.ts';
import type { AnswerFacts, AnswerRow, HttpAnswer, Meaning, Provider } from './provider.ts';

/** The meanings of HTTP's own statuses (RFC 9110 §15), where the provider's table has no row. Every status has one. */
// biome-ignore format: a table
export const COMMON_ANSWERS: readonly AnswerRow[] = [
  { status: '2xx', meaning: 'done', enhanced: '2.0.0', note: 'Accepted' },
  { status: '3xx', meaning: 'relay_ill', enhanced: '4.3.5', note: 'A redirect, which is not followed: correct `endpoint`' },
  { status: 401, meaning: 'relay_ill', enhanced: '4.7.8', note: 'The credentials are wrong' },
  { status: 402, meaning: 'relay_ill', enhanced: '4.7.0', note: 'The account has an unpaid bill' },
  { status: 403, meaning: 'relay_ill', enhanced: '4.7.0', note: 'The credentials may not send' },
  { status: 404, meaning: 'relay_ill', enhanced: '4.3.5', note: 'The endpoint does not exist' },
  { status: 405, meaning: 'relay_ill', enhanced: '4.3.5', note: 'The endpoint is wrong' },
  { status: 407, meaning: 'relay_ill', enhanced: '4.7.0', note: 'A proxy is in between' },
  { status: 408, meaning: 'later', enhanced: '4.4.2', note: 'The request arrived too slowly' },
  { status: 413, meaning: 'never', enhanced: '5.3.4', note: 'The message is too large' },
  { status: 425, meaning: 'later', enhanced: '4.3.0', note: 'Too early' },
  { status: 429, meaning: 'relay_ill', enhanced: '4.7.1', note: 'Too many requests' },
  { status: '4xx', meaning: 'later', enhanced: '4.6.0', note: 'Refused for an unknown reason' },
  { status: 502, meaning: 'unknown', enhanced: '4.3.0', note: 'A gateway lost the answer' },
  { status: 503, meaning: 'relay_ill', enhanced: '4.3.2', note: 'Out of service' },
  { status: 504, meaning: 'unknown', enhanced: '4.4.2', note: 'A gateway got no answer in time' },
  { status: '5xx', meaning: 'later', enhanced: '4.3.0', note: 'The provider has a fault' },
];

/** A status below 200 or above 599: not valid HTTP. */
const NO_ROW: AnswerRow = { status: '5xx', meaning: 'unknown', enhanced: '4.5.0', note: 'No such status' };

/**
 * A refusal that is not in the provider's format, such as a proxy's page: nobody has said that the message is at fault.
 * A 413 says so by itself.
 */
// biome-ignore format: a row of a table
const UNREADABLE: AnswerRow = { status: '4xx', meaning: 'later', enhanced: '4.6.0', note: 'Refused, but not in the provider’s own words' };

interface Judgement {
  readonly meaning: Meaning;
  readonly reply: Reply;
  readonly messageId: string | null;
  /** How long the provider asks us to pause, in ms; null: it does not. */
  readonly restMs: number | null;
}

interface Judged {
  readonly answer: HttpAnswer;
  readonly phrase: string;
  /** The whole request had been handed over. */
  readonly isWhole: boolean;
  readonly facts: AnswerFacts;
  /** Forms of secrets that must not be stored. */
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
 * A message counts as accepted only if the provider says so in a known format. And a provider without the whole request
 * cannot have accepted it, whatever a gateway's status leaves open.
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

interface Checked {
  readonly answer: HttpAnswer;
  readonly phrase: string;
  /** Forms of secrets that must not be shown. */
  readonly secrets: readonly string[];
  /** Wall ms. */
  readonly now: number;
}

/** `code` is the term to search for. */
interface Finding {
  readonly good: boolean;
  readonly code: string;
  /** One line without secrets. */
  readonly text: string;
}

/**
 * The provider's own finding; otherwise the answer table's. So an answer of unknown format is never good, and only an
 * answer for bad credentials is reported as one.
 */
export function findingOf(provider: Provider, { answer, phrase, secrets, now }: Checked): Finding {
  const own = provider.checked?.(answer) ?? null;
  if (own !== null) return { ...own, code: 'check_failed', text: plainText(own.text, secrets) };
  const said = plainText(`${answer.status} ${phrase}`, secrets);
  if (answer.status >= 200 && answer.status < 300)
    return provider.checked === undefined
      ? { good: true, code: '', text: said }
      : { good: false, code: 'provider_bad_answer', text: `${said}: ${NOT_THEIRS}` };
  const { reply } = judge(provider.answers, {
    answer,
    phrase,
    isWhole: true,
    facts: provider.read(answer),
    secrets,
    now,
  });
  const restMs = restOf(answer.headers['retry-after'], now);
  const wait = restMs === null ? '' : `; it asks to wait ${Math.ceil(restMs / 1000)} s`;
  const status = reply.text.startsWith(String(answer.status)) ? '' : `${answer.status} `;
  return { good: false, code: reply.cause, text: `${status}${reply.text}${wait}` };
}

const NOT_THEIRS =
  'not an answer of this provider, so something else is there or in between: correct endpoint, or ask your network administrator';

// An answer, for an operator: the peer's own words and our table's note. Pure.

/** Characters of a redirect's target to show. */
const MAX_TARGET = 200;

interface Told {
  readonly answer: HttpAnswer;
  readonly phrase: string;
  readonly facts: AnswerFacts;
  /** The row of the table that decided. */
  readonly row: AnswerRow;
  /** It reports success, but in an unknown format, or too early. */
  readonly isMisread: boolean;
  /** Forms of secrets that must not be shown. */
  readonly secrets: readonly string[];
}

/**
 * One line of at most 1,000 characters. The row's note is added where the peer gave no text, or where the relay has
 * failed, which an operator must understand; not to a success, nor to words that say the same.
 */
function tellAnswer({ answer, phrase, facts, row, isMisread, secrets }: Told): string {
  const words = [facts.code, facts.text].filter((word) => word !== null && word !== '').join(': ');
  if (isMisread) return plainText(`An unreadable answer${words && `: ${words}`}`, secrets);
  const said = plainText(words || `${answer.status} ${phrase}${targetOf(answer, secrets)}`, secrets);
  const note = row.note.replaceAll('`', '').replace(/\.$/, '');
  const isWanted = row.meaning === 'relay_ill' || (row.meaning !== 'done' && !facts.text);
  if (!isWanted || note === '' || lettersOf(said).includes(lettersOf(note))) return said;
  const tail = ` (means: ${note})`;
  return `${said.slice(0, MAX_TEXT - tail.length)}${tail}`;
}

/** The target of a redirect, as ` to …`; empty without one. User and query may hold secrets, and are left out. */
export function targetOf({ status, headers }: HttpAnswer, secrets: readonly string[]): string {
  const { location } = headers;
  if (status < 300 || status > 399 || location === undefined) return '';
  const url = URL.parse(location, RELATIVE);
  if (url === null) return '';
  const origin = url.origin === RELATIVE ? '' : `${url.protocol}//${url.host}`;
  // Secrets are removed before cutting: half a secret would not be found.
  return ` to ${plainText(`${origin}${url.pathname}`, secrets).slice(0, MAX_TARGET)}`;
}

/** Stands for the requested origin where a target is relative. */
const RELATIVE = 'http://same.invalid';

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ');
}

/** Most characters of a provider's text to keep. */
export const MAX_TEXT = 1000;
const MAX_CODE = 64;
/** Shorter secrets would match any text. */
const MIN_SECRET = 6;

/** One line of at most 1,000 characters, with dots in place of secrets. */
export function plainText(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, '…');
  return clean
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT);
}

/** Every form in which secrets may come back: bare, in base64, in a URL, in a form, as credentials of a request. */
export function formsOf(
  secrets: string | readonly string[],
  headers: Readonly<Record<string, string>>,
): string[] {
  const credentials = Object.entries(headers)
    .filter(([name]) => /authorization|token|api-key|signature/i.test(name))
    .flatMap(([, value]) => [value, value.replace(/^\w+ /, '')]);
  const forms = [secrets].flat().flatMap((secret) => {
    const bare = secret.replace(/^whsec_/, '');
    const inForm = new URLSearchParams([['', secret]]).toString().slice(1);
    return [secret, bare, Buffer.from(secret).toString('base64'), encodeURIComponent(secret), inForm];
  });
  return [...new Set([...forms, ...credentials])]
    .filter(({ length }) => length >= MIN_SECRET)
    .sort((a, b) => b.length - a.length);
}

/** A searchable code: `provider_message_rejected` for `MessageRejected`. */
export function causeOf(code: string | number): string {
  const words = String(code)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase();
  return `provider_${words.slice(0, MAX_CODE)}`;
}
