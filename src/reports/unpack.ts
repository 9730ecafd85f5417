import { promisify } from 'node:util';
import { crc32, gunzip, inflateRaw } from 'node:zlib';

/**
 * Unpacks attached reports: zip, gzip, or XML as it is, told apart by their first bytes because senders label them as
 * they like. A bomb ends at the limit: no more than that is ever unpacked.
 */

/** The text of a report, or why there is none. The reason is fit for a reply to the sender. */
export type Unpacked =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** Bytes of a report when unpacked. The largest services send some 5 MB. */
export const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;

const gunzipped = promisify(gunzip);
const inflated = promisify(inflateRaw);

/** What some bytes are: an archive of either kind, or XML. Null: nothing that a report comes as. */
export function packingOf(bytes: Uint8Array): 'zip' | 'gzip' | 'xml' | null {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4) return 'zip';
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gzip';
  return isXml(beginningOf(bytes)) ? 'xml' : null;
}

/** Unpacks a report off the event loop. Never rejects. */
export async function unpack(bytes: Uint8Array, maxBytes = MAX_UNPACKED_BYTES): Promise<Unpacked> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const packing = packingOf(buffer);
  if (packing === null) return failure('it is neither zip, nor gzip, nor XML');
  if (packing === 'xml') return buffer.length > maxBytes ? tooLarge(maxBytes) : textOf(buffer);
  const entry = packing === 'zip' ? entryOf(buffer) : null;
  if (typeof entry === 'string') return failure(entry);
  if (entry?.method === 'stored' && entry.data.length > maxBytes) return tooLarge(maxBytes);
  try {
    const plain = await plainOf(entry, buffer, maxBytes);
    if (entry !== null && crc32(plain) !== entry.checksum) return failure('its zip data are damaged');
    return textOf(plain);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    return code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(maxBytes) : failure(`its ${packing} data are damaged`);
  }
}

async function plainOf(entry: ZipEntry | null, gzip: Buffer, maxOutputLength: number): Promise<Buffer> {
  if (entry === null) return await gunzipped(gzip, { maxOutputLength });
  return entry.method === 'stored' ? entry.data : await inflated(entry.data, { maxOutputLength });
}

/** Bytes in which an encoding is told, or seen. */
const BEGINNING = 256;
const DECLARED = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]{1,40})["']/i;

/** The first characters. */
function beginningOf(bytes: Uint8Array): string {
  const first = bytes.subarray(0, BEGINNING);
  return new TextDecoder(wideEncodingOf(first) ?? 'utf-8').decode(first);
}

function isXml(beginning: string): boolean {
  return /^\s*<(?:\?xml|(?:[\w.-]+:)?feedback|!--)/i.test(beginning);
}

/** UTF-16, by its mark or the zero beside the first character; null for encodings that have ASCII in them. */
function wideEncodingOf([first, second]: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c) ? 'utf-16be' : null;
}

/** The text in its own encoding (XML 1.0, appendix F). */
function textOf(bytes: Buffer): Unpacked {
  const beginning = beginningOf(bytes);
  if (!isXml(beginning)) return failure('its contents are not XML');
  const wide = wideEncodingOf(bytes);
  const declared = DECLARED.exec(beginning)?.[1] ?? 'utf-8';
  // Whatever can be read up to here is not UTF-16, even if it says so.
  const encoding = wide ?? (/^utf-?16/i.test(declared) ? 'utf-8' : declared);
  try {
    return { ok: true, text: new TextDecoder(encoding).decode(bytes) };
  } catch {
    return failure('its encoding is not known here');
  }
}

function tooLarge(maxBytes: number): Unpacked {
  return failure(`unpacked it has more than ${maxBytes} bytes`);
}

function failure(reason: string): Unpacked {
  return { ok: false, reason };
}

// The zip format (APPNOTE 6.3): the directory at the end says where each file is.

const END_OF_DIRECTORY = Buffer.from('PK\x05\x06', 'latin1');
const END_BYTES = 22;
const MAX_COMMENT = 65_535;
const DIRECTORY_ENTRY = 0x02014b50;
const DIRECTORY_ENTRY_BYTES = 46;
const LOCAL_HEADER = 0x04034b50;
const LOCAL_HEADER_BYTES = 30;
/** Files of an archive to look at: a report is alone in its own. */
const MAX_FILES = 20;

interface ZipEntry {
  readonly method: 'stored' | 'deflated';
  readonly data: Buffer;
  /** CRC-32 of what was packed. */
  readonly checksum: number;
}

/** The first file whose name ends in `.xml`, else the first one; or what is wrong. */
function entryOf(zip: Buffer): ZipEntry | string {
  const from = Math.max(0, zip.length - END_BYTES - MAX_COMMENT);
  const end = zip.subarray(from).lastIndexOf(END_OF_DIRECTORY);
  if (end < 0 || from + end + END_BYTES > zip.length) return 'its zip directory is missing';
  const count = Math.min(zip.readUInt16LE(from + end + 10), MAX_FILES);
  let at = zip.readUInt32LE(from + end + 16);
  let found: number | null = null;
  for (let file = 0; file < count; file++) {
    if (at + DIRECTORY_ENTRY_BYTES > zip.length || zip.readUInt32LE(at) !== DIRECTORY_ENTRY)
      return 'its zip directory is damaged';
    const nameBytes = zip.readUInt16LE(at + 28);
    const name = zip.toString('latin1', at + DIRECTORY_ENTRY_BYTES, at + DIRECTORY_ENTRY_BYTES + nameBytes);
    found ??= at;
    if (name.toLowerCase().endsWith('.xml')) {
      found = at;
      break;
    }
    at += DIRECTORY_ENTRY_BYTES + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return found === null ? 'its zip archive is empty' : dataOf(zip, found);
}

function dataOf(zip: Buffer, entry: number): ZipEntry | string {
  const isEncrypted = (zip.readUInt16LE(entry + 8) & 1) === 1;
  const method = zip.readUInt16LE(entry + 10);
  const checksum = zip.readUInt32LE(entry + 16);
  const size = zip.readUInt32LE(entry + 20);
  const header = zip.readUInt32LE(entry + 42);
  if (isEncrypted) return 'its zip archive is encrypted';
  if (method !== 0 && method !== 8) return 'its zip archive is packed in a way that is not read here';
  if (header + LOCAL_HEADER_BYTES > zip.length || zip.readUInt32LE(header) !== LOCAL_HEADER)
    return 'its zip archive is damaged';
  const start = header + LOCAL_HEADER_BYTES + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
  if (start + size > zip.length) return 'its zip archive is cut off';
  return { method: method === 0 ? 'stored' : 'deflated', data: zip.subarray(start, start + size), checksum };
}
