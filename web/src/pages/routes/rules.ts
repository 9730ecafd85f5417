import type { ResultOf } from '../../../../src/operations/table.ts';
import { sameValue } from '../settings/setting-values.ts';

/** The rules of routing as they are edited: in order, each with conditions and a group of relays. */

/** A rule as it stands in the configuration file. */
export type Rule = ResultOf<'routeTable'>['rules'][number];

/** How the values of a condition are written. */
export interface ConditionKind {
  readonly name: string;
  readonly label: string;
  /** Before the values, in a sentence. */
  readonly words: string;
  readonly hint: string;
  readonly kind: 'list' | 'lines' | 'bytes';
}

const BELOW = '*.example.org is every name below it, but not itself.';
const SIZE = 'Size of the whole message.';
const TIMES = 'One a line: mon-fri 08:00-18:00, 22:00-06:00 or sat,sun.';

/** The conditions of a rule, in the order in which they are offered. */
export const CONDITIONS: readonly ConditionKind[] = [
  condition('recipient_domain', 'Recipient domain', 'to', 'list', `example.org; ${BELOW}`),
  condition('recipient', 'Recipient', 'to', 'list', 'Whole addresses.'),
  condition('sender_domain', 'Sender domain', 'from', 'list', `Of the envelope; ${BELOW}`),
  condition(
    'sender',
    'Sender',
    'from',
    'list',
    'Whole addresses of the envelope; <> is the null sender of bounces.',
  ),
  condition('tag', 'Tag', 'tagged', 'lines', 'One a line.'),
  condition('key', 'API key', 'by key', 'lines', 'Names of API keys, one a line.'),
  condition('source', 'Named source', 'by device', 'list', 'Names from listener.sources.'),
  condition(
    'source_cidr',
    'Source address',
    'submitted from',
    'list',
    'Addresses or ranges, such as 10.0.0.0/8.',
  ),
  condition('min_bytes', 'At least', 'of at least', 'bytes', SIZE),
  condition('max_bytes', 'At most', 'of at most', 'bytes', SIZE),
  condition('time', 'Time (UTC)', 'when it is', 'lines', TIMES),
];

function condition(
  name: string,
  label: string,
  words: string,
  kind: ConditionKind['kind'],
  hint: string,
): ConditionKind {
  return { name, label, words, kind, hint };
}

/** A rule while it is edited. */
export interface RuleDraft {
  /** Stays the same while the rule is moved and renamed. */
  readonly id: string;
  readonly name: string;
  readonly match: Readonly<Record<string, readonly string[]>>;
  readonly via: readonly { readonly relay: string; readonly weight: number }[];
  /** Drawn by weight, instead of tried in order. */
  readonly weighted: boolean;
}

/** Rules as they are edited. */
export function draftsOf(rules: readonly Rule[]): readonly RuleDraft[] {
  return rules.map((rule, index) => ({
    id: `kept-${index}`,
    name: rule.name,
    match: Object.fromEntries(
      Object.entries(rule.match).map(([name, value]) => [name, [value].flat().map(String)]),
    ),
    via: rule.via.map((member) => (typeof member === 'string' ? { relay: member, weight: 1 } : member)),
    weighted: rule.via.some((member) => typeof member !== 'string'),
  }));
}

/** The conditions of a rule that have no value yet: to leave them out would have it match more than was meant. */
export function emptyConditions(match: RuleDraft['match']): readonly string[] {
  return Object.keys(match).filter((name) => match[name]?.every((value) => value.trim() === '') ?? true);
}

/** Rules as they are published. */
export function rulesOf(drafts: readonly RuleDraft[]): readonly Rule[] {
  return drafts.map(({ name, match, via, weighted }) => ({
    name,
    match: Object.fromEntries(
      Object.entries(match).map(([condition, values]) => [condition, writtenAs(condition, values)]),
    ),
    via: weighted ? via.map(({ relay, weight }) => ({ relay, weight })) : via.map(({ relay }) => relay),
  }));
}

function writtenAs(condition: string, values: readonly string[]): unknown {
  if (CONDITIONS.find(({ name }) => name === condition)?.kind !== 'bytes') return values;
  const [value = ''] = values;
  return /^\d{1,15}$/.test(value.trim()) ? Number(value) : value;
}

/** A list with the item at one place put to another. */
export function moved<Item>(items: readonly Item[], from: number, to: number): readonly Item[] {
  const item = items[from];
  if (item === undefined || to < 0 || to >= items.length || from === to) return items;
  const rest = items.filter((_, place) => place !== from);
  return [...rest.slice(0, to), item, ...rest.slice(to)];
}

/** A name for a new rule that no other has. */
export function freeRuleName(drafts: readonly RuleDraft[]): string {
  const taken = drafts.map(({ name }) => name);
  for (let number = drafts.length + 1; ; number++)
    if (!taken.includes(`rule-${number}`)) return `rule-${number}`;
}

/** One condition in words: what comes before the values, and those. */
export interface Clause {
  readonly words: string;
  readonly values: readonly string[];
}

/** What a rule looks at, in words; nothing for one that matches everything. */
export function clausesOf(match: RuleDraft['match']): readonly Clause[] {
  const known = CONDITIONS.filter(({ name }) => (match[name]?.length ?? 0) > 0).map(
    ({ name, words, kind }) => ({
      words,
      values: (match[name] ?? []).map((value) => (kind === 'bytes' ? `${value} bytes` : value)),
    }),
  );
  const strange = Object.entries(match)
    .filter(([name]) => !CONDITIONS.some((condition) => condition.name === name))
    .map(([name, values]) => ({ words: name, values }));
  return [...known, ...strange];
}

/** What became of a rule between two tables. */
export interface RuleChange {
  readonly name: string;
  readonly kind: 'added' | 'removed' | 'changed' | 'moved';
}

/** How a table differs from the one before, by the names of rules. */
export function changesOf(before: readonly Rule[], after: readonly Rule[]): readonly RuleChange[] {
  const was = new Map(before.map((rule) => [rule.name, rule]));
  const is = new Set(after.map(({ name }) => name));
  const removed = before
    .filter(({ name }) => !is.has(name))
    .map(({ name }) => ({ name, kind: 'removed' as const }));
  const stayed = before.filter(({ name }) => is.has(name)).map(({ name }) => name);
  const order = after.filter(({ name }) => was.has(name)).map(({ name }) => name);
  const still = longestInOrder(order.map((name) => stayed.indexOf(name)));
  const changes = after.flatMap(({ name, ...rule }): RuleChange[] => {
    const earlier = was.get(name);
    if (earlier === undefined) return [{ name, kind: 'added' }];
    if (!sameValue({ match: earlier.match, via: earlier.via }, { match: rule.match, via: rule.via }))
      return [{ name, kind: 'changed' }];
    return still.has(stayed.indexOf(name)) ? [] : [{ name, kind: 'moved' }];
  });
  return [...changes, ...removed];
}

/** The most numbers that stand in rising order: what is not among them has moved. */
function longestInOrder(numbers: readonly number[]): ReadonlySet<number> {
  const best: number[][] = [];
  for (const [place, number] of numbers.entries()) {
    let longest: number[] = [];
    for (let before = 0; before < place; before++) {
      const chain = best[before] ?? [];
      if ((numbers[before] ?? 0) < number && chain.length > longest.length) longest = chain;
    }
    best.push([...longest, number]);
  }
  return new Set(best.reduce((most, chain) => (chain.length > most.length ? chain : most), []));
}

/** The rule that a fault is about, and its field: `routes[2].match.sender[0]`; null where it is about none. */
export function placeOfFault(
  path: readonly string[],
): { readonly index: number; readonly field: string } | null {
  const [list, index = '', member = 'name', condition] = path;
  if (list !== 'routes' || !/^\d+$/.test(index)) return null;
  const field = member === 'match' && condition !== undefined ? `match.${condition}` : member;
  return { index: Number(index), field };
}
