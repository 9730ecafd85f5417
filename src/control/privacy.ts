import { parseSuppressed } from '../domain/suppressed-address.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { createIdSource } from '../lib/id.ts';
import { PSEUDONYM_INFO, Pseudonyms } from '../lib/pseudonym.ts';
import { OperationError } from '../operations/call.ts';
import type { ErasureView, PrivacyOperations } from '../operations/privacy.ts';
import { BEGINNING, type Erasure } from '../store/erasing.ts';
import type { LocalDeps } from './deps.ts';
import { erasureOwner, personOf } from './erasing.ts';

/** Erasures that are shown. */
const MOST_SHOWN = 100;

type PrivacyDeps = Pick<LocalDeps, 'erasures' | 'clock' | 'random' | 'resolution'>;

/** The operations for the people whose mail passes through. `erasing.ts` does the work. */
export function privacyOperations(deps: PrivacyDeps): PrivacyOperations {
  const { erasures, clock, random } = deps;
  const nextId = createIdSource(clock, random, 'era_');
  return {
    erasePerson: async ({ address }) => {
      const { vault } = deps.resolution();
      if (vault === null)
        throw new OperationError(
          'refused',
          'Without secret.key nobody can be erased: the hash is keyed by it.',
        );
      const { address: normal, pseudonym } = personIn(address, vault.derive(PSEUDONYM_INFO));
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

function personIn(address: string, key: Uint8Array) {
  const parsed = parseSuppressed(address.trim());
  if (!parsed.ok) throw new OperationError('invalid', parsed.detail);
  if (parsed.value.kind !== 'mailbox')
    throw new OperationError('invalid', 'One person is erased at a time: give a whole address.');
  const pseudonyms = new Pseudonyms();
  pseudonyms.hold(key);
  const { address: normal } = parsed.value;
  return personOf(normal, pseudonyms.of(normal) ?? '');
}

function viewOf({ id, pseudonym, requestedAt, finishedAt, progress }: Erasure): ErasureView {
  const { step, changed, trouble } = progress;
  return {
    id,
    pseudonym,
    state: finishedAt !== null ? 'done' : trouble === null ? 'working' : 'waiting',
    requestedAt: formatTimestamp(requestedAt),
    finishedAt: finishedAt === null ? null : formatTimestamp(finishedAt),
    step: finishedAt === null ? step : null,
    changed: Object.values(changed).reduce((sum, count) => sum + count, 0),
    notice: trouble,
  };
}
