import type { Socket } from 'node:net';
import { normaliseAddress } from '../lib/cidr.ts';
import type { Problem } from './problem.ts';

/** What the server keeps for one open HTTP connection (for TLS: one whose handshake is done). */
export interface Connection {
  readonly socket: Socket;
  /** The peer's address, IPv4-mapped forms normalised. */
  readonly peer: string;
  readonly secure: boolean;
  /** Exchanges under way, in order of arrival: more than one when the client pipelines. */
  readonly exchanges: Set<Answerable>;
}

/** What a connection needs to know of an exchange: how to end it when the rest of its request is lost. */
export interface Answerable {
  cutOff(problem: Problem): void;
}

/** The open connections of a server: who is idle, and who must go when it closes. */
export class Connections {
  readonly #transports = new Set<Socket>();
  readonly #connections = new Map<Socket, Connection>();
  readonly #max: number;
  #closing = false;

  constructor(max: number) {
    this.#max = max;
  }

  /** Set once {@link closeIdle} was called: every answer from then on ends its connection. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Takes in a TCP connection; one over the limit, or when closing, is dropped and false returned. */
  admit(socket: Socket): boolean {
    if (this.#closing || this.#transports.size >= this.#max) {
      socket.destroy();
      return false;
    }
    this.#transports.add(socket);
    socket.once('close', () => this.#transports.delete(socket));
    return true;
  }

  /** The record of a socket that speaks HTTP: the TCP one, or the TLS one over it. */
  of(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection: Connection = {
      socket,
      peer: normaliseAddress(socket.remoteAddress ?? ''),
      secure: 'encrypted' in socket,
      exchanges: new Set(),
    };
    this.#connections.set(socket, connection);
    socket.once('close', () => this.#connections.delete(socket));
    return connection;
  }

  /** An exchange has ended; when closing, so does the connection with its last. */
  ended(connection: Connection, exchange: Answerable): void {
    connection.exchanges.delete(exchange);
    if (this.#closing && connection.exchanges.size === 0) connection.socket.destroySoon();
  }

  /** From now on connections end with their last exchange; those without one at once. */
  closeIdle(): void {
    this.#closing = true;
    for (const connection of this.#connections.values())
      if (connection.exchanges.size === 0) connection.socket.destroy();
  }

  /** Ends every connection, at work or not. */
  destroyAll(): void {
    for (const socket of this.#transports) socket.destroy();
  }
}
