import { INBOX } from './relay.ts';
import { type Condition, type RouteFacts, type RouteMatch, unmet } from './route-match.ts';

/** One row of the table. */
export interface RouteRule {
  /** Unique in its table; `rule-<place>` unless it was given one. */
  readonly name: string;
  readonly match: RouteMatch;
  /** At least one, each relay once. */
  readonly via: readonly WeightedRelay[];
  /** Tried in the order of `via`, or drawn by weight: the first, then each next among those that are left. */
  readonly order: 'given' | 'weighted';
}

/** A member of a rule's group. */
export interface WeightedRelay {
  readonly relay: string;
  /** At least 1; 1 where the order is given. */
  readonly weight: number;
}

/** Where mail goes. */
export interface RoutingTable {
  /** Counts up with every published change; stored with each decision. */
  readonly version: number;
  /** First match wins. */
  readonly rules: readonly RouteRule[];
  /** Where mail goes when no rule matches. */
  readonly defaultRelay: string;
  /** The one address whose mail the local inbox takes: this server's own postmaster. Null when somebody was named. */
  readonly postmaster: string | null;
}

/** The relays chosen, and why. */
export interface RouteDecision {
  /** Names of relays in the order in which they are tried; at least one. */
  readonly group: readonly string[];
  /** The rule that matched; null for the default. */
  readonly rule: string | null;
}

/** What a rule came to. */
export interface RuleVerdict {
  readonly rule: string;
  /** The first condition that does not hold; null when the rule matches. */
  readonly unmet: Condition | null;
}

/** A relay that a rule names and that does not exist: its group does without it. */
export interface MissingRelay {
  readonly rule: string;
  readonly relay: string;
}

/** The relays that rules name and that are not among those there are. */
export function missingRelays(
  rules: readonly RouteRule[],
  relays: readonly { readonly name: string }[],
): MissingRelay[] {
  const names = new Set(relays.map(({ name }) => name));
  return rules.flatMap(({ name: rule, via }) =>
    via.filter(({ relay }) => !names.has(relay)).map(({ relay }) => ({ rule, relay })),
  );
}

/** What decides before any rule, by the names under which it is told and stored; the last is for reports alone. */
export const BUILT_IN_RULES = ['test-key', 'postmaster', 'report-relay'] as const;

/** Told and stored of mail that an operator gave its relay by hand. */
export const MANUAL_RULE = 'manual';

/**
 * Told and stored of what may have been sent already (contract §11, `delivery.ambiguous`): its group is the relay that may
 * have sent it, so that no other does.
 */
export const AMBIGUOUS_RULE = 'ambiguous';

/**
 * Chooses the group of relays for one recipient. `dice` gives a number in [0, 1) for a rule: the same for all recipients
 * of a message, so that siblings go the same way.
 */
export function route(
  facts: RouteFacts,
  table: RoutingTable,
  dice: (rule: RouteRule) => number,
): RouteDecision {
  const builtIn = builtInRule(facts, table);
  if (builtIn !== null) return { group: [INBOX], rule: builtIn };
  const rule = table.rules.find(({ match }) => unmet(match, facts) === null);
  if (rule === undefined) return { group: [table.defaultRelay], rule: null };
  return { group: orderOf(rule, dice), rule: rule.name };
}

/** What each rule comes to, in order, up to the one that matches; none where a built-in one decides before. */
export function judgeRules(facts: RouteFacts, table: RoutingTable): RuleVerdict[] {
  const verdicts: RuleVerdict[] = [];
  if (builtInRule(facts, table) !== null) return verdicts;
  for (const { name, match } of table.rules) {
    const condition = unmet(match, facts);
    verdicts.push({ rule: name, unmet: condition });
    if (condition === null) break;
  }
  return verdicts;
}

/**
 * A message's dice for a rule: the same whenever it is asked, so that siblings go one way, and stay there when the
 * decision is made anew. Fair over messages, whose ids are random.
 */
export function messageDice(messageId: string): (rule: RouteRule) => number {
  return ({ name }) => hash(`${messageId} ${name}`) / 2 ** 32;
}

function builtInRule(facts: RouteFacts, table: RoutingTable): (typeof BUILT_IN_RULES)[number] | null {
  if (facts.test) return 'test-key';
  return isPostmaster(facts.recipient, table) ? 'postmaster' : null;
}

/** The rule's relays in the order in which they are tried. */
function orderOf(rule: RouteRule, dice: (rule: RouteRule) => number): readonly string[] {
  if (rule.order === 'given' || rule.via.length === 1) return rule.via.map(({ relay }) => relay);
  const left = [...rule.via];
  const order: string[] = [];
  let thrown = dice(rule);
  while (left.length > 0) {
    let share = thrown * left.reduce((sum, { weight }) => sum + weight, 0);
    let place = 0;
    while (place < left.length - 1 && share >= weightAt(left, place)) share -= weightAt(left, place++);
    // Where in the winner's share the number fell is as good a throw for the rest.
    thrown = share / weightAt(left, place);
    order.push(...left.splice(place, 1).map(({ relay }) => relay));
  }
  return order;
}

function weightAt(group: readonly WeightedRelay[], place: number): number {
  return group[place]?.weight ?? 1;
}

/** RFC 5321 §4.5.1: `postmaster` is this one's name however it is written, and so is a domain. */
function isPostmaster(recipient: string, { postmaster }: RoutingTable): boolean {
  return (
    postmaster !== null &&
    recipient.length === postmaster.length &&
    recipient.toLowerCase() === postmaster.toLowerCase()
  );
}

/** FNV-1a over UTF-16 units, then mixed so that every bit depends on all of them. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let place = 0; place < text.length; place++)
    value = Math.imul(value ^ text.charCodeAt(place), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
