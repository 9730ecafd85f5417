import { openDomains, sealDomain } from '../config/domains.ts';
import { parseDkimRecord } from '../dns/mail-records.ts';
import type { Resolver } from '../dns/resolver.ts';
import {
  type DomainKey,
  keysIn,
  type SendingDomain,
  switched,
  withoutOverdue,
} from '../domain/domain-keys.ts';
import type { Clock } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import type { Registry, StoredDomain } from '../store/registry.ts';
import type { LocalDeps } from './deps.ts';
import { KEY_TYPES, keyName } from './domain-records.ts';
import { requireGoodSources } from './in-force.ts';

/** Applies changes of stored domains one after the other: each sees the result of the one before. */

/** What changing domains needs. */
type BookDeps = Pick<LocalDeps, 'registry' | 'resolution' | 'reload'>;

/** Computes the changed domain from the domain and the number of domains; null removes it, or means none. */
type DomainChange = (domain: SendingDomain | null, count: number) => SendingDomain | null;

/** The last change of each store, under way or done. */
const last = new WeakMap<Registry, Promise<unknown>>();

/** Changes a domain and applies that. Returns it before and after. If `change` throws, the domain stays as it was. */
export function changeDomain(
  name: string,
  change: DomainChange,
  deps: BookDeps,
): Promise<{ readonly before: SendingDomain | null; readonly after: SendingDomain | null }> {
  return inDomainOrder(deps.registry, () => changeNow(name, change, deps));
}

/** Does something once every change of domains before it is made; those after it wait for it. */
export function inDomainOrder<T>(registry: Registry, act: () => Promise<T>): Promise<T> {
  const done = (last.get(registry) ?? Promise.resolve()).then(act);
  last.set(
    registry,
    done.catch(() => {}),
  );
  return done;
}

async function changeNow(name: string, change: DomainChange, deps: BookDeps) {
  const { registry } = deps;
  await requireGoodSources(deps);
  const { vault } = deps.resolution();
  if (vault === null)
    throw new OperationError(
      'unavailable',
      'The key that encrypts secrets cannot be read. See: waybill config',
    );
  const rows = await registry.domains();
  const row = rows.find((stored) => stored.name === name) ?? null;
  const before = row === null ? null : opened(row, vault);
  const after = change(before, rows.length);
  if (after === before) return { before, after };
  if (after === null) await registry.removeDomain(name);
  else await registry.putDomain(sealDomain(after, vault, row));
  await deps.reload();
  return { before, after };
}

function opened(row: StoredDomain, vault: Parameters<typeof openDomains>[1]): SendingDomain {
  const [domain] = openDomains([row], vault).domains;
  if (domain === undefined)
    throw new OperationError('refused', `The stored data of ${row.name} is from another version of Waybill.`);
  return domain;
}

// Periodic work on a domain: new keys sign once their records are visible, old ones are removed.

/** What that work needs. */
export interface MindingDeps extends BookDeps {
  readonly clock: Clock;
}

/** What was done. */
interface Minded {
  /** Selectors of keys that sign from now on. */
  readonly switchedTo: readonly string[];
  /** Selectors of retired keys that were removed. */
  readonly forgotten: readonly string[];
}

const NOTHING: Minded = { switchedTo: [], forgotten: [] };

/**
 * Does the work for one domain. Waiting keys replace the old ones together, once all their records are visible: the
 * operator meant them as a set. Rejects as {@link changeDomain} does; DNS failures only delay the work.
 */
export async function mindDomain(
  domain: SendingDomain,
  resolver: Resolver,
  deps: MindingDeps,
  signal: AbortSignal,
): Promise<Minded> {
  const waiting = keysIn(domain, 'waiting');
  const sights = await Promise.all(waiting.map((key) => lookForKey(domain.name, key, resolver, signal)));
  const areSeen = waiting.length > 0 && sights.every(({ kind }) => kind === 'seen');
  const now = deps.clock.wall();
  if (!areSeen && withoutOverdue(domain, now) === domain) return NOTHING;
  const seen = waiting.map(({ selector }) => selector);
  const { before, after } = await changeDomain(
    domain.name,
    (current) => {
      if (current === null) return null;
      // New keys may have been added meanwhile, which nobody has looked up.
      const same = keysIn(current, 'waiting').every(({ selector }) => seen.includes(selector));
      return withoutOverdue(areSeen && same ? switched(current, now) : current, now);
    },
    deps,
  );
  return { switchedTo: gained(before, after), forgotten: lost(before, after) };
}

function gained(before: SendingDomain | null, after: SendingDomain | null): readonly string[] {
  const signed = selectors(before === null ? [] : keysIn(before, 'signing'));
  return selectors(after === null ? [] : keysIn(after, 'signing')).filter((one) => !signed.includes(one));
}

function lost(before: SendingDomain | null, after: SendingDomain | null): readonly string[] {
  const left = selectors(after?.keys ?? []);
  return after === null ? [] : selectors(before?.keys ?? []).filter((one) => !left.includes(one));
}

function selectors(keys: SendingDomain['keys']): readonly string[] {
  return keys.map(({ selector }) => selector);
}

/**
 * The look-up of a key's record. `seen`: it is as required. `wrong`: it exists, but differs, as `detail` says;
 * `revoked`: the key was withdrawn (an empty `p=`). `unknown`: the DNS did not answer.
 */
export interface Sight {
  readonly kind: 'seen' | 'missing' | 'wrong' | 'revoked' | 'unknown';
  /** A sentence; empty if there is nothing to say. */
  readonly detail: string;
}

const SEEN: Sight = { kind: 'seen', detail: '' };

/** Looks up a key's record. Never rejects. */
export async function lookForKey(
  domain: string,
  key: DomainKey,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<Sight> {
  const answer = await resolver.resolve(keyName(domain, key.selector), 'TXT', signal);
  if (answer.kind === 'failed') return { kind: 'unknown', detail: answer.text };
  if (answer.kind !== 'found') return { kind: 'missing', detail: 'There is no such record.' };
  const [text = '', ...others] = answer.records;
  // Of several records, receivers may use any (RFC 6376 §3.6.2.2).
  if (others.length > 0) return wrong(`There are ${others.length + 1} records, but there must be one.`);
  return judge(text, key);
}

function judge(text: string, { algorithm, publicKey }: DomainKey): Sight {
  const record = parseDkimRecord(text);
  if (record === null) return wrong('The record there is not a key record.');
  if (record.publicKey === '')
    return { kind: 'revoked', detail: 'Its p= is empty: the key is revoked there.' };
  if (record.keyType !== KEY_TYPES[algorithm])
    return wrong(`Its k= is ${record.keyType}, and the key is ${KEY_TYPES[algorithm]}.`);
  if (record.publicKey !== publicKey)
    return publicKey.startsWith(record.publicKey)
      ? wrong('Its p= is cut off; publish the whole value, in several strings if one is too short.')
      : wrong('Its p= is a different public key.');
  if (record.hashes !== null && !record.hashes.includes('sha256')) return wrong('Its h= leaves sha256 out.');
  if (record.otherService) return wrong('Its s= leaves email out.');
  if (record.testing)
    return { kind: 'seen', detail: 'It has t=y: receivers are told to ignore the signature.' };
  return SEEN;
}

function wrong(detail: string): Sight {
  return { kind: 'wrong', detail };
}
