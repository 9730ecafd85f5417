import { chooseRelay } from '../domain/failover.ts';
import type { Priority, Recipient, Submission } from '../domain/message.ts';
import type { Relay } from '../domain/relay.ts';
import {
  judgeRules,
  MANUAL_RULE,
  messageDice,
  type RouteDecision,
  type RoutingTable,
  route,
} from '../domain/route.ts';
import type { RouteFacts } from '../domain/route-match.ts';
import type { PlannedDelivery, RouteExplanation } from './contract.ts';
import type { Relays } from './relays.ts';

/** What routing depends on. */
export interface RoutingParts {
  readonly table: RoutingTable;
  readonly relays: Pick<Relays, 'get' | 'fitness'>;
  /** Wall ms. */
  readonly now: number;
}

/** A recipient and its route. */
export interface RoutedRecipient {
  readonly recipient: Recipient;
  /** Null if no relay of the group can be used: it waits until one can. */
  readonly relay: Relay | null;
  /** The rule that chose the group; null for the default. */
  readonly rule: string | null;
  /** Names of the relays it may use, in the order in which they are tried. */
  readonly group: readonly string[];
}

/** ROUTE: chooses a group for every recipient, and the relay to try first. In envelope order. */
export function routeRecipients(
  submission: Submission,
  messageId: string,
  { table, relays, now }: RoutingParts,
): RoutedRecipient[] {
  const dice = messageDice(messageId);
  return submission.envelope.recipients.map((recipient) => {
    const { address } = recipient;
    const { group, rule } = decide(submission, () => route(factsOf(submission, address, now), table, dice));
    const chosen = chooseRelay(group, (name) => relays.fitness(name, address, submission.priority));
    return { recipient, relay: chosen === null ? null : (relays.get(chosen)?.relay ?? null), rule, group };
  });
}

/** An operator's decision precedes the table's. */
function decide({ via, test }: Submission, byTable: () => RouteDecision): RouteDecision {
  return via === undefined || test ? byTable() : { group: [via], rule: MANUAL_RULE };
}

/** What {@link routeRecipients} would choose for a message with that id, and why. */
export function planRecipients(
  submission: Submission,
  messageId: string,
  parts: RoutingParts,
): PlannedDelivery[] {
  return submission.envelope.recipients.map(({ address }) =>
    planOf(factsOf(submission, address, parts.now), messageId, submission.priority, parts),
  );
}

/** How a message with that id and these facts is routed, rule by rule. */
export function explainRoute(facts: RouteFacts, messageId: string, parts: RoutingParts): RouteExplanation {
  const { table } = parts;
  const plan = planOf(facts, messageId, 'normal', parts);
  const decided = table.rules.find(({ name }) => name === plan.rule);
  const weighted = decided?.order === 'weighted';
  return { ...plan, tableVersion: table.version, rules: judgeRules(facts, table), weighted };
}

function planOf(
  facts: RouteFacts,
  messageId: string,
  priority: Priority,
  { table, relays }: RoutingParts,
): PlannedDelivery {
  const { group, rule } = route(facts, table, messageDice(messageId));
  const fitness = (name: string) => relays.fitness(name, facts.recipient, priority);
  const members = group.map((relay) => ({ relay, fitness: fitness(relay) }));
  return { relay: chooseRelay(group, fitness), rule, group: members };
}

/** Mail to be sent later is routed as of that time. */
function factsOf(submission: Submission, recipient: string, now: number): RouteFacts {
  const { envelope, content, tags, keyId, keyName, sourceAddress, test, sendAt } = submission;
  return {
    recipient,
    reversePath: envelope.reversePath,
    tags,
    keyId,
    keyName,
    sourceAddress,
    test,
    sizeBytes: content.sizeBytes,
    now: Math.max(now, sendAt ?? 0),
  };
}
