import { connect } from 'node:net';
import { describeReply, ReplyParser } from '../../smtp/reply.ts';
import type { Dialogue } from './premises.ts';

/** Characters of a reply that are told. */
const MAX_REPLY = 300;

/**
 * Connects to a port of this machine from one of its addresses, and sends line by line, each after the reply to the one
 * before; ends after the first that is refused. Never rejects: when `signal` aborts, it has what it heard until then.
 */
export function dialogue(
  from: string,
  port: number,
  lines: readonly string[],
  signal: AbortSignal,
): Promise<Dialogue> {
  return new Promise((resolve) => {
    const replies: string[] = [];
    const waiting = [...lines];
    const parser = new ReplyParser();
    let connected = false;
    // Then what is still to come is about the farewell.
    let over = false;
    const socket = connect({ host: from, port, localAddress: from });
    const end = () => {
      socket.destroy();
      resolve({ connected, replies });
    };
    signal.addEventListener('abort', end, { once: true });
    socket.on('connect', () => {
      connected = true;
    });
    socket.on('error', end).on('close', end);
    socket.on('data', (chunk: Buffer) => {
      parser.push(chunk);
      for (let reply = parser.next(); reply !== null && !over; reply = parser.next()) {
        replies.push(describeReply(reply, MAX_REPLY));
        const line = reply.code < 400 ? waiting.shift() : undefined;
        over = line === undefined;
        if (line === undefined) socket.end('QUIT\r\n');
        else socket.write(`${line}\r\n`);
      }
      if (parser.fault !== null) end();
    });
  });
}
