import type { Submission } from '../../src/domain/message.ts';
import type { Relay } from '../../src/domain/relay.ts';
import type { RouteRule } from '../../src/domain/route.ts';
import type { EngineSettings } from '../../src/engine/contract.ts';

const MINUTE = 60_000;
/** How long simulated mail waits before it expires, in ms. */
export const MAX_AGE_MS = 30 * MINUTE;

/** Mail to one domain leaves by two relays in order, to another by two that are drawn, the rest by one. */
const RULES: readonly RouteRule[] = [
  {
    name: 'ordered',
    match: { recipientDomain: new Set(['example.net']) },
    via: [
      { relay: 'out', weight: 1 },
      { relay: 'other', weight: 1 },
    ],
    order: 'given',
  },
  {
    name: 'drawn',
    match: { recipientDomain: new Set(['example.com']) },
    via: [
      { relay: 'other', weight: 3 },
      { relay: 'third', weight: 1 },
    ],
    order: 'weighted',
  },
];
/** Recipients take turns among these. */
const DOMAINS: readonly string[] = ['example.net', 'example.com', 'example.org'];

/** What simulated engines are told. */
export const SETTINGS: EngineSettings = {
  routing: { version: 2, rules: RULES, defaultRelay: 'out', postmaster: null },
  holds: new Map(),
  reports: { hostname: 'relay.example', relay: null, delayAfterMs: 4 * 60 * MINUTE, perHour: 1_000_000 },
  retry: { firstMs: 10_000, maxMs: 5 * MINUTE, maxAgeMs: MAX_AGE_MS, ambiguous: 'retry' },
  retention: {
    contentAgeMs: 7 * 24 * 60 * MINUTE,
    contentMaxBytes: 1e9,
    capturedAgeMs: 7 * 24 * 60 * MINUTE,
    capturedMaxBytes: 1e9,
    recordAgeMs: 90 * 24 * 60 * MINUTE,
    eventAgeMs: 90 * 24 * 60 * MINUTE,
    feedbackAgeMs: 90 * 24 * 60 * MINUTE,
    maxUnsubscribeLinks: 1000,
  },
  suppressions: {
    scope: { hard_bounce: 'global', complaint: 'domain', unsubscribe: 'domain' },
    days: { hard: 0, soft: 30, provider: 90, complaint: 0, unsubscribe: 0 },
    softBounces: 5,
    maxEntries: 1_000_000,
  },
  compactBelowPercent: 25,
  tokenAgeMs: 14 * 24 * 60 * MINUTE,
  queue: { maxBytes: null, maxMessagesPerKey: 1_000_000 },
  diskCriticalBytes: 1,
  shortWayBytes: 1e6,
};

/** A submission whose contents are its token, to so many recipients. */
export function submissionNamed(token: string, count: number): Submission {
  const recipients = Array.from({ length: count }, (_, i) => ({
    address: `r${i}@${DOMAINS[i % DOMAINS.length]}`,
    kind: 'to' as const,
    notify: null,
    orcpt: null,
  }));
  const bytes = Buffer.from(token, 'latin1');
  const flags = { eightBit: false, utf8: false, dotStuffing: false };
  return {
    envelope: { reversePath: 'a@example.com', recipients, ret: null, envid: null },
    content: { chunks: [bytes], sizeBytes: bytes.length, flags },
    header: { from: 'a@example.com', subject: token, messageId: `<${token}@example.com>` },
    tags: [],
    metadata: {},
    sendAt: null,
    priority: 'normal',
    source: 'api',
    sourceAddress: null,
    requestId: null,
    keyId: null,
    keyName: null,
    reportable: false,
    stream: null,
    ignoresSuppression: false,
    signing: [],
    test: false,
    idempotency: null,
  };
}

/** A relay of simulated engines. */
export function relayNamed(name: string): Relay {
  const limits = {
    maxConcurrency: 4,
    maxRatePerSecond: 0,
    maxMessageBytes: 0,
    maxRecipients: 3,
    maxPerDay: 0,
    reservePercent: 0,
    warmUp: null,
  };
  return {
    name,
    type: 'smtp',
    limits,
    origin: 'file',
    disabled: false,
    smtp: null,
    mx: null,
    provider: null,
  };
}
