import type { IncomingMessage } from 'node:http';
import type { Clock } from '../lib/clock.ts';

const DRAIN_BYTES = 1024 * 1024;
const DRAIN_MS = 2000;

/** Whether the rest of a request is short enough, and known to be, for {@link drain} to reach its end. */
export function isDrainable(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return length !== undefined && Number(length) <= DRAIN_BYTES;
}

/**
 * Reads away the rest of a refused request's body, so that the client gets to read its answer: at most 1 MiB
 * and 2 s (contract §1). Resolves when the body has ended, the client has gone, or either limit is reached.
 */
export function drain(request: IncomingMessage, clock: Clock): Promise<void> {
  const limit = new AbortController();
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DRAIN_BYTES) limit.abort();
  };
  const stop = () => limit.abort();
  request.on('data', count).once('end', stop).once('close', stop).once('error', stop);
  request.resume();
  return clock.sleep(DRAIN_MS, limit.signal).then(() => {
    request.off('data', count);
    request.pause();
  });
}
