import { relayOfLane } from '../../domain/lane.ts';
import { beginsAfter, dayOf } from '../../domain/quota.ts';
import { spentText } from '../../domain/spent.ts';
import { isWarming, spentAllowance } from '../relay-views.ts';
import { ok, skipped, warn } from './finding.ts';
import type { Check } from './premises.ts';

const NAME = 'quotas';
/** More lanes than this are not looked at. */
const MAX_LANES = 10_000;

/** Whether a relay has had what it may have today, and mail waits for another day. A step of a warm-up is no fault. */
export const quotasCheck: Check = async ({ loaded: { config }, views, clock }) => {
  const now = clock.wall();
  const day = dayOf(now);
  const limited = config.relays.filter(({ limits }) => limits.maxPerDay > 0 || limits.warmUp !== null);
  if (limited.length === 0) return [ok(NAME, 'No relay is bounded in what it may have in a day.')];
  if (views === null) return [skipped(NAME, 'The database was not opened.')];
  const used = await views.quotaUsed(day);
  // One whose warm-up begins on another day is told with the relays.
  const spent = limited.filter(
    (relay) => spentAllowance(relay, day, used) !== null && beginsAfter(day, relay.limits) === null,
  );
  if (spent.length === 0) return [ok(NAME, 'No relay has had all that it may have today.')];
  const lanes = await views.lanes(null, MAX_LANES);
  return spent.map((relay) => {
    const own = lanes.filter(({ lane }) => relayOfLane(lane) === relay.name);
    const waiting = own.reduce((sum, lane) => sum + lane.waiting, 0);
    const warming = isWarming(relay, day);
    const allowance = spentAllowance(relay, day, used) ?? 0;
    const text = spentText({ relay: relay.name, allowance, warming, begins: null, waiting, latenessMs: 0 });
    const name = `quota of ${relay.name}`;
    if (waiting === 0 || warming) return ok(name, text);
    return warn(
      name,
      text,
      `let another relay take the rest, in its rule: via: [${relay.name}, other]; or allow more: max_per_day of ${relay.name}`,
    );
  });
};
