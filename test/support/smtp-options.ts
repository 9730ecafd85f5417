import { resolve } from '../../src/config/resolve.ts';
import type { MessageLimits, SmtpOptions, SmtpSettings } from '../../src/ingest/smtp/options.ts';
import { cidrs } from './cidrs.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The options of an SMTP listener in force; a test may change them. */
export type SmtpTestOptions = Writable<Omit<SmtpOptions, 'settings' | 'limits'>> & {
  settings: Writable<SmtpSettings>;
  limits: Writable<MessageLimits>;
};

/** What differs from the usual. */
export interface SmtpDifferences {
  readonly settings?: Partial<SmtpSettings>;
  readonly limits?: Partial<MessageLimits>;
  /** Everything else, such as `trustedProxies`. */
  readonly others?: Partial<Omit<SmtpOptions, 'settings' | 'limits'>>;
}

/** The name of the listener in tests. */
export const HOSTNAME = 'mx.waybill.test';

const { config: DEFAULTS } = resolve({
  environment: {},
  file: null,
  stored: { settings: new Map(), relays: [] },
  readSecret: (path) => {
    throw new Error(`no file ${path}`);
  },
});
/** Limits that tests can reach, and none on their pace. */
const REACHABLE: Partial<SmtpSettings> = {
  maxConnections: 100,
  maxConnectionsPerSource: 100,
  maxMessagesPerConnection: 100,
  minDataBytesPerSecond: 0,
};
const SMALL: Partial<MessageLimits> = { rateLimitPerKey: 0, maxMessageBytes: 200_000, maxRecipients: 100 };

/** No bounce domain. */
const NO_BOUNCES: SmtpOptions['bounces'] = {
  domains: new Set(),
  maxMessageBytes: DEFAULTS.bounces.maxMessageBytes,
  ratePerSource: DEFAULTS.bounces.ratePerSource,
  tokens: () => null,
  recognise: () => null,
};

/** The configuration's defaults, with limits that tests can reach. */
export function smtpTestOptions({ settings, limits, others }: SmtpDifferences = {}): SmtpTestOptions {
  return {
    hostname: HOSTNAME,
    webuiPort: 8443,
    postmaster: 'postmaster@waybill.test',
    allowedCidrs: cidrs(...DEFAULTS.listener.allowedCidrs),
    trustedProxies: cidrs(...DEFAULTS.listener.trustedProxies),
    keyless: null,
    sources: [],
    domains: new Set(),
    bounces: NO_BOUNCES,
    ...others,
    settings: { ...DEFAULTS.listener, ...REACHABLE, ...settings },
    limits: { ...DEFAULTS.api, ...SMALL, ...limits },
  };
}
