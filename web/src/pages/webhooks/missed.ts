// A file of its own: its test reads no page.

import { type Endpoint, timeOfEvent } from './words.ts';

/** What pends is taken away when an endpoint is disabled: it may be of so long before. */
const MARGIN_MS = 60_000;

/**
 * From when on an endpoint that is off missed what happened, in ms. One that was disabled for its failures missed what
 * was to be told since the first of them; one that somebody switched off, what came after the newest event that it has a
 * delivery of. A replay leaves out what it was told, so that an earlier time does no harm.
 */
export function missedSince(
  { createdAt, health: { state, failingSince } }: Pick<Endpoint, 'createdAt' | 'health'>,
  newestEvent: string | null,
): number {
  const newest = (newestEvent === null ? null : timeOfEvent(newestEvent)) ?? Date.parse(createdAt);
  if (state !== 'disabled' || failingSince === null) return newest;
  return Math.min(newest, Date.parse(failingSince)) - MARGIN_MS;
}

/** A time as a field of the browser has it; always in UTC. Parts of a second are left out, so that none is missed. */
export function fieldOfTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}

/** The time in such a field, in RFC 3339; null where there is none. */
export function timeOfField(text: string): string | null {
  const time = Date.parse(`${text}Z`);
  return text === '' || Number.isNaN(time) ? null : new Date(time).toISOString();
}
