/** A DNS server, SMTP sinks on loopback addresses of one port, and the `mx` transport that delivers to them. */
import { afterEach, expect, onTestFinished } from 'vitest';
import { createResolver } from '../../../src/dns/client/create-resolver.ts';
import { MtaStsPolicies } from '../../../src/dns/mta-sts.ts';
import type { MxSettings, Relay } from '../../../src/domain/relay.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import { createMxTransport, type MxTransportOptions } from '../../../src/transport/mx/mx.ts';
import type { TlsWatch } from '../../../src/transport/mx/sessions.ts';
import type { Timeouts } from '../../../src/transport/smtp/deadline.ts';
import type { PoolLimits } from '../../../src/transport/smtp/pool.ts';
import type { Transport, TransportResult } from '../../../src/transport/transport.ts';
import { type DnsServer, startDnsServer } from '../../peers/dns-server.ts';
import { type SmtpSink, startSmtpSink } from '../../peers/smtp-sink.ts';
import type { SmtpSinkOptions } from '../../peers/smtp-sink-script.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { deliver, type Mail } from '../smtp-out/rig.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** What a test may set. */
export interface MxRigOptions {
  readonly mx?: Partial<MxSettings>;
  readonly timeouts?: Partial<Timeouts>;
  readonly pool?: Partial<PoolLimits>;
  readonly isOwn?: MxTransportOptions['isOwn'];
  readonly watch?: TlsWatch;
  /** Sinks by their address; the first chooses the port for all. Default one at 127.0.0.1. */
  readonly sinks?: Readonly<Record<string, SmtpSinkOptions>>;
  /**
   * MTA-STS policy files by domain; undefined: it cannot be had, null: nor has its server a valid certificate. A domain that
   * is not named publishes nothing.
   */
  readonly policies?: Readonly<Record<string, string | null | undefined>>;
}

/** See the file's head. */
export interface MxRig {
  readonly dns: DnsServer;
  readonly transport: Transport;
  readonly port: number;
  /** Stands still until advanced. */
  readonly clock: ManualClock;
  readonly options: MxTransportOptions;
  sink(address?: string): SmtpSink;
  deliver(mail?: Mail): Promise<TransportResult>;
  /** Puts MX records at a domain and an A record for each host: `host: address`, in order of preference. */
  route(domain: string, hosts: Readonly<Record<string, string>>): void;
}

/** Starts one. Private hosts are allowed, as all of them are. */
export async function startMxRig(options: MxRigOptions = {}): Promise<MxRig> {
  const dns = await startDnsServer();
  const clock = new ManualClock();
  const sinks = new Map<string, SmtpSink>();
  let port = 0;
  for (const [host, sinkOptions] of Object.entries(options.sinks ?? { '127.0.0.1': {} })) {
    const sink = await startSmtpSink({ ...sinkOptions, host, port });
    port = sink.port;
    sinks.set(host, sink);
    onTestFinished(() => sink.close());
  }
  const settings = {
    servers: [dns.endpoint],
    trustAd: 'yes',
    timeoutMs: 3000,
    attempts: 1,
    cacheEntries: 1000,
  } as const;
  const resolver = createResolver({ settings: () => settings, clock, random: seededRandom(1) });
  for (const domain of Object.keys(options.policies ?? {}))
    dns.set(`_mta-sts.${domain}`, 'TXT', ['v=STSv1; id=1;']);
  const policies = new MtaStsPolicies({
    clock,
    fetch: async (domain) => {
      const body = options.policies?.[domain];
      if (typeof body === 'string') return { kind: 'fetched', body };
      return { kind: 'failed', text: 'none', isUntrusted: body === null };
    },
  });
  const transportOptions: MxTransportOptions = {
    relay: mxRelay({ port, ...options.mx }),
    hostname: 'client.example',
    resolver,
    policies,
    clock,
    random: seededRandom(7),
    log: silentLog,
    isOwn: options.isOwn ?? (() => false),
    ...(options.watch ? { watch: options.watch } : {}),
    ...(options.timeouts ? { timeouts: options.timeouts } : {}),
    ...(options.pool ? { poolLimits: options.pool } : {}),
  };
  const transport = createMxTransport(transportOptions);
  closers.push(async () => {
    for (const sink of sinks.values()) sink.cut();
    await transport.close();
    expect(transport.connections()).toBe(0);
  });
  return {
    dns,
    transport,
    port,
    clock,
    options: transportOptions,
    sink: (address = '127.0.0.1') => {
      const sink = sinks.get(address);
      if (!sink) throw new Error(`no sink at ${address}`);
      return sink;
    },
    deliver: (mail = {}) => deliver(transport, { to: ['one@example.net'], ...mail }),
    route: (domain, hosts) => {
      const names = Object.keys(hosts);
      dns.set(
        domain,
        'MX',
        names.map((exchange, index) => ({ preference: 10 * (index + 1), exchange })),
      );
      for (const [name, address] of Object.entries(hosts))
        dns.set(name, address.includes(':') ? 'AAAA' : 'A', [address]);
    },
  };
}

/** A relay of type `mx`. */
function mxRelay(mx: Partial<MxSettings>): Relay {
  return {
    name: 'direct',
    type: 'mx',
    origin: 'file',
    disabled: false,
    smtp: null,
    provider: null,
    limits: {
      maxConcurrency: 20,
      maxRatePerSecond: 0,
      maxMessageBytes: 0,
      maxRecipients: 100,
      maxPerDay: 0,
      reservePercent: 0,
      warmUp: null,
    },
    mx: {
      port: 25,
      tls: 'opportunistic',
      allowPrivate: true,
      maxPerDomain: 20,
      presets: false,
      helo: null,
      sourceIps: [],
      ipFamily: 'any',
      returnPath: 'auto',
      ...mx,
    },
  };
}
