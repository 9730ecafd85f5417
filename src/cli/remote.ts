import type { Command } from 'commander';
import { Caller } from '../client/call.ts';
import type { ClientError, Result } from '../client/result.ts';
import { baseOf, settingsOf } from '../client/settings.ts';
import { Waybill } from '../client/waybill.ts';
import { shellWord } from '../lib/command.ts';
import { OperationError, type OperationErrorCode } from '../operations/call.ts';
import type { ConfiguringOperations } from '../operations/configuring.ts';
import type { Attempts, MessageOperations, MessagesPage, StatusRecord } from '../operations/messages.ts';
import type { RequestOf, ResultOf } from '../operations/table.ts';
import { type CommonOptions, type Context, command } from './context.ts';
import { withOperations } from './session.ts';
import { Exit, readSecretFile } from './terminal.ts';

/** Commands on messages of a server far away: through its API, with a key, instead of the control socket. */

/** Where that server is. */
export interface RemoteOptions extends CommonOptions {
  readonly url?: string;
  readonly keyFile?: string;
}

/** A person waits: fewer than a program would bear. */
const MAX_RETRIES = 2;

/** What the option --require-tls says of itself. */
export const REQUIRE_TLS =
  'REQUIRETLS: only servers that encrypt, prove who they are and promise the same get it; otherwise it fails';

/** As {@link command}, with the options that name a server far away. */
export function remoteCommand(name: string, description: string, examples: readonly string[]): Command {
  return command(name, description, examples)
    .option(
      '--url <url>',
      'use the server at this address instead of the local one: https://mail.example.net:8026',
    )
    .option('--key-file <file>', 'file with the API key for --url; - for standard input');
}

/**
 * Does `use` with the messages of the server that the options name, far away or here, whether it runs (as the
 * argument says) or not.
 */
export async function withMessages(
  context: Context,
  options: RemoteOptions,
  use: (operations: MessageOperations, running: boolean) => Promise<void>,
): Promise<void> {
  const client = await connect(options);
  if (client !== null) return await use(remoteOperations(client), true);
  await withOperations(context, options, {}, use);
}

/** The client that the options ask for; null when they mean the installation here. Throws `Exit`. */
export async function connect(options: RemoteOptions): Promise<Waybill | null> {
  const access = await accessOf(options);
  return access === null ? null : new Waybill({ ...access, maxRetries: MAX_RETRIES });
}

/** Does `use` with the operations on the configuration as a file, of the server that the options name. */
export async function withConfiguring(
  context: Context,
  options: RemoteOptions,
  use: (operations: ConfiguringOperations) => Promise<void>,
): Promise<void> {
  const access = await accessOf(options);
  if (access === null) return await withOperations(context, options, {}, use);
  const caller = new Caller(settingsOf({ ...access, maxRetries: 0 }));
  await use({
    exportConfiguration: (request) => administer('exportConfiguration', request, caller),
    planConfiguration: (request) => administer('planConfiguration', request, caller),
    applyConfiguration: (request) => administer('applyConfiguration', request, caller),
  });
}

/** Milliseconds that a server may take to apply a file: it makes keys for each domain that is new. */
const PATIENCE_MS = 10 * 60_000;

/** Asks for an operation over the API (docs/administering.md). */
async function administer<K extends keyof ConfiguringOperations>(
  operation: K,
  request: RequestOf<K>,
  caller: Caller,
): Promise<ResultOf<K>> {
  const { result } = await caller.call(
    () => ({
      method: 'POST',
      path: `/admin/${operation}`,
      body: { type: 'application/json', content: JSON.stringify(request) },
      once: true,
      patienceMs: PATIENCE_MS,
      // Sound because it is the API's own JSON.
      read: ({ bytes }): ResultOf<K> => JSON.parse(new TextDecoder().decode(bytes)),
    }),
    { timeoutMs: PATIENCE_MS },
  );
  if (result.ok) return result.value;
  const { error } = result;
  if (error.kind === 'problem' && error.status === 404)
    throw new OperationError(
      'unavailable',
      `The server does not know ${operation}: it is older than this program. See: waybill version --check`,
    );
  if (operation === 'applyConfiguration' && (error.kind === 'network' || error.kind === 'timeout'))
    throw new OperationError(
      'unavailable',
      `${error.message}\nWhether it was applied is not known: plan again. If it was, secrets that it made are lost; make others with: waybill keys rotate`,
    );
  throw operationErrorOf(error);
}

/** Where a server far away is, and the key for it; null: the installation here is meant. Throws `Exit`. */
async function accessOf({
  url,
  keyFile,
  data,
  config,
}: RemoteOptions): Promise<{ readonly url: string; readonly key: string } | null> {
  if (url === undefined) {
    if (keyFile !== undefined) throw new Exit(2, '--key-file needs --url.');
    return null;
  }
  if (keyFile === undefined) throw new Exit(2, '--url needs --key-file, a file with the API key.');
  if (data !== undefined || config !== undefined)
    throw new Exit(
      2,
      '--data and --config are for a local installation, --url is for a remote server: give one or the other.',
    );
  try {
    // Before the key: what was mistyped here is told first.
    baseOf(url);
    const key = (await readSecretFile(keyFile, 'key')).trim();
    // So is a key that can never work.
    settingsOf({ url, key });
    return { url, key };
  } catch (error) {
    if (error instanceof Exit) throw error;
    throw new Exit(2, error instanceof Error ? error.message : String(error));
  }
}

/** The operations on messages, of a server far away. */
function remoteOperations(client: Waybill): MessageOperations {
  return {
    // Sound because it is the API's own JSON.
    message: async ({ id }) => taken(await client.get(id)) as StatusRecord,
    // How relays do is for who runs the server there.
    ways: async () => [],
    messages: (request) => listPage(request, client),
    attempts: async ({ id }) => ({ attempts: taken(await client.attempts(id)), hasMore: false }) as Attempts,
    messageContent: async ({ id }) => {
      const bytes = Buffer.from(taken(await client.content(id)));
      return { id, sizeBytes: bytes.length, content: bytes.toString('base64') };
    },
    cancelMessage: async ({ id }) => taken(await client.cancel(id)) as StatusRecord,
    rescheduleMessage: async ({ id, sendAt }) => taken(await client.reschedule(id, sendAt)) as StatusRecord,
    retryMessage: async ({ id }) => taken(await client.retry(id)) as StatusRecord,
  };
}

async function listPage(request: RequestOf<'messages'>, client: Waybill): Promise<MessagesPage> {
  const { statuses, filter, limit, before } = request;
  const asked = await client.listPage({ ...filter, status: statuses, limit, cursor: before ?? undefined });
  const { messages, nextCursor } = taken(asked);
  return { messages: messages as MessagesPage['messages'], next: nextCursor ?? null };
}

/** The value of a result; throws `OperationError` as operations here do. */
export function taken<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw operationErrorOf(result.error);
}

/** What was sent; an error that leaves open whether it was, says how to find out. */
export function sentBy<T>(result: Result<T>): T {
  if (result.ok || !result.error.maybeAccepted) return taken(result);
  const { code, message } = operationErrorOf(result.error);
  const key = shellWord(result.error.idempotencyKey ?? '');
  const cure = `It may have been accepted; repeat it with --idempotency-key ${key}, and it is not sent twice.`;
  throw new OperationError(code, `${message}\n${cure}`);
}

/** A client's error as that of an operation. */
function operationErrorOf(error: ClientError): OperationError {
  return new OperationError(codeOf(error), textOf(error));
}

const CODES: Readonly<Record<number, OperationErrorCode>> = {
  400: 'invalid',
  401: 'refused',
  403: 'refused',
  404: 'not_found',
  409: 'refused',
  413: 'invalid',
};

function codeOf(error: ClientError): OperationErrorCode {
  if (error.kind === 'input') return 'invalid';
  return (error.kind === 'problem' && CODES[error.status]) || 'unavailable';
}

function textOf(error: ClientError): string {
  if (error.kind !== 'problem' || error.errors.length === 0) return error.message;
  return error.errors.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`).join('\n');
}
