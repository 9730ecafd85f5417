import { generateKeyPair, type KeyObject } from 'node:crypto';
import {
  algorithmsOf,
  type DkimAlgorithm,
  type DomainKey,
  keyState,
  MAX_DOMAIN_KEYS,
  MAX_DOMAINS,
  newSelector,
  nextForgotten,
  type OwnReturnPath,
  recordUntil,
  SELECTOR,
  type SendingDomain,
  selectorLetter,
  withNewKeys,
  withoutOverdue,
} from '../domain/domain-keys.ts';
import { parseDomain } from '../domain/domain-name.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import type { DomainDetail, DomainKeyView, DomainOperations, DomainView } from '../operations/domains.ts';
import type { RequestOf } from '../operations/table.ts';
import { realMachine } from './doctor/machine.ts';
import { changeDomain } from './domain-book.ts';
import { checkDomains, type DomainDeps } from './domain-checks/check.ts';
import { keyName, recordsOf } from './domain-records.ts';

/** Longest name of a key's record (RFC 1035 §2.3.4, as text). */
const MAX_NAME = 253;

export const ALGORITHMS: Readonly<Record<RequestOf<'addDomain'>['algorithm'], readonly DkimAlgorithm[]>> = {
  rsa: ['rsa-sha256'],
  ed25519: ['ed25519-sha256'],
  both: ['rsa-sha256', 'ed25519-sha256'],
};

/** The operations on domains. */
export function domainOperations(deps: DomainDeps): DomainOperations {
  return {
    domains: async () => deps.resolution().config.domains.map(viewOf),
    domain: async ({ name }) => detailOf(domainNamed(name, deps), deps),
    addDomain: (request) => addDomain(request, deps),
    removeDomain: async ({ name }) => {
      const known = domainNamed(name, deps);
      const { before } = await changeDomain(known.name, () => null, deps);
      return detailOf(before ?? known, deps);
    },
    updateDomain: (request) => updateDomain(request, deps),
    rotateDomain: (request) => rotateDomain(request, deps),
    checkDomains: async ({ name }) =>
      await checkDomains(name === null ? null : domainNamed(name, deps).name, deps),
  };
}

async function addDomain(request: RequestOf<'addDomain'>, deps: DomainDeps): Promise<DomainDetail> {
  const name = readName(request.name);
  if (deps.resolution().config.domains.some((domain) => domain.name === name)) throw knownAlready(name);
  const now = deps.clock.wall();
  const order = { domain: null, algorithms: ALGORITHMS[request.algorithm], selector: request.selector, now };
  refuseNames(name, selectorsFor(order), null);
  const keys = await newKeys(order);
  const { after } = await changeDomain(
    name,
    (before, count) => {
      if (before !== null) throw knownAlready(name);
      if (count >= MAX_DOMAINS)
        throw new OperationError(
          'refused',
          `There are already ${count} domains; ${MAX_DOMAINS} is the limit. Remove one first: waybill domains remove NAME`,
        );
      return withNewKeys({ name, since: now, keys: [], returnPath: null }, keys, now, true);
    },
    deps,
  );
  return detailOf(made(after), deps);
}

async function updateDomain(request: RequestOf<'updateDomain'>, deps: DomainDeps): Promise<DomainDetail> {
  const known = domainNamed(request.name, deps);
  const wanted = request.returnPath === null ? null : readReturnPath(request.returnPath, known.name);
  if (wanted !== null && deps.resolution().config.domains.some(({ name }) => name === wanted))
    throw new OperationError(
      'invalid',
      `${wanted} is a domain that mail is sent from: its mailboxes would get no mail. Choose one below it, such as bounces.${known.name}`,
    );
  const { after } = await changeDomain(
    known.name,
    (before) => {
      if (before === null) throw noSuchDomain(known.name);
      if ((before.returnPath?.domain ?? null) === wanted) return before;
      const returnPath = wanted === null ? null : { domain: wanted, seenAt: null, isGood: false };
      return { ...before, returnPath };
    },
    deps,
  );
  return detailOf(made(after), deps);
}

export function readReturnPath(text: string, name: string): string {
  const read = parseDomain(text.trim());
  if (read !== null && !read.startsWith('[') && read.includes('.')) return read;
  throw new OperationError(
    'invalid',
    `${JSON.stringify(text)} is not a domain that bounces can come back to. Write it like bounces.${name}`,
  );
}

async function rotateDomain(request: RequestOf<'rotateDomain'>, deps: DomainDeps): Promise<DomainDetail> {
  const domain = domainNamed(request.name, deps);
  const now = deps.clock.wall();
  const algorithms = request.algorithm === null ? algorithmsOf(domain) : ALGORITHMS[request.algorithm];
  const order = { domain, algorithms, selector: request.selector, now };
  refuseNames(domain.name, selectorsFor(order), domain);
  const keys = await newKeys(order);
  const { after } = await changeDomain(
    domain.name,
    (before) => {
      if (before === null) throw noSuchDomain(domain.name);
      refuseNames(domain.name, selectorsOf(keys), before);
      const next = withNewKeys(withoutOverdue(before, now), keys, now, request.now);
      if (next.keys.length > MAX_DOMAIN_KEYS) throw tooManyKeys(before);
      return next;
    },
    deps,
  );
  return detailOf(made(after), deps);
}

/** A new key's record needs a valid name that no other key uses. */
export function refuseNames(name: string, selectors: readonly string[], domain: SendingDomain | null): void {
  for (const selector of selectors) {
    if (!SELECTOR.test(selector))
      throw new OperationError(
        'invalid',
        `${JSON.stringify(selector)} is not a selector: it must be one label of a domain name, 1 to 63 of a-z 0-9 -`,
      );
    if (keyName(name, selector).length > MAX_NAME)
      throw new OperationError('invalid', `${keyName(name, selector)} is too long for a name in the DNS.`);
    if (domain?.keys.some((key) => key.selector === selector))
      throw new OperationError(
        'invalid',
        `${name} already has a key ${selector}, and a selector is never reused: mail in transit may be signed with it. Choose another, or omit --selector.`,
      );
  }
}

function selectorsOf(keys: readonly DomainKey[]): readonly string[] {
  return keys.map(({ selector }) => selector);
}

export function tooManyKeys(domain: SendingDomain): OperationError {
  const at = nextForgotten(domain);
  const when = at === null ? '' : ` The next one is forgotten at ${formatTimestamp(at)}.`;
  return new OperationError(
    'refused',
    `${domain.name} has ${domain.keys.length} keys, including retired ones that must still be in the DNS; ${MAX_DOMAIN_KEYS} is the limit.${when}`,
  );
}

/** Parses a sending domain: a name with a dot, in any script. */
export function readName(text: string): string {
  const name = parseDomain(text.trim());
  if (name !== null && !name.startsWith('[') && name.includes('.')) return name;
  const at = text.lastIndexOf('@');
  const hint = at < 0 ? '' : ` Give only the part after the @: ${text.slice(at + 1)}`;
  throw new OperationError(
    'invalid',
    `${JSON.stringify(text)} is not a domain that mail can be sent from. Write it like example.com.${hint}`,
  );
}

function domainNamed(text: string, deps: DomainDeps): SendingDomain {
  const name = parseDomain(text.trim());
  const found = deps.resolution().config.domains.find((domain) => domain.name === name);
  if (found === undefined) throw noSuchDomain(text);
  return found;
}

function noSuchDomain(name: string): OperationError {
  return new OperationError(
    'not_found',
    `There is no domain ${JSON.stringify(name)}. See: waybill domains list`,
  );
}

function knownAlready(name: string): OperationError {
  return new OperationError(
    'refused',
    `${name} is already registered. See its records: waybill domains show ${name}. New keys: waybill domains rotate ${name}`,
  );
}

/** The domain, which such a change never removes. */
function made(domain: SendingDomain | null): SendingDomain {
  if (domain === null) throw new Error('the change left no domain');
  return domain;
}

function detailOf(domain: SendingDomain, deps: DomainDeps): DomainDetail {
  const { config } = deps.resolution();
  return { ...viewOf(domain), records: recordsOf(domain, config, realMachine(deps.clock).addresses()) };
}

function viewOf({ name, since, keys, returnPath }: SendingDomain): DomainView {
  return {
    name,
    since: formatTimestamp(since),
    keys: keys.map(keyViewOf),
    returnPath: returnPath === null ? null : { domain: returnPath.domain, state: stateOf(returnPath) },
  };
}

function stateOf({ seenAt, isGood }: OwnReturnPath): 'waiting' | 'used' | 'failing' {
  if (isGood) return 'used';
  return seenAt === null ? 'waiting' : 'failing';
}

function keyViewOf(key: DomainKey): DomainKeyView {
  const { selector, algorithm, createdAt, activeSince, retiredAt, privateKey } = key;
  const until = recordUntil(key);
  const time = (ms: number | null) => (ms === null ? null : formatTimestamp(ms));
  return {
    selector,
    algorithm,
    state: keyState(key),
    createdAt: formatTimestamp(createdAt),
    activeSince: time(activeSince),
    retiredAt: time(retiredAt),
    recordUntil: time(until),
    unreadable: retiredAt === null && privateKey === null,
  };
}

/** RFC 8301 §3.2 requires at least 1024; longer keys do not fit into one string, or one datagram, everywhere. */
const RSA_BITS = 2048;
/** RFC 8410 §4: the last octets of a public key's DER are the key itself (RFC 8463 §4 wants it alone). */
const ED25519_BYTES = 32;

interface NewKeysOrder {
  /** The domain that gets them; null if it is new. */
  readonly domain: SendingDomain | null;
  readonly algorithms: readonly DkimAlgorithm[];
  /** Null: derived from the date. With several algorithms a letter follows. */
  readonly selector: string | null;
  /** Wall ms. */
  readonly now: number;
}

/** The selector of each algorithm's key. */
export function selectorsFor({ domain, algorithms, selector, now }: NewKeysOrder): readonly string[] {
  return algorithms.map((algorithm) => {
    if (selector === null) return newSelector(domain, algorithm, now);
    return algorithms.length > 1 ? selector + selectorLetter(algorithm) : selector;
  });
}

/** Makes a waiting key for each algorithm, off the event loop. */
export async function newKeys(order: NewKeysOrder): Promise<readonly DomainKey[]> {
  const selectors = selectorsFor(order);
  return await Promise.all(
    order.algorithms.map(async (algorithm, at): Promise<DomainKey> => {
      const pair = algorithm === 'rsa-sha256' ? await rsaPair() : await ed25519Pair();
      const life = { createdAt: order.now, activeSince: null, retiredAt: null };
      return { selector: selectors[at] ?? '', algorithm, ...pair, ...life };
    }),
  );
}

type Pair = Pick<DomainKey, 'publicKey'> & { readonly privateKey: string };

function rsaPair(): Promise<Pair> {
  return new Promise((resolve, reject) => {
    generateKeyPair('rsa', { modulusLength: RSA_BITS }, (error, publicKey, privateKey) => {
      if (error) reject(error);
      else resolve({ publicKey: derOf(publicKey).toString('base64'), privateKey: secretOf(privateKey) });
    });
  });
}

function ed25519Pair(): Promise<Pair> {
  return new Promise((resolve, reject) => {
    generateKeyPair('ed25519', undefined, (error, publicKey, privateKey) => {
      if (error) return reject(error);
      const raw = derOf(publicKey).subarray(-ED25519_BYTES);
      resolve({ publicKey: raw.toString('base64'), privateKey: secretOf(privateKey) });
    });
  });
}

function derOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function secretOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'der' }).toString('base64');
}
