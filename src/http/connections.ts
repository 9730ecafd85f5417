import type { Socket } from 'node:net';
import { normaliseAddress, sourceGroup } from '../lib/network.ts';
import { type Backlog, Pipeline } from './pipeline.ts';

/** The record of one open HTTP connection (for TLS: one whose handshake is done). */
export interface Connection {
  readonly socket: Socket;
  /** The peer's address, IPv4-mapped forms normalised. */
  readonly peer: string;
  readonly secure: boolean;
  /** There was no room for it: it is told so, and ended. */
  readonly turnedAway: boolean;
  readonly pipeline: Pipeline;
}

/** Bounds on {@link Connections}. */
export interface ConnectionLimits {
  readonly maxConnections: number;
  /** Requests of one connection in progress at once. */
  readonly maxPipelinedRequests: number;
}

/** Requests held back over all connections; about 3 KB each. A client that waits for answers never has one. */
const MAX_HELD = 10_000;
/** Connections over the limit that may ask, and are told so; of more, the oldest are ended without an answer. */
export const MAX_TURNED_AWAY = 64;

/** The open connections of a server: which are idle, and which to end when it closes. */
export class Connections {
  readonly #places: Places;
  readonly #turnedAway = new Set<Socket>();
  readonly #connections = new Map<Socket, Connection>();
  /** The same by both endpoints: over TLS a connection's socket is not the counted one. */
  readonly #byEnds = new Map<string, Connection>();
  readonly #limits: ConnectionLimits;
  readonly #backlog: Backlog = { held: 0, max: MAX_HELD };
  readonly #onClose: (connection: Connection) => void;
  #closing = false;

  /** Calls `onClose` for each connection that has ended. */
  constructor(limits: ConnectionLimits, onClose: (connection: Connection) => void) {
    this.#limits = limits;
    this.#places = new Places(limits.maxConnections);
    this.#onClose = onClose;
  }

  /** Set once {@link closeIdle} was called. */
  get closing(): boolean {
    return this.#closing;
  }

  /**
   * Admits a TCP connection. At the limit it replaces a connection that waits for its client, of the source that has
   * most; otherwise it is one too many: admitted to be told so, if `tells`, or ended with false.
   */
  admit(socket: Socket, tells: boolean): boolean {
    const peer = normaliseAddress(socket.remoteAddress ?? '');
    if (this.#closing || !(this.#places.free || this.#makeRoom(peer) || tells)) {
      socket.destroy();
      return false;
    }
    if (this.#places.free) this.#places.take(socket, peer);
    else this.#turnAway(socket);
    socket.once('close', () => {
      this.#places.leave(socket);
      this.#turnedAway.delete(socket);
    });
    return true;
  }

  /** The record of a socket with HTTP: the TCP one, or the TLS one over it. */
  of(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection: Connection = {
      socket,
      peer: normaliseAddress(socket.remoteAddress ?? ''),
      secure: 'encrypted' in socket,
      turnedAway: this.#turnedAway.has(socket),
      pipeline: new Pipeline(socket, this.#limits.maxPipelinedRequests, this.#backlog),
    };
    this.#connections.set(socket, connection);
    const ends = endsOf(socket);
    this.#byEnds.set(ends, connection);
    // Its handshake began earlier.
    if (this.#closing) connection.pipeline.stop(() => socket.destroy());
    socket.once('close', () => {
      this.#connections.delete(socket);
      if (this.#byEnds.get(ends) === connection) this.#byEnds.delete(ends);
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

  /** Ends every connection, busy or not. */
  destroyAll(): void {
    for (const socket of this.#places.taken) socket.destroy();
    for (const socket of this.#turnedAway) socket.destroy();
  }

  /** Ends a dispensable connection in favour of `peer`: one without a request rather than one with. */
  #makeRoom(peer: string): boolean {
    let spared: Socket | null = null;
    for (const socket of this.#places.rivals(peer)) {
      // Without a record, its handshake is under way.
      const pipeline = this.#byEnds.get(endsOf(socket))?.pipeline;
      if (pipeline === undefined || pipeline.idle) {
        spared = socket;
        break;
      }
      if (pipeline.waitsForClient) spared ??= socket;
    }
    if (spared === null) return false;
    this.#places.leave(spared);
    spared.destroy();
    return true;
  }

  #turnAway(socket: Socket): void {
    this.#turnedAway.add(socket);
    if (this.#turnedAway.size <= MAX_TURNED_AWAY) return;
    const [oldest] = this.#turnedAway;
    if (oldest === undefined) return;
    this.#turnedAway.delete(oldest);
    oldest.destroy();
  }
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/**
 * The slots of a server's connections, by source, IPv6 by /64. One source must not shut out the others: when all slots
 * are taken, a source with fewer takes one from the source that has most.
 */
export class Places {
  readonly #max: number;
  readonly #bySource = new Map<string, Set<Socket>>();
  readonly #sources = new Map<Socket, string>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether a slot is free. */
  get free(): boolean {
    return this.#sources.size < this.#max;
  }

  /** All connections with a slot. */
  get taken(): IterableIterator<Socket> {
    return this.#sources.keys();
  }

  /** Gives a connection a slot, even beyond the limit. */
  take(socket: Socket, peer: string): void {
    const source = sourceGroup(peer);
    const ofSource = this.#bySource.get(source) ?? new Set();
    ofSource.add(socket);
    this.#bySource.set(source, ofSource);
    this.#sources.set(socket, source);
  }

  /** Returns a connection's slot, if it has one. */
  leave(socket: Socket): void {
    const source = this.#sources.get(socket);
    if (source === undefined) return;
    this.#sources.delete(socket);
    const ofSource = this.#bySource.get(source);
    ofSource?.delete(socket);
    if (ofSource?.size === 0) this.#bySource.delete(source);
  }

  /**
   * Candidates to make room for a connection from `peer`, the oldest first: those of the source that has most. None if
   * that would merely swap the two sources.
   */
  rivals(peer: string): Iterable<Socket> {
    let most: ReadonlySet<Socket> = new Set();
    for (const ofSource of this.#bySource.values()) if (ofSource.size > most.size) most = ofSource;
    const own = this.#bySource.get(sourceGroup(peer))?.size ?? 0;
    return most.size > own + 1 ? most : [];
  }
}
