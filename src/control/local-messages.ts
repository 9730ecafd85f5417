import { serverName } from '../config/server-name.ts';
import type { ApiKey } from '../domain/key.ts';
import type { Submission } from '../domain/message.ts';
import { Problem } from '../http/problem.ts';
import { messageJson, statusJson } from '../ingest/http/record.ts';
import { fieldsFromJson } from '../ingest/http/schema.ts';
import { buildSubmission } from '../ingest/http/submission.ts';
import { createIdSource, isMessageId } from '../lib/id.ts';
import type { LocalDeps } from './local-deps.ts';
import {
  type MessagesPage,
  type MessagesRequest,
  OperationError,
  type Operations,
  type StatusRecord,
  type Submitted,
} from './operations.ts';

/** The operations on messages. */
export function messageOperations(deps: LocalDeps): Pick<Operations, 'submit' | 'message' | 'messages'> {
  const nextToken = createIdSource(deps.clock, deps.random);
  return {
    submit: ({ message }) => submit(message, nextToken(), deps),
    message: ({ id }) => findMessage(id, deps),
    messages: (request) => listMessages(request, deps),
  };
}

async function submit(message: unknown, token: string, deps: LocalDeps): Promise<Submitted> {
  const submission = compose(message, token, deps);
  const [answer] = await deps.intake.accept([submission]);
  switch (answer?.kind) {
    case 'accepted':
      return {
        id: answer.id,
        message: answer.captured
          ? 'Captured in the local inbox; nothing will be sent.'
          : 'Queued for delivery.',
      };
    case 'suspended':
      throw new OperationError('unavailable', answer.suspension.detail);
    default:
      throw new Error(`a submission without an idempotency key was answered ${answer?.kind}`);
  }
}

/** The owner of the data directory may send as anyone. */
const OWNER: ApiKey = {
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
};

/** Makes a submission as the API does, but in nobody's name. */
function compose(message: unknown, token: string, deps: LocalDeps): Submission {
  const { clock, random } = deps;
  const { config } = deps.resolution();
  const context = {
    key: OWNER,
    sourceAddress: '127.0.0.1',
    requestId: null,
    secure: false,
    now: clock.wall(),
    random,
    hostname: serverName(config),
    token,
    idempotencyKey: null,
  };
  try {
    const submission = buildSubmission(fieldsFromJson(message), context, config.api);
    return { ...submission, source: 'cli', sourceAddress: null, keyId: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const faults = error.errors.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
    throw new OperationError('invalid', faults.length > 0 ? faults.join('\n') : error.detail);
  }
}

async function findMessage(id: string, deps: LocalDeps): Promise<StatusRecord> {
  const detail = isMessageId(id) ? await deps.views.message(id) : null;
  if (detail !== null) return statusJson(detail);
  throw new OperationError('not_found', `There is no message ${id}. See: waybill messages list`);
}

async function listMessages(request: MessagesRequest, deps: LocalDeps): Promise<MessagesPage> {
  const page = await deps.views.list({ owner: 'all', ...request });
  return { messages: page.messages.map(messageJson), next: page.next };
}
