/** A provider's API and a transport that speaks to it. All is closed after each test, and nothing may be left open. */
import { expect, onTestFinished } from 'vitest';
import type { ProviderSettings, ProviderType, Relay } from '../../../src/domain/relay.ts';
import { Budget } from '../../../src/lib/budget.ts';
import type { Log, LogFields } from '../../../src/lib/log.ts';
import type { Resolve } from '../../../src/transport/providers/dial.ts';
import { PROVIDER_MEMORY, type ProviderTimeouts } from '../../../src/transport/providers/limits.ts';
import type { AnswerRow, Provider } from '../../../src/transport/providers/provider.ts';
import { providerFor } from '../../../src/transport/providers/provider-for.ts';
import { createProviderTransport } from '../../../src/transport/providers/transport.ts';
import type { Transport, TransportResult } from '../../../src/transport/transport.ts';
import { type ApiOptions, ProviderApi } from '../../peers/provider-api.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { deliver, type Mail, only, relayTo } from '../smtp-out/rig.ts';

type Common = 'endpoint' | 'allowPrivate' | 'secret';
type Loose<T> = T extends unknown ? Omit<T, Common> & Partial<Pick<ProviderSettings, Common>> : never;

/** Settings of a provider, without what the rig knows: the endpoint is the API's, and private addresses will do. */
export type RigSettings = Loose<ProviderSettings>;

/** The secret that every provider has, unless a test gives another. */
export const SECRET = 'key-5ecret0fthetest';

/** Settings of each provider, for tests of them all. */
export const SETTINGS: Readonly<Record<ProviderType, RigSettings>> = {
  ses: { type: 'ses', region: 'eu-west-1', accessKeyId: 'AKIDEXAMPLE', configurationSet: null },
  mailgun: { type: 'mailgun', domain: 'mg.example.com' },
  postmark: { type: 'postmark', messageStream: null },
  sendgrid: { type: 'sendgrid' },
  resend: { type: 'resend' },
  graph: {
    type: 'graph',
    tenant: 'example.com',
    clientId: 'client',
    mailbox: 'sender@example.org',
    authority: 'https://login.example',
  },
  webhook: { type: 'webhook', secret: 'c2VjcmV0LWZvci1kb2N1bWVudHM=' },
};

/** What a test may set. */
export interface ProviderRigOptions {
  readonly api?: ApiOptions;
  /** Instead of the one that belongs to the settings. */
  readonly provider?: (settings: ProviderSettings) => Provider;
  readonly timeouts?: Partial<ProviderTimeouts>;
  readonly resolve?: Resolve;
  readonly limits?: Partial<Relay['limits']>;
  readonly memory?: Budget;
}

/** See the file's head. */
export interface ProviderRig {
  readonly api: ProviderApi;
  readonly provider: Provider;
  readonly relay: Relay;
  readonly transport: Transport;
  /** Stands still until advanced: no time-out happens by accident. */
  readonly clock: ManualClock;
  /** What was logged, as text. */
  readonly log: readonly string[];
  deliver(mail?: Mail): Promise<TransportResult>;
}

/** Starts an API, and a transport that speaks to it. */
export async function startProvider(
  settings: RigSettings,
  options: ProviderRigOptions = {},
): Promise<ProviderRig> {
  const api = await ProviderApi.start(options.api);
  const clock = new ManualClock();
  const relay = providerRelay(settings, api.url, options.limits);
  const full = relay.provider;
  if (!full) throw new Error('no provider');
  const provider = (options.provider ?? providerFor)(full);
  const log: string[] = [];
  const transport = createProviderTransport({
    relay,
    provider,
    clock,
    log: logTo(log),
    memory: options.memory ?? new Budget(PROVIDER_MEMORY),
    ...(options.timeouts ? { timeouts: options.timeouts } : {}),
    ...(options.resolve ? { resolve: options.resolve } : {}),
  });
  onTestFinished(async () => {
    await transport.close();
    expect(transport.connections()).toBe(0);
  });
  return { api, provider, relay, transport, clock, log, deliver: (mail) => deliver(transport, mail) };
}

/** A relay of a provider whose API is at `url`, unless the settings say otherwise. */
export function providerRelay(
  settings: RigSettings,
  url: string,
  limits: Partial<Relay['limits']> = {},
): Relay {
  const plain = relayTo({});
  return {
    ...plain,
    type: settings.type,
    limits: { ...plain.limits, ...limits },
    smtp: null,
    provider: { endpoint: url, allowPrivate: true, secret: SECRET, ...settings },
  };
}

function logTo(lines: string[]): Log {
  const write = (event: string, fields: LogFields = {}) =>
    void lines.push(`${event} ${JSON.stringify(fields)}`);
  return { debug: write, info: write, warn: write, error: write };
}

/** Holds that an answer was taken for what its row of the table says. For one recipient. */
export function expectMeaning(result: TransportResult, { meaning, enhanced }: AnswerRow): void {
  const kind = {
    done: 'delivered',
    later: 'deferred',
    never: 'rejected',
    relay_ill: 'deferred',
    unknown: 'unknown',
  }[meaning];
  const { kind: got, hopFailed, hopBound, enhanced: said, text } = only(result);
  expect({ kind: got, hopBound, enhanced: said }).toEqual({ kind, hopBound: false, enhanced });
  expect(hopFailed).toBe(meaning === 'relay_ill');
  expect(text).not.toContain(SECRET);
}
