import { useState, useSyncExternalStore } from 'react';
import {
  formatAhead,
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatRelative,
} from '../format.ts';
import { useZone } from '../zone.ts';
import { classNames } from './class-names.ts';

/** All relative times change together, on one timer. */
const TICK_MS = 5_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time now, in milliseconds; what uses it is drawn again every few seconds. */
export function useNow(): number {
  const [mountedAt] = useState(() => Date.now());
  const ticked = useSyncExternalStore(subscribe, () => now);
  return Math.max(ticked, mountedAt);
}

/** A moment in the reader's time zone, and for a title also in UTC. */
function useMoment(time: number): { readonly moment: string; readonly title: string } {
  const moment = formatMoment(time, useZone());
  const utc = formatMoment(time);
  return { moment, title: moment === utc ? utc : `${moment} · ${utc}` };
}

/** A moment, as far from now; exactly, also in UTC, as its title. `exact` shows both; `ahead` is for what is yet to come. */
export function Time({
  at,
  exact = false,
  ahead = false,
}: {
  readonly at: string | number;
  readonly exact?: boolean;
  readonly ahead?: boolean;
}) {
  const current = useNow();
  const time = typeof at === 'number' ? at : Date.parse(at);
  const { moment, title } = useMoment(time);
  const relative = (ahead ? formatAhead : formatRelative)(time, current);
  return (
    <time dateTime={Number.isNaN(time) ? undefined : new Date(time).toISOString()} title={title}>
      {exact ? (
        <>
          {moment} <span className="whitespace-nowrap text-soft">({relative})</span>
        </>
      ) : (
        <span className="whitespace-nowrap">{relative}</span>
      )}
    </time>
  );
}

/** A size. */
export function Bytes({ bytes }: { readonly bytes: number }) {
  return (
    <span className="whitespace-nowrap" title={`${formatCount(bytes)} bytes`}>
      {formatBytes(bytes)}
    </span>
  );
}

/** A length of time. */
export function Duration({ ms }: { readonly ms: number }) {
  return (
    <span className="whitespace-nowrap" title={`${formatCount(ms)} ms`}>
      {formatDuration(ms)}
    </span>
  );
}

/** When something is to happen; what should have begun already is due. */
export function DueAt({ at }: { readonly at: string }) {
  const now = useNow();
  const time = Date.parse(at);
  const { title } = useMoment(time);
  return time > now ? <Time at={at} ahead /> : <span title={title}>due</span>;
}

const DIFFERENCES = {
  same: ['', 'text-soft'],
  removed: ['−', 'bg-failed-soft text-failed'],
  added: ['+', 'bg-delivered-soft text-delivered'],
} as const;

/** A line of what was taken away, or added, or of what is around it. `close` is for many of them. */
export function DiffLine({
  kind,
  text,
  close = false,
}: {
  readonly kind: keyof typeof DIFFERENCES;
  readonly text: string;
  readonly close?: boolean;
}) {
  const [sign, look] = DIFFERENCES[kind];
  return (
    <div className={classNames('flex gap-2 px-3 font-mono text-sm', close ? 'py-px' : 'py-1', look)}>
      <span aria-hidden className="w-[1ch] shrink-0 select-none">
        {sign}
      </span>
      {kind !== 'same' && <span className="sr-only">{kind}: </span>}
      <span className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</span>
    </div>
  );
}

/**
 * What a stranger has written: a subject, an address, a peer's reply. It stays a run of its own whatever direction its
 * letters have, in one line that is cut short, or in several that break anywhere.
 */
export function Said({
  text,
  none = '–',
  mono = false,
  lines = 'one',
  className,
}: {
  readonly text: string | null | undefined;
  /** In its place when it is empty. */
  readonly none?: string;
  readonly mono?: boolean;
  readonly lines?: 'one' | 'several';
  readonly className?: string;
}) {
  const shown = plainText(text ?? '');
  if (shown.trim() === '') return <span className="text-faint">{none}</span>;
  return (
    <bdi
      dir="auto"
      title={lines === 'one' ? shown : undefined}
      className={classNames(
        lines === 'one' ? 'block truncate' : 'break-words whitespace-pre-wrap [overflow-wrap:anywhere]',
        // Letters of right-to-left scripts begin at the same edge as the rest of the list.
        'text-left',
        mono && 'font-mono text-sm',
        className,
      )}
    >
      {shown}
    </bdi>
  );
}

/** The address of a mailbox, without the name that stands before it. */
export function bareAddress(mailbox: string): string {
  return /<([^<>]+)>\s*$/.exec(mailbox)?.[1] ?? mailbox;
}

/** Characters that show nothing, or make others show otherwise: controls, and overrides of the direction. */
const TRICKS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
/** Longer texts are cut: nobody reads them in one place. */
const MAX_CHARACTERS = 20_000;
/** Marks that are piled on one letter; more of them would cover the lines around. */
const PILE = /(\p{M}{4})\p{M}+/gu;

/** Text of strangers with nothing in it that plays tricks on its readers; that is shown as an escape, such as `\u202e`. */
export function plainText(text: string): string {
  const short = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
  return short.replaceAll('\r\n', '\n').replace(TRICKS, escaped).replace(PILE, '$1');
}

/** Plain text whose lines are made plain one by one: one that is very long is cut, and the others are not. */
export function plainLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => plainText(line))
    .join('\n');
}

/** A character as an escape of JSON. */
export function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
