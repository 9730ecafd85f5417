import { type Answer, jsonOf } from '../answer.ts';
import type { Call } from '../call.ts';
import type { MessageRecord } from '../types.ts';

/** What the inbox of the API gives, as far as tests look at it, and how it is asked. */

/** A captured message without what it says. */
export type CapturedRecord = Pick<
  MessageRecord,
  'id' | 'box' | 'createdAt' | 'from' | 'to' | 'cc' | 'bcc' | 'subject' | 'tags'
>;

/** A link in a mail. */
export interface MailLink {
  readonly url: string;
  /** What a reader sees of it; empty if that is the address itself. */
  readonly text: string;
}

/** A file in a mail. */
export interface MailAttachment {
  readonly filename: string;
  /** Lower case, without parameters. */
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Meant to be shown within the mail, as a picture of its HTML is. */
  readonly inline: boolean;
  /** By which the HTML refers to it, without angle brackets. */
  readonly contentId: string | null;
}

/** What a captured message says. */
export interface CapturedContent {
  readonly text: string | null;
  readonly html: string | null;
  readonly links: readonly MailLink[];
  readonly codes: readonly string[];
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly attachments: readonly MailAttachment[];
}

/** A captured message. */
export interface Captured extends CapturedContent {
  readonly message: CapturedRecord;
}

/** What the server is asked for: the fields of a query by their names, and the box. */
export type Filter = Readonly<Record<string, string>>;

/** Some of what passes a filter, newest first. */
export interface CapturedPage {
  readonly records: readonly CapturedRecord[];
  /** Where the next page begins, as a member of the filter; `null` if this is the last. */
  readonly cursor: string | null;
}

/** Asks for the newest that pass a filter, at most so many. */
export function listCaptured(filter: Filter, limit: number): Call<CapturedPage> {
  const path = `/inbox/messages${queryOf({ ...filter, limit: String(limit) })}`;
  const read = (answer: Answer) => {
    const body = jsonOf(answer);
    if (!isObject(body) || !Array.isArray(body['messages'])) return null;
    const { messages, nextCursor } = body;
    return { records: messages.filter(isRecord), cursor: typeof nextCursor === 'string' ? nextCursor : null };
  };
  return { method: 'GET', path, read };
}

/** Asks for a message with what it says. */
export function readCaptured(id: string): Call<Captured> {
  const read = (answer: Answer) => {
    const body = jsonOf(answer);
    return isCaptured(body) ? body : null;
  };
  return { method: 'GET', path: pathOf(id), read };
}

/** Asks for the bytes of an attachment. */
export function getAttachment(id: string, index: number): Call<Uint8Array> {
  return { method: 'GET', path: `${pathOf(id)}/attachments/${index}`, read: ({ bytes }) => bytes };
}

/** Waits until so many pass a filter; the server answers 404 `nothing_captured` after so many seconds. */
export function waitForCaptured(filter: Filter, count: number, seconds: number): Call<true> {
  const path = `/inbox/wait${queryOf({ ...filter, count: String(count), timeout: String(seconds) })}`;
  return { method: 'GET', path, patienceMs: seconds * 1000, read: () => true };
}

/** Removes all that pass a filter; their number. */
export function deleteCaptured(filter: Filter): Call<number> {
  const query = queryOf(Object.keys(filter).length === 0 ? { all: 'true' } : filter);
  const read = (answer: Answer) => {
    const body = jsonOf(answer);
    return isObject(body) && typeof body['deleted'] === 'number' ? body['deleted'] : null;
  };
  return { method: 'DELETE', path: `/inbox/messages${query}`, read };
}

function pathOf(id: string): string {
  return `/inbox/messages/${encodeURIComponent(id)}`;
}

function queryOf(parameters: Filter): string {
  return `?${new URLSearchParams(parameters)}`;
}

function isCaptured(body: unknown): body is Captured {
  return isObject(body) && isRecord(body['message']) && Array.isArray(body['headers']);
}

function isRecord(value: unknown): value is CapturedRecord {
  return isObject(value) && typeof value['id'] === 'string' && Array.isArray(value['to']);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
