import type { Fields, Item } from '../../domain/declared.ts';
import type { ApiKey } from '../../domain/key.ts';
import { keyRefusal } from '../../domain/key.ts';
import { formatTimestamp } from '../../lib/clock.ts';
import { hashSecret } from '../../lib/id.ts';
import { OperationError } from '../../operations/call.ts';
import { KEY_OPERATIONS } from '../../operations/keys.ts';
import { ASKING } from '../door.ts';
import { changedKey, newKey } from '../keys.ts';
import {
  inFile,
  inShape,
  type Making,
  membersOf,
  orFault,
  type Reading,
  type Section,
  type World,
  withoutNamesakes,
  withoutUsual,
} from './section.ts';

/** API keys, by their names: what they may do, never their secrets. A new key's secret is told once. */

const SHAPE = KEY_OPERATIONS.createKey.request;
/** What goes without saying. */
const USUAL = { test: false, rateLimit: null, expiresAt: null, cidrs: [], senderDomains: [] };
/** The same with what the shape itself fills in. */
const {
  name: _name,
  scopes: _scopes,
  ...ALL_USUAL
} = SHAPE.parse({ ...USUAL, name: 'x', scopes: ['admin'] });

/** See above. */
export const KEYS: Section = {
  name: 'keys',
  present: (world) => world.keys.map((key) => presentKey(key, world)),
  written: (items) => items.map(({ name, written }) => ({ name, ...written })),
  read: (raw, reading) =>
    withoutNamesakes(
      membersOf(raw, 'keys', reading).flatMap(({ place, fields }) => {
        const read = inShape({ ...inFile(USUAL), ...fields }, SHAPE, place, reading);
        const item = read === null ? null : orFault(place, reading, () => declaredKey(read, reading));
        return item === null ? [] : [{ ...item, place }];
      }),
      reading,
    ),
  carryOut: ({ present, wanted }, making) => {
    const { world } = making;
    const before = world.keys.find(({ name }) => name === (wanted ?? present)?.name) ?? null;
    if (wanted === null) {
      refuseOwn(before);
      if (before !== null) making.keys.push({ before, after: null });
    } else if (before === null) addKey(wanted, making);
    else making.keys.push({ before, after: changedKey(before, changesOf(wanted), world.deps) });
  },
};

/** Who asks with a key could not take back that it is revoked. */
function refuseOwn(key: ApiKey | null): void {
  const actor = ASKING.getStore();
  if (actor?.kind === 'key' && actor.name === key?.name)
    throw new OperationError('refused', 'This is asked with that key: declare it, or ask with another one.');
}

/** The keys that there will be, without those that expired: an export has no use for them. */
export function lastingKeys({ keys, now }: Pick<World, 'keys' | 'now'>): readonly ApiKey[] {
  return keys.filter((key) => keyRefusal(key, now) === null);
}

function itemOf(name: string, all: Fields): Item {
  return { name, fields: inFile(all), written: inFile(withoutUsual(all, ALL_USUAL)), secrets: {} };
}

function presentKey(key: ApiKey, { signing }: World): Item {
  const view = {
    ...key,
    test: key.mode === 'test',
    expiresAt: key.expiresAt === null ? null : formatTimestamp(key.expiresAt),
    ses: signing.has(key.id),
  };
  const all = Object.entries(view).filter(([field]) => field === 'scopes' || Object.hasOwn(ALL_USUAL, field));
  return itemOf(key.name, Object.fromEntries(all));
}

/** A key as it is declared, its values as the key that it becomes has them. */
function declaredKey(read: NewKey, reading: Reading): Item {
  const { deps, keys, signing } = reading.world;
  const before = keys.find(({ name }) => name === read.name);
  const { name, ...all } = read;
  if (before === undefined) {
    const { expiresAt, cidrs, senderDomains } = newKey({ ...read, ses: false }, deps).key;
    return itemOf(name, { ...all, ...timesOf(expiresAt), cidrs, senderDomains });
  }
  if (read.test !== (before.mode === 'test'))
    throw new OperationError('refused', `${name}: a key stays a test key or a live one; declare another one`);
  if (read.ses !== signing.has(before.id))
    throw new OperationError(
      'refused',
      `${name}: a key signs from the start or never does (ses); declare another one`,
    );
  const { expiresAt, cidrs, senderDomains } = changedKey(before, changesOf(itemOf(name, all)), deps);
  return itemOf(name, { ...all, ...timesOf(expiresAt), cidrs, senderDomains });
}

type NewKey = ReturnType<typeof SHAPE.parse>;

function timesOf(expiresAt: number | null): { readonly expiresAt: string | null } {
  return { expiresAt: expiresAt === null ? null : formatTimestamp(expiresAt) };
}

/** The request that an item is. */
function requestOf({ name, fields }: Item): NewKey {
  const nothing = {
    fault: (place: string, text: string) => {
      throw new Error(`${place}: ${text}`);
    },
  };
  const read = inShape({ ...fields, name }, SHAPE, name, nothing);
  if (read === null) throw new Error(`${name} is no key`);
  return read;
}

/** What may change of a key. */
function changesOf(item: Item): Omit<NewKey, 'name' | 'test' | 'ses'> {
  const { name: _, test: __, ses: ___, ...changes } = requestOf(item);
  return changes;
}

function addKey(wanted: Item, { world, keys, made }: Making): void {
  const { key, secret, signing } = newKey(requestOf(wanted), world.deps);
  keys.push({
    before: null,
    after: { key, secretHash: hashSecret(secret), signing: signing?.stored ?? null },
  });
  made.push({ section: 'keys', name: key.name, secret, signing: signing?.access ?? null });
}
