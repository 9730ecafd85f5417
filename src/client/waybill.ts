import { type Call, type Called, Caller } from './call.ts';
import type { ListFilter, PageRequest } from './filter.ts';
import type { Machine } from './machine.ts';
import type { Message, RawContent, RawEnvelope } from './message.ts';
import type { CallOptions, ContentOptions, SendOptions, WaitOptions, WaybillOptions } from './options.ts';
import * as requests from './requests.ts';
import { failed, type Result, type Sent, succeeded, unwrap } from './result.ts';
import { settingsOf } from './settings.ts';
import type {
  Attempt,
  BatchReceipt,
  MessageRecord,
  MessagesPage,
  Receipt,
  StatusRecord,
  Template,
  TemplateSummary,
  TemplateToSave,
  Verdict,
} from './types.ts';

/** How many messages a list fetches at a time. */
const LIST_LIMIT = 200;

/**
 * A Waybill server, for programs. No method rejects: each resolves to a {@link Result}. Failures that pass
 * (connections that break, overload, restarts) are tried again within the call's time; what sends goes out under
 * one idempotency key for all tries, so that nothing is sent twice.
 */
export class Waybill {
  readonly #caller: Caller;
  readonly #machine: Machine;

  /** Throws `TypeError` for a URL or a key that can never work; nothing is connected yet. */
  constructor(options: WaybillOptions) {
    const settings = settingsOf(options);
    this.#caller = new Caller(settings);
    this.#machine = settings.machine;
  }

  /** Sends a message; it is on the server's stable storage when this resolves. */
  async send(message: Message, options: SendOptions = {}): Promise<Result<Receipt & Sent>> {
    return await this.#send((key) => requests.sendMessage(message, key), options);
  }

  /**
   * Sends up to 500 messages; each is accepted or refused by itself, so look at every result. The same batch again
   * under the same key accepts only what is still missing.
   */
  async sendBatch(
    messages: readonly Message[],
    options: SendOptions = {},
  ): Promise<Result<BatchReceipt & Sent>> {
    return await this.#send((key) => requests.sendBatch(messages, key), options);
  }

  /** Sends a finished MIME message as it is. The envelope alone says who gets it. */
  async sendRaw(
    content: RawContent,
    envelope: RawEnvelope,
    options: SendOptions = {},
  ): Promise<Result<Receipt & Sent>> {
    return await this.#send((key) => requests.sendRaw(content, envelope, key), options);
  }

  /** Sends a message once more, to all its recipients, as a new message with a new id. */
  async resend(id: string, options: SendOptions = {}): Promise<Result<Receipt & Sent>> {
    return await this.#send((key) => requests.resendMessage(id, key), options);
  }

  /**
   * Checks a message as if it were sent: tells the way each copy would take, and by `findings` what may keep it from being
   * delivered, or from being read as it was meant. Stores and sends nothing.
   */
  async check(message: Message, options: CallOptions = {}): Promise<Result<Verdict>> {
    return await this.#ask(() => requests.checkMessage(message), options);
  }

  /** Checks a finished MIME message likewise. */
  async checkRaw(
    content: RawContent,
    envelope: RawEnvelope,
    options: CallOptions = {},
  ): Promise<Result<Verdict>> {
    return await this.#ask(() => requests.checkRaw(content, envelope), options);
  }

  /** A message's record as it is now. */
  async get(id: string, options: CallOptions = {}): Promise<Result<StatusRecord>> {
    return await this.#ask(() => requests.getMessage(id, null), options);
  }

  /**
   * A message's record once it is final, or as it was last seen when the time to wait is over. Goes on through
   * failures that pass.
   */
  async wait(id: string, options: WaitOptions = {}): Promise<Result<StatusRecord>> {
    const ask = (seconds: number, left: CallOptions) =>
      this.#caller.call(() => requests.getMessage(id, seconds), left);
    return await waitForEnd(ask, options, this.#machine);
  }

  /** All messages that pass the filter, newest first, fetched page by page. Throws `WaybillError`. */
  async *list(
    filter: ListFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<MessageRecord, void, undefined> {
    let cursor: string | undefined;
    do {
      const request = { ...filter, limit: filter?.limit ?? LIST_LIMIT, cursor };
      const page: MessagesPage = unwrap(await this.listPage(request, options));
      yield* page.messages;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  /** One page of messages, newest first. It may hold fewer than asked for, or none, and still not be the last. */
  async listPage(request: PageRequest = {}, options: CallOptions = {}): Promise<Result<MessagesPage>> {
    return await this.#ask(() => requests.listPage(request ?? {}), options);
  }

  /** Ends the delivery to all recipients who have not got the message; the record after that. */
  async cancel(id: string, options: CallOptions = {}): Promise<Result<StatusRecord>> {
    return await this.#act(id, 'cancel', 'not_cancellable', options);
  }

  /** Gives a message that waits for its `sendAt` another one; the record after that. */
  async reschedule(
    id: string,
    sendAt: Date | string,
    options: CallOptions = {},
  ): Promise<Result<StatusRecord>> {
    return await this.#ask(() => requests.reschedule(id, sendAt), options);
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
    const all: Attempt[] = [];
    let cursor: string | undefined;
    do {
      const asked = await this.#ask(() => requests.listAttempts(id, cursor), options);
      if (!asked.ok) return asked;
      all.push(...asked.value.attempts);
      cursor = asked.value.nextCursor;
    } while (cursor !== undefined);
    return succeeded(all);
  }

  /** The message itself, as it was sent, while it is kept. Needs the scope `messages:content`. */
  async content(id: string, options: ContentOptions = {}): Promise<Result<Uint8Array>> {
    return await this.#ask(() => requests.getContent(id, options.recipient ?? null), options);
  }

  /** All templates by alias, without their texts. */
  async templates(options: CallOptions = {}): Promise<Result<readonly TemplateSummary[]>> {
    const asked = await this.#ask(requests.listTemplates, options);
    return asked.ok ? succeeded(asked.value.templates) : asked;
  }

  /** A template with its versions, and the texts of one of them: the newest, unless a number is given. */
  async template(
    alias: string,
    version: number | null = null,
    options: CallOptions = {},
  ): Promise<Result<Template>> {
    return await this.#ask(() => requests.getTemplate(alias, version), options);
  }

  /** Saves a version of a template, over the newest one alone. It is sent once it is published. */
  async saveTemplate(
    alias: string,
    version: TemplateToSave,
    options: CallOptions = {},
  ): Promise<Result<Template>> {
    return await this.#ask(() => requests.saveTemplate(alias, version), options);
  }

  /** Says which version of a template is sent from now on; null: none. */
  async publishTemplate(
    alias: string,
    version: number | null,
    options: CallOptions = {},
  ): Promise<Result<Template>> {
    return await this.#ask(() => requests.publishTemplate(alias, version), options);
  }

  /** Whether the server takes messages now. Asks once. */
  async ready(options: CallOptions = {}): Promise<Result<boolean>> {
    return await this.#ask(requests.getReady, options);
  }

  async #send<T>(
    build: (key: string) => Call<T> | Promise<Call<T>>,
    options: SendOptions | null,
  ): Promise<Result<T>> {
    return await this.#ask(() => build(options?.idempotencyKey ?? this.#machine.unique()), options);
  }

  /**
   * Cancelling and retrying can be asked for twice without harm, but the second time the answer is a refusal:
   * there is nothing left to do. Where an earlier try may have done it, that refusal is success; for a key that may
   * not see the record it stays a refusal, which says so.
   */
  async #act(
    id: string,
    verb: 'cancel' | 'retry',
    nothingToDo: string,
    options: CallOptions,
  ): Promise<Result<StatusRecord>> {
    const { result, doneBefore } = await this.#caller.call(() => requests.actOn(id, verb), options);
    if (result.ok || !doneBefore) return result;
    const { error } = result;
    if (error.kind !== 'problem' || error.code !== nothingToDo) return result;
    const seen = await this.get(id, options);
    if (seen.ok || seen.error.kind !== 'problem' || seen.error.code !== 'scope_missing') return seen;
    const message = `${error.message} The answer of an earlier try was lost: that one may have done it. This key may not ask (messages:read).`;
    return failed({ ...error, message });
  }

  async #ask<T>(build: () => Call<T> | Promise<Call<T>>, options: CallOptions | null): Promise<Result<T>> {
    return (await this.#caller.call(build, options)).result;
  }
}

/** One question to the server, which may take so many seconds to answer. */
type Ask = (seconds: number, options: CallOptions) => Promise<Called<StatusRecord>>;

const DEFAULT_WAIT_MS = 60_000;
/** Most proxies end a request that says nothing for a minute. */
const LONGEST_ASK_SECONDS = 30;
/** The server may answer at once, when too many wait or it is stopping: then it is asked again after this. */
const SHORTEST_ASK_MS = 1000;
/** Time for the last answer to arrive when the wait is over. */
const MARGIN_MS = 10_000;

/**
 * Asks again and again, until the message is final or the time is over; the last record in either case. Failures that
 * may be over soon end the wait only if there was never a record.
 */
async function waitForEnd(
  ask: Ask,
  options: WaitOptions | null | undefined,
  machine: Machine,
): Promise<Result<StatusRecord>> {
  const signal = options?.signal;
  const timeoutMs = options?.timeoutMs ?? DEFAULT_WAIT_MS;
  const endsAt = machine.mono() + timeoutMs;
  let last: StatusRecord | null = null;
  for (;;) {
    const askedAt = machine.mono();
    const leftMs = endsAt - askedAt;
    const seconds = Math.min(LONGEST_ASK_SECONDS, Math.max(1, Math.ceil(leftMs / 1000)));
    const { result, passing } = await ask(seconds, { signal, timeoutMs: Math.max(0, leftMs) + MARGIN_MS });
    if (result.ok ? isFinal(result.value) : !passing) return result;
    if (result.ok) last = result.value;
    const now = machine.mono();
    if (now >= endsAt) return last === null ? result : succeeded(last);
    const restMs = Math.min(Math.max(SHORTEST_ASK_MS - (now - askedAt), pauseOf(result)), endsAt - now);
    if (restMs > 0) await machine.sleep(restMs, signal ?? NEVER);
  }
}

const NEVER = new AbortController().signal;

/** Milliseconds for which the server wants to be left alone. */
function pauseOf(result: Result<unknown>): number {
  if (result.ok || result.error.kind !== 'problem') return 0;
  return result.error.retryAfterMs ?? 0;
}

/** Whether nothing will happen to a message any more, unless it is retried by hand. */
function isFinal({ status }: Pick<StatusRecord, 'status'>): boolean {
  return status === 'delivered' || status === 'failed';
}
