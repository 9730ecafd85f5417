import { SECRET_FIELDS } from '../config/relay-fields.ts';
import type { Relay } from '../domain/relay.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { LimitsView, RelayDetail } from '../operations/relays.ts';
import type { RequestOf } from '../operations/table.ts';
import type { StoredRelay } from '../store/registry.ts';
import { relayFields } from './local-config.ts';
import type { LocalDeps } from './local-deps.ts';
import { viewOf } from './relay-views.ts';

/** See `RelayOperations.relay`. */
export async function relayDetail({ name }: RequestOf<'removeRelay'>, deps: LocalDeps): Promise<RelayDetail> {
  const view = await viewOf(name, deps);
  const { config } = deps.resolution();
  const stored = (await deps.registry.relays()).find((row) => row.name === name);
  const relay = config.relays.find((one) => one.name === name);
  const rules = config.routes.filter(({ via }) => via.some((hop) => hop.relay === name));
  const history = deps.server()?.relayHistory(name) ?? [];
  return {
    ...view,
    definition: relay === undefined ? null : definitionOf(relay, stored),
    hasSecret: view.origin === 'stored' ? stored?.secret != null : relay !== undefined && hasSecret(relay),
    limits: relay === undefined ? null : limitsOf(relay),
    history: history.map(({ at, ...rest }) => ({ ...rest, at: formatTimestamp(at) })),
    rules: rules.map((rule) => rule.name),
  };
}

function limitsOf({ limits, mx }: Relay): LimitsView {
  const { maxConcurrency, maxRatePerSecond, maxRecipients, maxMessageBytes } = limits;
  return {
    ...{ maxConcurrency, maxRatePerSecond, maxRecipients, maxMessageBytes },
    maxPerDomain: mx?.maxPerDomain ?? null,
  };
}

/** What was stored, as it was given; of a file's relay what it came to. */
function definitionOf(
  relay: Relay,
  stored: StoredRelay | undefined,
): Readonly<Record<string, unknown>> | null {
  if (relay.origin === 'builtin') return null;
  if (relay.origin === 'stored' && stored !== undefined) return JSON.parse(stored.definition);
  const fields = Object.entries({ name: relay.name, ...relayFields(relay) });
  const isOpen = ([field, value]: readonly [string, unknown]) =>
    value !== null && !SECRET_FIELDS.some((secret) => secret === field);
  return Object.fromEntries(fields.filter(isOpen));
}

function hasSecret({ smtp, provider }: Relay): boolean {
  return (smtp?.password ?? smtp?.oauth ?? null) !== null || provider !== null;
}
