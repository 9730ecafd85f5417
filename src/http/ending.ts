import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../lib/clock.ts';
import { Stop } from '../lib/stop.ts';

/** Something that ends once, and those who want to know of it. */
export class Ending {
  #over = false;
  #actions: (() => void)[] | null = null;
  #abort: AbortController | null = null;

  /** It has ended. */
  get over(): boolean {
    return this.#over;
  }

  /** Aborts when it ends. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#over) this.#abort.abort();
    return this.#abort.signal;
  }

  /** Runs `action` once when it ends; at once when it has ended. */
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

/** Whether the rest of a request is short, and known to be: worth reading to keep the connection. */
export function isDrainable(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return length !== undefined && Number(length) <= KEEP_BYTES;
}

/**
 * Reads away the rest of a refused request's body, so that a client that sends all before it reads gets to its
 * answer: whatever comes within 2 s (contract §1). Nothing is closed meanwhile, not even our side: proxies take
 * that for an end of the whole and reset the client. Resolves when the body has ended, or `gone` aborts.
 */
export async function drain(request: IncomingMessage, clock: Clock, gone: AbortSignal): Promise<void> {
  const over = new AbortController();
  const stop = () => over.abort();
  gone.addEventListener('abort', stop, { once: true });
  request.once('end', stop).once('close', stop).once('error', stop);
  request.resume();
  if (!gone.aborted) await clock.sleep(DRAIN_MS, over.signal);
}

/** A client that has sent nothing for so long is not sending any more. */
const QUIET_MS = 2000;
const LINGER_MS = 30_000;

/**
 * Ends a connection whose peer may still be sending. Closing it at once would reset it, and a reset destroys what
 * was written last before the peer has read it. So only our side is closed; what the peer sends is read away
 * until it closes too, is quiet for 2 s, or half a minute has passed (RFC 9112 §9.6).
 */
export async function lingeringClose(socket: Socket, clock: Clock): Promise<void> {
  const closed = new Stop();
  socket.once('close', () => closed.abort());
  // Takes the bytes away from Node's parser, which may not want them.
  socket.on('data', () => {});
  socket.resume();
  socket.end();
  for (let waitedMs = 0; waitedMs < LINGER_MS && !closed.aborted; waitedMs += QUIET_MS) {
    const before = socket.bytesRead;
    await clock.sleep(QUIET_MS, closed);
    if (socket.bytesRead === before) break;
  }
  socket.destroy();
}
