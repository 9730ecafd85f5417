import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { sameValue } from '../settings/setting-values.ts';
import { draftsOf, moved, type RuleDraft, rulesOf } from './rules.ts';

/** A table that is edited: what is changed of it, and how its rows are moved. */

/** A published table as the server tells of it. */
export type Table = ResultOf<'routeTable'>;

/** A table while it is edited. */
export type TableInHand = ReturnType<typeof useTableInHand>;

/** Holds changes of a table until they are published. A table that is published meanwhile does not take them away. */
export function useTableInHand(table: Table) {
  const [edited, setEdited] = useState<readonly RuleDraft[] | null>(null);
  const drafts = edited ?? draftsOf(table.rules);
  return {
    drafts,
    isDirty: edited !== null && !sameValue(rulesOf(edited), rulesOf(draftsOf(table.rules))),
    move: (from: number, to: number) => setEdited((before) => moved(before ?? drafts, from, to)),
    /** Puts a rule in the place of the one with its id, or at the end. */
    put: (rule: RuleDraft) =>
      setEdited((before) => {
        const all = before ?? drafts;
        return all.some(({ id }) => id === rule.id)
          ? all.map((each) => (each.id === rule.id ? rule : each))
          : [...all, rule];
      }),
    remove: (id: string) => setEdited((before) => (before ?? drafts).filter((rule) => rule.id !== id)),
    discard: () => setEdited(null),
  };
}

/** See {@link useReorder}. */
export type Reorder = ReturnType<typeof useReorder>;

/** Moves rows of a list with the pointer or with the keys, by a handle in each. */
export function useReorder(
  rows: readonly { readonly id: string; readonly name: string }[],
  move: (from: number, to: number) => void,
) {
  const [dragged, setDragged] = useState<string | null>(null);
  const [said, setSaid] = useState('');
  const elements = useRef(new Map<string, HTMLElement>());
  const placeOf = (id: string) => rows.findIndex((row) => row.id === id);
  const go = (id: string, to: number) => {
    const from = placeOf(id);
    const target = Math.max(0, Math.min(rows.length - 1, to));
    if (from === -1 || from === target) return;
    move(from, target);
    setSaid(`${rows[from]?.name ?? 'The rule'} is now ${target + 1} of ${rows.length}.`);
  };
  const end = () => setDragged(null);
  return {
    /** The id of the row that is being dragged. */
    dragged,
    /** What was done, to be read aloud. */
    said,
    rowRef: (id: string) => (element: HTMLElement | null) => {
      if (element) elements.current.set(id, element);
      else elements.current.delete(id);
    },
    handle: (id: string) => ({
      onPointerDown: (event: PointerEvent<HTMLElement>) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setDragged(id);
      },
      onPointerMove: (event: PointerEvent<HTMLElement>) => {
        if (dragged !== id) return;
        const from = placeOf(id);
        const to = placeAt(event.clientY, rows, elements.current, from);
        if (to !== from) go(id, to);
      },
      onPointerUp: end,
      onPointerCancel: end,
      onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
        const to = targetOf(event.key, placeOf(id), rows.length);
        if (to === null) return;
        event.preventDefault();
        go(id, to);
      },
    }),
  };
}

/** Where a key puts the row at a place; null for a key that moves nothing. */
function targetOf(key: string, place: number, count: number): number | null {
  if (key === 'ArrowUp') return place - 1;
  if (key === 'ArrowDown') return place + 1;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : null;
}

/** The place of the row that a pointer is over, once it has passed that row's middle. */
function placeAt(
  y: number,
  rows: readonly { readonly id: string }[],
  elements: ReadonlyMap<string, HTMLElement>,
  from: number,
): number {
  const middles = rows.map(({ id }) => {
    const box = elements.get(id)?.getBoundingClientRect();
    return box ? box.top + box.height / 2 : 0;
  });
  let to = from;
  while (to > 0 && y < (middles[to - 1] ?? 0)) to--;
  while (to < rows.length - 1 && y > (middles[to + 1] ?? 0)) to++;
  return to;
}
