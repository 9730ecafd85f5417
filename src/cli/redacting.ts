import { hideAddresses } from '../observe/log.ts';
import type { StatusRecord } from '../operations/messages.ts';

/**
 * What is shown of a message to somebody who must not learn whose it is: in a ticket, or to a provider's support.
 * A file of its own, because what it may never let through is tested without a server.
 */

const HIDDEN = '(hidden)';
/** Members whose words are all a sender's: nobody can tell which of them name somebody. */
const WORDS: readonly string[] = ['subject', 'metadata', 'tags'];
/** Members that name the message, and those that have one of a few words: mail goes to `delivered@` and `mail@`, too. */
const KEPT: readonly string[] = [
  'id',
  'messageId',
  'providerMessageId',
  'status',
  'outcome',
  'type',
  'class',
  'priority',
  'source',
  'door',
  'verdict',
  'verb',
];
/** Shorter local parts are also words. */
const SHORTEST = 3;
/** Recipients whose local parts are looked for in replies: an expression of many more would take long. */
const MAX_LOCAL_PARTS = 1_000;

/** Makes what hides the people of `record` in it, and in whatever else is told of it: addresses keep their domains. */
export function redactor({ from, to, cc, bcc }: StatusRecord): <T>(told: T) => T {
  const local = [from, ...to, ...cc, ...bcc]
    .slice(0, MAX_LOCAL_PARTS)
    .map((address) => address.slice(0, Math.max(0, address.lastIndexOf('@'))))
    .filter((part) => part.length >= SHORTEST)
    // Of two that begin alike the longer one first.
    .sort((a, b) => b.length - a.length)
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const named =
    local.length === 0
      ? null
      : new RegExp(`(?<![\\p{L}\\p{N}])(?:${local.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  const hide = (text: string) => {
    const without = hideAddresses(text, 'domain');
    return named === null ? without : without.replace(named, '*');
  };
  return (told) => hiddenIn(told, hide);
}

/** A copy of a value whose texts are hidden, of the same shape. */
function hiddenIn<T>(told: T, hide: (text: string) => string): T;
function hiddenIn(told: unknown, hide: (text: string) => string): unknown {
  if (typeof told === 'string') return hide(told);
  if (Array.isArray(told)) return told.map((one) => hiddenIn(one, hide));
  if (typeof told !== 'object' || told === null) return told;
  return Object.fromEntries(
    Object.entries(told).map(([name, value]) => {
      if (KEPT.includes(name)) return [name, value];
      return [name, hiddenIn(value, WORDS.includes(name) ? () => HIDDEN : hide)];
    }),
  );
}
