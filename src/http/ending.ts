import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, yieldToLoop } from '../lib/clock.ts';
import { Stop } from '../lib/stop.ts';

/** An event that happens once, and its listeners. */
export class Ending {
  #over = false;
  #actions: (() => void)[] | null = null;
  #abort: AbortController | null = null;

  get over(): boolean {
    return this.#over;
  }

  /** Aborts when it ends. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#over) this.#abort.abort();
    return this.#abort.signal;
  }

  /** Runs `action` once when it ends; at once if it already has. */
  whenOver(action: () => void): void {
    if (this.#over) {
      action();
      return;
    }
    this.#actions ??= [];
    this.#actions.push(action);
  }

  /** Ends it; the first call counts. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#abort?.abort();
    for (const action of this.#actions ?? []) action();
    this.#actions = null;
  }
}

const KEEP_BYTES = 1024 * 1024;
const DRAIN_MS = 2000;

/** Whether the rest of a request is known to be short, and so worth reading to keep the connection. */
export function isDrainable(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return length !== undefined && Number(length) <= KEEP_BYTES;
}

/**
 * Reads away the rest of a refused request's body, so that a client that sends everything before it reads gets its
 * answer: all that arrives within 2 s (contract §1). Meanwhile nothing is closed, not even our side: proxies take that
 * for the end of everything and reset the client. Resolves when the body has ended, or `gone` aborts.
 */
export async function drain(request: IncomingMessage, clock: Clock, gone: AbortSignal): Promise<void> {
  const over = new AbortController();
  const stop = () => over.abort();
  gone.addEventListener('abort', stop, { once: true });
  request.once('end', stop).once('close', stop).once('error', stop);
  request.resume();
  if (!gone.aborted) await clock.sleep(DRAIN_MS, over.signal);
}

/** A client that was silent for this long has stopped sending. */
const QUIET_MS = 2000;
const LINGER_MS = 30_000;

/**
 * Ends a connection whose peer may still be sending. Closing it at once would reset it, and a reset destroys the last
 * written bytes before the peer has read them. So only our side is closed; the peer's bytes are read away until it
 * closes too, is silent for 2 s, or half a minute has passed (RFC 9112 §9.6).
 */
export async function lingeringClose(socket: Socket, clock: Clock): Promise<void> {
  const closed = new Stop();
  socket.once('close', () => closed.abort());
  // Takes the bytes away from Node's parser, which may reject them.
  socket.on('data', () => {});
  socket.resume();
  socket.end();
  for (let waitedMs = 0; waitedMs < LINGER_MS && !closed.aborted; waitedMs += QUIET_MS) {
    const before = socket.bytesRead;
    await clock.sleep(QUIET_MS, closed);
    // Where the event loop was held up, what came meanwhile has not been read yet.
    await yieldToLoop();
    if (socket.bytesRead === before) break;
  }
  socket.destroy();
}
