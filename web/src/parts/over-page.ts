import { useLayoutEffect } from 'react';
import { focusHeading } from '../page-focus.ts';

/** Where the page is drawn; what lies over it is drawn beside. */
const PAGE = 'root';
/** Base UI's marks at both ends of a sheet. */
const GUARD = '[data-base-ui-focus-guard][data-type="inside"]';
const SHEET = '[role="dialog"]:not([aria-modal="false"])';

let open = 0;

/**
 * Keeps the focus in a sheet that lies over the page, for as long as it is open. Base UI's guards hand the focus on a frame
 * later than they get it: the next Tab may come before that and go on from there, into the page.
 */
export function useOverPage(isOpen: boolean): void {
  useLayoutEffect(() => {
    if (!isOpen) return;
    if (open++ === 0) enclose(true);
    return () => {
      if (--open > 0) return;
      enclose(false);
      requestAnimationFrame(landIfLost);
    };
  }, [isOpen]);
}

function enclose(isOver: boolean): void {
  const page = document.getElementById(PAGE);
  if (page) page.inert = isOver;
  if (isOver) window.addEventListener('focusin', handOn, true);
  else window.removeEventListener('focusin', handOn, true);
}

/** Base UI gives the focus back to what had it before; nothing had it where the sheet was open when the page was loaded. */
function landIfLost(): void {
  if (open === 0 && document.activeElement === document.body) focusHeading();
}

/** Hands the focus of a guard on at once: to the last of its sheet, where it went backwards out of it, and else to the first. */
function handOn(event: FocusEvent): void {
  const { target, relatedTarget } = event;
  if (!(target instanceof HTMLElement && target.matches(GUARD))) return;
  const { previousElementSibling: before, nextElementSibling: after } = target;
  const sheet = [before, after].find((beside) => beside?.matches(SHEET));
  if (!(sheet instanceof HTMLElement)) return;
  const isBackwards = sheet === after && relatedTarget instanceof Node && sheet.contains(relatedTarget);
  // Base UI would do so once more, when the focus may have gone on.
  event.stopImmediatePropagation();
  const stops = [...sheet.querySelectorAll<HTMLElement>('*')].filter(({ tabIndex }) => tabIndex >= 0);
  for (const stop of isBackwards ? stops.toReversed() : stops) {
    // What is hidden or disabled does not take it.
    stop.focus();
    if (document.activeElement === stop) return;
  }
  sheet.focus();
}
