/** RFC 2045 §6.8: 57 bytes make a line of 76 characters. */
const LINE_BYTES = 57;
const LINE_CHARACTERS = 76;
/** Lines encoded at once: enough to make the native call cheap, little enough to stay in the cache. */
const BLOCK_LINES = 512;
/** Characters are moved in pairs: a line with its CRLF is 39 of them. */
const LINE_PAIRS = LINE_CHARACTERS / 2;
/** CRLF as one pair, in the machine's byte order. */
const CRLF = new Uint16Array(Uint8Array.of(0x0d, 0x0a).buffer)[0] ?? 0;

/** Encodes bytes as base64 in lines of 76 characters. CRLF stands between the lines, not after the last. */
export function encodeBase64(bytes: Uint8Array): Uint8Array {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fullLines = Math.floor(source.length / LINE_BYTES);
  const tail = source.toString('base64', fullLines * LINE_BYTES);
  const out = new Uint8Array(fullLines * (LINE_CHARACTERS + 2) + tail.length);
  const pairs = new Uint16Array(out.buffer, 0, fullLines * (LINE_PAIRS + 1));
  const block = Buffer.allocUnsafe(Math.min(fullLines, BLOCK_LINES) * LINE_CHARACTERS);
  for (let line = 0; line < fullLines; line += BLOCK_LINES) {
    const end = Math.min(line + BLOCK_LINES, fullLines);
    block.write(source.toString('base64', line * LINE_BYTES, end * LINE_BYTES), 'latin1');
    copyLines(new Uint16Array(block.buffer, block.byteOffset), pairs, line, end);
  }
  Buffer.from(out.buffer).write(tail, fullLines * (LINE_CHARACTERS + 2), 'latin1');
  return tail === '' && fullLines > 0 ? out.subarray(0, -2) : out;
}

/** Copies the lines numbered `first` to before `end`, adding the line endings. A line is too short for `set`. */
function copyLines(from: Uint16Array, to: Uint16Array, first: number, end: number): void {
  let read = 0;
  let write = first * (LINE_PAIRS + 1);
  for (let line = first; line < end; line++) {
    for (let i = 0; i < LINE_PAIRS; i++) to[write++] = from[read++] ?? 0;
    to[write++] = CRLF;
  }
}
