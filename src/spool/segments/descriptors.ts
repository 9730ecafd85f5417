import type { SpoolFiles } from './files.ts';

/** A segment opened for reading, until it is released. */
export interface Descriptor {
  readonly fd: number;
  /** Releases it; call once. */
  release(): void;
}

interface Entry {
  readonly fd: Promise<number>;
  users: number;
  /** No longer in the cache: closed when its last user is done. */
  retired: boolean;
}

/**
 * Open segments, closed in order of least recent use. Keeps at most `limit` open beyond those in use; a segment is
 * opened once however many read it.
 */
export class Descriptors {
  readonly #files: Pick<SpoolFiles, 'openRead' | 'close'>;
  readonly #limit: number;
  readonly #pathOf: (segment: number) => string;
  readonly #entries = new Map<number, Entry>();

  constructor(
    files: Pick<SpoolFiles, 'openRead' | 'close'>,
    limit: number,
    pathOf: (segment: number) => string,
  ) {
    this.#files = files;
    this.#limit = limit;
    this.#pathOf = pathOf;
  }

  /** Opens a segment, or returns the open one. Throws the system's error. */
  async acquire(segment: number): Promise<Descriptor> {
    const entry = this.#entries.get(segment) ?? this.#open(segment);
    // The map's order is the order of use.
    this.#entries.delete(segment);
    this.#entries.set(segment, entry);
    entry.users++;
    this.#evict();
    try {
      return { fd: await entry.fd, release: () => this.#release(entry) };
    } catch (error) {
      if (this.#entries.get(segment) === entry) this.#entries.delete(segment);
      throw error;
    }
  }

  /** Drops a segment; its readers may go on. */
  retire(segment: number): void {
    const entry = this.#entries.get(segment);
    if (entry === undefined) return;
    this.#entries.delete(segment);
    entry.retired = true;
    if (entry.users === 0) this.#close(entry);
  }

  /** Drops all. */
  retireAll(): void {
    for (const segment of [...this.#entries.keys()]) this.retire(segment);
  }

  #open(segment: number): Entry {
    return { fd: this.#files.openRead(this.#pathOf(segment)), users: 0, retired: false };
  }

  #evict(): void {
    if (this.#entries.size <= this.#limit) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.retire(oldest);
  }

  #release(entry: Entry): void {
    entry.users--;
    if (entry.retired && entry.users === 0) this.#close(entry);
  }

  /** Closing a file that was only read cannot lose data, so nobody waits for it. */
  #close(entry: Entry): void {
    entry.fd.then((fd) => this.#files.close(fd)).catch(() => {});
  }
}
