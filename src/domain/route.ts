import { INBOX } from './relay.ts';

/** What routing looks at. The rule table (part of the contract, §11) will look at more. */
export interface RouteFacts {
  readonly recipient: string;
  /** A test key's mail: always the local inbox. */
  readonly test: boolean;
}

/** Where mail goes when no rule says otherwise. */
export interface RoutingTable {
  /** Counts up with every published change; stored with each decision. */
  readonly version: number;
  readonly defaultRelay: string;
  /** The one address whose mail the local inbox takes: this server's own postmaster. Null when somebody was named. */
  readonly postmaster: string | null;
}

/** Which relay was chosen, and why. */
export interface RouteDecision {
  readonly relay: string;
  /** The rule that matched; null for the default. */
  readonly rule: string | null;
}

/** Chooses the relay for one recipient. */
export function route(facts: RouteFacts, table: RoutingTable): RouteDecision {
  if (facts.test) return { relay: INBOX, rule: 'test-key' };
  if (isPostmaster(facts.recipient, table)) return { relay: INBOX, rule: 'postmaster' };
  return { relay: table.defaultRelay, rule: null };
}

/** RFC 5321 §4.5.1: `postmaster` is this one's name however it is written, and so is a domain. */
function isPostmaster(recipient: string, { postmaster }: RoutingTable): boolean {
  return (
    postmaster !== null &&
    recipient.length === postmaster.length &&
    recipient.toLowerCase() === postmaster.toLowerCase()
  );
}
