import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount } from '../../format.ts';
import { Progress } from '../../parts/progress.tsx';

/** A relay as the server tells of it. */
export type RelayView = ResultOf<'relays'>[number];

/** How much of what a relay may have today is used; nothing where there is no limit. */
export function RelayQuota({ relay: { allowedToday, usedToday, warmUp } }: { readonly relay: RelayView }) {
  if (allowedToday === null) return null;
  const used = usedToday ?? 0;
  const share = allowedToday === 0 ? 1 : used / allowedToday;
  return (
    <div>
      <div className="mb-1 flex flex-wrap justify-between gap-x-3 text-sm">
        <span className="text-soft">
          {warmUp?.day === null || warmUp === null
            ? 'Today (UTC)'
            : warmUp.day === 0
              ? `Warm-up begins ${warmUp.start}`
              : `Warm-up, day ${warmUp.day} of ${warmUp.days}`}
        </span>
        <span>
          {formatCount(used)} <span className="text-soft">of {formatCount(allowedToday)}</span>
        </span>
      </div>
      <Progress
        label="Recipients of today"
        value={share}
        tone={share >= 1 ? 'bad' : share > 0.8 ? 'warn' : 'accent'}
      />
    </div>
  );
}
