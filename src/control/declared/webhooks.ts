import { z } from 'zod';
import { isRecord } from '../../config/kinds.ts';
import {
  newWebhookSecret,
  rotatedSecrets,
  sealedSecrets,
  signingSecrets,
} from '../../config/webhook-secrets.ts';
import { canonical, type Fields, type Item } from '../../domain/declared.ts';
import { feedbackText } from '../../domain/feedback.ts';
import type { WebhookEndpoint } from '../../domain/webhook.ts';
import { OperationError } from '../../operations/call.ts';
import { NEW_WEBHOOK } from '../../operations/webhooks.ts';
import type { WebhookRow } from '../../store/configuring.ts';
import { headersIn, typesIn, urlIn } from '../webhook-view.ts';
import {
  inFile,
  inShape,
  type Making,
  membersOf,
  namesGiven,
  orFault,
  type Reading,
  type Section,
  secretFile,
  secretOf,
  type World,
  withoutUsual,
} from './section.ts';

/**
 * Webhooks, known by their URL and the key that they belong to; several with the same are told apart by a number. Their
 * own headers are secrets, as one may be a password.
 */

const { headers: _, ...FIELDS } = NEW_WEBHOOK;
const SHAPE = z.strictObject({
  ...FIELDS,
  key: z.string().nullable().default(null).describe('The key that it belongs to; null: an administrator’s.'),
});
const { url: _url, ...USUAL } = SHAPE.parse({ url: 'https://x.example/' });
const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

/** See above. */
export const WEBHOOKS: Section = {
  name: 'webhooks',
  present: (world) => rowsByName(world).map(({ name, row }) => presentWebhook(name, row, world)),
  elsewhere: ({ webhooks }) =>
    webhooks.flatMap(({ endpoint: { inFile: own } }) => (own === null ? [] : [`webhooks ${own}`])),
  written: (items) =>
    items.map(({ name, written, secrets }) => ({
      ...written,
      ...Object.fromEntries(
        Object.keys(secrets).map((field) => [`${field}_file`, secretFile('webhooks', name, field)]),
      ),
    })),
  read: (raw, reading) => {
    const read = membersOf(raw, 'webhooks', reading).flatMap(({ place, fields }) => {
      const item = orFault(place, reading, () => declaredWebhook(fields, place, reading));
      return item === null ? [] : [item];
    });
    const present = WEBHOOKS.present(reading.world) ?? [];
    return named(read, present).flatMap(({ place, missing, ...item }) => {
      if (missing.length === 0 || present.some(({ name }) => name === item.name)) return [item];
      reading.fault(
        place,
        `${missing.join(', ')} must be there, as the webhook is new; without the field it gets a secret of its own`,
      );
      return [];
    });
  },
  carryOut: ({ present, wanted }, making) => {
    const { world, webhooks } = making;
    const name = (wanted ?? present)?.name ?? '';
    const before = rowsByName(world).find((one) => one.name === name)?.row ?? null;
    if (before === null && wanted !== null) webhooks.push({ before, after: newWebhook(wanted, making) });
    else if (before !== null)
      webhooks.push({ before, after: wanted === null ? null : changedWebhook(before, wanted, making) });
  },
};

/** Endpoints that are not of the file, and whose keys are not revoked. */
function rowsByName(world: World): { readonly name: string; readonly row: WebhookRow }[] {
  const seen = new Map<string, number>();
  const live = new Set(world.keys.map(({ id }) => id));
  return world.webhooks.flatMap((row) => {
    const { inFile: isOfFile, keyId, keys } = row.endpoint;
    const isTold =
      (keyId === null || live.has(keyId)) && (keys.length === 0 || keys.some((key) => live.has(key)));
    if (isOfFile !== null || !isTold) return [];
    return [{ name: numbered(labelOf(row.endpoint.url, nameOf(keyId, world)), seen), row }];
  });
}

function labelOf(url: unknown, key: unknown): string {
  return key === null ? String(url) : `${String(url)} of ${String(key)}`;
}

/** The second of a name is `name #2`. */
function numbered(label: string, seen: Map<string, number>): string {
  const count = (seen.get(label) ?? 0) + 1;
  seen.set(label, count);
  return count === 1 ? label : `${label} #${count}`;
}

function nameOf(keyId: string | null, { keys }: World): string | null {
  return keyId === null ? null : (keys.find(({ id }) => id === keyId)?.name ?? null);
}

/** Names of the keys that an endpoint is told of, without those that are revoked. */
function namesOf({ keys }: Pick<WebhookEndpoint, 'keys'>, world: World): string[] {
  return keys.flatMap((key) => nameOf(key, world) ?? []);
}

function presentWebhook(name: string, { endpoint, secrets: sealed }: WebhookRow, world: World): Item {
  const { id, url, types, tags, description, includesSubject, enabled, headers } = endpoint;
  const fields = {
    url,
    types,
    keys: namesOf(endpoint, world),
    tags,
    description,
    include: includesSubject ? ['subject'] : [],
    enabled,
    key: nameOf(endpoint.keyId, world),
  };
  const [secret] = signingSecrets(sealed, id, world.vault, world.now) ?? [];
  const secrets = {
    ...(secret !== undefined && { secret }),
    ...(Object.keys(headers).length > 0 && { headers: canonical(headers) }),
  };
  return { name, ...bothForms(fields), secrets, state: id };
}

function bothForms(all: Fields): Pick<Item, 'fields' | 'written'> {
  return { fields: inFile(all), written: inFile(withoutUsual(all, USUAL)) };
}

/** A webhook of a file, before it has a name. */
interface Declared extends Omit<Item, 'name'> {
  readonly place: string;
  /** The files that it names, and that were not there. */
  readonly missing: readonly string[];
}

function declaredWebhook(raw: Fields, place: string, reading: Reading): Declared | null {
  const { world } = reading;
  const { secret_file: secretFrom, headers_file: headersFrom, ...rest } = raw;
  const read = inShape(rest, SHAPE, place, reading);
  if (read === null) return null;
  const keys = keyNames(reading);
  for (const key of [...read.keys, ...(read.key === null ? [] : [read.key])])
    if (!keys.includes(key)) throw new OperationError('invalid', `there is no key ${key}`);
  if (read.key !== null && read.keys.length > 0)
    throw new OperationError(
      'invalid',
      'one that belongs to a key is told of its mail alone: leave out keys',
    );
  const url = urlIn(read.url, world.deps);
  const fields = {
    ...read,
    url,
    types: typesIn(read.types),
    description: feedbackText(read.description),
  };
  const secret = secretFrom === undefined ? undefined : secretOf('secret_file', secretFrom, reading);
  if (secret !== undefined && !SECRET.test(secret))
    throw new OperationError('invalid', 'secret_file must hold whsec_ and the base64 of 24 to 64 bytes');
  const headers = headersFrom === undefined ? undefined : secretOf('headers_file', headersFrom, reading);
  const secrets = {
    ...(secret !== undefined && { secret }),
    ...(headers !== undefined && { headers: canonical(readHeaders(headers)) }),
  };
  const missing = [
    ...(secretFrom !== undefined && secret === undefined ? [String(secretFrom)] : []),
    ...(headersFrom !== undefined && headers === undefined ? [String(headersFrom)] : []),
  ];
  return { ...bothForms(fields), secrets, place, missing };
}

/** Names of the keys that there are afterwards. */
function keyNames(reading: Reading): string[] {
  const { world, declared, prune } = reading;
  const wanted = namesGiven('keys', reading);
  return prune && declared.has('keys') ? wanted : [...wanted, ...world.keys.map(({ name }) => name)];
}

function readHeaders(text: string): Readonly<Record<string, string>> {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    read = null;
  }
  if (!isRecord(read)) throw new OperationError('invalid', 'headers_file must hold a JSON object of headers');
  const texts = Object.entries(read).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  if (texts.length < Object.keys(read).length)
    throw new OperationError('invalid', 'headers_file: every header must be a text');
  return headersIn(Object.fromEntries(texts));
}

/** Declared ones with their names: of several with one label, those that are there as they are keep their numbers. */
function named(read: readonly Declared[], present: readonly Item[]): (Declared & Item)[] {
  const free = new Set(present);
  const same = read.map((item) => {
    const found = [...free].find((one) => canonical(one.fields) === canonical(item.fields));
    if (found !== undefined) free.delete(found);
    return found?.name;
  });
  const taken = new Set(same);
  return read.map((item, place) => {
    const label = labelOf(item.fields['url'], item.fields['key']);
    const seen = new Map<string, number>();
    let name = same[place] ?? numbered(label, seen);
    while (same[place] === undefined && taken.has(name)) name = numbered(label, seen);
    taken.add(name);
    return { name, ...item };
  });
}

function newWebhook(item: Item, making: Making): WebhookRow {
  const { world, made } = making;
  const id = making.nextId('whe_');
  const { secret } = item.secrets;
  const own = secret ?? newWebhookSecret(world.deps.random);
  if (secret === undefined) made.push({ section: 'webhooks', name: item.name, secret: own, signing: null });
  const endpoint = endpointOf(item, { id, createdAt: world.now, headers: {}, keys: [] }, making);
  return { endpoint, secrets: sealedSecrets(own, id, world.vault) };
}

function changedWebhook({ endpoint, secrets }: WebhookRow, item: Item, making: Making): WebhookRow {
  const { vault, now } = making.world;
  const { secret } = item.secrets;
  const [present] = signingSecrets(secrets, endpoint.id, vault, now) ?? [];
  const isOther = secret !== undefined && secret !== present;
  return {
    endpoint: endpointOf(item, endpoint, making),
    secrets: isOther ? rotatedSecrets(secrets, secret, endpoint.id, vault, now) : secrets,
  };
}

function endpointOf(
  { fields, secrets }: Item,
  former: Pick<WebhookEndpoint, 'id' | 'createdAt' | 'headers' | 'keys'>,
  { world, keys: swaps }: Making,
): WebhookEndpoint {
  const { key, keys, include, ...told } = SHAPE.parse(fields);
  const made = swaps.flatMap(({ before, after }) => (before === null ? [after.key] : []));
  const idOf = (name: string) => [...made, ...world.keys].find((one) => one.name === name)?.id ?? name;
  return {
    id: former.id,
    keyId: key === null ? null : idOf(key),
    inFile: null,
    url: told.url,
    types: told.types,
    // Mail that a revoked key left behind is told of as long as nobody says otherwise.
    keys: canonical(keys) === canonical(namesOf(former, world)) ? former.keys : keys.map(idOf),
    tags: told.tags,
    description: told.description,
    includesSubject: include.length > 0,
    enabled: told.enabled,
    headers: secrets['headers'] === undefined ? former.headers : readHeaders(secrets['headers']),
    createdAt: former.createdAt,
    updatedAt: world.now,
  };
}
