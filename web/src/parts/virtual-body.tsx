import { measureElement, useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';

/** A file of its own, because it is loaded with the first long table, not with the page. */

/** Draws a row so many pixels below the head, and measures it there; without that where it comes to stand. */
export type DrawRow = (
  index: number,
  offset?: number,
  measure?: (element: HTMLElement | null) => void,
) => ReactNode;

/** Of a row with a single line: the guess until a row has been measured. */
const ROW_HEIGHT = 39;
/** Rows drawn before and after those in sight. */
const OVERSCAN = 12;

/** The body of a long table: only what is in sight is drawn, while the window scrolls. */
export default function VirtualBody({
  count,
  idOf,
  draw,
}: {
  readonly count: number;
  readonly idOf: (index: number) => string;
  readonly draw: DrawRow;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  // What stands above may grow later; the rows drawn beyond the sight make up for that.
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured again when rows are added
  useLayoutEffect(() => {
    const box = body.current?.getBoundingClientRect();
    if (box) setTop(Math.round(box.top + window.scrollY));
  }, [count]);
  // The first height that is measured is the guess for all others: a guess that changed would move the rows not yet seen.
  const height = useRef<number | null>(null);
  const virtualizer = useWindowVirtualizer<HTMLElement>({
    count,
    estimateSize: () => height.current ?? ROW_HEIGHT,
    measureElement: (...row) => {
      const measured = measureElement(...row);
      // A row that is not shown has none, and says nothing about the others.
      if (measured > 0) height.current ??= measured;
      return measured;
    },
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey: idOf,
  });
  return (
    <tbody ref={body} data-list className="relative block" style={{ height: virtualizer.getTotalSize() }}>
      {virtualizer
        .getVirtualItems()
        .map(({ index, start }) => draw(index, start - top, virtualizer.measureElement))}
    </tbody>
  );
}
