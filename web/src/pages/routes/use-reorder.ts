import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';

/** Moves rows of a list with the pointer or with the keys, by a handle in each. */
export interface Reorder {
  /** The id of the row that is being dragged. */
  readonly dragged: string | null;
  /** What was done, to be read aloud. */
  readonly said: string;
  readonly rowRef: (id: string) => (element: HTMLElement | null) => void;
  readonly handle: (id: string) => {
    readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void;
    readonly onPointerMove: (event: PointerEvent<HTMLElement>) => void;
    readonly onPointerUp: (event: PointerEvent<HTMLElement>) => void;
    readonly onPointerCancel: (event: PointerEvent<HTMLElement>) => void;
    readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
  };
}

/** See {@link Reorder}. `names` are what rows are called, by their ids, in order. */
export function useReorder(
  rows: readonly { readonly id: string; readonly name: string }[],
  move: (from: number, to: number) => void,
): Reorder {
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
    dragged,
    said,
    rowRef: (id) => (element) => {
      if (element) elements.current.set(id, element);
      else elements.current.delete(id);
    },
    handle: (id) => ({
      onPointerDown: (event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setDragged(id);
      },
      onPointerMove: (event) => {
        if (dragged !== id) return;
        const from = placeOf(id);
        const to = placeAt(event.clientY, rows, elements.current, from);
        if (to !== from) go(id, to);
      },
      onPointerUp: end,
      onPointerCancel: end,
      onKeyDown: (event) => {
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
