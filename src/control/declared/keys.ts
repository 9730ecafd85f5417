import type { Fields, Item } from '../../domain/declared.ts';
import type { ApiKey } from '../../domain/key.ts';
import { keyRefusal } from '../../domain/key.ts';
import { formatTimestamp } from '../../lib/clock.ts';
import { hashSecret } from '../../lib/id.ts';
import { parseCidrs } from '../../lib/network.ts';
import { OperationError } from '../../operations/call.ts';
import { KEY_OPERATIONS } from '../../operations/keys.ts';
import type { Swap } from '../../store/configuring.ts';
import { ASKING } from '../door.ts';
import { changedKey, newKey } from '../keys.ts';
import {
  inCode,
  inFile,
  inShape,
  type Making,
  membersOf,
  orFault,
  type Reading,
  rowsAfter,
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
      if (before !== null) making.keys.push({ before, after: null });
    } else if (before === null) addKey(wanted, making);
    else making.keys.push({ before, after: changedKey(before, changesOf(wanted), world.deps, 'taken') });
  },
};

/**
 * Why keys may not change so: whoever asks with a key could not take back that it may administer no more, and neither
 * could anybody once there is no administrator. Null: they may.
 */
export function lockedOut(making: Pick<Making, 'world' | 'keys'>): string | null {
  const { keys, now, administrators } = making.world;
  const after = keysAfter(making);
  const actor = ASKING.getStore();
  const own = actor?.kind === 'key' ? keys.find(({ name }) => name === actor.name) : undefined;
  if (own !== undefined) {
    const lost = lossOf(after.find(({ id }) => id === own.id) ?? null, actor?.sourceAddress ?? null, now);
    if (lost !== null)
      return `${own.name} is the key that asks for this, and it ${lost}: ask with another key, or declare it as it is`;
  }
  const administers = (key: ApiKey) => key.mode === 'live' && lossOf(key, null, now) === null;
  if (administrators.length > 0 || !keys.some(administers) || after.some(administers)) return null;
  return 'nobody could administer this server over the network any more: declare a key with the scope admin, or set up the dashboard first (waybill admin setup-link)';
}

/** The keys that there will be. */
export function keysAfter({ world, keys: swaps }: Pick<Making, 'world' | 'keys'>): ApiKey[] {
  const rows = swaps.map(
    (swap): Swap<ApiKey> => (swap.before === null ? { before: null, after: swap.after.key } : swap),
  );
  return rowsAfter(world.keys, rows, ({ id }) => id);
}

/** Why a key would not let its holder administer from an address; null: it would. */
function lossOf(key: ApiKey | null, address: string | null, now: number): string | null {
  if (key === null) return 'would be revoked';
  if (!key.scopes.includes('admin')) return 'would lose the scope admin';
  if (keyRefusal(key, now) !== null) return 'would have expired';
  const ranges = parseCidrs(key.cidrs);
  const isOutside = ranges.ok && key.cidrs.length > 0 && address !== null && !ranges.cidrs.contains(address);
  return isOutside ? `could not be used from ${address} any more` : null;
}

function itemOf(name: string, all: Fields, state?: unknown): Item {
  return { name, fields: inFile(all), written: inFile(withoutUsual(all, ALL_USUAL)), secrets: {}, state };
}

function presentKey(key: ApiKey, { signing }: World): Item {
  const view = {
    ...key,
    test: key.mode === 'test',
    expiresAt: key.expiresAt === null ? null : formatTimestamp(key.expiresAt),
    ses: signing.has(key.id),
  };
  const all = Object.entries(view).filter(([field]) => field === 'scopes' || Object.hasOwn(ALL_USUAL, field));
  return itemOf(key.name, Object.fromEntries(all), [key.id, key.prefix]);
}

/** A key as it is declared, its values as the key that it becomes has them. */
function declaredKey(read: NewKey, reading: Reading): Item {
  const { deps, keys, signing, now } = reading.world;
  const before = keys.find(({ name }) => name === read.name);
  const { name, ...all } = read;
  if (before === undefined) {
    const { expiresAt, cidrs, senderDomains } = newKey({ ...read, ses: false }, deps, 'taken').key;
    return itemOf(name, { ...all, ...timesOf(expiresAt), cidrs, senderDomains });
  }
  if (read.test !== (before.mode === 'test'))
    throw new OperationError('refused', `${name}: a key stays a test key or a live one; declare another one`);
  if (read.ses !== signing.has(before.id))
    throw new OperationError(
      'refused',
      `${name}: a key signs from the start or never does (ses); declare another one`,
    );
  const changed = changedKey(before, changesOf(itemOf(name, all)), deps, 'taken');
  if (keyRefusal(changed, now) !== null && keyRefusal(before, now) === null)
    throw new OperationError(
      'refused',
      `${name}: expires_at is past, which would end a key that works; to end it, leave it out and use --prune`,
    );
  const { expiresAt, cidrs, senderDomains } = changed;
  return itemOf(name, { ...all, ...timesOf(expiresAt), cidrs, senderDomains });
}

type NewKey = ReturnType<typeof SHAPE.parse>;

function timesOf(expiresAt: number | null): { readonly expiresAt: string | null } {
  return { expiresAt: expiresAt === null ? null : formatTimestamp(expiresAt) };
}

/** The request that an item is. */
function requestOf({ name, fields }: Item): NewKey {
  return SHAPE.parse(inCode({ ...fields, name }));
}

/** What may change of a key. */
function changesOf(item: Item): Omit<NewKey, 'name' | 'test' | 'ses'> {
  const { name: _, test: __, ses: ___, ...changes } = requestOf(item);
  return changes;
}

function addKey(wanted: Item, { world, keys, made }: Making): void {
  const { key, secret, signing } = newKey(requestOf(wanted), world.deps, 'taken');
  keys.push({
    before: null,
    after: { key, secretHash: hashSecret(secret), signing: signing?.stored ?? null },
  });
  // The secret of a key that has expired is of no use to anybody.
  if (keyRefusal(key, world.now) === null)
    made.push({ section: 'keys', name: key.name, secret, signing: signing?.access ?? null });
}
