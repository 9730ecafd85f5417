/**
 * Whether somebody is there. A page fetches by itself what has changed; were that use of the session, one left open would
 * never end by its idle time. So what is asked while nobody touched the page for a while says so.
 */

/** The name of the header; the server goes by its presence alone. */
const BY_ITSELF = 'waybill-background';
/** Nobody has touched the page for so long: what it asks now, it asks by itself. */
const AWAY_MS = 60_000;

let touchedAt = performance.now();

for (const kind of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'])
  globalThis.addEventListener?.(
    kind,
    () => {
      touchedAt = performance.now();
    },
    { capture: true, passive: true },
  );

/** Headers of a request, with the note that the page makes it by itself where nobody is there. */
export function withPresence(given: HeadersInit | undefined): Headers {
  const headers = new Headers(given);
  if (performance.now() - touchedAt > AWAY_MS) headers.set(BY_ITSELF, '1');
  return headers;
}
