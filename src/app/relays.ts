import { isDeepStrictEqual } from 'node:util';
import { serverName } from '../config/names.ts';
import type { Config } from '../config/schema.ts';
import type { MailDns } from '../control/mail-dns.ts';
import { beginsAfter, dayOf, dayText, shareOf } from '../domain/quota.ts';
import type { Relay, RelayLimits } from '../domain/relay.ts';
import type { QuotaState } from '../engine/quota.ts';
import type { Relays } from '../engine/relays.ts';
import type { Budget } from '../lib/budget.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { RelayQuota, RelayStatus } from '../observe/health-report.ts';
import { createInboxTransport } from '../transport/inbox/inbox.ts';
import { createMxTransport } from '../transport/mx/mx.ts';
import type { TlsWatch } from '../transport/mx/sessions.ts';
import { providerFor } from '../transport/providers/provider-for.ts';
import { smarthostTokens } from '../transport/providers/tokens.ts';
import { createProviderTransport } from '../transport/providers/transport.ts';
import type { Resign } from '../transport/smtp/hop-forms.ts';
import { createSmtpTransport } from '../transport/smtp/smtp.ts';
import type { Transport } from '../transport/transport.ts';

/** What transports are made with. */
export interface TransportParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly dns: MailDns;
  /** Is told of sessions with the servers of domains. */
  readonly watch: TlsWatch;
  /** Signs again a message that a hop made us convert. */
  readonly resign: Resign;
  /** Bytes of messages on their way to providers, of all relays together. */
  readonly memory: Budget;
}

/** Brings the engine's relays in line with the configuration; unchanged ones stay as they are. */
export function applyRelays(relays: Relays, config: Config, parts: TransportParts): void {
  const wanted = new Map(config.relays.map((relay) => [relay.name, usable(relay, config)]));
  for (const { relay } of [...relays.all()]) if (!wanted.has(relay.name)) relays.remove(relay.name);
  for (const relay of wanted.values())
    if (!isDeepStrictEqual(relays.get(relay.name)?.relay, relay))
      relays.put(relay, transportFor(relay, serverName(config), parts));
}

/** The current state of each relay, for health and metrics. */
export function relayStates(relays: Relays, clock: Clock): RelayStatus[] {
  return [...relays.all()].map(({ relay: { name, disabled, limits }, inflight, quota }) => ({
    name,
    state: relays.breakerState(name, clock.mono()),
    refusal: relays.refusalOf(name),
    inflight,
    disabled,
    quota: quotaOf(limits, quota.state(clock.wall()), clock.wall()),
  }));
}

function quotaOf(limits: RelayLimits, state: QuotaState | null, now: number): RelayQuota | null {
  if (state === null) return null;
  const begins = beginsAfter(dayOf(now), limits);
  return {
    ...state,
    begins: begins === null ? null : dayText(begins),
    spent: state.used >= shareOf(state.allowance, limits.reservePercent, 'normal'),
  };
}

/** A relay whose password or secret cannot be read is kept, and rests until it can. */
function usable(relay: Relay, config: Config): Relay {
  return config.unreadableRelays.includes(relay.name) ? { ...relay, disabled: true } : relay;
}

function transportFor(relay: Relay, hostname: string, parts: TransportParts): Transport {
  const { clock, random, log, dns, resign, memory, watch } = parts;
  if (relay.type === 'smtp') {
    const oauth = relay.smtp?.oauth;
    const tokens = oauth === undefined ? {} : { tokens: smarthostTokens(oauth, { clock }) };
    return createSmtpTransport({ relay, hostname, clock, log, resign, ...tokens });
  }
  if (relay.type === 'mx')
    return createMxTransport({ relay, hostname, clock, random, log, resign, watch, ...dns });
  if (relay.provider === null) return createInboxTransport();
  return createProviderTransport({ relay, provider: providerFor(relay.provider), clock, log, memory });
}
