/** The headers of a tar archive (POSIX ustar) of plain files: formatting and parsing, without I/O. */

/** Everything in a tar archive is a multiple of this. */
export const BLOCK_BYTES = 512;

/** The description of the file that follows a header. */
export interface TarEntry {
  readonly name: string;
  readonly size: number;
}

const NAME_BYTES = 100;
const SIZE_AT = 124;
const NUMBER_BYTES = 12;
const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;
const TYPE_AT = 156;
const MAGIC_AT = 257;
const PREFIX_AT = 345;
/** Sizes from here on do not fit into eleven octal digits: they are written in base 256, like GNU tar. */
const OCTAL_LIMIT = 8 ** 11;
const BASE_256 = 0x80;
const PLAIN_FILE = '0'.charCodeAt(0);

/** A header for a plain file with access for its owner only. `mtime` is in seconds. */
export function tarHeader({ name, size }: TarEntry, mtime: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  if (Buffer.byteLength(name) > NAME_BYTES) throw new RangeError(`${name} is too long a name`);
  header.write(name);
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  if (size < OCTAL_LIMIT) header.write(`${size.toString(8).padStart(11, '0')}\0`, SIZE_AT);
  else {
    header[SIZE_AT] = BASE_256;
    header.writeBigUInt64BE(BigInt(size), SIZE_AT + NUMBER_BYTES - 8);
  }
  header.write(`${Math.floor(mtime).toString(8).padStart(11, '0')}\0`, 136);
  header[TYPE_AT] = PLAIN_FILE;
  header.write('ustar\x0000', MAGIC_AT, 'latin1');
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, CHECKSUM_AT);
  return header;
}

/**
 * Parses a header; null for a block of zeros, which ends an archive. Throws `ArchiveError` for anything but a plain
 * file.
 */
export function readTarHeader(block: Buffer): TarEntry | null {
  if (block.every((byte) => byte === 0)) return null;
  const stated = octal(block.subarray(CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_BYTES));
  if (stated !== checksumOf(block)) throw new ArchiveError('This is no backup, or a damaged one.');
  const name = textOf(block.subarray(0, NAME_BYTES));
  const type = block[TYPE_AT];
  if (type !== PLAIN_FILE || block[PREFIX_AT] !== 0)
    throw new ArchiveError(`${shownName(name)} in the archive is no plain file: no backup has that.`);
  const size = readSize(block);
  if (size === null) throw new ArchiveError(`${shownName(name)} in the archive has no valid size.`);
  return { name, size };
}

/** How many bytes follow a file of this size until the next header. */
export function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}

function readSize(block: Buffer): number | null {
  if (block[SIZE_AT] !== BASE_256) return octal(block.subarray(SIZE_AT, SIZE_AT + NUMBER_BYTES));
  if (block.subarray(SIZE_AT + 1, SIZE_AT + NUMBER_BYTES - 8).some((byte) => byte !== 0)) return null;
  const size = block.readBigUInt64BE(SIZE_AT + NUMBER_BYTES - 8);
  return size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : null;
}

/** The sum of the header's bytes, with the checksum field counted as blanks. */
function checksumOf(block: Buffer): number {
  let sum = 0;
  for (const [at, byte] of block.entries())
    sum += at >= CHECKSUM_AT && at < CHECKSUM_AT + CHECKSUM_BYTES ? 0x20 : byte;
  return sum;
}

function octal(field: Buffer): number | null {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(field.toString('latin1'))?.[1];
  return digits === undefined ? null : Number.parseInt(digits, 8);
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('latin1', 0, end < 0 ? field.length : end);
}

/** An archive that cannot be written, or is invalid. The message is for operators. */
export class ArchiveError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ArchiveError';
  }
}

/** A name from an archive, made safe to show: printable ASCII only. */
export function shownName(name: string): string {
  return JSON.stringify(name).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
