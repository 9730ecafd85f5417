import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/**
 * Where the focus goes when another page is shown: to its heading, so that the page is read aloud from there; and back on
 * a list, to the row of the page that was left.
 */

/** A list that is fetched again has its rows within this time; later the focus would jump. */
const ROW_WAIT_MS = 3_000;

/** Keeps to that for as long as it is used. */
export function usePageFocus(): void {
  const router = useRouter();
  useEffect(() => {
    let stop = () => {};
    const unsubscribe = router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
      stop();
      if (fromLocation === undefined || !pathChanged || isTaken()) return;
      stop = focusPage(fromLocation.pathname);
    });
    return () => {
      stop();
      unsubscribe();
    };
  }, [router]);
}

/** Whether the new page, or what lies over it, has the focus already: a row that opened beside the list, a first field. */
function isTaken(): boolean {
  return document.activeElement?.matches('main :not(h1), [role=dialog], [role=dialog] *') ?? false;
}

/** Focuses the row that leads to the page that was left, as soon as there is one, and the heading until then. */
function focusPage(left: string): () => void {
  if (focusRow(left)) return () => {};
  const heading = focusHeading();
  if (document.querySelector('main [data-list], main [role=status]') === null) return () => {};
  const stop = () => {
    clearTimeout(timer);
    watch.disconnect();
  };
  const watch = new MutationObserver(() => {
    const at = document.activeElement;
    // Somebody has gone on meanwhile.
    if ((at !== heading && at !== document.body) || focusRow(left)) stop();
  });
  const timer = setTimeout(stop, ROW_WAIT_MS);
  watch.observe(document.querySelector('main') ?? document.body, { childList: true, subtree: true });
  return stop;
}

/** Focuses the page's heading, from which it is read aloud. */
export function focusHeading(): HTMLElement | null {
  const heading = document.querySelector<HTMLElement>('main h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({ preventScroll: true });
  return heading;
}

/** Tells whether the page has such a row. */
function focusRow(pathname: string): boolean {
  const rows = document.querySelectorAll<HTMLAnchorElement>('main [data-list] a[data-row]');
  const row = [...rows].find((one) => one.pathname === pathname);
  row?.focus({ preventScroll: true });
  return row !== undefined;
}
