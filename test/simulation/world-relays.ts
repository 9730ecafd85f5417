// A file of its own, since world.ts has no room for it.
import type { MxSettings, Relay } from '../../src/domain/relay.ts';
import type { RouteRule } from '../../src/domain/route.ts';
import { DIRECT_DOMAINS, NO_MAIL_DOMAIN } from './hop-domains.ts';
import { relayNamed } from './scene.ts';

const MX: MxSettings = {
  helo: null,
  sourceIps: [],
  ipFamily: 'any',
  returnPath: 'auto',
  port: 25,
  tls: 'opportunistic',
  allowPrivate: true,
  maxPerDomain: 2,
  presets: false,
};
const DIRECT: Relay = { ...relayNamed('direct'), type: 'mx', mx: MX };
const THIRD = relayNamed('third');
/** The relays of a world: two of type `smtp`, one `mx`, and one with a daily quota. */
export const RELAYS: readonly Relay[] = [
  relayNamed('out'),
  relayNamed('other'),
  DIRECT,
  { ...THIRD, limits: { ...THIRD.limits, maxPerDay: 60, reservePercent: 20 } },
];
/** Mail to domains that are in the DNS of the world. */
export const DIRECT_RULE: RouteRule = {
  name: 'direct',
  match: { recipientDomain: new Set([...DIRECT_DOMAINS, NO_MAIL_DOMAIN]) },
  via: [
    { relay: 'direct', weight: 1 },
    { relay: 'other', weight: 1 },
  ],
  order: 'given',
};
