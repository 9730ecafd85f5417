import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type DnsContent, readQuery, writeResponse } from '../../test/peers/dns-message.ts';

/** A DNS server whose domains are all on this machine. */
export interface LoopbackDns {
  /** Of 127.0.0.1, over UDP. */
  readonly port: number;
  stop(): void;
}

const TTL = 3600;

/**
 * Starts one: every domain has one mail exchanger, `mx.` and the domain, and `addressOf` says where that of a domain
 * is. There is nothing else, and no end of anything.
 */
export async function startLoopbackDns(addressOf: (domain: string) => string): Promise<LoopbackDns> {
  const socket = createSocket('udp4');
  socket.on('message', (bytes, asker) => {
    const query = readQuery(bytes);
    const content = { code: 0, answers: answers(query.type, query.name, addressOf), authorities: [] };
    socket.send(writeResponse(query, content), asker.port, asker.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: socket.address().port, stop: () => socket.close() };
}

function answers(type: string, name: string, addressOf: (domain: string) => string): DnsContent['answers'] {
  const host = /^mx\.(.*)$/i.exec(name)?.[1];
  if (type === 'MX' && host === undefined)
    return [{ name, ttl: TTL, type: 'MX', data: { preference: 10, exchange: `mx.${name}` } }];
  if (type === 'A' && host !== undefined) return [{ name, ttl: TTL, type: 'A', data: addressOf(host) }];
  return [];
}
