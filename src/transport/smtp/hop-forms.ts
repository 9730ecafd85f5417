/** Converts contents into a form that a hop accepts: 7-bit where necessary, with lines that are short enough. */
import type { Envelope } from '../../domain/message.ts';
import { localReply, type Outcome, type Reply } from '../../domain/outcome.ts';
import { Budget, type Release } from '../../lib/budget.ts';
import { inSlices, turnFor } from '../../lib/clock.ts';
import { type Allowed, LineLength, toSevenBit, type Unconvertible } from '../../mail/seven-bit.ts';
import { hasUtf8Address } from '../../smtp/command.ts';
import type { Capabilities } from '../../smtp/reply.ts';
import { NO_EIGHT_BIT, NO_UTF8, notForThisHop } from '../../smtp/verdict.ts';
import { isInMemory, type TransportContent } from '../transport.ts';

/** Larger contents are not converted: both forms stay in memory until the peer has the message. */
export const MAX_CONVERTED_BYTES = 16 * 1024 * 1024;
/** Bytes of originals being converted at once, over all connections of a relay. */
const CONVERSIONS_BYTES = 64 * 1024 * 1024;
/** Contents up to this size are read only once, to inspect and to send them. */
const READ_ONCE_BYTES = 64 * 1024;
/** Hosts remembered. */
const MAX_HOSTS = 1000;

/** A content that the hop accepts, or the answer for every recipient. */
export type Fitted =
  | {
      readonly ok: true;
      readonly content: TransportContent;
      /** Call this once it is sent. */
      readonly release: Release;
    }
  | { readonly ok: false; readonly outcome: Outcome };

/**
 * Signs a converted message as the original was, if we signed that; otherwise returns the converted message. The result
 * is the same every time; never rejects.
 */
export type Resign = (
  original: Uint8Array,
  converted: readonly Uint8Array[],
) => Promise<readonly Uint8Array[]>;

/** What a relay's transactions know of the forms its hosts accept. One per relay. */
export class HopForms {
  readonly #conversions = new Budget({ capacity: CONVERSIONS_BYTES, maxWaiters: 0 });
  readonly #withoutChunks = new Set<string>();
  readonly #resign: Resign;

  /** Without `resign`, signatures stay as they are, and fail. */
  constructor(resign: Resign = async (_original, converted) => converted) {
    this.#resign = resign;
  }

  /** Whether a host has shown that it does not know BDAT, even if it offers CHUNKING. */
  refusesChunks(host: string): boolean {
    return this.#withoutChunks.has(host);
  }

  /** Remembers that a host does not know BDAT, until the relay is set up again. */
  chunksRefused(host: string): void {
    if (this.#withoutChunks.size >= MAX_HOSTS) this.#withoutChunks.clear();
    this.#withoutChunks.add(host);
  }

  /**
   * The content as a hop with these capabilities accepts it: unchanged if possible, otherwise converted, the same way
   * every time. Synchronous if it is in memory and needs no conversion. Rejects when it cannot be read.
   */
  fit(content: TransportContent, envelope: Envelope, capabilities: Capabilities): Fitted | Promise<Fitted> {
    const { eightBitMime, smtpUtf8, maxSizeBytes } = capabilities;
    // RFC 6531 §3.1: a server that offers SMTPUTF8 offers 8BITMIME as well.
    const takesUtf8 = smtpUtf8 && eightBitMime;
    if (!takesUtf8 && hasUtf8Address(envelope)) return refused(notForThisHop(NO_UTF8));
    // A content that is too large already needs no conversion; the sender reports it.
    if (maxSizeBytes !== null && content.sizeBytes > maxSizeBytes) return asItIs(content);
    const looked = lookAt(content);
    return looked instanceof Promise
      ? looked.then((one) => this.#fitted(one, takesUtf8, eightBitMime))
      : this.#fitted(looked, takesUtf8, eightBitMime);
  }

  #fitted(
    { read, hasLongLine }: LookedAt,
    takesUtf8: boolean,
    eightBitMime: boolean,
  ): Fitted | Promise<Fitted> {
    const { flags } = read;
    const isEightBit = (flags.eightBit && !eightBitMime) || (flags.utf8 && !takesUtf8);
    if (!isEightBit && !hasLongLine) return asItIs(read);
    const allowed: Allowed = {
      eightBitHeaders: flags.utf8 ? takesUtf8 : eightBitMime,
      eightBitBodies: eightBitMime,
    };
    return this.#convert(read, allowed, isEightBit);
  }

  async #convert(content: TransportContent, allowed: Allowed, isEightBit: boolean): Promise<Fitted> {
    const { sizeBytes, flags } = content;
    if (sizeBytes > MAX_CONVERTED_BYTES) return refused(refusalOf('size', allowed, isEightBit));
    const release = this.#conversions.share('').tryAcquire(sizeBytes);
    if (release === null) return refused({ kind: 'deferred', reply: BUSY });
    try {
      const chunks: Uint8Array[] = [];
      for await (const chunk of content.chunks()) chunks.push(chunk);
      const original = Buffer.concat(chunks);
      const converted = await inSlices(toSevenBit(original, allowed), turnFor(sizeBytes));
      if (!converted.ok) {
        release();
        return refused(refusalOf(converted.because, allowed, isEightBit));
      }
      const { eightBit } = converted;
      const signed = await this.#resign(original, converted.chunks);
      const utf8 = flags.utf8 && allowed.eightBitHeaders;
      return {
        ok: true,
        content: {
          sizeBytes: signed.reduce((sum, chunk) => sum + chunk.length, 0),
          flags: { eightBit, utf8, dotStuffing: flags.dotStuffing },
          chunks: () => signed,
        },
        release,
      };
    } catch (error) {
      release();
      throw error;
    }
  }
}

const NOTHING = () => {};

const BUSY: Reply = localReply(
  'conversion_busy',
  '4.3.1',
  'Too many messages are being converted for relays without 8BITMIME; this one waits',
);

function asItIs(content: TransportContent): Fitted {
  return { ok: true, content, release: NOTHING };
}

function refused(outcome: Outcome): Fitted {
  return { ok: false, outcome };
}

/** A content, already read if small, and whether one of its lines is longer than 998 octets. */
interface LookedAt {
  readonly read: TransportContent;
  readonly hasLongLine: boolean;
}

function lookAt(content: TransportContent): LookedAt | Promise<LookedAt> {
  const chunks = content.chunks();
  if (!isInMemory(chunks)) return readOnce(content, chunks);
  const lines = new LineLength();
  for (const chunk of chunks) lines.push(chunk);
  return { read: content, hasLongLine: lines.isTooLong };
}

async function readOnce(content: TransportContent, chunks: AsyncIterable<Uint8Array>): Promise<LookedAt> {
  const lines = new LineLength();
  const pieces: Uint8Array[] = [];
  const keeps = content.sizeBytes <= READ_ONCE_BYTES;
  for await (const chunk of chunks) {
    lines.push(chunk);
    if (keeps) pieces.push(chunk);
    else if (lines.isTooLong) break;
  }
  const read: TransportContent = keeps ? { ...content, chunks: () => pieces } : content;
  return { read, hasLongLine: lines.isTooLong };
}

const WHY: Readonly<Record<Unconvertible | 'size', string>> = {
  size: `and a message of more than ${MAX_CONVERTED_BYTES} bytes is not converted`,
  signed: 'and signed content must not be changed',
  structure: 'and its MIME structure does not allow a conversion',
  depth: 'and its parts are nested too deeply to be converted',
  header: 'and its header cannot be written in ASCII',
  word: 'and its header cannot be folded',
};

function refusalOf(because: Unconvertible | 'size', allowed: Allowed, isEightBit: boolean): Outcome {
  const why = WHY[because];
  if (!isEightBit) {
    const text = `A line of the message is longer than 998 bytes, ${why}`;
    // No hop accepts such lines.
    return { kind: 'rejected', reply: localReply('line_too_long', '5.6.0', text) };
  }
  const { cause, enhanced, text } = because === 'header' || allowed.eightBitBodies ? NO_UTF8 : NO_EIGHT_BIT;
  return notForThisHop(localReply(cause, enhanced ?? '5.6.0', `${text}, ${why}`));
}
