import { unsubscribeTermsOf } from '../config/bounces.ts';
import { localPostmaster, serverName } from '../config/names.ts';
import type { ApiKey } from '../domain/key.ts';
import { type Mailbox, parseAddress } from '../domain/mailbox.ts';
import { readContent, refuseTestMessage } from '../ingest/http/find-message.ts';
import { handOver } from '../ingest/http/hand-over.ts';
import { type Kept, resubmission } from '../ingest/http/resend.ts';
import { refuseTooLarge, type SubmissionContext } from '../ingest/http/submission-context.ts';
import type { Origin } from '../ingest/smtp/origin.ts';
import { buildSubmission } from '../ingest/smtp/submission.ts';
import { inSlices, turnFor } from '../lib/clock.ts';
import { asOperationError, OperationError } from '../operations/call.ts';
import type { Submitted } from '../operations/messages.ts';
import type { RequestOf } from '../operations/table.ts';
import type { TakenEnvelope } from '../smtp/receiver/effect.ts';
import type { LocalDeps } from './deps.ts';

/** A user of the control socket may send as anyone. */
const OWNER: Origin = {
  address: '127.0.0.1',
  isHidden: false,
  source: null,
  allowed: true,
  key: null,
  box: null,
};
/** What a message may not contain: NUL, and a bare CR or LF. */
const NOT_WIRE = /\0|\r(?!\n)|(?<!\r)\n/;

/** See {@link SubmitOperations.submitRaw}. Throws `OperationError`. */
export async function submitRaw(request: RequestOf<'submitRaw'>, deps: LocalDeps): Promise<Submitted> {
  const { config } = deps.resolution();
  const content = Buffer.from(request.content, 'base64');
  const text = content.toString('latin1');
  if (NOT_WIRE.test(text) || !text.endsWith('\r\n'))
    throw new OperationError('invalid', 'content: every line must end in CRLF, and NUL is not allowed.');
  if (request.to.length > config.api.maxRecipients)
    throw new OperationError(
      'invalid',
      `to: at most ${config.api.maxRecipients} recipients are allowed (api.max_recipients).`,
    );
  const received = { chunks: [content], sizeBytes: content.length, dotStuffing: /(?:^|\n)[.]/.test(text) };
  const built = buildSubmission(envelopeOf(request), received, OWNER, {
    id: deps.intake.newId(),
    now: deps.clock.wall(),
    hostname: serverName(config),
    postmaster: localPostmaster(config),
    requestId: '',
    hello: '',
    protocol: null,
    receivedClient: false,
    limits: config.api,
    domains: new Set(config.domains.map(({ name }) => name)),
  });
  if (!built.ok) throw new OperationError('invalid', built.refusal.reply.text);
  try {
    refuseTooLarge(built.submission.content.sizeBytes, config.api.maxMessageBytes);
    const local = { source: 'cli', sourceAddress: null, requestId: null } as const;
    const { id, message } = await handOver({ ...built.submission, ...local }, deps);
    return { id, message };
  } catch (error) {
    throw asOperationError(error);
  }
}

function envelopeOf(request: RequestOf<'submitRaw'>): TakenEnvelope {
  const { from, to, notify, ret, envid, requireTls = false } = request;
  const mailbox = from === '' ? null : mailboxOf('from', from);
  const plain = { sizeBytes: null, body: null, auth: null };
  return {
    reversePath: { mailbox, ...plain, utf8: true, ret, envid, requireTls },
    forwardPaths: to.map((address, place) => ({
      mailbox: mailboxOf(`to/${place}`, address),
      notify,
      orcpt: null,
    })),
  };
}

function mailboxOf(place: string, text: string): Mailbox {
  const parsed = parseAddress(text);
  if (parsed.ok) return parsed.value;
  throw new OperationError('invalid', `${place}: ${parsed.detail}`);
}

/** What sending a kept message again needs. */
type SendAgainDeps = Pick<
  LocalDeps,
  'views' | 'spool' | 'keyring' | 'intake' | 'clock' | 'random' | 'resolution'
>;

/**
 * Sends a kept message again to all its recipients, as a new one of the same owner: as routing decides, or by one relay
 * alone. Throws `OperationError`: it is a test key's, or no longer kept; nothing is accepted now.
 */
export async function sendAgain(
  detail: Omit<Kept, 'bytes'>,
  token: string,
  via: string | null,
  deps: SendAgainDeps,
): Promise<{ readonly id: string }> {
  const { message } = detail;
  const { keyId, source } = message;
  try {
    refuseTestMessage(message);
    const bytes = await readContent(message, deps.spool, 409);
    const { maxMessageBytes } = deps.resolution().config.api;
    const context = operatorContext(token, deps);
    const submission = await inSlices(
      resubmission({ ...detail, bytes }, context, maxMessageBytes),
      turnFor(bytes.length),
    );
    refuseTooLarge(submission.content.sizeBytes, maxMessageBytes);
    const { name: keyName = null } = (await deps.keyring.list()).find(({ id }) => id === keyId) ?? {};
    const owner = {
      keyId,
      keyName,
      source: source === 'report' ? ('cli' as const) : source,
      sourceAddress: null,
    };
    const { id } = await handOver({ ...submission, ...owner, ...(via !== null && { via }) }, deps);
    return { id };
  } catch (error) {
    throw asOperationError(error);
  }
}

/** The owner of the data directory, and operators, may send as anyone. */
const CONTEXT_OWNER: ApiKey = {
  id: '',
  name: '',
  mode: 'live',
  prefix: '',
  scopes: [],
  createdAt: 0,
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
  rateLimit: null,
  cidrs: [],
  senderDomains: [],
  contentDays: null,
  recordDays: null,
};

/** The origin of an operator's submission. */
export function operatorContext(
  token: string,
  { clock, random, resolution, intake }: Pick<LocalDeps, 'clock' | 'random' | 'resolution' | 'intake'>,
): SubmissionContext {
  return {
    key: CONTEXT_OWNER,
    door: null,
    sourceAddress: '127.0.0.1',
    requestId: null,
    secure: false,
    now: clock.wall(),
    random,
    hostname: serverName(resolution().config),
    token,
    idempotencyKey: null,
    newId: () => intake.newId(),
    unsubscribing: () => unsubscribeTermsOf(resolution().config),
  };
}
