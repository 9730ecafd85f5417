import { INBOX } from './relay.ts';
import { type Condition, type RouteFacts, type RouteMatch, unmet } from './route-match.ts';

/** One row of the table. */
export interface RouteRule {
  /** Unique in its table; `rule-<place>` unless named. */
  readonly name: string;
  readonly match: RouteMatch;
  /** At least one, each relay once. */
  readonly via: readonly WeightedRelay[];
  /** Tried in the order of `via`, or drawn by weight: the first relay, then each next one among the rest. */
  readonly order: 'given' | 'weighted';
}

/** A member of a rule's group. */
export interface WeightedRelay {
  readonly relay: string;
  /** At least 1; 1 for the order `given`. */
  readonly weight: number;
}

/** The routing rules and the default. */
export interface RoutingTable {
  /** Rises with every published change; stored with each decision. */
  readonly version: number;
  /** First match wins. */
  readonly rules: readonly RouteRule[];
  /** Where mail goes when no rule matches. */
  readonly defaultRelay: string;
  /**
   * The one address whose mail goes to the local inbox: this server's own postmaster. Null if a postmaster is
   * configured.
   */
  readonly postmaster: string | null;
}

/** The chosen relays, and why. */
export interface RouteDecision {
  /** Names of relays in the order in which they are tried; at least one. */
  readonly group: readonly string[];
  /** The rule that matched; null for the default. */
  readonly rule: string | null;
}

/** The verdict of a rule. */
export interface RuleVerdict {
  readonly rule: string;
  /** The first condition that does not hold; null if the rule matches. */
  readonly unmet: Condition | null;
}

/** A missing relay that a rule names: its group does without it. */
export interface MissingRelay {
  readonly rule: string;
  readonly relay: string;
}

/** The relays that rules name but that do not exist. */
export function missingRelays(
  rules: readonly RouteRule[],
  relays: readonly { readonly name: string }[],
): MissingRelay[] {
  const names = new Set(relays.map(({ name }) => name));
  return rules.flatMap(({ name: rule, via }) =>
    via.filter(({ relay }) => !names.has(relay)).map(({ relay }) => ({ rule, relay })),
  );
}

/** The names of what decides before any rule, as reported and stored; the last is for reports alone. */
export const BUILT_IN_RULES = ['test-key', 'postmaster', 'report-relay'] as const;

/** The rule name of mail whose relay an operator chose by hand. */
export const MANUAL_RULE = 'manual';

/**
 * The rule name of what may already have been sent (contract §11, `delivery.ambiguous`): its group is the relay that
 * may have sent it, so that no other does.
 */
export const AMBIGUOUS_RULE = 'ambiguous';

/**
 * Chooses the group of relays for one recipient. `dice` returns a number in [0, 1) for a rule, the same for all
 * recipients of a message, so that siblings take the same route.
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

/** The verdict of each rule, in order, up to the one that matches; empty if a built-in rule decides first. */
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
 * A message's random number for a rule. It is the same every time, so that siblings take one route, and keep it when
 * they are routed again. It is fair over messages, whose ids are random.
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
    // The number's position in the winner's share is as random for the rest.
    thrown = share / weightAt(left, place);
    order.push(...left.splice(place, 1).map(({ relay }) => relay));
  }
  return order;
}

function weightAt(group: readonly WeightedRelay[], place: number): number {
  return group[place]?.weight ?? 1;
}

/** RFC 5321 §4.5.1: `postmaster` is case-insensitive here, and so is a domain. */
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
