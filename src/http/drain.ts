import type { IncomingMessage } from 'node:http';
import type { Clock } from '../lib/clock.ts';

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
