import { describe, expect, it } from 'vitest';
import { Lane } from './lanes.ts';

const SOLE = {
  left: Number.POSITIVE_INFINITY,
  leftForHigh: Number.POSITIVE_INFINITY,
  perLane: 20,
  maxRecipients: 100,
  soleLane: true,
};
const ANY = Number.MAX_SAFE_INTEGER;

/** What a lane asks for when all that it asked for is worked off every `everyMs`. */
function claims(limits: typeof SOLE, everyMs: number, filled = true): (number | undefined)[] {
  const lane = new Lane('out', 1, Number.POSITIVE_INFINITY, 0);
  return Array.from({ length: 6 }, (_, round) => {
    const request = lane.claimRequest(limits, ANY, round * everyMs);
    if (filled) lane.filled();
    return request?.limit;
  });
}

describe('what a lane claims at once', () => {
  it('doubles while the hop is quick and there is more, up to a bound', () => {
    expect(claims(SOLE, 10)).toEqual([40, 40, 80, 160, 160, 160]);
  });

  it('stays at a handful for a hop that is slow, or a queue that is short', () => {
    expect(claims(SOLE, 250)).toEqual([40, 40, 40, 40, 40, 40]);
    expect(claims(SOLE, 10, false)).toEqual([40, 40, 40, 40, 40, 40]);
  });

  it('is a handful again as soon as the hop is slow', () => {
    const lane = new Lane('out', 1, Number.POSITIVE_INFINITY, 0);
    const ask = (mono: number) => {
      const limit = lane.claimRequest(SOLE, ANY, mono)?.limit;
      lane.filled();
      return limit;
    };
    expect([0, 10, 20, 30].map(ask)).toEqual([40, 40, 80, 160]);
    expect([330, 340, 350].map(ask)).toEqual([40, 40, 80]);
  });

  it('takes no more of a relay whose slots other lanes want as well', () => {
    expect(claims({ ...SOLE, soleLane: false }, 10)).toEqual([40, 40, 40, 40, 40, 40]);
  });
});
