import {
  type Answer,
  isAttemptsPage,
  isBatchReceipt,
  isMessagesPage,
  isReceipt,
  isStatusRecord,
  isVerdict,
  jsonOf,
} from './answer.ts';
import { Caller, type CallOptions, keyOf, type Request } from './call.ts';
import { type ListFilter, type PageRequest, queryOf } from './filter.ts';
import { type Message, toSubmission } from './message.ts';
import { complete, type SendOptions, type WaybillOptions } from './options.ts';
import { type RawEnvelope, rawQuery } from './raw.ts';
import { failed, type Result, succeeded, unwrap } from './result.ts';
import type {
  Attempt,
  BatchReceipt,
  MessageRecord,
  MessagesPage,
  Receipt,
  StatusRecord,
  Verdict,
} from './types.ts';
import { type WaitOptions, waitForEnd } from './wait.ts';

/** What a call that sent something tells besides the API's answer. */
export interface Sent {
  /** The key it was sent under: the given one, or the one that was made for this call. */
  readonly idempotencyKey: string;
  /** Nothing new was accepted: this is the answer of an earlier call or try. */
  readonly replayed: boolean;
}

const JSON_TYPE = 'application/json';
/** Printable ASCII, not beginning or ending with a space: what headers carry unchanged. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/;

/**
 * A Waybill server, for programs. No method rejects: each resolves to a {@link Result}. Failures that pass
 * (connections that break, overload, restarts) are tried again within the call's time; what sends goes out under
 * one idempotency key for all tries, so that nothing is sent twice.
 */
export class Waybill {
  readonly #caller: Caller;
  readonly #machine;

  /** Throws `TypeError` for a URL or a key that can never work; nothing is connected yet. */
  constructor(options: WaybillOptions) {
    const completed = complete(options);
    this.#caller = new Caller(completed);
    this.#machine = completed.machine;
  }

  /** Sends a message; it is on the server's stable storage when this resolves. */
  async send(message: Message, options: SendOptions = {}): Promise<Result<Receipt & Sent>> {
    return await this.#sendJson('/messages', () => toSubmission(message), isReceipt, options);
  }

  /**
   * Sends up to 500 messages; each is accepted or refused by itself, so look at every result. The same batch again
   * under the same key accepts only what is still missing.
   */
  async sendBatch(
    messages: readonly Message[],
    options: SendOptions = {},
  ): Promise<Result<BatchReceipt & Sent>> {
    const body = async () => ({ messages: await Promise.all(messages.map(toSubmission)) });
    return await this.#sendJson('/messages/batch', body, isBatchReceipt, options);
  }

  /** Sends a finished MIME message as it is. The envelope alone says who gets it. */
  async sendRaw(
    content: string | Uint8Array | Blob,
    envelope: RawEnvelope,
    options: SendOptions = {},
  ): Promise<Result<Receipt & Sent>> {
    const path = `/messages/raw${rawQuery(envelope)}`;
    // A copy: what the caller does with the bytes meanwhile changes nothing, and shared memory cannot be sent.
    const bytes = content instanceof Uint8Array ? new Uint8Array(content) : content;
    return await this.#send(path, { type: 'message/rfc822', content: bytes }, isReceipt, options);
  }

  /** Sends a message once more, to all its recipients, as a new message with a new id. */
  async resend(id: string, options: SendOptions = {}): Promise<Result<Receipt & Sent>> {
    return await this.#send(`${pathOf(id)}/resend`, undefined, isReceipt, options);
  }

  /** Checks a message as if it were sent, and tells the way each copy would take. Stores and sends nothing. */
  async check(message: Message, options: CallOptions = {}): Promise<Result<Verdict>> {
    const body = async () => ({ ...(await toSubmission(message)), dryRun: true });
    const content = await jsonOfMessage(body, options);
    if (!content.ok) return content;
    const request: Request = {
      method: 'POST',
      path: '/messages',
      body: { type: JSON_TYPE, content: content.value },
    };
    return await this.#ask(request, isVerdict, options);
  }

  /** A message's record as it is now. */
  async get(id: string, options: CallOptions = {}): Promise<Result<StatusRecord>> {
    return await this.#ask({ method: 'GET', path: pathOf(id) }, isStatusRecord, options);
  }

  /** A message's record once it is final, or as it is when the time to wait is over. */
  async wait(id: string, options: WaitOptions = {}): Promise<Result<StatusRecord>> {
    const ask = (seconds: number, left: CallOptions) =>
      this.#ask(
        { method: 'GET', path: `${pathOf(id)}?wait=${seconds}`, patienceMs: seconds * 1000 },
        isStatusRecord,
        left,
      );
    return await waitForEnd(ask, options, this.#machine);
  }

  /** All messages that pass the filter, newest first, fetched page by page. Throws `WaybillError`. */
  async *list(
    filter: ListFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<MessageRecord, void, undefined> {
    let cursor: string | undefined;
    do {
      const page: MessagesPage = unwrap(await this.listPage({ ...filter, cursor }, options));
      yield* page.messages;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  /** One page of messages, newest first. It may hold fewer than asked for, or none, and still not be the last. */
  async listPage(request: PageRequest = {}, options: CallOptions = {}): Promise<Result<MessagesPage>> {
    return await this.#ask({ method: 'GET', path: `/messages${queryOf(request)}` }, isMessagesPage, options);
  }

  /** Ends the delivery to all recipients who have not got the message; the record after that. */
  async cancel(id: string, options: CallOptions = {}): Promise<Result<StatusRecord>> {
    return await this.#act(id, 'cancel', 'not_cancellable', options);
  }

  /**
   * Tries failed and waiting recipients again, now; the record after that. Those who have the message never get it
   * again.
   */
  async retry(id: string, options: CallOptions = {}): Promise<Result<StatusRecord>> {
    return await this.#act(id, 'retry', 'nothing_to_retry', options);
  }

  /** Every attempt to deliver a message, oldest first. */
  async attempts(id: string, options: CallOptions = {}): Promise<Result<readonly Attempt[]>> {
    const asked = await this.#ask({ method: 'GET', path: `${pathOf(id)}/attempts` }, isAttemptsPage, options);
    return asked.ok ? succeeded(asked.value.attempts) : asked;
  }

  /** The message itself, as it was sent, while it is kept. Needs the scope `messages:content`. */
  async content(id: string, options: CallOptions = {}): Promise<Result<Uint8Array>> {
    const { result } = await this.#caller.call({ method: 'GET', path: `${pathOf(id)}/content` }, options);
    return result.ok ? succeeded(result.value.bytes) : result;
  }

  /** Whether the server takes messages now. Asks once. */
  async ready(options: CallOptions = {}): Promise<Result<boolean>> {
    const { result } = await this.#caller.call({ method: 'GET', path: '/ready', once: true }, options);
    if (result.ok) return succeeded(true);
    const { error } = result;
    return 'status' in error && error.status === 503 ? succeeded(false) : result;
  }

  /** Sends what `body` gives, as JSON. */
  async #sendJson<T extends object>(
    path: string,
    body: () => Promise<unknown>,
    isAnswer: (body: unknown) => body is T,
    options: SendOptions,
  ): Promise<Result<T & Sent>> {
    const content = await jsonOfMessage(body, options);
    if (!content.ok) return content;
    return await this.#send(path, { type: JSON_TYPE, content: content.value }, isAnswer, options);
  }

  async #send<T extends object>(
    path: string,
    body: Request['body'],
    isAnswer: (body: unknown) => body is T,
    options: SendOptions,
  ): Promise<Result<T & Sent>> {
    const { idempotencyKey = this.#machine.unique() } = options;
    if (!IDEMPOTENCY_KEY.test(idempotencyKey))
      return failed({
        kind: 'input',
        message: 'idempotencyKey must be 1 to 256 printable ASCII characters, with no space at its ends.',
        idempotencyKey,
      });
    const request: Request = { method: 'POST', path, idempotencyKey, ...(body ? { body } : {}) };
    const { result } = await this.#caller.call(request, options);
    if (!result.ok) return result;
    const read = readAnswer(result.value, isAnswer, request);
    if (!read.ok) return read;
    const replayed = result.value.headers.get('idempotency-replayed') === 'true';
    return succeeded({ ...read.value, idempotencyKey, replayed });
  }

  /**
   * Cancelling and retrying can be asked for twice without harm, but the second time the answer is a refusal:
   * there is nothing left to do. Where an earlier try may have done it, that refusal is success.
   */
  async #act(
    id: string,
    verb: string,
    nothingToDo: string,
    options: CallOptions,
  ): Promise<Result<StatusRecord>> {
    const request: Request = { method: 'POST', path: `${pathOf(id)}/${verb}` };
    const { result, doneBefore } = await this.#caller.call(request, options);
    if (result.ok) return readAnswer(result.value, isStatusRecord, request);
    const { error } = result;
    const isDone = doneBefore && error.kind === 'problem' && error.code === nothingToDo;
    return isDone ? await this.get(id, options) : result;
  }

  async #ask<T>(
    request: Request,
    isAnswer: (body: unknown) => body is T,
    options: CallOptions,
  ): Promise<Result<T>> {
    const { result } = await this.#caller.call(request, options);
    return result.ok ? readAnswer(result.value, isAnswer, request) : result;
  }
}

function readAnswer<T>(answer: Answer, isAnswer: (body: unknown) => body is T, request: Request): Result<T> {
  const body = jsonOf(answer);
  if (isAnswer(body)) return succeeded(body);
  const { status } = answer;
  const message = 'What answered is not the API; check the URL and what stands between.';
  return failed({ kind: 'protocol', status, message, ...keyOf(request) });
}

function pathOf(id: string): string {
  return `/messages/${encodeURIComponent(id)}`;
}

/** A message as the text of its JSON. */
async function jsonOfMessage(body: () => Promise<unknown>, options: SendOptions): Promise<Result<string>> {
  try {
    return succeeded(JSON.stringify(await body()));
  } catch (error) {
    const message = `The message cannot be sent, or a file of it not be read: ${String(error)}`;
    return failed({ kind: 'input', message, ...keyOf(options) });
  }
}
