import { describe, expect, it } from 'vitest';
import { localReply, type Outcome } from '../domain/outcome.ts';
import { Lane } from './lanes.ts';

const TOO_MUCH: Outcome[] = [
  { kind: 'deferred', reply: { ...localReply('smtp_reply', '4.7.0', ''), code: 421 } },
];

const SOLE = {
  left: Number.POSITIVE_INFINITY,
  leftForHigh: Number.POSITIVE_INFINITY,
  perLane: 20,
  maxRecipients: 100,
  takesWhole: false,
  soleLane: true,
};
const ANY = Number.MAX_SAFE_INTEGER;
const HANDFULS = [40, 40, 40, 40, 40, 40, 40];

/** What a lane asks for when all that it asked for is worked off every `everyMs`. */
function claims(limits: typeof SOLE, everyMs: number, filled = true): (number | undefined)[] {
  const lane = new Lane('out', 1, Number.POSITIVE_INFINITY, 0);
  return Array.from({ length: 7 }, (_, round) => {
    const request = lane.claimRequest(limits, ANY, round * everyMs);
    if (filled) lane.filled();
    return request?.limit;
  });
}

describe('what a lane claims at once', () => {
  it('doubles while the hop is quick and there is more, up to a bound', () => {
    expect(claims(SOLE, 10)).toEqual([40, 40, 80, 160, 320, 640, 640]);
  });

  it('brings a lane of many slots to 5,000 in hand at most, or to twice its slots', () => {
    const many = [2_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000];
    expect(claims({ ...SOLE, perLane: 1_000 }, 10)).toEqual(many);
    expect(claims({ ...SOLE, perLane: 10_000 }, 10)).toEqual(many.map(() => 20_000));
  });

  it('stays at a handful for a hop that is slow, or a queue that is short', () => {
    expect(claims(SOLE, 250)).toEqual(HANDFULS);
    expect(claims(SOLE, 10, false)).toEqual(HANDFULS);
  });

  it('halves while the hop is not quick, down to a handful', () => {
    const lane = new Lane('out', 1, Number.POSITIVE_INFINITY, 0);
    const ask = (mono: number) => {
      const limit = lane.claimRequest(SOLE, ANY, mono)?.limit;
      lane.filled();
      return limit;
    };
    expect([0, 10, 20, 30].map(ask)).toEqual([40, 40, 80, 160]);
    expect([330, 640, 940].map(ask)).toEqual([160, 80, 40]);
  });

  it('takes no more of a relay whose slots other lanes want as well', () => {
    expect(claims({ ...SOLE, soleLane: false }, 10)).toEqual(HANDFULS);
  });
});

describe('what it asks of high priority alone', () => {
  const SPENT = { ...SOLE, left: 0, leftForHigh: 7 };
  const lane = () => new Lane('out', 1, Number.POSITIVE_INFINITY, 0);

  it('is what high priority may still have, where all other mail has had its share of the day', () => {
    expect(lane().claimRequest(SPENT, ANY, 0)).toMatchObject({
      order: 'high_only',
      limit: 7,
      maxRecipients: 7,
    });
    expect(lane().claimRequest({ ...SPENT, leftForHigh: 0 }, ANY, 0)).toBeNull();
  });

  it('is one, as a test, of a hop that may be well again', () => {
    const one = lane();
    one.heard('ill', 0, 0);
    expect(one.claimRequest(SPENT, ANY, 500)).toBeNull();
    expect(one.claimRequest(SPENT, ANY, 1_000)).toMatchObject({ order: 'high_only', limit: 1 });
    one.inflight = 1;
    one.heardAt = 1_000;
    expect(one.claimRequest(SPENT, ANY, 2_000)).toBeNull();
  });

  it('is asked for while hands are full, but not at every turn, nor of a hop that is silent', () => {
    const one = lane();
    one.inflight = 20;
    one.reserved = 20;
    one.heardAt = 0;
    const ask = (mono: number) => one.claimRequest(SOLE, ANY, mono)?.order;
    expect([0, 499, 500].map(ask)).toEqual(['high_only', undefined, 'high_only']);
    expect(one.requestForHigh(SOLE, 15_001)).toBeNull();
    one.inflight = 19;
    one.reserved = 0;
    expect(one.requestForHigh(SOLE, 15_001)).toMatchObject({ limit: 1 });
    one.startedAt = 15_002;
    expect(one.requestForHigh(SOLE, 20_000)).toBeNull();
    one.waiting = false;
    expect(one.requestForHigh(SOLE, 5_000)).toBeNull();
  });
});

describe('what was known of its hop', () => {
  it('is forgotten: neither rest nor window remain', () => {
    const lane = new Lane('out', 1, Number.POSITIVE_INFINITY, 0);
    lane.restUntil(3_600_000);
    lane.inflight = 1;
    lane.paced(TOO_MUCH, 20, 0, 10);
    expect([lane.pace(20, 20), lane.restsUntil(20)]).toEqual([0, 3_600_000]);
    lane.forgetHop();
    expect([lane.pace(20, 20), lane.restsUntil(20)]).toEqual([20, null]);
  });
});
