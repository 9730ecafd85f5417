import { formatFault } from '../../config/fault.ts';
import { provenNote } from '../../config/hook-tokens.ts';
import { heloFault } from '../../config/names.ts';
import { SECRET_FIELDS } from '../../config/relay-fields.ts';
import { secretFields, unpackSecrets } from '../../config/relay-secrets.ts';
import type { Fields, Item } from '../../domain/declared.ts';
import { INBOX, type Relay } from '../../domain/relay.ts';
import { OperationError } from '../../operations/call.ts';
import type { StoredRelay } from '../../store/registry.ts';
import { relayFields } from '../configuration.ts';
import type { LocalDeps } from '../deps.ts';
import { changedRelay, readDefinition } from '../relay-changes.ts';
import { newRow, refuseNeeded } from '../relays.ts';
import {
  type Making,
  membersOf,
  orFault,
  type Reading,
  type Section,
  secretFile,
  secretOf,
  type World,
  withoutNamesakes,
} from './section.ts';

/** The relays that are stored; those of the configuration file stand there. */
export const RELAYS: Section = {
  name: 'relays',
  present: (world) => world.relays.map((row) => presentRelay(row, world)),
  elsewhere: ({ deps }) =>
    deps
      .resolution()
      .config.relays.flatMap(({ name, origin }) => (origin === 'file' ? [`relays ${name}`] : [])),
  written: (items) =>
    items.map(({ name, written, secrets }) => ({
      name,
      ...written,
      ...Object.fromEntries(
        Object.keys(secrets).map((field) => [`${field}_file`, secretFile('relays', name, field)]),
      ),
    })),
  read: (raw, reading) =>
    withoutNamesakes(
      membersOf(raw, 'relays', reading).flatMap(({ place, fields }) => {
        const item = orFault(place, reading, () => declaredRelay(fields, reading));
        return item === null ? [] : [{ ...item, place }];
      }),
      reading,
    ),
  carryOut: ({ present, wanted }, making) => {
    const { world, relays } = making;
    const name = (wanted ?? present)?.name ?? '';
    const before = world.relays.find((row) => row.name === name) ?? null;
    if (before === null && wanted !== null) relays.push({ before, after: newRelay(wanted, world.deps) });
    else if (before !== null && wanted !== null) changeRelay(before, wanted, making);
    else if (before !== null) removeRelay(before, making);
  },
};

function presentRelay(row: StoredRelay, { deps, vault }: World): Item {
  const { name, definition, disabled, secret } = row;
  const { name: _, ...written }: Record<string, unknown> = JSON.parse(definition);
  const relay = deps.resolution().config.relays.find((one) => one.name === name);
  const opened = secret === null ? null : vault.open(secret, name);
  return {
    name,
    // What this version cannot read is compared as it is written.
    fields: { ...(relay === undefined ? written : openFields(relay)), disabled },
    written: { ...written, ...(disabled && { disabled }) },
    secrets: secretsOf(written, unpackSecrets(written, opened)),
  };
}

function openFields(relay: Relay): Fields {
  const isOpen = ([field]: readonly [string, unknown]) => !SECRET_FIELDS.some((secret) => secret === field);
  return Object.fromEntries(Object.entries(relayFields(relay)).filter(isOpen));
}

function secretsOf(definition: Fields, given: Parameters<typeof secretFields>[1]): Record<string, string> {
  const fields = Object.entries(secretFields(definition, given));
  return Object.fromEntries(
    fields.flatMap(([field, secret]) => (secret === undefined ? [] : [[field, secret]])),
  );
}

function declaredRelay(fields: Readonly<Record<string, unknown>>, reading: Reading): Item {
  const { world } = reading;
  const { deps } = world;
  const { name, disabled = false, ...others } = fields;
  if (typeof name !== 'string') throw new OperationError('invalid', 'name: must be given, as text');
  if (typeof disabled !== 'boolean') throw new OperationError('invalid', 'disabled: must be true or false');
  const inClear = SECRET_FIELDS.filter((field) => Object.hasOwn(others, field));
  if (inClear.length > 0)
    throw new OperationError('invalid', `${name}: give a secret as the name of its file: ${inClear[0]}_file`);
  if (
    name === INBOX ||
    deps.resolution().config.relays.some((one) => one.name === name && one.origin === 'file')
  )
    throw new OperationError('refused', `${name} is built in, or stands in the configuration file`);
  const isFile = (field: string) => SECRET_FIELDS.some((secret) => field === `${secret}_file`);
  const written = Object.fromEntries(Object.entries(others).filter(([field]) => !isFile(field)));
  const before = world.relays.find((row) => row.name === name);
  const definition = { name, ...written };
  const kept = keptSecrets(definition, before, world);
  const secrets: Record<string, string> = {};
  for (const [field, file] of Object.entries(others).filter(([one]) => isFile(one))) {
    const [secret, which] = [secretOf(field, file, reading), field.replace(/_file$/, '')];
    if (secret !== undefined) secrets[which] = secret;
    else if (!Object.hasOwn(kept, which))
      throw new OperationError(
        'invalid',
        `${field}: ${String(file)} must be there, as the relay ${name} has no ${which} yet`,
      );
  }
  const all = given({ ...kept, ...secrets });
  const relay = readDefinition(definition, all, deps, { key: name, source: 'declared relay' });
  return {
    name,
    fields: { ...openFields(relay), disabled },
    written: { ...written, ...(disabled && { disabled }) },
    secrets,
  };
}

/** The secrets that a file gives; null: none. */
function given(secrets: Readonly<Record<string, string>>) {
  return Object.keys(secrets).length === 0 ? null : secrets;
}

/** The secrets that a relay has already. */
function keptSecrets(
  definition: Fields,
  before: StoredRelay | undefined,
  { vault }: World,
): Readonly<Record<string, string>> {
  if (before === undefined || before.secret === null) return {};
  return secretsOf(definition, unpackSecrets(definition, vault.open(before.secret, before.name)));
}

function newRelay({ name, written, secrets }: Item, deps: LocalDeps): StoredRelay {
  const { disabled = false, ...rest } = written;
  const definition = { name, ...rest };
  const { config, effective } = deps.resolution();
  const nameless = heloFault(readDefinition(definition, given(secrets), deps), config, effective);
  if (nameless !== null) throw new OperationError('invalid', formatFault(nameless));
  return { ...newRow(name, { definition, secret: given(secrets) }, deps), disabled: disabled === true };
}

function changeRelay(before: StoredRelay, { name, written, secrets }: Item, making: Making): void {
  const { deps, relayViews } = making.world;
  const view = relayViews.find((one) => one.name === name);
  const old = deps.resolution().config.relays.find((one) => one.name === name);
  if (view === undefined || old === undefined)
    throw new OperationError(
      'refused',
      `${name} cannot be read; remove it first: waybill relays remove ${name}`,
    );
  const { disabled = false, ...definition } = written;
  const request = { name, definition, secret: given(secrets) };
  const { changed, isAnother } = changedRelay(request, { view, old, stored: before }, deps);
  making.relays.push({ before, after: { ...changed, disabled: disabled === true } });
  if (isAnother) making.settings.set(provenNote(name), null);
}

function removeRelay(before: StoredRelay, { world, declared, relays, settings }: Making): void {
  const { name } = before;
  const { config } = world.deps.resolution();
  const view = world.relayViews.find((one) => one.name === name);
  if (view !== undefined) refuseNeeded(view, world.deps);
  // Declared rules are held to the relays that there are afterwards.
  const rules = declared.has('routes')
    ? []
    : config.routes.filter(({ via }) => via.some((one) => one.relay === name));
  if (rules.length > 0)
    throw new OperationError(
      'refused',
      `Routing rules send mail through the relay ${name}: ${rules.map((rule) => rule.name).join(', ')}. Declare the section routes without it.`,
    );
  relays.push({ before, after: null });
  settings.set(provenNote(name), null);
}
