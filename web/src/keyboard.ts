import { useEffect } from 'react';
import type { Role } from './session.tsx';

/**
 * Keys that work on every page: `/` goes to the search where there is one, `j` and `k` along the rows of a list, Enter
 * opens the row, `?` shows help, and `g` with a letter goes to a page. Where text is being typed none of them acts. Cmd or Ctrl
 * and K opens the palette, there too.
 */

/** Pages by the letter that follows `g`. */
export const JUMPS = {
  o: { to: '/', label: 'Overview' },
  m: { to: '/messages', label: 'Messages' },
  q: { to: '/queue', label: 'Queue' },
  c: { to: '/explore', label: 'Explore' },
  i: { to: '/inbox', label: 'Inbox' },
  r: { to: '/relays', label: 'Relays' },
  t: { to: '/routes', label: 'Routes' },
  d: { to: '/domains', label: 'Domains' },
  l: { to: '/suppressions', label: 'Suppressions' },
  p: { to: '/reputation', label: 'Reputation' },
  v: { to: '/reports', label: 'Reports' },
  f: { to: '/templates', label: 'Templates' },
  w: { to: '/webhooks', label: 'Webhooks' },
  e: { to: '/requests', label: 'Requests' },
  s: { to: '/settings', label: 'Settings' },
  u: { to: '/users', label: 'Users' },
  a: { to: '/activity', label: 'Activity' },
  x: { to: '/privacy', label: 'Privacy' },
  n: { to: '/alerts', label: 'Alerts' },
  y: { to: '/system', label: 'System' },
} as const;

/** The role from which on a page is shown, where not everybody sees it. */
export const JUMP_ROLES: Readonly<Partial<Record<keyof typeof JUMPS, Role>>> = {
  w: 'admin',
  u: 'admin',
  a: 'admin',
  x: 'admin',
};

/** A page that keys go to. */
export type JumpTarget = (typeof JUMPS)[keyof typeof JUMPS]['to'];

const IS_MAC = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '');

/** The keys that open the palette, as they are written on this machine's keyboard. */
export const PALETTE_KEYS: readonly string[] = [IS_MAC ? '⌘' : 'Ctrl', 'K'];

/** Whether these keys open the palette, or close it. In a field of a Mac, Ctrl and K erase to the end of the line. */
export function opensPalette({
  key,
  ctrlKey,
  metaKey,
  altKey,
  shiftKey,
  target,
}: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'> & {
  readonly target: EventTarget | null;
}): boolean {
  if (key.toLowerCase() !== 'k' || altKey || shiftKey || ctrlKey === metaKey) return false;
  return metaKey || !(IS_MAC && isTyping(target));
}

/** What wants to be dealt with first. A note of what was done is a dialog by its role, too, and is none. */
const OVER_THE_PAGE = '[role="dialog"]:not([aria-modal="false"]),[role="menu"]';

/** The letter after `g` comes within this time. */
const CHORD_MS = 1_500;

/** What is typed before the palette's field has the focus, so long after its keys, is kept for it. */
const AHEAD_MS = 5_000;
const ahead = { until: 0, text: '' };

/** What was typed for the palette before its field had the focus. */
export function takeTypedAhead(): string {
  const { text } = ahead;
  ahead.until = 0;
  ahead.text = '';
  return text;
}

/** Listens to the keys of every page. */
export function useGlobalKeys({
  onHelp,
  onPalette,
  onJump,
}: {
  onHelp: () => void;
  onPalette: () => void;
  onJump: (to: JumpTarget) => void;
}): void {
  useEffect(() => {
    let chordUntil = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const isCommand = event.ctrlKey || event.metaKey || event.altKey;
      if (event.timeStamp < ahead.until && event.key.length === 1 && !isCommand) {
        event.preventDefault();
        ahead.text += event.key;
        return;
      }
      if (document.querySelector(OVER_THE_PAGE)) return;
      if (opensPalette(event)) {
        event.preventDefault();
        takeTypedAhead();
        ahead.until = event.timeStamp + AHEAD_MS;
        onPalette();
        return;
      }
      if (isCommand || isTyping(event.target)) return;
      if (event.timeStamp < chordUntil) {
        chordUntil = 0;
        const jump = JUMPS[event.key as keyof typeof JUMPS];
        if (jump) {
          event.preventDefault();
          onJump(jump.to);
          return;
        }
      }
      if (event.key === 'g') chordUntil = event.timeStamp + CHORD_MS;
      else if (event.key === '?') onHelp();
      else if (event.key === '/') {
        // The browser's own search opens where the page has none.
        if (!focusSearch()) return;
      } else if (event.key === 'j') moveRow(1);
      else if (event.key === 'k') moveRow(-1);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [onHelp, onPalette, onJump]);
}

/** What keys write text into. */
const TYPED =
  'textarea, select, [contenteditable], input:not([type=checkbox],[type=radio],[type=button],[type=submit])';

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches(TYPED);
}

/** Tells whether the page has a search. */
function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('[data-search]');
  field?.focus();
  field?.select();
  return field !== null;
}

/** Moves along the rows of the list on the page: elements with `data-row` inside one with `data-list`. */
function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-list] [data-row]')];
  const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next = at === -1 ? rows.find((row) => row.getBoundingClientRect().bottom > 80) : rows[at + step];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}
