import type { Actor } from '../control/door.ts';
import type { Exchange } from '../http/exchange.ts';
import { Problem } from '../http/problem.ts';
import type { Flow } from '../http/stream.ts';
import type { HintFeed } from './hints.ts';
import type { Visitors } from './visitors.ts';

/** `GET /api/events`: streams of hints, until the client or its session ends. */

/** Most streams of one session. A page needs one for all its tabs. */
export const MAX_STREAMS_OF_SESSION = 8;
/** A page with this many unread bytes is cut off; it reconnects and gets what it missed. */
const MAX_UNREAD_BYTES = 64 * 1024;

export interface EventStreamOptions {
  readonly feed: Pick<HintFeed, 'add' | 'streams'>;
  readonly visitors: Pick<Visitors, 'onEnded'>;
  /** `webui.max_event_streams` */
  readonly max: () => number;
}

/** The streams that are open. */
export class EventStreams {
  readonly #options: EventStreamOptions;
  /** Functions that end each session's streams. */
  readonly #open = new Map<string, Set<() => void>>();
  readonly #unsubscribe: () => void;
  #closed = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#unsubscribe = options.visitors.onEnded((sessionId) => this.#end(sessionId));
  }

  /** Sends hints until client, session or server ends. Throws 429 for one stream too many, 503 while closing. */
  answer(exchange: Exchange, actor: Actor): void {
    const session = actor.sessionId ?? '';
    this.#requireRoom(session);
    const flow = exchange.flow(200, 'text/event-stream', {
      // Proxies that buffer answers would delay hints.
      'X-Accel-Buffering': 'no',
    });
    if (flow === null) return;
    if (exchange.method === 'HEAD') {
      flow.end();
      return;
    }
    const end = () => flow.end();
    const ends = this.#open.get(session) ?? new Set();
    ends.add(end);
    this.#open.set(session, ends);
    const leave = this.#options.feed.add(
      { send: (bytes) => give(flow, bytes) },
      lastEventId(exchange.headers['last-event-id']),
    );
    exchange.onEnd(() => {
      leave();
      ends.delete(end);
      if (ends.size === 0) this.#open.delete(session);
    });
  }

  /** Ends every stream, and accepts no more. */
  close(): void {
    this.#closed = true;
    this.#unsubscribe();
    for (const session of this.#open.keys()) this.#end(session);
  }

  #requireRoom(session: string): void {
    if (this.#closed) throw new Problem(503, 'unavailable', 'The server is shutting down; try again soon.');
    const ofSession = this.#open.get(session)?.size ?? 0;
    if (ofSession < MAX_STREAMS_OF_SESSION && this.#options.feed.streams < this.#options.max()) return;
    const detail =
      ofSession < MAX_STREAMS_OF_SESSION
        ? 'There are as many streams of events as webui.max_event_streams allows; close a page, or raise it.'
        : `A session may have ${MAX_STREAMS_OF_SESSION} streams of events; close one.`;
    throw new Problem(429, 'too_many_streams', detail, { headers: { 'Retry-After': '30' } });
  }

  #end(session: string): void {
    for (const end of this.#open.get(session) ?? []) end();
  }
}

function give(flow: Flow, bytes: Uint8Array): void {
  flow.write(bytes);
  if (flow.unread > MAX_UNREAD_BYTES) flow.cut();
}

/** Node joins repeated headers, which make no valid id. */
function lastEventId(header: string | string[] | undefined): string | null {
  return header === undefined ? null : String(header);
}
