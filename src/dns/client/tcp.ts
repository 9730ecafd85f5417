/** One query over TCP (RFC 7766), on a connection of its own. */
import { connect } from 'node:net';
import type { Endpoint } from '../../lib/network.ts';
import { answers, encodeQuery, parseResponse, type Query } from '../message.ts';
import { type Exchange, garbled, unheard } from './exchange.ts';

/** Octets of the length in front of a message. */
const PREFIX = 2;

/**
 * Asks, and reads the one message that comes, of at most 64 KiB. Nobody but the server can answer here, so the case of
 * letters does not matter. Never comes to `by_tcp`. Aborted: `dns_timeout`.
 */
export function askByTcp(query: Query, server: Endpoint, signal: AbortSignal): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = connect({ host: server.address, port: server.port, noDelay: true });
    const frame = new Frame();
    const finish = (exchange: Exchange) => {
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      // A socket that is being destroyed may still report an error, to no one.
      socket.on('error', () => {});
      socket.destroy();
      resolve(exchange);
    };
    const onAbort = () => finish(unheard(null));
    socket.once('error', (error) => finish(unheard(error)));
    socket.once('close', () => finish(garbled('the connection was closed before its end')));
    socket.on('data', (chunk) => {
      const message = frame.push(chunk);
      if (message !== null) finish(readMessage(query, message));
    });
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) return onAbort();
    const message = encodeQuery(query);
    socket.write(Buffer.concat([Buffer.of(message.length >> 8, message.length & 0xff), message]));
  });
}

/** The message behind a length, in whatever pieces both come. What follows it was not asked for. */
class Frame {
  readonly #prefix = Buffer.alloc(PREFIX);
  #message: Buffer | null = null;
  #received = 0;

  /** The message once it is whole; null until then. */
  push(chunk: Buffer): Buffer | null {
    const ofPrefix = chunk.subarray(0, Math.max(0, PREFIX - this.#received));
    ofPrefix.copy(this.#prefix, this.#received);
    const place = Math.max(0, this.#received - PREFIX);
    this.#received += chunk.length;
    if (this.#received < PREFIX) return null;
    this.#message ??= Buffer.alloc(this.#prefix.readUInt16BE(0));
    chunk.subarray(ofPrefix.length).copy(this.#message, place);
    return this.#received - PREFIX >= this.#message.length ? this.#message : null;
  }
}

function readMessage(query: Query, bytes: Buffer): Exchange {
  const parsed = parseResponse(bytes);
  if (!parsed.ok) return garbled(parsed.reason);
  const { response } = parsed;
  if (response.truncated) return garbled('it is cut off, over TCP');
  if (!answers(query, response, false)) return garbled('it answers another question');
  return { kind: 'response', response };
}
