/** What an answer comes to, for an operator: the peer's own words, and what our table says of them. Pure. */
import type { AnswerFacts, AnswerRow, HttpAnswer } from './provider.ts';
import { MAX_TEXT, plainText } from './words.ts';

/** Characters of a redirect's target that are shown. */
const MAX_TARGET = 200;

/** What is to be told. */
export interface Told {
  readonly answer: HttpAnswer;
  readonly phrase: string;
  readonly facts: AnswerFacts;
  /** The row of the table that decided. */
  readonly row: AnswerRow;
  /** It says that the message was taken, but not in words that we know, or too early. */
  readonly isMisread: boolean;
  /** Forms of secrets that must not be shown. */
  readonly secrets: readonly string[];
}

/**
 * One line of at most 1,000 characters. The row's note is added where the peer gave no text, or where the relay is ill,
 * which an operator must understand; not to what was taken, nor to words that say the same.
 */
export function tellAnswer({ answer, phrase, facts, row, isMisread, secrets }: Told): string {
  const words = [facts.code, facts.text].filter((word) => word !== null && word !== '').join(': ');
  if (isMisread) return plainText(`An answer that cannot be understood${words && `: ${words}`}`, secrets);
  const said = plainText(words || `${answer.status} ${phrase}${targetOf(answer, secrets)}`, secrets);
  const note = row.note.replaceAll('`', '').replace(/\.$/, '');
  const isWanted = row.meaning === 'relay_ill' || (row.meaning !== 'done' && !facts.text);
  if (!isWanted || note === '' || lettersOf(said).includes(lettersOf(note))) return said;
  const tail = ` (means: ${note})`;
  return `${said.slice(0, MAX_TEXT - tail.length)}${tail}`;
}

/**
 * Where a redirect leads, as ` to …`; empty where there is none. Without user and query: what a server puts there, such as
 * a session, is nobody's business.
 */
export function targetOf({ status, headers }: HttpAnswer, secrets: readonly string[]): string {
  const { location } = headers;
  if (status < 300 || status > 399 || location === undefined) return '';
  const url = URL.parse(location, RELATIVE);
  if (url === null) return '';
  const origin = url.origin === RELATIVE ? '' : `${url.protocol}//${url.host}`;
  // Cut only when it is clean: half a secret would not be found.
  return ` to ${plainText(`${origin}${url.pathname}`, secrets).slice(0, MAX_TARGET)}`;
}

/** Stands for the address that was asked, where a target is relative. */
const RELATIVE = 'http://same.invalid';

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ');
}
