import { writeSync } from 'node:fs';
import type { Clock } from '../lib/clock.ts';
import type { LogDestination } from './log.ts';

/** Lines are written together once they fill this much, or after {@link FLUSH_MS}. */
const BUFFER_BYTES = 8192;
const FLUSH_MS = 100;
/** Most that waits for a reader who is slow; more is dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

const NOTHING = Buffer.alloc(0);

/**
 * Writes lines to a file descriptor. It neither waits nor fails: what a full pipe does not take is kept for a
 * while, and what cannot be written at all (the reader has gone, the disk is full) is dropped, since a log must
 * not stop the mail.
 */
export class Output implements LogDestination {
  readonly #fd: number;
  readonly #clock: Pick<Clock, 'sleep'>;
  #lines = '';
  /** What a full pipe has not taken. */
  #left: Uint8Array = NOTHING;
  #timed = false;

  constructor(fd: number, clock: Pick<Clock, 'sleep'>) {
    this.#fd = fd;
    this.#clock = clock;
  }

  write(line: string): void {
    if (this.#left.length + this.#lines.length >= MAX_WAITING_BYTES) return;
    this.#lines += line;
    if (this.#lines.length >= BUFFER_BYTES) this.flushSync();
    else if (!this.#timed) void this.#flushLater();
  }

  flushSync(): void {
    let bytes: Uint8Array = Buffer.concat([this.#left, Buffer.from(this.#lines)]);
    this.#lines = '';
    this.#left = NOTHING;
    try {
      while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.#fd, bytes));
    } catch (error) {
      if (!isFull(error)) return;
      this.#left = bytes;
      if (!this.#timed) void this.#flushLater();
    }
  }

  async #flushLater(): Promise<void> {
    this.#timed = true;
    await this.#clock.sleep(FLUSH_MS);
    this.#timed = false;
    this.flushSync();
  }
}

/** Whether a pipe takes nothing now, and may later. */
function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
