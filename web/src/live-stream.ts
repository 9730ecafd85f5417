import type { Hint } from '../../src/dashboard/contract.ts';

/**
 * One stream of events for all tabs of a browser: the tab that holds a lock listens to the server and passes on what
 * it hears by a channel. When that tab closes, the browser gives the lock to the next; when it hangs, a tab that is
 * looked at takes it over. Without locks or channels each tab listens for itself.
 */

/** `connecting` until the first contact, `reconnecting` after it was lost. */
export type StreamState = 'connecting' | 'live' | 'reconnecting';

/** What a stream tells. `reset`: too much was missed, and anything may have changed; `refused`: the session has ended, perhaps. */
export type StreamEvent =
  | { readonly kind: 'state'; readonly state: StreamState }
  | { readonly kind: 'hint'; readonly hint: Hint }
  | { readonly kind: 'reset' }
  | { readonly kind: 'refused' };

/** A stream that is open. */
export interface LiveStream {
  /** Finds out whether hints still arrive, after a time away. */
  check(): void;
  close(): void;
}

/** What the tabs tell one another: what the stream tells, and that they want to know its state. */
type Passed = StreamEvent | { readonly kind: 'ask' };

const NAME = 'waybill.live';
/** A leader that does not answer within this time hangs. */
const ANSWER_MS = 2_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

/** Opens the stream that this tab shares with the others. */
export function openStream(on: (event: StreamEvent) => void): LiveStream {
  if (!('locks' in navigator) || typeof BroadcastChannel === 'undefined') return listenAlone(on);
  const channel = new BroadcastChannel(NAME);
  const closing = new AbortController();
  let source: LiveStream | null = null;
  let state: StreamState = 'connecting';
  let waiting: ReturnType<typeof setTimeout> | undefined;

  const tell = (passed: Passed) => channel.postMessage(passed);
  const share = (event: StreamEvent) => {
    if (event.kind === 'state') state = event.state;
    on(event);
    if (event.kind !== 'refused') tell(event);
  };

  /** Waits for the lock, listens while this tab holds it, and waits again when another has taken it. */
  const lead = async (steal: boolean): Promise<void> => {
    try {
      await navigator.locks.request(NAME, steal ? { steal } : { signal: closing.signal }, async () => {
        clearTimeout(waiting);
        source = listenAlone(share);
        await new Promise<void>((resolve) => closing.signal.addEventListener('abort', () => resolve()));
      });
    } catch {
      // Closed, or taken over by another tab.
    }
    source?.close();
    source = null;
    if (!closing.signal.aborted) void lead(false);
  };

  const ask = () => {
    if (source) return;
    tell({ kind: 'ask' });
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (!source && !closing.signal.aborted && !document.hidden) void lead(true);
    }, ANSWER_MS);
  };

  channel.onmessage = ({ data }: MessageEvent<Passed>) => {
    if (data.kind === 'ask') {
      if (source) tell({ kind: 'state', state });
      return;
    }
    if (source) return;
    clearTimeout(waiting);
    on(data);
  };

  void lead(false);
  ask();
  return {
    check: () => (source ? source.check() : ask()),
    close: () => {
      clearTimeout(waiting);
      closing.abort();
      source?.close();
      channel.close();
    },
  };
}

/** Listens to the server itself, and comes back after each end. */
function listenAlone(on: (event: StreamEvent) => void): LiveStream {
  let events: EventSource | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let retryMs = FIRST_RETRY_MS;
  let wasLive = false;
  let closed = false;

  const connect = () => {
    if (closed) return;
    events = new EventSource('/api/events');
    events.onopen = () => {
      retryMs = FIRST_RETRY_MS;
      wasLive = true;
      on({ kind: 'state', state: 'live' });
    };
    events.onerror = () => {
      on({ kind: 'state', state: wasLive ? 'reconnecting' : 'connecting' });
      // The browser comes back by itself, unless it was refused.
      if (events?.readyState !== EventSource.CLOSED) return;
      on({ kind: 'refused' });
      clearTimeout(retry);
      retry = setTimeout(connect, retryMs);
      retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
    };
    events.addEventListener('hint', ({ data }: MessageEvent<string>) =>
      on({ kind: 'hint', hint: JSON.parse(data) as Hint }),
    );
    events.addEventListener('reset', () => on({ kind: 'reset' }));
  };

  connect();
  return {
    check: () => {
      if (events?.readyState === EventSource.OPEN) return;
      clearTimeout(retry);
      events?.close();
      connect();
    },
    close: () => {
      closed = true;
      clearTimeout(retry);
      events?.close();
    },
  };
}
