import type { Socket } from 'node:net';
import { normaliseAddress } from '../lib/cidr.ts';
import { type Backlog, Pipeline } from './pipeline.ts';

/** What the server keeps for one open HTTP connection (for TLS: one whose handshake is done). */
export interface Connection {
  readonly socket: Socket;
  /** The peer's address, IPv4-mapped forms normalised. */
  readonly peer: string;
  readonly secure: boolean;
  readonly pipeline: Pipeline;
}

/** Bounds on {@link Connections}. */
export interface ConnectionLimits {
  readonly maxConnections: number;
  /** Requests of one connection at work at once. */
  readonly maxPipelinedRequests: number;
}

/** Requests held back over all connections; about 3 KB each. No client that waits for answers ever has one. */
const MAX_HELD = 10_000;

/** The open connections of a server: who is idle, and who must go when it closes. */
export class Connections {
  readonly #transports = new Set<Socket>();
  readonly #connections = new Map<Socket, Connection>();
  readonly #limits: ConnectionLimits;
  readonly #backlog: Backlog = { held: 0, max: MAX_HELD };
  readonly #onClose: (connection: Connection) => void;
  #closing = false;

  /** Tells `onClose` of each connection that has ended. */
  constructor(limits: ConnectionLimits, onClose: (connection: Connection) => void) {
    this.#limits = limits;
    this.#onClose = onClose;
  }

  /** Set once {@link closeIdle} was called. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Takes in a TCP connection; one over the limit, or when closing, is dropped and false returned. */
  admit(socket: Socket): boolean {
    if (this.#closing || this.#transports.size >= this.#limits.maxConnections) {
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
      pipeline: new Pipeline(socket, this.#limits.maxPipelinedRequests, this.#backlog),
    };
    this.#connections.set(socket, connection);
    // Its handshake began before.
    if (this.#closing) connection.pipeline.stop(() => socket.destroy());
    socket.once('close', () => {
      this.#connections.delete(socket);
      connection.pipeline.abandon();
      this.#onClose(connection);
    });
    return connection;
  }

  /** From now on connections end with their last exchange; those without one at once. */
  closeIdle(): void {
    this.#closing = true;
    for (const { pipeline, socket } of this.#connections.values())
      if (pipeline.idle) socket.destroy();
      else pipeline.stop(() => socket.destroySoon());
  }

  /** Ends every connection, at work or not. */
  destroyAll(): void {
    for (const socket of this.#transports) socket.destroy();
  }
}
