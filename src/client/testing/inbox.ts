import { type Call, Caller } from '../call.ts';
import { type Machine, thisMachine } from '../machine.ts';
import { type ClientError, checkMs, type Result, WaybillError } from '../result.ts';
import { settingsOf } from '../settings.ts';
import type { CapturedRecord, Filter } from './captured.ts';
import * as api from './captured.ts';
import { Mail } from './mail.ts';
import {
  type CheckedQuery,
  checkQuery,
  givenQuery,
  type MailQuery,
  needsText,
  recordFits,
  textFits,
} from './query.ts';
import { comparison, mailLines, queryLines } from './show.ts';

/** How an inbox is found. `null` equals absent. */
export interface InboxOptions {
  /** Where the server answers, such as `http://localhost:8025`; the environment's `WAYBILL_URL` unless told. */
  readonly url?: string | null | undefined;
  /** A test key, or a key with the scope `messages:content`; the environment's `WAYBILL_TEST_KEY` unless told. */
  readonly key?: string | null | undefined;
  /** Only mail in this box. */
  readonly box?: string | null | undefined;
  /** What `waitFor` waits unless told, in milliseconds; 4,000 unless told. */
  readonly timeoutMs?: number | null | undefined;
  /** What to use instead of the platform's `fetch`. */
  readonly fetch?: typeof fetch | null | undefined;
  /**
   * What to ask for time and chance; for tests.
   * @internal
   */
  readonly machine?: Machine | undefined;
}

/** Which mail to wait for, and how long. */
export interface WaitForQuery extends MailQuery {
  /** Milliseconds to wait; 4,000 unless told: Vitest and Jest end a test after 5,000, and could not say why. */
  readonly timeoutMs?: number | null | undefined;
}

/** Which mail must not come, and how long. */
export interface NoneQuery extends MailQuery {
  /** Milliseconds to wait; 500 unless told. */
  readonly within?: number | null | undefined;
}

/** An assertion that did not hold. Its message says what is in the inbox instead. */
export class InboxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InboxError';
  }
}

const TIMEOUT_MS = 4000;
const WITHIN_MS = 500;
const BOX = /^[a-z0-9._-]{1,64}$/;
/** How far back to look without `since`: a test asks shortly after it caused the mail. */
const LOOK_BACK_MS = 10 * 60_000;
/** How many mails that pass the server's filters are looked at, the newest of them. */
const LOOKED_AT = 500;
/** How many are asked for at once; as many as the server counts to. */
const PAGE = 50;
/** How many mails a message for people shows. */
const SHOWN = 3;
/** Most proxies end a request that says nothing for a minute. */
const LONGEST_ASK_SECONDS = 30;
/** From one look at the inbox to the next. */
const SHORTEST_ROUND_MS = 100;
/** What an answer may take that comes at once. */
const ANSWER_MS = 10_000;
/** Within a second or two it is known whether the server is there, before a test's time is over. */
const MAX_RETRIES = 2;

/**
 * The captured mail of a key, or of one of its boxes, as tests look at it. Of the mail that passes the strings of a query,
 * the newest 500 are held against its patterns. A query that is `undefined` is refused, as its members are.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #machine: Machine;
  #caller: Caller | null = null;

  /** Throws for options that can never work. The environment is read with the first call. */
  constructor(options: InboxOptions = {}) {
    const { box, timeoutMs, machine } = options;
    if (box !== undefined && box !== null) checkBox(box);
    if (timeoutMs !== undefined && timeoutMs !== null) checkMs('timeoutMs', timeoutMs);
    this.#options = options;
    this.#machine = machine ?? thisMachine;
  }

  /** One of the key's boxes, so that tests that run side by side do not see each other's mail. */
  box(name: string): Inbox {
    checkBox(name);
    return new Inbox({ ...this.#options, box: name });
  }

  /**
   * The newest mail that is as asked for, as soon as there is one. Rejects with {@link InboxError} when the time is
   * over, and with `WaybillError` when the server cannot be asked.
   */
  async waitFor(...given: [query?: WaitForQuery]): Promise<Mail> {
    const query = givenQuery(given);
    const checked = checkQuery(query, ['timeoutMs']);
    const ms = msOf('timeoutMs', query.timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS);
    const found = await this.#find(checked, ms);
    if (found !== null) return found;
    throw new InboxError(await this.#whatInstead(checked, ms));
  }

  /** Resolves if no such mail is there, and none comes within some time; rejects as soon as there is one. */
  async none(...given: [query?: NoneQuery]): Promise<void> {
    const query = givenQuery(given);
    const checked = checkQuery(query, ['within']);
    const found = await this.#find(checked, msOf('within', query.within ?? WITHIN_MS));
    if (found === null) return;
    const asked = queryLines(checked, this.#box);
    throw new InboxError(
      `A mail came that should not:\n${mailLines(found)}\n\nNone was to be like this:\n${asked}`,
    );
  }

  /** All mail that is as asked for, newest first. */
  async all(...given: [query?: MailQuery]): Promise<Mail[]> {
    const checked = checkQuery(givenQuery(given));
    const mails: Mail[] = [];
    for await (const records of this.#pages(this.#recent(checked)))
      for (const record of records) {
        const mail = await this.#readIfFits(record, checked);
        if (mail !== null) mails.push(mail);
      }
    return mails;
  }

  /** The newest mail that is as asked for; `null` if there is none. */
  async latest(...given: [query?: MailQuery]): Promise<Mail | null> {
    return await this.#find(checkQuery(givenQuery(given)), 0);
  }

  /**
   * Removes all mail, or what passes a filter of strings; how many there were. `null` for a member is refused: more
   * would be removed than was meant.
   */
  async clear(...given: [query?: MailQuery]): Promise<number> {
    const query = givenQuery(given);
    const { filter, wanted } = checkQuery(query);
    const unset = Object.entries(query).find(([, value]) => value === null);
    if (unset !== undefined)
      throw new TypeError(
        `${unset[0]} is null: clear would remove more than was meant. Leave it out if that is meant.`,
      );
    if (wanted.some(([, want]) => typeof want !== 'string'))
      throw new TypeError('clear takes strings only: the server removes the mail, and knows no patterns.');
    return await this.#ask(api.deleteCaptured(this.#boxed(filter)));
  }

  async #find(checked: CheckedQuery, ms: number): Promise<Mail | null> {
    const endsAt = this.#machine.mono() + ms;
    const filter = this.#recent(checked);
    const unfit = new Set<string>();
    for (;;) {
      const { mail, count } = await this.#look(filter, checked, unfit);
      if (mail !== null) return mail;
      const leftMs = endsAt - this.#machine.mono();
      if (leftMs <= 0) return null;
      await this.#untilMore(filter, count, leftMs);
    }
  }

  /**
   * Looks for the newest that is as asked for, back to where all are known not to be, and remembers those that are not.
   * `count` is how many passed the filter, if they are fewer than a page.
   */
  async #look(filter: Filter, checked: CheckedQuery, unfit: Set<string>): Promise<Look> {
    let count = 0;
    for await (const records of this.#pages(filter)) {
      count += records.length;
      const unknown = records.filter(({ id }) => !unfit.has(id));
      if (unknown.length === 0) break;
      for (const record of unknown) {
        const mail = await this.#readIfFits(record, checked);
        if (mail !== null) return { mail, count };
        unfit.add(record.id);
      }
    }
    return { mail: null, count };
  }

  /** What passes a filter, newest first, page by page. */
  async *#pages(filter: Filter): AsyncGenerator<readonly CapturedRecord[]> {
    let from: Filter = {};
    for (let asked = 0; asked < LOOKED_AT; asked += PAGE) {
      const { records, cursor } = await this.#ask(api.listCaptured({ ...filter, ...from }, PAGE));
      yield records;
      if (cursor === null) return;
      from = { cursor };
    }
  }

  /** A mail that passed the server's filters, if it is as asked for and still there. */
  async #readIfFits(record: CapturedRecord, checked: CheckedQuery): Promise<Mail | null> {
    if (!recordFits(record, checked)) return null;
    const mail = await this.#read(record.id);
    return mail === null || (needsText(checked) && !textFits(mail, checked)) ? null : mail;
  }

  /** Resolves when more mails may pass the filter than did, or the time is over. */
  async #untilMore(filter: Filter, count: number, leftMs: number): Promise<void> {
    const askedAt = this.#machine.mono();
    if (count < PAGE) {
      const seconds = Math.min(LONGEST_ASK_SECONDS, Math.ceil(leftMs / 1000));
      const call = api.waitForCaptured(filter, count + 1, seconds);
      const { result } = await this.#opened().call(() => call, { timeoutMs: leftMs });
      if (!result.ok && !isOver(result.error)) throw new WaybillError(helpful(result.error));
    }
    // So that nobody is asked without pause: neither a server that counts no further, nor one that is stopping.
    const restMs = SHORTEST_ROUND_MS - (this.#machine.mono() - askedAt);
    if (restMs > 0) await this.#machine.sleep(Math.min(restMs, leftMs), NEVER);
  }

  /** What to say when no mail was as asked for. */
  async #whatInstead(checked: CheckedQuery, ms: number): Promise<string> {
    const box = this.#box;
    const head = `No such mail came within ${ms} ms:\n${queryLines(checked, box)}`;
    const { since = '' } = this.#recent(checked);
    let there = await this.#newest(this.#boxed({ since }));
    if (there.length === 0 && box !== null) there = await this.#newest({ since });
    const when = checked.filter['since'] === undefined ? 'in the last ten minutes' : 'since then';
    if (there.length === 0)
      return `${head}\n\nNo mail at all was captured ${when}. Does the application send with this key, to ${this.#url}?`;
    const mails = await Promise.all(there.map(({ id }) => this.#read(id)));
    const shown = mails
      .filter((mail) => mail !== null)
      .map(
        (mail, index) =>
          `${index + 1}. ${mail.id}, accepted at ${mail.createdAt}\n${comparison(mail, checked, box)}`,
      );
    return `${head}\n\nThe newest that were captured ${when}; ✗ is not as asked for:\n${shown.join('\n')}`;
  }

  /** As many as a message shows. */
  async #newest(filter: Filter): Promise<readonly CapturedRecord[]> {
    return (await this.#ask(api.listCaptured(filter, SHOWN))).records;
  }

  /** A mail with what it says; `null` if it is gone. */
  async #read(id: string): Promise<Mail | null> {
    const { result } = await this.#opened().call(() => api.readCaptured(id), { timeoutMs: ANSWER_MS });
    if (!result.ok && result.error.kind === 'problem' && result.error.status === 404) return null;
    return new Mail(valueIn(result), async (of, index) => await this.#ask(api.getAttachment(of, index)));
  }

  async #ask<T>(call: Call<T>): Promise<T> {
    const { result } = await this.#opened().call(() => call, { timeoutMs: ANSWER_MS });
    return valueIn(result);
  }

  #opened(): Caller {
    this.#caller ??= new Caller(
      settingsOf({
        url: this.#url,
        key: this.#options.key ?? fromEnvironment('WAYBILL_TEST_KEY'),
        fetch: this.#options.fetch,
        maxRetries: MAX_RETRIES,
        machine: this.#machine,
      }),
    );
    return this.#caller;
  }

  get #url(): string {
    return this.#options.url ?? fromEnvironment('WAYBILL_URL');
  }

  get #box(): string | null {
    return this.#options.box ?? null;
  }

  /** A query's filter, with a time, as the server would look further back for a list than for a mail to come. */
  #recent({ filter }: CheckedQuery): Filter {
    return this.#boxed({ since: new Date(this.#machine.wall() - LOOK_BACK_MS).toISOString(), ...filter });
  }

  #boxed(filter: Filter): Filter {
    return this.#box === null ? filter : { ...filter, box: this.#box };
  }
}

/** The inbox of `WAYBILL_URL` and `WAYBILL_TEST_KEY`. */
export const inbox = new Inbox();

const NEVER = new AbortController().signal;

/** What {@link Inbox} saw. */
interface Look {
  readonly mail: Mail | null;
  readonly count: number;
}

/** Throws `TypeError` for what is no box. A variable that was never set would stand for all of them. */
function checkBox(name: unknown): void {
  if (typeof name === 'string' && BOX.test(name)) return;
  throw new TypeError(
    `The box ${name} cannot be: a box has 1 to 64 of a-z, 0-9, dot, underscore and hyphen.`,
  );
}

function msOf(name: string, value: number): number {
  checkMs(name, value);
  return value;
}

/** Whether a call that waited for mail ended because there was none in time. */
function isOver(error: ClientError): boolean {
  return error.kind === 'timeout' || (error.kind === 'problem' && error.code === 'nothing_captured');
}

function valueIn<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new WaybillError(helpful(result.error));
}

function helpful(error: ClientError): ClientError {
  if (error.kind !== 'network') return error;
  return { ...error, message: `${error.message} Is it running? waybill dev starts one.` };
}

function fromEnvironment(name: string): string {
  const value = typeof process === 'undefined' ? undefined : process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new TypeError(
    `${name} is not set. waybill dev prints WAYBILL_URL and WAYBILL_TEST_KEY; or say new Inbox({ url, key }).`,
  );
}
