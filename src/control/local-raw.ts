import { localPostmaster, serverName } from '../config/server-name.ts';
import { type Mailbox, parseAddress } from '../domain/mailbox.ts';
import { handOver } from '../ingest/http/hand-over.ts';
import { refuseTooLarge } from '../ingest/http/submission-context.ts';
import type { Origin } from '../ingest/smtp/origin.ts';
import { buildSubmission } from '../ingest/smtp/submission.ts';
import { OperationError } from '../operations/call.ts';
import type { Submitted } from '../operations/messages.ts';
import type { RequestOf } from '../operations/table.ts';
import type { TakenEnvelope } from '../smtp/receiver/effect.ts';
import type { LocalDeps } from './local-deps.ts';
import { asOperationError } from './operation-error.ts';

/** Whoever may use the control socket may send as anyone. */
const OWNER: Origin = {
  address: '127.0.0.1',
  isHidden: false,
  source: null,
  allowed: true,
  key: null,
};
/** What a message may not have: a NUL, and a CR or an LF by itself. */
const NOT_WIRE = /\0|\r(?!\n)|(?<!\r)\n/;

/** See {@link SubmitOperations.submitRaw}. Throws `OperationError`. */
export async function submitRaw(request: RequestOf<'submitRaw'>, deps: LocalDeps): Promise<Submitted> {
  const { config } = deps.resolution();
  const content = Buffer.from(request.content, 'base64');
  const text = content.toString('latin1');
  if (NOT_WIRE.test(text) || !text.endsWith('\r\n'))
    throw new OperationError('invalid', 'content: every line must end in CRLF, and there may be no NUL.');
  if (request.to.length > config.api.maxRecipients)
    throw new OperationError(
      'invalid',
      `to: at most ${config.api.maxRecipients} recipients are taken (api.max_recipients).`,
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

function envelopeOf({ from, to, notify, ret, envid }: RequestOf<'submitRaw'>): TakenEnvelope {
  const mailbox = from === '' ? null : mailboxOf('from', from);
  const plain = { sizeBytes: null, body: null, auth: null };
  return {
    reversePath: { mailbox, ...plain, utf8: true, ret, envid },
    forwardPaths: to.map((address, place) => ({
      ...{ mailbox: mailboxOf(`to/${place}`, address), notify, orcpt: null },
    })),
  };
}

function mailboxOf(place: string, text: string): Mailbox {
  const parsed = parseAddress(text);
  if (parsed.ok) return parsed.value;
  throw new OperationError('invalid', `${place}: ${parsed.detail}`);
}
