import { sendingOf } from '../config/bounces.ts';
import { mustPromiseTls } from '../domain/message.ts';
import { INBOX } from '../domain/relay.ts';
import { readContent } from '../ingest/http/find-message.ts';
import { signingOf } from '../ingest/http/submission-context.ts';
import { alignedRecord, hopsOf, utf8AddressOf } from '../ingest/http/way.ts';
import { asOperationError } from '../operations/call.ts';
import type { PreflightOperations } from '../operations/preflight.ts';
import { OPERATORS, type Way } from '../preflight/contract.ts';
import type { MessageDetail } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';
import { findNamed } from './found-mail.ts';

/** Recipients of a captured message whose route is asked for; all of one message rarely go different ways. */
const MAX_ROUTED = 20;

/** What the operations need. */
type PreflightDeps = Pick<
  LocalDeps,
  'views' | 'spool' | 'preflight' | 'intake' | 'keyring' | 'resolution' | 'clock'
>;

/** See {@link PreflightOperations}. */
export function preflightOperations(deps: PreflightDeps): PreflightOperations {
  return {
    preflight: async (request) => {
      if ('draft' in request) return { findings: await deps.preflight.draft(request.draft) };
      const detail = await findNamed(request.id, deps.views);
      const { message } = detail;
      try {
        const load = () => readContent(message, deps.spool, 404);
        const sizeBytes = message.copies?.[0]?.length ?? message.sizeBytes;
        return {
          findings: await deps.preflight.message(sizeBytes, load, await wayOf(detail, deps), OPERATORS),
        };
      } catch (error) {
        throw asOperationError(error);
      }
    },
  };
}

/** The way that a message went; of a captured one, the way that it would go. */
async function wayOf(detail: MessageDetail, deps: PreflightDeps): Promise<Way> {
  const { message, recipients } = detail;
  const key = (await deps.keyring.list()).find(({ id }) => id === message.keyId) ?? null;
  const went = recipients.map(({ relay }) => relay).filter((relay) => relay !== null && relay !== INBOX);
  const relays = went.length > 0 ? went : await wouldGoBy(detail, key?.name ?? null, deps);
  const rights = key === null ? 'any' : signingOf(key);
  const mail = alignedRecord(message.header.from, message.envelopeFrom, rights);
  const addresses = [message.envelopeFrom, ...recipients.map(({ address }) => address)];
  return {
    hops: hopsOf(relays, mail, sendingOf(deps.resolution().config)),
    isBulk: message.priority === 'bulk',
    utf8Address: utf8AddressOf(addresses),
    requiresTls: mustPromiseTls(message.tls, message.envelopeFrom),
  };
}

async function wouldGoBy(
  { message, recipients, origin }: MessageDetail,
  keyName: string | null,
  { intake, clock }: PreflightDeps,
): Promise<readonly (string | null)[]> {
  const { envelopeFrom: reversePath, tags, keyId, sizeBytes } = message;
  const { sourceAddress } = origin;
  const mail = {
    reversePath,
    tags,
    keyId,
    keyName,
    sourceAddress,
    sizeBytes,
    now: clock.wall(),
    test: false,
  };
  const asked = recipients
    .slice(0, MAX_ROUTED)
    .map(({ address: recipient }) => intake.explain({ ...mail, recipient }));
  return (await Promise.all(asked)).map(({ relay }) => relay);
}
