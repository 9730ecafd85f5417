import type { Relay } from './relay.ts';
import { domainOfFrom } from './suppression.ts';

/** Where the bounces of our mail come back to (contract-2 §A2). */

/** The domains of our return paths, in A-labels. */
export interface BounceDomains {
  /** For mail of every other domain; null: none. */
  readonly usual: string | null;
  /** Those of sending domains, by the domain of From. */
  readonly own: ReadonlyMap<string, string>;
}

/** The reverse-path of a transaction: the sender's own, or one of ours, to which its bounces come. */
export type ReturnPathOf = (mail: Returned, relay: Relay) => string;

/** The mail of a transaction. Its return path is the same in each attempt for the same recipients. */
interface Returned {
  readonly messageId: string;
  readonly reversePath: string;
  /** Its author, as shown: `Jane <jane@example.com>`. */
  readonly headerFrom: string;
  /** Its recipients, by their places in the message's envelope. */
  readonly deliveries: readonly { readonly index: number }[];
}

/**
 * The domain of the return path for this mail over this relay; null: the sender's own reverse-path stays. The null
 * reverse-path always does: nobody may be told of what has one.
 */
export function bounceDomainFor(
  { reversePath, headerFrom }: Pick<Returned, 'reversePath' | 'headerFrom'>,
  { type, mx, smtp }: Pick<Relay, 'type'> & Partial<Pick<Relay, 'mx' | 'smtp'>>,
  { usual, own }: BounceDomains,
): string | null {
  const { returnPath = 'keep' } = mx ?? smtp ?? {};
  if (reversePath === '' || returnPath === 'keep') return null;
  if (returnPath === 'auto' && type !== 'mx') return null;
  return own.get(domainOfFrom(headerFrom) ?? '') ?? usual;
}
