import { formatFault } from '../config/fault.ts';
import { hookTypeOf, provenNote } from '../config/hook-tokens.ts';
import { heloFault } from '../config/names.ts';
import { SECRET_FIELDS } from '../config/relay-fields.ts';
import { packSecrets } from '../config/relay-secrets.ts';
import type { Effective } from '../config/sources.ts';
import { relayOfLane } from '../domain/lane.ts';
import { INBOX, type Relay } from '../domain/relay.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import { UNWATCHED } from '../operations/operation.ts';
import type {
  LimitsView,
  RelayDetail,
  RelayOperations,
  RelaySwitch,
  RelayView,
} from '../operations/relays.ts';
import type { RequestOf } from '../operations/table.ts';
import type { StoredRelay } from '../store/registry.ts';
import { relayFields } from './configuration.ts';
import type { LocalDeps } from './deps.ts';
import { putIntoForce, requireGoodSources } from './in-force.ts';
import { readDefinition, SECRET_TO_COME, updateRelay } from './relay-changes.ts';
import { relayForms } from './relay-forms.ts';
import { testRelay } from './relay-test.ts';
import { relayViews, viewOf } from './relay-views.ts';
import { testSender } from './test-messages.ts';

const DEFAULT_RELAY = 'delivery.default_relay';
/** The operations on relays. */
export function relayOperations(deps: LocalDeps): RelayOperations {
  return {
    relays: () => relayViews(deps),
    addRelay: (request) => addRelay(request, deps),
    checkRelay: (request) => checkRelay(request, deps),
    relay: (request) => relayDetail(request, deps),
    updateRelay: async (request) => {
      await requireGoodSources(deps);
      return await updateRelay(request, deps);
    },
    relayForms: async () => relayForms(),
    removeRelay: (request) => removeRelay(request, deps),
    switchRelay: (request) => switchRelay(request, deps),
    testRelay: (request, progress = UNWATCHED) => testRelay(request, deps, progress),
  };
}

async function checkRelay(
  { definition, makeDefault }: RequestOf<'checkRelay'>,
  deps: LocalDeps,
): Promise<RequestOf<'removeRelay'>> {
  if (makeDefault === null) return { name: readDefinition(definition, SECRET_TO_COME, deps).name };
  await requireGoodSources(deps);
  return { name: newRelay({ definition, secret: SECRET_TO_COME, makeDefault }, deps).name };
}

/** The relay of a definition to add. Throws `OperationError` if it may not be added. */
function newRelay(
  {
    definition,
    secret,
    makeDefault,
  }: Pick<RequestOf<'addRelay'>, 'definition' | 'makeDefault'> & {
    readonly secret: Parameters<typeof readDefinition>[1];
  },
  deps: LocalDeps,
): Relay {
  const { config, effective } = deps.resolution();
  const relay = readDefinition(definition, secret, deps);
  if (config.relays.some(({ name }) => name === relay.name))
    throw new OperationError(
      'refused',
      `There is already a relay ${relay.name}. Remove it first, or choose another name.`,
    );
  const nameless = heloFault(relay, config, effective);
  if (nameless !== null) throw new OperationError('invalid', formatFault(nameless));
  checkDefault(relay.name, makeDefault, deps);
  return relay;
}

async function addRelay(request: RequestOf<'addRelay'>, deps: LocalDeps): Promise<RelayView> {
  const { registry } = deps;
  await requireGoodSources(deps);
  const { makeDefault } = request;
  const relay = newRelay(request, deps);
  const stored = newRow(relay.name, request, deps);
  const wasDefault = (await registry.settings()).get(DEFAULT_RELAY) ?? null;
  const defaultTo = (value: string | null) => new Map(makeDefault ? [[DEFAULT_RELAY, value]] : []);
  await putIntoForce(
    deps,
    // In one transaction: with relays besides the inbox but no default relay, the server would refuse to start.
    () => registry.putRelay(stored, defaultTo(JSON.stringify(relay.name))),
    () => registry.removeRelay(relay.name, defaultTo(wasDefault)),
  );
  return await viewOf(relay.name, deps);
}

/** The row of a relay whose definition has been read. Throws `OperationError`. */
export function newRow(
  name: string,
  { definition, secret }: Pick<RequestOf<'addRelay'>, 'definition' | 'secret'>,
  deps: Pick<LocalDeps, 'resolution'>,
): StoredRelay {
  const { vault } = deps.resolution();
  if (secret !== null && vault === null)
    throw new OperationError(
      'unavailable',
      'The key that encrypts passwords cannot be read. See: waybill config',
    );
  const packed = packSecrets(definition, secret);
  return {
    name,
    definition: JSON.stringify(definition),
    // The secret always comes with this very definition: none is ever carried over to another host, endpoint, port,
    // type or verification, where someone who may change relays could collect it.
    secret: packed === null ? null : (vault?.seal(packed, name) ?? null),
    disabled: false,
  };
}

/** Once there is a relay besides the inbox, an operator must have said where mail goes. */
function checkDefault(name: string, makeDefault: boolean, deps: LocalDeps): void {
  const { origin, source } = defaultRelay(deps);
  if (makeDefault && (origin === 'file' || origin === 'environment'))
    throw new OperationError(
      'refused',
      `${DEFAULT_RELAY} is set by ${source}; change it there, and omit --default.`,
    );
  if (!makeDefault && origin === 'default')
    throw new OperationError(
      'invalid',
      `This is the first relay besides ${INBOX}, so you must say where mail goes. Repeat the command with --default to send it through ${name}, or set ${DEFAULT_RELAY} in the configuration file first (to ${INBOX}, to keep capturing it).`,
    );
}

async function removeRelay(request: RequestOf<'removeRelay'>, deps: LocalDeps): Promise<RelayView> {
  const { registry } = deps;
  await requireGoodSources(deps);
  const relay = await viewOf(request.name, deps);
  refuseNeeded(relay, deps);
  refuseRouted(relay.name, deps);
  if (relay.isDefault) requireLast(relay.name, deps);
  const stored = (await registry.relays()).find(({ name }) => name === relay.name);
  const held = (await registry.holds()).filter(({ target }) => relayOfLane(target) === relay.name);
  const note = provenNote(relay.name);
  const proven = (await registry.settings()).get(note) ?? null;
  const settings = (defaultRelay: string | null, provenAt: string | null) =>
    new Map([[note, provenAt], ...(relay.isDefault ? [[DEFAULT_RELAY, defaultRelay] as const] : [])]);
  await putIntoForce(
    deps,
    // In one transaction: with a missing default relay, the server would refuse to start.
    () => registry.removeRelay(relay.name, settings(null, null)),
    async () => {
      if (stored !== undefined) await registry.putRelay(stored, settings(JSON.stringify(relay.name), proven));
      for (const { target, ...hold } of held) await registry.putHold(target, hold);
    },
  );
  deps.server()?.forgetHookProofs(relay.name);
  return relay;
}

/** Throws `refused` for a relay that is not stored, that mail still waits for, or that sends reports. */
export function refuseNeeded(relay: RelayView, deps: Pick<LocalDeps, 'resolution'>): void {
  if (relay.origin !== 'stored')
    throw new OperationError(
      'refused',
      relay.origin === 'file'
        ? `The relay ${relay.name} is declared in the configuration file; remove it there.`
        : `The relay ${relay.name} is built in and cannot be removed.`,
    );
  const left = relay.waiting + relay.processing;
  if (left > 0)
    throw new OperationError(
      'refused',
      `Mail still waits for the relay ${relay.name} (recipients: ${left}). Move it: waybill queue reroute --relay ${relay.name} --to-relay NAME. Or let it be delivered, and keep new mail away meanwhile: waybill queue drain ${relay.name}`,
    );
  if (deps.resolution().config.delivery.reportRelay === relay.name)
    throw new OperationError(
      'refused',
      `Reports to senders go through ${relay.name}; change delivery.report_relay first.`,
    );
}

/** A rule that names a removed relay would ignore it: the operator must change the rule instead. */
function refuseRouted(name: string, deps: LocalDeps): void {
  const { config } = deps.resolution();
  const rules = config.routes.filter(({ via }) => via.some(({ relay }) => relay === name));
  if (rules.length === 0) return;
  const names = rules.map((rule) => rule.name).join(', ');
  throw new OperationError(
    'refused',
    `Routing rules send mail through the relay ${name}: ${names}. Change them first. See: waybill routes show`,
  );
}

/** The default relay may be removed if it is the last one: then mail is captured again. */
function requireLast(name: string, deps: LocalDeps): void {
  const { origin, source } = defaultRelay(deps);
  if (origin === 'file' || origin === 'environment')
    throw new OperationError(
      'refused',
      `Mail goes to ${name} by default; change ${DEFAULT_RELAY} first (${source}).`,
    );
  const others = deps
    .resolution()
    .config.relays.filter((relay) => relay.name !== name && relay.name !== INBOX);
  if (others.length > 0)
    throw new OperationError(
      'refused',
      `Mail goes to ${name} by default, and there are other relays. Set ${DEFAULT_RELAY} to one of them in the configuration file first.`,
    );
}

async function switchRelay(
  { name, disabled }: RequestOf<'switchRelay'>,
  deps: LocalDeps,
): Promise<RelaySwitch> {
  const { registry } = deps;
  await requireGoodSources(deps);
  const relay = await viewOf(name, deps);
  const stored = (await registry.relays()).find((row) => row.name === name);
  if (relay.origin !== 'stored' || stored === undefined) throw notStored(relay);
  const changed = stored.disabled !== disabled;
  if (changed)
    await putIntoForce(
      deps,
      () => registry.putRelay({ ...stored, disabled }),
      () => registry.putRelay(stored),
    );
  return { ...(await viewOf(name, deps)), changed };
}

/** A relay that we may not switch off can still be held. */
function notStored({ name, origin }: RelayView): OperationError {
  const where =
    origin === 'file'
      ? `is declared in the configuration file; remove it there, or hold its mail`
      : 'is built in and cannot be disabled; hold its mail';
  return new OperationError(
    'refused',
    `The relay ${name} ${where}: waybill queue pause ${name} (and then: waybill queue resume ${name})`,
  );
}

function defaultRelay(deps: LocalDeps): Effective {
  const found = deps.resolution().effective.find(({ key }) => key === DEFAULT_RELAY);
  if (found === undefined) throw new Error(`the table of settings lacks ${DEFAULT_RELAY}`);
  return found;
}

/** See `RelayOperations.relay`. */
async function relayDetail({ name }: RequestOf<'removeRelay'>, deps: LocalDeps): Promise<RelayDetail> {
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
    hasWebhookSecret: (relay?.provider?.webhookSecret ?? null) !== null,
    hasHook: relay !== undefined && hookTypeOf(relay) !== null,
    limits: relay === undefined ? null : limitsOf(relay),
    history: history.map(({ at, ...rest }) => ({ ...rest, at: formatTimestamp(at) })),
    rules: rules.map((rule) => rule.name),
    testSender: testSender(relay ?? { smtp: null }, config),
  };
}

function limitsOf({ limits, mx }: Relay): LimitsView {
  const { maxConcurrency, maxRatePerSecond, maxRecipients, maxMessageBytes } = limits;
  return {
    maxConcurrency,
    maxRatePerSecond,
    maxRecipients,
    maxMessageBytes,
    maxPerDomain: mx?.maxPerDomain ?? null,
  };
}

/** A stored definition as given; for a relay from the file, its effective form. */
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
