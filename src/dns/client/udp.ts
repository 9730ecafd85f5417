/** One query over UDP, from a socket and a port of its own. */
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Endpoint } from '../../lib/network.ts';
import { answers, encodeQuery, parseResponse, type Query } from '../message.ts';
import { type Exchange, unheard } from './exchange.ts';

/** So many datagrams that answer something else are let pass; more are an attempt to guess the id. */
const MAX_STRAYS = 8;

/**
 * Asks, and waits for the datagram that answers exactly this query: from this address and port (the socket is
 * connected), to this port (the system draws it at random), with this id, question and case of letters. Others are
 * dropped, and the waiting goes on: whoever guesses must not end it. An answer in which only the case is wrong, or
 * which cannot be read, or that was cut off, is to be had over TCP, where nobody can guess. Aborted: `dns_timeout`.
 */
export function askByUdp(query: Query, server: Endpoint, signal: AbortSignal): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
    let strays = 0;
    const finish = (exchange: Exchange) => {
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      // What the system still has to say of a socket that is closed is of no use.
      socket.on('error', () => {});
      socket.close();
      resolve(exchange);
    };
    const onAbort = () => finish(unheard(null));
    socket.on('error', (error) => finish(unheard(error)));
    socket.on('message', (bytes) => {
      const exchange = readDatagram(query, bytes);
      if (exchange !== null) finish(exchange);
      else if (++strays > MAX_STRAYS) finish({ kind: 'by_tcp' });
    });
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) return onAbort();
    socket.once('connect', () => socket.send(encodeQuery(query)));
    socket.connect(server.port, server.address);
  });
}

/** Null for what answers something else. */
function readDatagram(query: Query, bytes: Buffer): Exchange | null {
  const parsed = parseResponse(bytes);
  if (!parsed.ok) return hasId(query, bytes) ? { kind: 'by_tcp' } : null;
  const { response } = parsed;
  if (!answers(query, response, false)) return null;
  if (response.truncated || !answers(query, response, true)) return { kind: 'by_tcp' };
  return { kind: 'response', response };
}

function hasId({ id }: Query, bytes: Buffer): boolean {
  return bytes.length >= 2 && bytes.readUInt16BE(0) === id;
}
