import type { Event } from '../../domain/event.ts';
import type { Exchange } from '../../http/exchange.ts';
import { Problem } from '../../http/problem.ts';
import type { Flow } from '../../http/stream.ts';
import type { Clock } from '../../lib/clock.ts';
import type { EventQuery } from '../../store/events.ts';
import { StoreError } from '../../store/store.ts';
import type { Views } from '../../store/views.ts';
import type { Call } from './call.ts';
import type { EventReader } from './event-tail.ts';

/** Events as a stream of server-sent events (the HTML standard), until the client leaves or the service stops. */

const TYPE = 'text/event-stream';
/** How often a stream without events is sent something, so that no proxy cuts it. */
const COMMENT_MS = 15_000;
/** Events in memory for one stream: 1 MiB of the largest. */
const PAGE = 50;
/** How soon a client connects again that was cut off. */
const RETRY_MS = 2000;

/** Whether a request asks for a stream. */
export function wantsStream({ headers }: Pick<Exchange, 'headers'>): boolean {
  const types = (headers.accept ?? '').toLowerCase().split(',');
  return types.some((type) => type.split(';', 1)[0]?.trim() === TYPE);
}

/** What a stream needs. */
interface StreamParts {
  readonly views: Pick<Views, 'events'>;
  readonly clock: Clock;
  readonly show: (event: Event) => unknown;
  /** Throws the problem 503 when too many read. */
  readonly join: () => EventReader;
}

/** Which events a stream shows, and after which sequence it begins. */
type Streamed = Omit<EventQuery, 'from' | 'limit'> & { readonly after: number };

/**
 * Streams events. The next page is read only when the client has taken the one before. A fault before the first page is
 * thrown, and can still be answered; after a later one the stream ends, and the client comes back and is told.
 */
export async function streamEvents(call: Call, query: Streamed, parts: StreamParts): Promise<void> {
  const { exchange } = call;
  const reader = parts.join();
  exchange.onEnd(() => reader.leave());
  const { after, ...filter } = query;
  const pages = new Pages(filter, after, parts.views);
  const first = await pages.next();
  // Proxies that gather answers would hold events back.
  const flow = exchange.flow(200, TYPE, { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' });
  if (flow === null) return;
  if (exchange.method === 'HEAD') return flow.end();
  await flowing(flow, first, { ...parts, pages, reader, checkKey: call.checkKey });
}

/** The log, page by page, from a place on. */
class Pages {
  readonly #query: Omit<EventQuery, 'from' | 'limit'>;
  readonly #views: StreamParts['views'];
  #place: number;

  constructor(query: Omit<EventQuery, 'from' | 'limit'>, after: number, views: StreamParts['views']) {
    this.#query = query;
    this.#place = after;
    this.#views = views;
  }

  /** The last sequence that was looked at. */
  get place(): number {
    return this.#place;
  }

  async next(): Promise<{ readonly events: readonly Event[]; readonly more: boolean }> {
    const from = { after: this.#place };
    const { events, next, more } = await this.#views.events({ ...this.#query, from, limit: PAGE });
    this.#place = next ?? this.#place;
    return { events, more };
  }
}

type Page = Awaited<ReturnType<Pages['next']>>;

interface FlowParts extends StreamParts {
  readonly pages: Pages;
  readonly reader: EventReader;
  readonly checkKey: () => Promise<void>;
}

async function flowing(flow: Flow, first: Page, parts: FlowParts): Promise<void> {
  try {
    await passAll(flow, first, parts);
    flow.end();
  } catch (error) {
    // The head has left, so no refusal can be answered any more: the next request gets it.
    if (!(error instanceof Problem || error instanceof StoreError)) {
      flow.cut();
      throw error;
    }
    flow.end();
  }
}

/** Passes on pages until the reader stops or the client has left. Throws the problem 401 when the key has ended. */
async function passAll(flow: Flow, first: Page, { pages, reader, clock, show, checkKey }: FlowParts) {
  let page = first;
  let text = `retry: ${RETRY_MS}\n\n`;
  let toldAt = clock.mono();
  for (;;) {
    text += page.events.map((event) => eventText(event, show)).join('');
    const dueMs = toldAt + COMMENT_MS - clock.mono();
    if (text === '' && dueMs <= 0) text = ': still here\n\n';
    if (text !== '') {
      await checkKey();
      if (!(await flow.pass(Buffer.from(text)))) return;
      text = '';
      toldAt = clock.mono();
    }
    if (!page.more) await reader.newer(pages.place, Math.max(0, toldAt + COMMENT_MS - clock.mono()));
    if (reader.stopped) return;
    page = await pages.next();
  }
}

function eventText(event: Event, show: StreamParts['show']): string {
  return `id: ${event.sequence}\nevent: ${event.type}\ndata: ${JSON.stringify(show(event))}\n\n`;
}
