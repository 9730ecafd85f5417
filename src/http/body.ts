import { giveBack, type Release, type Share } from '../lib/budget.ts';
import { ownTurn, SLICE_BYTES } from '../lib/clock.ts';
import type { Exchange } from './exchange.ts';
import { Problem } from './problem.ts';

/** How a body is read. */
export interface BodyOptions {
  /** The largest body accepted; beyond it 413, from `Content-Length` before anything is read where possible. */
  readonly maxBytes: number;
  /** The sender's share of the bytes in flight, returned when the exchange ends. */
  readonly budget: Share;
  /**
   * Bytes of memory for each byte of the body, with what is made of it before the exchange ends. Default: the body
   * alone.
   */
  readonly weight?: number;
  /** Follows the figures of a 413: the limit's name, and what to do. */
  readonly advice?: string;
}

type SizeOptions = Pick<BodyOptions, 'maxBytes' | 'advice'>;

/** The client left, or was cut off, before its body was complete. There is nobody to answer. */
export class RequestAborted extends Error {
  constructor() {
    super('the request ended before its body did');
    this.name = 'RequestAborted';
  }
}

/** How long a request waits for its share of the budget before it is told to come back. */
const BUDGET_WAIT_MS = 5000;
/** A body's first reservation: an announced length may never arrive. Bodies of unknown length grow in such steps. */
const STEP_BYTES = 256 * 1024;

/**
 * Reads the whole body into memory, as the pieces that arrived.
 *
 * Throws {@link Problem}: 413 too large, 415 with a `Content-Encoding`, 503 when too much is in flight; and {@link
 * RequestAborted}. The server cuts off a body that is too slow (408), which looks like an abort here.
 */
export async function readBody(exchange: Exchange, options: BodyOptions): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  await receiveBody(exchange, options, (chunk) => chunks.push(chunk));
  return chunks;
}

/**
 * As {@link readBody}, in one piece. A large body whose length is declared is read into one piece of memory, which is
 * allocated once all of it is reserved. The pieces of any other body are joined, and their memory is given back.
 */
export async function readWholeBody(exchange: Exchange, options: BodyOptions): Promise<Buffer> {
  const declared = declaredLength(exchange, options) ?? 0;
  const chunks: Buffer[] = [];
  const wholeBytes = declared > MAX_BLOCK_BYTES ? declared : null;
  await receiveBody(exchange, options, (chunk) => chunks.push(chunk), wholeBytes);
  const whole = joinBody(chunks);
  if (chunks.length > 1) for (const chunk of chunks) giveBack(chunk);
  return whole;
}

/**
 * As {@link readBody}, but passes each piece to `sink` as it arrives. With `wholeBytes`, the declared length, `sink`
 * gets the whole body as one piece. An exception of `sink` ends the reading.
 */
export async function receiveBody(
  exchange: Exchange,
  options: BodyOptions,
  sink: Sink,
  wholeBytes: number | null = null,
): Promise<void> {
  const room = new Room(exchange, options, declaredLength(exchange, options));
  if (!room.holds(1)) await room.grow(1);
  exchange.sendContinue();
  await collect(exchange, options, room, new Gatherer(sink, wholeBytes));
}

/** The body as one piece of memory; copies only when it arrived in several. */
export function joinBody(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

/** The declared length of the body; null without one. Throws 415, 501 and 413, which precede faults of the content. */
export function declaredLength(exchange: Exchange, options: SizeOptions): number | null {
  const { headers } = exchange;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new Problem(415, 'unsupported_content_encoding', 'Send the body without Content-Encoding.', {
      headers: { 'Accept-Encoding': 'identity' },
    });
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new Problem(501, 'unsupported_transfer_coding', 'The only supported transfer coding is chunked.');
  const length = headers['content-length'];
  if (length === undefined) return coding === undefined ? 0 : null;
  if (Number(length) > options.maxBytes) throw tooLarge(options, `has ${Number(length)} bytes`);
  return Number(length);
}

/**
 * Reserves bytes until the exchange ends, waiting a while for them. Throws the problem 503 when too much is in flight.
 */
export async function reserveBytes(exchange: Exchange, budget: Share, bytes: number): Promise<void> {
  const release = budget.tryAcquire(bytes) ?? (await waitForBudget(exchange, budget, bytes));
  exchange.onEnd(release);
}

/**
 * Reserves more for what a body has become. Never waits, because that work is not interrupted. Throws the problem 503
 * when too much is in flight.
 */
export function reserveMore(exchange: Exchange, budget: Share, bytes: number): void {
  const release = budget.tryAcquire(bytes);
  if (release === null) throw overloaded();
  exchange.onEnd(release);
}

/**
 * A body's reservation: one step and, once outgrown, the whole declared length. Large bodies that grew bit by bit would
 * each get a part, and wait for each other.
 */
class Room {
  readonly #exchange: Exchange;
  readonly #budget: Share;
  readonly #declared: number | null;
  readonly #weight: number;
  /** The most to reserve: a body larger than its sender's share counts as that much. */
  readonly #most: number;
  #bytes = 0;

  constructor(exchange: Exchange, { budget, weight = 1 }: BodyOptions, declared: number | null) {
    this.#exchange = exchange;
    this.#budget = budget;
    this.#declared = declared;
    this.#weight = weight;
    this.#most = Math.min(Math.ceil(weight * (declared ?? Number.POSITIVE_INFINITY)), budget.most);
  }

  /** Whether all that the body may take is reserved. */
  get isWhole(): boolean {
    return this.#bytes >= this.#most;
  }

  /** Whether the reservation covers this many bytes of the body. */
  holds(bytes: number): boolean {
    return Math.min(Math.ceil(this.#weight * bytes), this.#most) <= this.#bytes;
  }

  /**
   * Reserves at least this many bytes of the body, waiting a while for them. A body that has some and waits for more is
   * refused in the end, which makes room for the others. Throws the problem 503.
   */
  async grow(bytes: number): Promise<void> {
    const isKnown = this.#declared !== null && this.#bytes > 0;
    const wanted = isKnown ? this.#most : Math.max(Math.ceil(this.#weight * bytes), this.#bytes + STEP_BYTES);
    const step = Math.min(wanted, this.#most) - this.#bytes;
    await reserveBytes(this.#exchange, this.#budget, step);
    this.#bytes += step;
  }
}

async function waitForBudget(exchange: Exchange, budget: Share, bytes: number): Promise<Release> {
  const limit = new AbortController();
  const stop = () => limit.abort();
  exchange.onEnd(stop);
  void exchange.clock.sleep(BUDGET_WAIT_MS, limit.signal).then(stop);
  const release = await budget.acquire(bytes, limit.signal);
  limit.abort();
  if (release === null) throw overloaded();
  return release;
}

function collect(exchange: Exchange, options: BodyOptions, room: Room, into: Gatherer): Promise<void> {
  const { request } = exchange;
  // Released at the end: the closure lives until the answer, and would keep everything read.
  let gatherer: Gatherer | null = into;
  let taken = 0;
  const take = (chunk: Buffer) => {
    taken += chunk.length;
    if (taken > options.maxBytes) throw tooLarge(options, 'is larger');
    // As garbage, what was copied would wait until much of it has gathered.
    if (gatherer?.push(chunk) === 'copied') giveBack(chunk);
  };
  return new Promise((resolve, reject) => {
    let reading = true;
    const watch = () => exchange.pace.watch((minimum) => fail(tooSlow(minimum)));
    let paced = watch();
    const stop = () => {
      reading = false;
      gatherer = null;
      exchange.pace.forget(paced);
      request.off('data', onData).off('end', onEnd);
    };
    const fail = (error: unknown) => {
      stop();
      request.pause();
      reject(error);
    };
    /** Pauses reading until there is room; that does not count as the client's delay. */
    const waitForRoom = async () => {
      request.pause();
      exchange.pace.forget(paced);
      try {
        await room.grow(taken);
      } catch (error) {
        fail(error);
      }
      if (!reading) return;
      if (room.isWhole) gatherer?.goOnWhole();
      paced = watch();
      request.resume();
    };
    const onData = (chunk: Buffer) => {
      paced.bytes += chunk.length;
      try {
        take(chunk);
      } catch (error) {
        fail(error);
        return;
      }
      if (!room.holds(taken)) void waitForRoom();
      else if (isTurnOver(chunk.length, taken)) void letOthersRead(request, () => reading);
    };
    const onEnd = () => {
      try {
        gatherer?.flush();
      } catch (error) {
        return fail(error);
      }
      stop();
      resolve();
    };
    request.on('data', onData).on('end', onEnd);
    // Node does not always close a request whose connection ends; the exchange always ends.
    exchange.onEnd(() => {
      if (reading) fail(new RequestAborted());
    });
  });
}

/** Whether the last piece of a large body, of which `taken` bytes have come, began another slice. */
function isTurnOver(bytes: number, taken: number): boolean {
  return (
    taken > MAX_BLOCK_BYTES && Math.floor(taken / SLICE_BYTES) > Math.floor((taken - bytes) / SLICE_BYTES)
  );
}

/** Pauses a body for a turn: a client that sends as fast as we read would keep others waiting. */
async function letOthersRead(request: Exchange['request'], isReading: () => boolean): Promise<void> {
  request.pause();
  await ownTurn();
  if (isReading()) request.resume();
}

function tooLarge({ maxBytes, advice = '' }: SizeOptions, found: string): Problem {
  const detail = `The body may have at most ${maxBytes} bytes, but this one ${found}. ${advice}`.trimEnd();
  return new Problem(413, 'content_too_large', detail);
}

function tooSlow(minimum: number): Problem {
  const detail = `A body must arrive at no less than ${minimum} bytes a second (api.min_body_bytes_per_second).`;
  return new Problem(408, 'body_too_slow', detail);
}

function overloaded(): Problem {
  return new Problem(503, 'overloaded', 'Too much is being received at once; nothing was accepted.', {
    headers: { 'Retry-After': '1' },
  });
}

/** Receives a body's pieces. */
export type Sink = (chunk: Buffer) => void;

const DIRECT_CHUNKS = 64;
/** Size of the first block; each further one is twice the size of the one before. */
const BLOCK_BYTES = 64 * 1024;
/** The most that comes before the room for all of a body is reserved: the first step, and one read from the socket. */
const BEFORE_WHOLE_BYTES = STEP_BYTES + BLOCK_BYTES;
/** Allocations of this size come directly from the system, and return there when freed (`waybill`). */
const MAX_BLOCK_BYTES = 1024 * 1024;
/** A view keeps its whole buffer alive: one that is a smaller part of it is copied. */
const LEAST_PART = 1 / 2;

/**
 * Precedes a sink that keeps its pieces. A client may send its body byte by byte, and every piece kept costs some
 * hundred bytes more than its content: so the first pieces pass unchanged, and later ones are copied into blocks. A
 * small view of a large buffer is copied at once, since it would keep the buffer alive. What is to be one piece is
 * copied from the first byte on.
 */
export class Gatherer {
  readonly #sink: Sink;
  readonly #wholeBytes: number | null;
  #direct: number;
  #block: Buffer | null = null;
  #blockBytes: number;
  #used = 0;

  /** `wholeBytes`: the size of all that comes, which is to be one piece (see {@link goOnWhole}); null: unknown. */
  constructor(sink: Sink, wholeBytes: number | null = null) {
    this.#sink = sink;
    this.#wholeBytes = wholeBytes;
    this.#direct = wholeBytes === null ? DIRECT_CHUNKS : 0;
    this.#blockBytes = wholeBytes === null ? BLOCK_BYTES : BEFORE_WHOLE_BYTES;
  }

  /** Takes a piece of any size, as it is or as a copy. */
  push(chunk: Buffer): 'kept' | 'copied' {
    if (this.#direct > 0) {
      this.#direct -= 1;
      this.#sink(chunk.length < chunk.buffer.byteLength * LEAST_PART ? copyOf(chunk) : chunk);
      return 'kept';
    }
    for (let from = 0; from < chunk.length; ) {
      // A full block is passed on once more comes: until then it may become a part of the whole.
      if (this.#used === this.#blockBytes) this.#next();
      this.#block ??= Buffer.allocUnsafeSlow(this.#blockBytes);
      const copied = chunk.copy(this.#block, this.#used, from);
      from += copied;
      this.#used += copied;
    }
    return 'copied';
  }

  /** There is room for all: what has come, and all that follows, goes into one block. */
  goOnWhole(): void {
    if (this.#wholeBytes === null) return;
    const before = this.#block;
    const block = Buffer.allocUnsafeSlow(this.#wholeBytes);
    before?.copy(block, 0, 0, this.#used);
    if (before !== null) giveBack(before);
    this.#block = block;
    this.#blockBytes = this.#wholeBytes;
  }

  #next(): void {
    this.flush();
    this.#blockBytes = Math.min(2 * this.#blockBytes, MAX_BLOCK_BYTES);
  }

  /** Passes on what was gathered. Call it once, at the end. */
  flush(): void {
    if (this.#block === null) return;
    this.#sink(this.#block.subarray(0, this.#used));
    this.#block = null;
    this.#used = 0;
  }
}

/** Uses its own memory: small buffers would share theirs. */
function copyOf(chunk: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(chunk.length);
  chunk.copy(copy);
  return copy;
}
