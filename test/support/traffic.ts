import { noTraffic, type TrafficMeasure, tagsText } from '../../src/domain/traffic.ts';
import type { ReplyCount, TrafficCount } from '../../src/store/traffic.ts';

/** A Friday noon (UTC), in minutes since 1970. */
export const COUNTED_MINUTE = Date.UTC(2026, 10, 20, 12) / 60_000;

const KIND = {
  relay: 'out',
  domain: 'example.org',
  provider: '',
  keyId: 'key_shop',
  tags: tagsText(['news']),
};

/** One recipient, delivered within 2 seconds, unless it says otherwise. */
export function trafficCount(
  changes: Partial<Omit<TrafficCount, 'sums'>> = {},
  sums: Partial<Record<TrafficMeasure, number>> = { accepted: 1, delivered: 1 },
): TrafficCount {
  const times = noTraffic().times.map((none, place) => (place === 4 ? (sums.delivered ?? 0) : none));
  return { minute: COUNTED_MINUTE, ...KIND, ...changes, sums: { ...noTraffic(), ...sums, times } };
}

/** One recipient that does not exist. */
export function replyCount(changes: Partial<ReplyCount> = {}): ReplyCount {
  return {
    hour: COUNTED_MINUTE / 60,
    ...KIND,
    group: '550 5.1.1 [address] is unknown',
    deferred: 0,
    failed: 1,
    bounced: 0,
    example: '550 5.1.1 <[address]> is unknown',
    messageId: 'msg_1',
    ...changes,
  };
}
