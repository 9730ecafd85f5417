import { HARD_LINE } from './field.ts';

const LF = 0x0a;
/** A line with its CRLF (RFC 5321 §4.5.3.1.6). */
const MAX_OCTETS = HARD_LINE + 2;

/**
 * Looks for lines longer than SMTP allows in a content that comes in chunks cut anywhere. Looks at one place in a
 * thousand bytes, so that asking costs next to nothing.
 */
export class LineLength {
  #isTooLong = false;
  /** Bytes since the last line end. */
  #open = 0;

  /** Some line has more than 998 octets before its CRLF. */
  get isTooLong(): boolean {
    return this.#isTooLong || this.#open > HARD_LINE;
  }

  /** Takes the next bytes. */
  push(chunk: Uint8Array): void {
    if (this.#isTooLong) return;
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let lineStart = -this.#open;
    // Wherever a line begins, it ends within so many octets: the last end in there begins the next to look at.
    for (let reach = lineStart + MAX_OCTETS - 1; reach < bytes.length; reach = lineStart + MAX_OCTETS - 1) {
      const end = reach < 0 ? -1 : bytes.lastIndexOf(LF, reach);
      if (end < 0 || end < lineStart) {
        this.#isTooLong = true;
        return;
      }
      lineStart = end + 1;
    }
    const last = bytes.lastIndexOf(LF);
    this.#open = bytes.length - (last < 0 || last < lineStart ? lineStart : last + 1);
  }
}
