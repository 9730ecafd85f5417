import { INBOX } from './relay.ts';
import { type RouteFacts, type RouteMatch, unmet } from './route-match.ts';

/** One row of the table. */
export interface RouteRule {
  /** Unique in its table; `rule-<place>` unless it was given one. */
  readonly name: string;
  readonly match: RouteMatch;
  /** At least one. With weights, the dice choose the first; the rest follow, each in its turn by weight. */
  readonly via: readonly WeightedRelay[];
  /** Tried in the order of `via`, or drawn by weight. */
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

/**
 * Chooses the group of relays for one recipient. `dice` gives a number in [0, 1) for a rule: the same for all recipients
 * of a message, so that siblings go the same way.
 */
export function route(
  facts: RouteFacts,
  table: RoutingTable,
  dice: (rule: RouteRule) => number,
): RouteDecision {
  if (facts.test) return { group: [INBOX], rule: 'test-key' };
  if (isPostmaster(facts.recipient, table)) return { group: [INBOX], rule: 'postmaster' };
  const rule = table.rules.find(({ match }) => unmet(match, facts) === null);
  if (rule === undefined) return { group: [table.defaultRelay], rule: null };
  return { group: orderOf(rule, dice), rule: rule.name };
}

/** The rule's relays in the order in which they are tried. */
function orderOf(rule: RouteRule, dice: (rule: RouteRule) => number): readonly string[] {
  const names = rule.via.map(({ relay }) => relay);
  if (rule.order === 'given') return names;
  const total = rule.via.reduce((sum, { weight }) => sum + weight, 0);
  let left = dice(rule) * total;
  const first = rule.via.findIndex(({ weight }) => (left -= weight) < 0);
  return [...names.slice(first), ...names.slice(0, first)];
}

/** RFC 5321 §4.5.1: `postmaster` is this one's name however it is written, and so is a domain. */
function isPostmaster(recipient: string, { postmaster }: RoutingTable): boolean {
  return (
    postmaster !== null &&
    recipient.length === postmaster.length &&
    recipient.toLowerCase() === postmaster.toLowerCase()
  );
}
