import { z } from 'zod';
import { openDomains, sealDomain } from '../../config/domains.ts';
import type { Item } from '../../domain/declared.ts';
import {
  algorithmsOf,
  type DkimAlgorithm,
  keyState,
  keysIn,
  MAX_DOMAIN_KEYS,
  type SendingDomain,
  withNewKeys,
  withoutOverdue,
} from '../../domain/domain-keys.ts';
import { OperationError } from '../../operations/call.ts';
import { DOMAIN_OPERATIONS } from '../../operations/domains.ts';
import type { StoredDomain } from '../../store/registry.ts';
import {
  ALGORITHMS,
  newKeys,
  readName,
  readReturnPath,
  refuseNames,
  selectorsFor,
  tooManyKeys,
} from '../domains.ts';
import {
  inCode,
  inFile,
  inShape,
  type Making,
  membersOf,
  orFault,
  type Section,
  type World,
  withoutNamesakes,
  withoutUsual,
} from './section.ts';

/** Domains that mail is sent from: what they sign with, and their return paths. Their keys are made where they sign. */

const { name: NAME, algorithm: ALGORITHM } = DOMAIN_OPERATIONS.addDomain.request.shape;
const SHAPE = z.strictObject({
  name: NAME,
  algorithm: ALGORITHM.default('both'),
  returnPath: DOMAIN_OPERATIONS.updateDomain.request.shape.returnPath.default(null),
});
const USUAL = { algorithm: 'both', returnPath: null };
type Algorithm = z.output<typeof ALGORITHM>;

/** See above. */
export const DOMAINS: Section = {
  name: 'domains',
  present: (world) => domainsIn(world).map(presentDomain),
  written: (items) => items.map(({ name, written }) => ({ name, ...written })),
  read: (raw, reading) =>
    withoutNamesakes(
      membersOf(raw, 'domains', reading).flatMap(({ place, fields }) => {
        const read = inShape(fields, SHAPE, place, reading);
        const item = read === null ? null : orFault(place, reading, () => declaredDomain(read));
        return item === null ? [] : [{ ...item, place }];
      }),
      reading,
    ),
  carryOut: async ({ present, wanted }, making) => {
    const { world, domains } = making;
    const name = (wanted ?? present)?.name ?? '';
    const before = world.domains.find((row) => row.name === name) ?? null;
    if (wanted === null) {
      if (before !== null) domains.push({ before, after: null });
      return;
    }
    const after = await domainOf(wanted, before, making);
    domains.push({ before, after: sealDomain(after, world.vault, before) });
  },
};

function domainsIn({ domains, vault }: Pick<World, 'domains' | 'vault'>): readonly SendingDomain[] {
  return openDomains(domains, vault).domains;
}

function presentDomain(domain: SendingDomain): Item {
  const state = domain.keys
    .map((key) => [key.selector, keyState(key)])
    // They go by themselves.
    .filter(([, one]) => one !== 'retired');
  return itemOf(domain.name, algorithmOf(domain), domain.returnPath?.domain ?? null, state);
}

function itemOf(name: string, algorithm: Algorithm, returnPath: string | null, state?: unknown): Item {
  const all = { algorithm, returnPath };
  return { name, fields: inFile(all), written: inFile(withoutUsual(all, USUAL)), secrets: {}, state };
}

/** What it signs with, once keys that wait for their records do. */
function algorithmOf(domain: SendingDomain): Algorithm {
  const waiting = keysIn(domain, 'waiting');
  const found = waiting.length > 0 ? waiting.map(({ algorithm }) => algorithm) : algorithmsOf(domain);
  const isRsa = found.includes('rsa-sha256');
  if (isRsa && found.includes('ed25519-sha256')) return 'both';
  return isRsa ? 'rsa' : 'ed25519';
}

function declaredDomain({ name: text, algorithm, returnPath }: z.output<typeof SHAPE>): Item {
  const name = readName(text);
  return itemOf(name, algorithm, returnPath === null ? null : readReturnPath(returnPath, name));
}

/** The domain as it will be, with new keys where it is new or signs with others. */
async function domainOf(
  { name, fields }: Item,
  before: StoredDomain | null,
  making: Making,
): Promise<SendingDomain> {
  const { world, isRehearsal } = making;
  const { now, vault } = world;
  const { algorithm, returnPath } = SHAPE.parse(inCode({ ...fields, name }));
  const [present = null] = domainsIn({ domains: before === null ? [] : [before], vault });
  if (
    returnPath !== null &&
    [...world.domains, ...(making.declared.get('domains') ?? [])].some((one) => one.name === returnPath)
  )
    throw new OperationError(
      'invalid',
      `${returnPath} is a domain that mail is sent from: its mailboxes would get no mail`,
    );
  const former = present ?? { name, since: now, keys: [], returnPath: null };
  const own = returnPath === (former.returnPath?.domain ?? null) ? former.returnPath : ownPath(returnPath);
  if (present !== null && algorithmOf(present) === algorithm) return { ...former, returnPath: own };
  const algorithms: readonly DkimAlgorithm[] = ALGORITHMS[algorithm];
  const order = { domain: present, algorithms, selector: null, now };
  refuseNames(name, selectorsFor(order), present);
  const kept = withoutOverdue(former, now);
  if (kept.keys.length - keysIn(kept, 'waiting').length + algorithms.length > MAX_DOMAIN_KEYS)
    throw tooManyKeys(former);
  if (isRehearsal) return { ...former, returnPath: own };
  const next = withNewKeys(kept, await newKeys(order), now, present === null);
  return { ...next, returnPath: own };
}

function ownPath(domain: string | null): SendingDomain['returnPath'] {
  return domain === null ? null : { domain, seenAt: null, isGood: false };
}
