import type { Socket } from 'node:net';
import type { Clock } from '../lib/clock.ts';
import { Stop } from '../lib/stop.ts';

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
