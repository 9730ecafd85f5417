import type { Socket } from 'node:net';
import { normaliseAddress, sourceGroup } from '../lib/network.ts';
import { type Backlog, Pipeline } from './pipeline.ts';

/** What the server keeps for one open HTTP connection (for TLS: one whose handshake is done). */
export interface Connection {
  readonly socket: Socket;
  /** The peer's address, IPv4-mapped forms normalised. */
  readonly peer: string;
  readonly secure: boolean;
  /** There was no place for it: it is told so, and ended. */
  readonly turnedAway: boolean;
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
/** Connections too many that may ask, and are told that they are; of more, the oldest are ended untold. */
export const MAX_TURNED_AWAY = 64;

/** The open connections of a server: who is idle, and who must go when it closes. */
export class Connections {
  readonly #places: Places;
  readonly #turnedAway = new Set<Socket>();
  readonly #connections = new Map<Socket, Connection>();
  /** The same by their two ends: over TLS a connection's socket is not the one that has its place. */
  readonly #byEnds = new Map<string, Connection>();
  readonly #limits: ConnectionLimits;
  readonly #backlog: Backlog = { held: 0, max: MAX_HELD };
  readonly #onClose: (connection: Connection) => void;
  #closing = false;

  /** Tells `onClose` of each connection that has ended. */
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
   * Takes in a TCP connection. When there are as many as may be, it takes the place of one that waits for its client, of
   * the source that has most; else it is one too many: let in to be told so, if `tells`, or ended and false returned.
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

  /** The record of a socket that speaks HTTP: the TCP one, or the TLS one over it. */
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
    // Its handshake began before.
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

  /** Ends every connection, at work or not. */
  destroyAll(): void {
    for (const socket of this.#places.taken) socket.destroy();
    for (const socket of this.#turnedAway) socket.destroy();
  }

  /** Ends a connection that can be spared for one from `peer`: one without a request rather than one with. */
  #makeRoom(peer: string): boolean {
    let spared: Socket | null = null;
    for (const socket of this.#places.rivals(peer)) {
      // Without a record its handshake is under way.
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
 * The places of a server's connections, by their sources, IPv6 by /64. One source must not keep the others out: when all
 * places are taken, one more of a source that has fewer takes a place of the source that has most.
 */
export class Places {
  readonly #max: number;
  readonly #bySource = new Map<string, Set<Socket>>();
  readonly #sources = new Map<Socket, string>();

  constructor(max: number) {
    this.#max = max;
  }

  /** A place is free. */
  get free(): boolean {
    return this.#sources.size < this.#max;
  }

  /** Everyone who has a place. */
  get taken(): IterableIterator<Socket> {
    return this.#sources.keys();
  }

  /** Gives one to a connection, free or not. */
  take(socket: Socket, peer: string): void {
    const source = sourceGroup(peer);
    const ofSource = this.#bySource.get(source) ?? new Set();
    ofSource.add(socket);
    this.#bySource.set(source, ofSource);
    this.#sources.set(socket, source);
  }

  /** Gives a place back. What has none gives nothing. */
  leave(socket: Socket): void {
    const source = this.#sources.get(socket);
    if (source === undefined) return;
    this.#sources.delete(socket);
    const ofSource = this.#bySource.get(source);
    ofSource?.delete(socket);
    if (ofSource?.size === 0) this.#bySource.delete(source);
  }

  /**
   * Those of whom one might make room for a connection from `peer`, the oldest first: whoever has most. None when that
   * would only turn the two of them round.
   */
  rivals(peer: string): Iterable<Socket> {
    let most: ReadonlySet<Socket> = new Set();
    for (const ofSource of this.#bySource.values()) if (ofSource.size > most.size) most = ofSource;
    const own = this.#bySource.get(sourceGroup(peer))?.size ?? 0;
    return most.size > own + 1 ? most : [];
  }
}
