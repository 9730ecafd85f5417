import type { Socket } from 'node:net';
import { sourceGroup } from '../lib/network.ts';

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
