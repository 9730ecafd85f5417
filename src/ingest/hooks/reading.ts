import { createHash } from 'node:crypto';
import {
  type Feedback,
  type FeedbackMessage,
  feedbackText,
  NO_FACTS,
  NO_MESSAGE,
} from '../../domain/feedback.ts';
import { parseMailbox } from '../../domain/mailbox.ts';
import type { HookType } from '../../domain/relay.ts';
import type { HookSettings } from '../../domain/relay-hook.ts';
import { type JsonLimits, parseJson } from '../../http/json.ts';
import { Problem } from '../../http/problem.ts';
import { parseTimestamp } from '../../lib/clock.ts';
import { meaningOf } from './meanings.ts';
import type { HookRequest, Proof } from './proof.ts';

/** How the events in a proven body become feedback. Nothing here throws, whatever the body. */

/** One event of a provider. */
export interface HookEvent {
  /** Counts once for each relay. At most {@link MAX_ID} characters of printable ASCII and blanks. */
  readonly id: string;
  /** Null: it means nothing here. */
  readonly feedback: Feedback | null;
}

/** The events in a body, or the answer to a body that is not the provider's JSON. */
export type Reading =
  | { readonly ok: true; readonly events: readonly HookEvent[] }
  | { readonly ok: false; readonly status: 400 | 413; readonly why: string };

/** A provider's webhooks: whether one is its own, and what is in it. */
export interface Hook {
  /** Checks the proof at `now` (wall ms). Never throws or rejects. */
  prove(request: HookRequest, settings: HookSettings, now: number): Proof | Promise<Proof>;
  /** The events in a proven request to the hook of a relay. Never throws. */
  read(request: HookRequest, relay: string): Reading;
}

/** Events of one body. SendGrid posts at most 768 KiB of them, the smallest of which has some 200 bytes. */
export const MAX_EVENTS = 5000;
/** Longer ids of events become a digest, longer ids of messages lead to none. */
export const MAX_ID = 255;
const LIMITS: JsonLimits = { maxDepth: 32, maxValues: 250_000, takesHalfPairs: true };
/** Wall ms of the year 10000, from which on times cannot be written (RFC 3339). */
const MAX_TIME = 253_402_300_800_000;
const PRINTABLE = /^[\x20-\x7e]+$/;
/** A reply on one line, by itself or in a `Diagnostic-Code` of type smtp: a code, an enhanced one, or both. */
const CODES = /^(?:smtp; ?)?(?:([45]\d\d)(?=[ -]|$)[ -]?)?(?:#?([45]\.\d{1,3}\.\d{1,3})(?![.\d]))?/i;
const ENHANCED = /^[45]\.\d{1,3}\.\d{1,3}$/;

/** The JSON in a body, or why it is none. */
export type HookJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly status: 400; readonly why: string };

/** Reads JSON within the limits of a hook. */
export function jsonOf(body: Buffer): HookJson {
  try {
    return { ok: true, value: parseJson(body, LIMITS) };
  } catch (error) {
    // Not the detail, which may repeat a part of the body: this is for the log.
    if (error instanceof Problem) return notRead(`the body cannot be read: ${error.code}`);
    throw error;
  }
}

/** The answer to what is no JSON of the provider. */
export function notRead(why: string): { readonly ok: false; readonly status: 400; readonly why: string } {
  return { ok: false, status: 400, why };
}

/** The reading of a list, one event for each of its elements, unless they are too many. */
export function eventsOf<T>(list: readonly T[], eventOf: (element: T) => HookEvent): Reading {
  if (list.length <= MAX_EVENTS) return { ok: true, events: list.map(eventOf) };
  return { ok: false, status: 413, why: `the body has over ${MAX_EVENTS} events` };
}

/** The reading of a body that is one event. */
export function oneEvent(event: HookEvent): Reading {
  return { ok: true, events: [event] };
}

/** What a provider tells of one recipient, before it is known what it means. */
export interface Told {
  readonly type: HookType;
  readonly relay: string;
  /** The provider's words for it, see `meanings.ts`. */
  readonly words: readonly (string | null)[];
  readonly message: Partial<FeedbackMessage>;
  readonly recipient: string | null;
  readonly oneOfSeveral?: boolean;
  /** What was said: the codes are read from the first that has them, the text is the first that is not empty. */
  readonly said: readonly unknown[];
  /** The codes, where the provider gives them apart. */
  readonly code?: unknown;
  readonly enhancedCode?: unknown;
  /** Wall ms. */
  readonly at: number | null;
}

/** Feedback from an event; null if it means nothing here. */
export function feedbackOf(told: Told): Feedback | null {
  const meaning = meaningOf(told.type, told.words);
  if (meaning === null) return null;
  const { kind, type } = meaning;
  const isOfCause = kind === 'bounce' || kind === 'delayed';
  return {
    kind,
    source: `webhook:${told.relay}`,
    message: { ...NO_MESSAGE, ...told.message },
    recipient: told.recipient,
    ...(told.oneOfSeveral === true ? { oneOfSeveral: true } : {}),
    bounce: isOfCause ? { ...factsOf(told), type } : NO_FACTS,
    at: told.at,
  };
}

function factsOf({ said, code, enhancedCode }: Told): Omit<Feedback['bounce'], 'type'> {
  const texts = said.filter((text) => typeof text === 'string').map(feedbackText);
  const found = texts.map((text) => CODES.exec(text));
  const isCode = typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599;
  const foundCode = found.find((codes) => codes?.[1] !== undefined)?.[1];
  const foundEnhanced = found.find((codes) => codes?.[2] !== undefined)?.[2] ?? null;
  const isEnhanced = typeof enhancedCode === 'string' && ENHANCED.test(enhancedCode);
  return {
    code: isCode ? code : foundCode === undefined ? null : Number(foundCode),
    enhancedCode: isEnhanced ? enhancedCode : foundEnhanced,
    text: texts.find((text) => text !== '') ?? '',
  };
}

/** The id of an event out of what makes it unique: texts and numbers; anything else is a dash. */
export function eventId(...parts: readonly unknown[]): string {
  // Not String: an object may bring a toString of its own that is no function.
  const id = parts
    .map((part) => (typeof part === 'string' || typeof part === 'number' ? part : '-'))
    .join(' ');
  if (id.length <= MAX_ID && PRINTABLE.test(id)) return id;
  return `sha256 ${createHash('sha256').update(id).digest('hex')}`;
}

/** The address in what should be a mailbox; null if it is none, and so no recipient of ours. */
export function addressOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const parsed = parseMailbox(value);
  return parsed.ok ? parsed.value.address : null;
}

/** Wall ms of an RFC 3339 time; null if it is none. */
export function timeOf(value: unknown): number | null {
  return typeof value === 'string' ? within(parseTimestamp(value)) : null;
}

/** Wall ms of seconds since the epoch, with a fraction perhaps, as a number or as text; null if it is none. */
export function timeOfSeconds(value: unknown): number | null {
  const isText = typeof value === 'string' && /^\d{1,12}(?:\.\d{1,9})?$/.test(value);
  return isText || typeof value === 'number' ? within(Math.floor(Number(value) * 1000)) : null;
}

function within(ms: number | null): number | null {
  return ms !== null && ms >= 0 && ms < MAX_TIME ? ms : null;
}
