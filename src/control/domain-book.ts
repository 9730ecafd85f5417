/** Changes of stored domains, one after the other: each sees what the one before it wrote. */

import { openDomains, sealDomain } from '../config/domains.ts';
import { formatFault } from '../config/fault.ts';
import type { SendingDomain } from '../domain/sending-domain.ts';
import { OperationError } from '../operations/call.ts';
import type { Registry, StoredDomain } from '../store/registry.ts';
import type { LocalDeps } from './local-deps.ts';

/** What changing domains takes. */
export type BookDeps = Pick<LocalDeps, 'registry' | 'resolution' | 'reload'>;

/** What a change makes of a domain, and of how many there are: the domain as it is to be, or null for none. */
export type DomainChange = (domain: SendingDomain | null, count: number) => SendingDomain | null;

/** The last change of each store that is under way, or done. */
const last = new WeakMap<Registry, Promise<unknown>>();

/** Changes a domain and puts it into force. Gives it as it was, and is. Whatever `change` throws leaves it as it was. */
export function changeDomain(
  name: string,
  change: DomainChange,
  deps: BookDeps,
): Promise<{ readonly before: SendingDomain | null; readonly after: SendingDomain | null }> {
  const changed = (last.get(deps.registry) ?? Promise.resolve()).then(() => changeNow(name, change, deps));
  last.set(
    deps.registry,
    changed.catch(() => {}),
  );
  return changed;
}

async function changeNow(name: string, change: DomainChange, deps: BookDeps) {
  const { registry } = deps;
  // What is stored while the configuration is faulty would not come into force.
  const faults = await deps.reload();
  if (faults.length > 0)
    throw new OperationError(
      'refused',
      `Nothing was changed, because the configuration is faulty. Mend it first:\n${faults.map(formatFault).join('\n')}`,
    );
  const { vault } = deps.resolution();
  if (vault === null)
    throw new OperationError('unavailable', 'The key that seals secrets cannot be read. See: waybill config');
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
    throw new OperationError('refused', `What is stored of ${row.name} is of another version of Waybill.`);
  return domain;
}
