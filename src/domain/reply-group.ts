/** Replies of receivers that say the same: they differ only in addresses, numbers, ids and hosts. */
import type { Reply } from './outcome.ts';

/** Characters of a group's name, and of its example. */
const MAX_GROUP = 200;
const MAX_EXAMPLE = 300;

/** A group of replies. */
export interface ReplyGroup {
  /** The reply, with words such as `[number]` for what differs. Hostile: a peer wrote the rest. */
  readonly group: string;
  /** One of them, without addresses. */
  readonly example: string;
}

/** The group of a reply. The cost grows with the length of its text, which is bounded. */
export function replyGroupOf({ code, enhanced, cause, text }: Reply): ReplyGroup {
  const line = text.replace(/\s+/g, ' ').trim();
  const said = enhanced !== null && line.startsWith(`${enhanced} `) ? line.slice(enhanced.length + 1) : line;
  const front = code === null ? cause : enhanced === null ? `${code}` : `${code} ${enhanced}`;
  const whole = (words: string) => (words === '' ? front : `${front} ${words}`);
  return {
    group: whole(said.replace(WORD, grouped)).slice(0, MAX_GROUP),
    example: whole(said.replace(WORD, withoutAddress)).slice(0, MAX_EXAMPLE),
  };
}

/** What stands between blanks, brackets, quotes and commas. */
const WORD = /[^\s<>()[\]{}"'`,;]+/g;
/** The end of a sentence, and what is said of something: `host:`, `rejected.` */
const TAIL = /[.:!?]+$/;
/** `id=4f3a`: the name stays. */
const NAMED = /^[a-z][a-z_-]{0,30}[=#]/i;
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3}$/;
const ADDRESS_V4 = /^\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?$/;
const ADDRESS_V6 = /^[\da-f]{0,4}:[\da-f:.]*:[\da-f:.]*$/i;
const HOST = /^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?::\d+)?$/i;
/** Also with a unit: `300s`, `25MB`. */
const NUMBER = /^[#+-]?\d[\d.:/-]*[a-z%]{0,2}$/i;
/** Names of standards, which say what is wrong. */
const STANDARD = /^(?:rfc|tls|ssl|smtp|utf|ipv|base|sha)[-v]?[\d.]+$/i;
const WITH_DIGIT = /\d/;
const MIN_ID = 6;
const MIN_LONG_ID = 24;

function grouped(word: string): string {
  const tail = TAIL.exec(word)?.[0] ?? '';
  const bare = word.slice(0, word.length - tail.length);
  const name = NAMED.exec(bare)?.[0] ?? '';
  return name + kindOf(bare.slice(name.length)) + tail;
}

function kindOf(word: string): string {
  if (word.includes('@')) return ADDRESS;
  if (word.includes('://')) return '[link]';
  if (ENHANCED.test(word) || STANDARD.test(word)) return word;
  if (ADDRESS_V4.test(word) || ADDRESS_V6.test(word)) return '[host]';
  if (NUMBER.test(word)) return '[number]';
  if (HOST.test(word)) return '[host]';
  if (word.length >= MIN_LONG_ID || (word.length >= MIN_ID && WITH_DIGIT.test(word))) return '[id]';
  return word;
}

const ADDRESS = '[address]';

function withoutAddress(word: string): string {
  return word.includes('@') ? ADDRESS : word;
}
