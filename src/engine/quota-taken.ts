import type { Clock } from '../lib/clock.ts';
import type { Events } from '../observe/events.ts';
import type { Unit } from '../store/store.ts';
import type { QuotaTaken } from './attempt.ts';
import type { RelayAtWork } from './relay-at-work.ts';

/** What taking from a quota needs. */
export interface QuotaDeps {
  readonly clock: Clock;
  readonly events: Events;
  /** Told that mail may have a better way now: a relay has had what it may have today. */
  readonly gotWell: () => void;
}

/** Of a relay without a quota. */
const UNLIMITED: QuotaTaken = { request: null, answered() {} };

/** Takes a unit's recipients off its relay's quota; null: there are not so many left today. */
export function takeQuota(
  { deliveries, priority }: Pick<Unit, 'deliveries' | 'priority'>,
  relay: RelayAtWork,
  { clock, events, gotWell }: QuotaDeps,
): QuotaTaken | null {
  const { quota } = relay;
  if (!quota.applies) return UNLIMITED;
  const { name } = relay.relay;
  const now = clock.wall();
  if (quota.left(priority, now) < deliveries.length) return null;
  const request = quota.take(name, deliveries.length, priority, now);
  if (request === null) return UNLIMITED;
  return {
    request,
    answered: (answer) => {
      const news = quota.answered(request, answer, clock.wall());
      const state = quota.state(clock.wall());
      if (news !== null && state !== null) events.emit({ type: 'quota', relay: name, news, ...state });
      if (relay.left < 1) gotWell();
    },
  };
}
