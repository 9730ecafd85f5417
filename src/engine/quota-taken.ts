import { localReply } from '../domain/outcome.ts';
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
const UNLIMITED: QuotaTaken = { request: null, shortfall: null, answered() {} };

function tooFewLeft(left: number, wanted: number): QuotaTaken {
  const text = `The relay may be given ${left} more recipients today, and takes this message for all ${wanted} or not at all`;
  return { ...UNLIMITED, shortfall: localReply('quota_too_small', '4.7.1', text) };
}

/**
 * Takes a unit's recipients off its relay's quota. Null: there are not so many left today, and fewer are to be claimed. Of what
 * the relay takes whole or not at all there is no fewer: it has had its turn, and waits as what a hop put off.
 */
export function takeQuota(
  { deliveries, priority }: Pick<Unit, 'deliveries' | 'priority'>,
  relay: RelayAtWork,
  { clock, events, gotWell }: QuotaDeps,
): QuotaTaken | null {
  const { quota } = relay;
  if (!quota.applies) return UNLIMITED;
  const { name } = relay.relay;
  const now = clock.wall();
  const left = quota.left(priority, now);
  if (left < deliveries.length)
    return relay.takesWhole && left >= 1 ? tooFewLeft(left, deliveries.length) : null;
  const request = quota.take(name, deliveries.length, priority, now);
  if (request === null) return UNLIMITED;
  return {
    request,
    shortfall: null,
    answered: (answer) => {
      const news = quota.answered(request, answer, clock.wall());
      const state = quota.state(clock.wall());
      if (news !== null && state !== null) events.emit({ type: 'quota', relay: name, news, ...state });
      if (relay.left < 1) gotWell();
    },
  };
}
