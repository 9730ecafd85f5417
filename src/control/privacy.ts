import type { Vault } from '../config/secrets.ts';
import { isFinal, MESSAGE_STATUSES, type MessageStatus } from '../domain/delivery.ts';
import type { Person } from '../domain/naming.ts';
import { parseQuery } from '../domain/query.ts';
import { parseSuppressed } from '../domain/suppressed-address.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { createIdSource } from '../lib/id.ts';
import { PSEUDONYM_INFO, Pseudonyms } from '../lib/pseudonym.ts';
import { OperationError } from '../operations/call.ts';
import {
  type ErasurePreview,
  type ErasureView,
  MAX_PREVIEWED,
  type PrivacyOperations,
} from '../operations/privacy.ts';
import { BEGINNING, ERASING_STEPS, type Erasure, type ErasureProgress } from '../store/erasing.ts';
import type { LocalDeps } from './deps.ts';
import { erasureOwner, personOf } from './erasing.ts';

const STEPS: readonly string[] = [...ERASING_STEPS, 'spool', 'database'];
/** Erasures that are shown. */
const MOST_SHOWN = 100;

type PrivacyDeps = Pick<LocalDeps, 'erasures' | 'clock' | 'random' | 'resolution' | 'views' | 'suppressions'>;

/** The operations for the people whose mail passes through. `erasing.ts` does the work. */
export function privacyOperations(deps: PrivacyDeps): PrivacyOperations {
  const { erasures, clock, random } = deps;
  const nextId = createIdSource(clock, random, 'era_');
  return {
    previewErasure: async ({ address }) => await preview(personIn(address, keyedBy(deps)), deps),
    erasePerson: async ({ address }) => {
      const vault = keyedBy(deps);
      const { address: normal, pseudonym } = personIn(address, vault);
      const id = nextId();
      const erasure: Erasure = {
        id,
        pseudonym,
        sealed: vault.seal(normal, erasureOwner(id)),
        requestedAt: clock.wall(),
        finishedAt: null,
        progress: BEGINNING,
      };
      const answer = await erasures.addErasure(erasure);
      if (answer === 'under_way')
        throw new OperationError('refused', 'This person is being erased already. See: waybill privacy list');
      if (answer === 'full')
        throw new OperationError('refused', '1,000 people are being erased. Ask again when some are done.');
      return viewOf(erasure);
    },
    listErasures: async () => ({ erasures: (await erasures.erasures(MOST_SHOWN)).map(viewOf) }),
  };
}

function keyedBy({ resolution }: PrivacyDeps): Vault {
  const { vault } = resolution();
  if (vault === null)
    throw new OperationError('refused', 'Without secret.key nobody can be erased: the hash is keyed by it.');
  return vault;
}

async function preview(
  { address, pseudonym }: Person,
  { views, suppressions }: PrivacyDeps,
): Promise<ErasurePreview> {
  const count = async (field: 'to' | 'from', statuses: readonly MessageStatus[] | null = null) => {
    const term = { kind: 'address', field, address, not: false } as const;
    const query = { ...EVERY_MESSAGE, terms: [term], statuses };
    return await views.countFound({ query, after: null, before: null, limit: MAX_PREVIEWED });
  };
  const [to, from, waiting, entries] = await Promise.all([
    count('to'),
    count('from'),
    count('to', OPEN),
    suppressions.suppressionsUnder([address]),
  ]);
  return {
    address,
    pseudonym,
    to: to.count,
    from: from.count,
    waiting: waiting.count,
    more: to.more || from.more,
    suppressions: entries.length,
  };
}

const EVERY_MESSAGE = parseQuery('').query;
const OPEN = MESSAGE_STATUSES.filter((status) => !isFinal(status));

function personIn(address: string, vault: Vault): Person {
  const parsed = parseSuppressed(address.trim());
  if (!parsed.ok) throw new OperationError('invalid', parsed.detail);
  if (parsed.value.kind !== 'mailbox')
    throw new OperationError('invalid', 'One person is erased at a time: give a whole address.');
  const pseudonyms = new Pseudonyms();
  pseudonyms.hold(vault.derive(PSEUDONYM_INFO));
  const { address: normal } = parsed.value;
  return personOf(normal, pseudonyms.of(normal) ?? '');
}

function viewOf({ id, pseudonym, requestedAt, finishedAt, progress }: Erasure): ErasureView {
  const { step, changed, trouble } = progress;
  return {
    id,
    pseudonym,
    state: stateOf(progress, finishedAt !== null),
    requestedAt: formatTimestamp(requestedAt),
    finishedAt: finishedAt === null ? null : formatTimestamp(finishedAt),
    step: finishedAt === null ? step : null,
    stepsDone: step === 'done' ? STEPS.length : Math.max(0, STEPS.indexOf(step)),
    steps: STEPS.length,
    changed: Object.values(changed).reduce((sum, count) => sum + count, 0),
    notice: trouble,
  };
}

function stateOf({ step, trouble }: ErasureProgress, hasEnded: boolean): ErasureView['state'] {
  if (hasEnded) return step === 'done' ? 'done' : 'failed';
  return trouble === null ? 'working' : 'waiting';
}
