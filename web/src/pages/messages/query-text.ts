/**
 * The text of a search, taken apart for chips and suggestions. The server reads it by itself and has the last word; here
 * nothing is decided but what to show, so the text is kept as it was written.
 */

/** Tokens of a search, and what each asks for. */
export const TOKENS = {
  to: 'A recipient: an address, @ and a domain, or how it begins: ann*',
  from: 'The sender: an address, or @ and a domain',
  subject: 'Words of the subject',
  status: 'queued, processing, retrying, delivered or failed',
  tag: 'A tag, exactly',
  box: 'The box that a captured message is in',
  relay: 'The relay it left by',
  key: 'The API key it came with, by name',
  id: 'A message id, or how it begins',
  metadata: 'Text in a value of the metadata',
  hop: 'The id that the next hop gave it, such as its queue id',
  reply: 'Text in the last reply about a recipient, with its codes',
  after: 'Accepted at or after a day or time (UTC), or within 7d, 2h',
  before: 'Accepted before a day or time (UTC), or longer ago than 7d, 2h',
  is: 'captured: what the inbox took, or a test key sent; scheduled: what waits for its time',
} as const;

/** The name of a token. */
export type TokenName = keyof typeof TOKENS;

const TOKEN_NAMES = Object.keys(TOKENS) as TokenName[];

/** An id of a message, the same as a UUID, or a Message-ID in angle brackets. */
const NAME =
  /^(?:msg_[0-7][0-9a-hjkmnp-tv-z]{25}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|<[^<>]+@[^<>]+>)$/i;

/** The message that a search names, and asks for nothing else; null: it is a search for any. */
export function messageNamed(text: string): string | null {
  const name = text.trim();
  return NAME.test(name) ? name : null;
}

/** A word of a search, or a token with its value. */
export interface Term {
  /** Null: a word. */
  readonly token: TokenName | null;
  /** A minus stands before it: what must not be so. */
  readonly not: boolean;
  /** Without its quotes. */
  readonly value: string;
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
}

/** A minus, a name with its colon, and a value: it ends at a blank, or with its quotes, between which two stand for one. */
const TERM = /(-(?=\S))?(?:([a-z]{2,12}:)(?!\/\/)("[^"]*(?:""[^"]*)*"?|\S*)|("[^"]*(?:""[^"]*)*"?|\S+))/gi;

/** Takes a search apart. */
export function readTerms(text: string): Term[] {
  const terms = [...text.matchAll(TERM)].map((match): Term => {
    const [all, minus, name = '', named = '', bare = ''] = match;
    const token = TOKEN_NAMES.find((known) => `${known}:` === name.toLowerCase()) ?? null;
    const value = unquote(named + bare);
    return {
      token,
      not: minus !== undefined,
      value: token === null ? name + value : value,
      start: match.index,
      end: match.index + all.length,
    };
  });
  return terms.filter(({ token, value }) => token !== null || value.trim() !== '');
}

const QUOTED = /^"([^"]*(?:""[^"]*)*)("?)$/;

function unquote(text: string): string {
  const [, inner, close] = QUOTED.exec(text) ?? [];
  if (inner === undefined) return text;
  const value = inner.replaceAll('""', '"');
  return close === '' ? value.trim() : value;
}

/** A token with its value, as it is written. With two slashes behind its colon it would be a URL. */
export function writeTerm(token: TokenName, value: string): string {
  return /[\s"]|^\/\//.test(value) ? `${token}:"${value.replaceAll('"', '""')}"` : `${token}:${value}`;
}

/** The search without one of its terms. */
export function withoutTerm(text: string, { start, end }: Pick<Term, 'start' | 'end'>): string {
  return joined(text.slice(0, start), text.slice(end));
}

/** The search with a token that has these values and no others; what must not be so stays. */
export function withValues(text: string, token: TokenName, values: readonly string[]): string {
  const rest = readTerms(text)
    .filter((term) => term.token === token && !term.not)
    .reduceRight(withoutTerm, text);
  return values.reduce((so, value) => joined(so, writeTerm(token, value)), joined(rest, ''));
}

/** The values that a token has in a search. */
export function valuesFor(text: string, token: TokenName): string[] {
  return readTerms(text)
    .filter((term) => term.token === token && !term.not)
    .map(({ value }) => value);
}

function joined(before: string, after: string): string {
  return [before.trim(), after.trim()].filter((part) => part !== '').join(' ');
}

/** What could be typed next. */
export interface Suggestion {
  /** As it is shown. */
  readonly label: string;
  readonly hint: string;
  /** The text when it is taken, and where the caret stands then. */
  readonly text: string;
  readonly caret: number;
  /** The term is whole, and can be searched for. */
  readonly complete: boolean;
}

/** Values that a token is known to take. */
export type KnownValues = Readonly<Partial<Record<TokenName, readonly string[]>>>;

const MAX_SUGGESTIONS = 10;

/** What could be typed where the caret stands: names of tokens, or values of the token that stands there. */
export function suggest(text: string, caret: number, known: KnownValues): Suggestion[] {
  const term = readTerms(text).find(({ start, end }) => start < caret && caret <= end);
  // A minus stays where it is, whatever is chosen behind it.
  const minus = term?.not ? 1 : 0;
  const place = {
    token: term?.token ?? null,
    start: (term?.start ?? caret) + minus,
    end: term?.end ?? caret,
  };
  const written = text.slice(place.start, caret).toLowerCase();
  if (place.token === null) {
    if (written.includes('"') || written.includes(':')) return [];
    return TOKEN_NAMES.filter((name) => name.startsWith(written)).map((name) =>
      replaced(text, place, { label: `${name}:`, insert: `${name}:`, hint: TOKENS[name], complete: false }),
    );
  }
  const { token } = place;
  const begun = unquote(written.slice(token.length + 1));
  return (known[token] ?? [])
    .filter((value) => value.toLowerCase().includes(begun) && value.toLowerCase() !== begun)
    .slice(0, MAX_SUGGESTIONS)
    .map((value) =>
      replaced(text, place, { label: value, insert: writeTerm(token, value), hint: '', complete: true }),
    );
}

function replaced(
  text: string,
  { start, end }: Pick<Term, 'start' | 'end'>,
  { label, insert, hint, complete }: Pick<Suggestion, 'label' | 'hint' | 'complete'> & { insert: string },
): Suggestion {
  const after = text.slice(end);
  const space = complete && !after.startsWith(' ') ? ' ' : '';
  const head = text.slice(0, start) + insert + space;
  return { label, hint, complete, text: head + after, caret: head.length };
}

/** Times that `after:` and `before:` are often asked for; days are in UTC. */
export function someTimes(now: number): string[] {
  const days = [2, 7, 30].map((ago) => new Date(now - ago * 86_400_000).toISOString().slice(0, 10));
  return ['1h', '24h', '7d', '30d', 'today', 'yesterday', ...days];
}
