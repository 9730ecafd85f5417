import {
  type Answer,
  isAttemptsPage,
  isBatchReceipt,
  isMessagesPage,
  isReceipt,
  isStatusRecord,
  isTemplate,
  isTemplates,
  isVerdict,
  jsonOf,
  textOf,
} from './answer.ts';
import type { Call } from './call.ts';
import { type PageRequest, queryOf } from './filter.ts';
import {
  type Message,
  type RawContent,
  type RawEnvelope,
  rawTarget,
  timeText,
  toSend,
  toSubmission,
} from './message.ts';
import { InputFault, type Sent } from './result.ts';
import type {
  AttemptsPage,
  BatchReceipt,
  MessagesPage,
  Receipt,
  StatusRecord,
  Submission,
  Template,
  Templates,
  TemplateToSave,
  Verdict,
} from './types.ts';

/** Every request there is. What cannot be sent is thrown, as `InputFault` where it is known in advance. */

/** Printable ASCII, not beginning or ending with a space: what headers carry unchanged. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/;
const NOT_READY = 503;

/** Sends a message. */
export async function sendMessage(message: Message, key: string): Promise<Call<Receipt & Sent>> {
  return sending('/messages', jsonBody(await toSend(message)), isReceipt, key);
}

/** Sends several. */
export async function sendBatch(
  messages: readonly Message[],
  key: string,
): Promise<Call<BatchReceipt & Sent>> {
  if (!Array.isArray(messages)) throw new InputFault('messages must be an array.');
  const submissions: readonly Submission[] = await Promise.all(messages.map(toSend));
  return sending('/messages/batch', jsonBody({ messages: submissions }), isBatchReceipt, key);
}

/** Sends a finished message. */
export function sendRaw(content: RawContent, envelope: RawEnvelope, key: string): Call<Receipt & Sent> {
  const { query, headers } = rawTarget(envelope, false);
  return { ...sending(`/messages/raw${query}`, finished(content), isReceipt, key), headers };
}

/** Sends a message once more. */
export function resendMessage(id: string, key: string): Call<Receipt & Sent> {
  return sending(pathOf(id, '/resend'), undefined, isReceipt, key);
}

/** Checks a message. */
export async function checkMessage(message: Message): Promise<Call<Verdict>> {
  const body = jsonBody({ ...(await toSubmission(message)), dryRun: true });
  return { method: 'POST', path: '/messages', body, read: json(isVerdict) };
}

/** Checks a finished message. */
export function checkRaw(content: RawContent, envelope: RawEnvelope): Call<Verdict> {
  const { query, headers } = rawTarget(envelope, true);
  const body = finished(content);
  return { method: 'POST', path: `/messages/raw${query}`, headers, body, read: json(isVerdict) };
}

/** Asks for a record; the server may wait so many seconds for the message's end. */
export function getMessage(id: string, waitSeconds: number | null): Call<StatusRecord> {
  const read = json(isStatusRecord);
  if (waitSeconds === null) return { method: 'GET', path: pathOf(id), read };
  const path = pathOf(id, `?wait=${waitSeconds}`);
  return { method: 'GET', path, read, patienceMs: waitSeconds * 1000 };
}

/** Asks for a page of a list. */
export function listPage(request: PageRequest): Call<MessagesPage> {
  return { method: 'GET', path: `/messages${queryOf(request)}`, read: json(isMessagesPage) };
}

/** Cancels or retries. */
export function actOn(id: string, verb: 'cancel' | 'retry'): Call<StatusRecord> {
  return { method: 'POST', path: pathOf(id, `/${verb}`), read: json(isStatusRecord) };
}

/** Moves the send time of a message that waits for it. */
export function reschedule(id: string, sendAt: Date | string): Call<StatusRecord> {
  const time = timeText('sendAt', sendAt);
  if (time === null) throw new InputFault('sendAt must be given.');
  return { method: 'PATCH', path: pathOf(id), body: jsonBody({ sendAt: time }), read: json(isStatusRecord) };
}

/** Asks for a page of the attempts. */
export function listAttempts(id: string, cursor: string | undefined): Call<AttemptsPage> {
  const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
  return { method: 'GET', path: pathOf(id, `/attempts${query}`), read: json(isAttemptsPage) };
}

/** Asks for the message itself. */
export function getContent(id: string, recipient: string | null): Call<Uint8Array> {
  const query = recipient === null ? '' : `?recipient=${encodeURIComponent(recipient)}`;
  const read = ({ headers, bytes }: Answer) =>
    headers.get('content-type')?.startsWith('message/rfc822') ? bytes : null;
  return { method: 'GET', path: pathOf(id, `/content${query}`), read };
}

/** Asks for all templates. */
export function listTemplates(): Call<Templates> {
  return { method: 'GET', path: '/templates', read: json(isTemplates) };
}

/** Asks for a template. */
export function getTemplate(alias: string, version: number | null): Call<Template> {
  const query = version === null ? '' : `?version=${version}`;
  return { method: 'GET', path: templatePath(alias, query), read: json(isTemplate) };
}

/** Saves a version of a template. */
export function saveTemplate(alias: string, version: TemplateToSave): Call<Template> {
  return { method: 'PUT', path: templatePath(alias), body: jsonBody(version), read: json(isTemplate) };
}

/** Says which version is sent. */
export function publishTemplate(alias: string, version: number | null): Call<Template> {
  const body = jsonBody({ version });
  return { method: 'POST', path: templatePath(alias, '/publish'), body, read: json(isTemplate) };
}

/** Asks whether messages are taken. */
export function getReady(): Call<boolean> {
  const read = (answer: Answer) => {
    const word = textOf(answer).trim();
    if (answer.status === NOT_READY) return word === 'not ready' ? false : null;
    return word === 'ready' ? true : null;
  };
  return { method: 'GET', path: '/ready', once: true, alsoReads: NOT_READY, read };
}

function sending<T extends object>(
  path: string,
  body: Call<T>['body'],
  isAnswer: (body: unknown) => body is T,
  idempotencyKey: string,
): Call<T & Sent> {
  if (typeof idempotencyKey !== 'string' || !IDEMPOTENCY_KEY.test(idempotencyKey))
    throw new InputFault(
      'idempotencyKey must be a string of 1 to 256 printable ASCII characters, with no space at its ends.',
    );
  const read = (answer: Answer): (T & Sent) | null => {
    const value = jsonOf(answer);
    const replayed = answer.headers.get('idempotency-replayed') === 'true';
    return isAnswer(value) ? { ...value, idempotencyKey, replayed } : null;
  };
  return { method: 'POST', path, idempotencyKey, read, ...(body ? { body } : {}) };
}

function json<T>(isAnswer: (body: unknown) => body is T): (answer: Answer) => T | null {
  return (answer) => {
    const value = jsonOf(answer);
    return isAnswer(value) ? value : null;
  };
}

function jsonBody(value: unknown): { readonly type: string; readonly content: string } {
  return { type: 'application/json', content: JSON.stringify(value) };
}

/** A copy of bytes: what the caller does with them meanwhile changes nothing, and shared memory cannot be sent. */
function finished(content: RawContent): NonNullable<Call<unknown>['body']> {
  const type = 'message/rfc822';
  if (typeof content === 'string' || content instanceof Blob) return { type, content };
  if (content instanceof Uint8Array) return { type, content: new Uint8Array(content) };
  throw new InputFault('content must be the whole message: a string, a Uint8Array, or a Blob or File.');
}

/** The path of a template, with what follows; see {@link pathOf}. */
function templatePath(alias: string, rest = ''): string {
  if (typeof alias !== 'string' || /^\.{0,2}$/.test(alias))
    throw new InputFault('alias must be the alias of a template, such as welcome.');
  return `/templates/${encodeURIComponent(alias)}${rest}`;
}

/** The path of a message, with what follows. An id that URLs read as a way elsewhere would ask for something else. */
function pathOf(id: string, rest = ''): string {
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id))
    throw new InputFault('id must be the id of a message, such as msg_01k…');
  return `/messages/${encodeURIComponent(id)}${rest}`;
}
