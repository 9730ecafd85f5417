import type { Recipient } from '../domain/envelope.ts';
import type { Submission } from '../domain/message.ts';
import type { Relay } from '../domain/relay.ts';
import { type RoutingTable, route } from '../domain/route.ts';
import type { Relays } from './relays.ts';

/** A recipient, and the way its copy takes. */
export interface RoutedRecipient {
  readonly recipient: Recipient;
  /** Null when the relay chosen does not exist: it waits until there is a way. */
  readonly relay: Relay | null;
  /** The rule that chose it; null for the default. */
  readonly rule: string | null;
}

/** ROUTE: chooses a relay for every recipient, in envelope order. */
export function routeRecipients(
  { envelope, test }: Submission,
  table: RoutingTable,
  relays: Relays,
): RoutedRecipient[] {
  return envelope.recipients.map((recipient) => {
    const { relay, rule } = route({ recipient: recipient.address, test }, table);
    return { recipient, relay: relays.get(relay)?.relay ?? null, rule };
  });
}
