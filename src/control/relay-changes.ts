import { formatFault } from '../config/fault.ts';
import { provenNote } from '../config/hook-tokens.ts';
import { heloFault } from '../config/names.ts';
import { RELAY_FIELDS, SECRET_FIELDS } from '../config/relay-fields.ts';
import {
  changedSecrets,
  type GivenSecret,
  packSecrets,
  secretFields,
  unpackSecrets,
} from '../config/relay-secrets.ts';
import { readRelay } from '../config/relays.ts';
import { INBOX, type Relay } from '../domain/relay.ts';
import { OperationError } from '../operations/call.ts';
import type { RelayView } from '../operations/relays.ts';
import type { RequestOf } from '../operations/table.ts';
import type { StoredRelay } from '../store/registry.ts';
import { relayFields } from './configuration.ts';
import type { LocalDeps } from './deps.ts';
import { putIntoForce } from './in-force.ts';
import { viewOf } from './relay-views.ts';

/** See `RelayOperations.updateRelay`. The caller has checked the sources. */
export async function updateRelay(request: RequestOf<'updateRelay'>, deps: LocalDeps): Promise<RelayView> {
  const { name } = request;
  const { registry } = deps;
  const view = await viewOf(name, deps);
  const { old, stored } = await storedRelay(view, deps);
  const { changed, isAnother } = changedRelay(request, { view, old, stored }, deps);
  const note = provenNote(name);
  const proven = (await registry.settings()).get(note) ?? null;
  const noted = (provenAt: string | null) => new Map(isAnother ? [[note, provenAt]] : []);
  await putIntoForce(
    deps,
    () => registry.putRelay(changed, noted(null)),
    () => registry.putRelay(stored, noted(proven)),
  );
  if (isAnother) deps.server()?.forgetHookProofs(name);
  return await viewOf(name, deps);
}

/** A relay that is there already. */
export interface PresentRelay {
  readonly view: RelayView;
  readonly old: Relay;
  readonly stored: StoredRelay;
}

/** The changed row of a relay, and whether it is of another type. Throws `OperationError` if it may not be so. */
export function changedRelay(
  request: RequestOf<'updateRelay'>,
  { view, old, stored }: PresentRelay,
  deps: LocalDeps,
): { readonly changed: StoredRelay; readonly isAnother: boolean } {
  const { name } = request;
  const definition = { ...request.definition, name: request.definition['name'] ?? name };
  if (definition.name !== name)
    throw new OperationError(
      'invalid',
      `A relay keeps its name: mail and routing rules refer to it by name. Add another one as ${JSON.stringify(definition.name)}, and remove ${name} once nothing waits for it.`,
    );
  const { config, effective, vault } = deps.resolution();
  const opened = stored.secret === null ? null : (vault?.open(stored.secret, name) ?? null);
  const kept = unpackSecrets(definition, opened);
  const secret = changedSecrets(
    definition,
    request.secret,
    old.type === request.definition['type'] ? kept : null,
  );
  const keeps = secret === null && stored.secret !== null && wantsSecret(definition);
  const relay = readDefinition(definition, keeps ? SECRET_TO_COME : secret, deps);
  if (keeps || keepsSecret(definition, request.secret)) refuseOtherPlace(old, relay);
  refuseOtherLanes(old, relay, view);
  // With several secrets, those kept may not be what the new definition needs.
  if (keeps && opened !== null) readDefinition(definition, kept, deps);
  const nameless = heloFault(relay, config, effective);
  if (nameless !== null) throw new OperationError('invalid', formatFault(nameless));
  if (secret !== null && vault === null)
    throw new OperationError(
      'unavailable',
      'The key that encrypts passwords cannot be read. See: waybill config',
    );
  const packed = packSecrets(definition, secret);
  const sealed = packed === null ? null : (vault?.seal(packed, name) ?? null);
  const changed = {
    ...stored,
    definition: JSON.stringify(definition),
    secret: keeps ? stored.secret : sealed,
  };
  return { changed, isAnother: old.type !== relay.type };
}

async function storedRelay(
  { name, origin }: RelayView,
  deps: LocalDeps,
): Promise<{ readonly old: Relay; readonly stored: StoredRelay }> {
  const old = deps.resolution().config.relays.find((relay) => relay.name === name);
  const stored = (await deps.registry.relays()).find((row) => row.name === name);
  if (origin === 'stored' && old !== undefined && stored !== undefined) return { old, stored };
  throw new OperationError(
    'refused',
    name === INBOX
      ? `The relay ${name} is built in and cannot be changed.`
      : `The relay ${name} is declared in the configuration file; change it there.`,
  );
}

/** Recipients' own servers, and a smarthost without a user name, need no password. */
function wantsSecret({ type, username = null }: Readonly<Record<string, unknown>>): boolean {
  return type !== 'mx' && (type !== 'smtp' || username !== null);
}

/** Whether a change gives a secret of the webhooks alone, so that the other one stays. */
function keepsSecret(definition: Readonly<Record<string, unknown>>, given: GivenSecret | null): boolean {
  return given !== null && Object.keys(secretFields(definition, given)).join() === 'webhook_secret';
}

/** A secret never moves to a place where someone who may change relays could collect it (contract §11). */
function refuseOtherPlace(old: Relay, relay: Relay): void {
  const was = relayFields(old);
  const is = relayFields(relay);
  const changed = RELAY_FIELDS.filter(
    ({ name, binds }) => binds && (was[name] ?? null) !== (is[name] ?? null),
  );
  if (changed.length === 0) return;
  const parts = changed.map(({ name }) => name).join(', ');
  throw new OperationError(
    'invalid',
    `Give the password or secret again, because this changes where it is sent or how that is protected: ${parts}.`,
  );
}

/** Mail waits in lanes: one per relay or, for type `mx`, one per recipient domain. */
function refuseOtherLanes(old: Relay, relay: Relay, { name, waiting, processing }: RelayView): void {
  const left = waiting + processing;
  if (left === 0 || (old.type === 'mx') === (relay.type === 'mx')) return;
  throw new OperationError(
    'refused',
    `Mail waits for the relay ${name} (recipients: ${left}), which a relay of type ${relay.type} would not find. Move it first: waybill queue reroute --relay ${name} --to-relay NAME`,
  );
}

/** Stands for a secret that is requested only after the rest was checked. */
export const SECRET_TO_COME = Symbol('secret to come');

/** The relay of a requested definition and its secrets, which are separate. Throws `invalid`, naming the fields as of `origin`. */
export function readDefinition(
  definition: Readonly<Record<string, unknown>>,
  secret: GivenSecret | null | typeof SECRET_TO_COME,
  deps: LocalDeps,
  origin = { key: 'relay', source: 'command line' },
): Relay {
  // The definition itself is stored and shown in clear.
  const inside = SECRET_FIELDS.flatMap((name) => [name, `${name}_file`]).filter((name) =>
    Object.hasOwn(definition, name),
  );
  if (inside.length > 0)
    throw new OperationError('invalid', `Give a secret separately from the definition: ${inside.join(', ')}`);
  const reading = readRelay({
    raw: secret === SECRET_TO_COME ? definition : { ...definition, ...secretFields(definition, secret) },
    ...origin,
    origin: 'stored',
    secretElsewhere: secret === SECRET_TO_COME,
    privateRelays: deps.resolution().config.delivery.privateRelays,
    readSecret: () => {
      throw new Error('give the secret itself');
    },
  });
  if (reading.relay !== null) return reading.relay;
  throw new OperationError('invalid', reading.faults.map(formatFault).join('\n'));
}
