/** How events count in rates: of recipients by what became of them. */
import type { Event, EventType } from './event.ts';
import { lowerAscii, suppressedOf } from './suppressed-address.ts';

/** What is counted of recipients; who bounced has failed, too. */
export type Rated = 'delivered' | 'failed' | 'bounced' | 'complained';

/** The types of events that count. */
export const RATED_TYPES: readonly EventType[] = [
  'message.delivered',
  'message.failed',
  'message.bounced',
  'message.complained',
];

/** What an event counts as. */
export function ratedAs({ type, facts }: Event): readonly Rated[] {
  switch (type) {
    case 'message.delivered':
      return ['delivered'];
    case 'message.failed':
      // A cancellation says nothing about the recipient, nor does a missing route.
      return facts.outcome === 'cancelled' || facts.outcome === 'no_route' ? [] : ['failed'];
    case 'message.bounced':
      // Where the outcome was unknown it has failed already; of several of which one bounced, all stay delivered.
      return facts.outcome === 'bounced' ? ['failed', 'bounced'] : [];
    case 'message.complained':
      return ['complained'];
    default:
      return [];
  }
}

/** The domain of an event's recipient, in lower case; null: it has none. */
export function domainOfEvent({ recipient }: Event): string | null {
  return recipient === null ? null : lowerAscii(suppressedOf(recipient.address).domain);
}
