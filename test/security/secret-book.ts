/** Secrets that were planted, and whether bytes give one of them away, in whichever of the usual forms it was written. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';

/** A way to write a secret. */
interface Form {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Characters of a piece of a long secret that is looked for by itself: secrets may come out cut. */
const PIECE = 16;
/** How gzip begins where it is written without a name, and bytes of its header (RFC 1952). */
const GZIP = Buffer.from([0x1f, 0x8b, 0x08, 0x00]);
const GZIP_HEADER = 10;
/** How deep what is packed may lie in what is packed. */
const MAX_UNPACKED = 3;

/** See the file's comment. */
export class SecretBook {
  readonly #forms = new Map<string, readonly Form[]>();

  /** Names of all secrets. */
  get names(): readonly string[] {
    return [...this.#forms.keys()];
  }

  /** Puts one in, and gives it back. Throws where it is so short that it could stand somewhere by chance. */
  add(name: string, secret: string): string {
    if (secret.length < 12) throw new Error(`${name} is too short to be looked for: ${secret}`);
    if (this.#forms.has(name)) throw new Error(`there is a ${name} already`);
    this.#forms.set(name, [...formsOf(Buffer.from(secret)), ...writtenForms(secret)]);
    return secret;
  }

  /** Puts a private key in (as PEM): its private numbers, and so every way to write the key that has them. */
  addPrivateKey(name: string, key: string | KeyObject): void {
    const { d, p } = (typeof key === 'string' ? createPrivateKey(key) : key).export({ format: 'jwk' });
    const numbers = [d, p].filter((number) => number !== undefined);
    this.#forms.set(
      name,
      numbers.flatMap((number) => formsOf(Buffer.from(number, 'base64url'))),
    );
  }

  /** What of them can be read in some bytes, as `name (form)`, what is packed in them unpacked. */
  findIn(bytes: Buffer): readonly string[] {
    const places = layersOf(bytes);
    return [...this.#forms].flatMap(([name, forms]) => {
      const form = forms.find((one) => places.some((place) => place.includes(one.bytes)));
      return form === undefined ? [] : [`${name} (${form.name})`];
    });
  }
}

/** Bytes as they are, in hexadecimal, and in base64 at whatever place of what was encoded. */
function formsOf(secret: Buffer): Form[] {
  const hex = secret.toString('hex');
  return [
    { name: 'as it is', bytes: secret },
    { name: 'hex', bytes: Buffer.from(hex) },
    { name: 'hex', bytes: Buffer.from(hex.toUpperCase()) },
    ...[0, 1, 2].flatMap((before) => {
      const text = base64Within(secret, before);
      const url = text.replaceAll('+', '-').replaceAll('/', '_');
      return [text, url].map((form) => ({ name: 'base64', bytes: Buffer.from(form) }));
    }),
  ];
}

/** What base64 makes of bytes that others stand before and behind: only the characters that these bytes alone decide. */
function base64Within(secret: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), secret])
    .toString('base64')
    .replaceAll('=', '');
  const isWhole = (before + secret.length) % 3 === 0;
  return text.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
}

/** A text as programs write it into others, and the pieces of a long one. */
function writtenForms(secret: string): Form[] {
  const percented = [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const html = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  const written: [string, string][] = [
    ['URL', encodeURIComponent(secret)],
    ['URL', percented],
    ['form', new URLSearchParams({ x: secret }).toString().slice(2)],
    ['JSON', JSON.stringify(secret).slice(1, -1)],
    ['JSON in JSON', JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ['HTML', html],
  ];
  if (secret.length >= 2 * PIECE) {
    const middle = Math.floor((secret.length - PIECE) / 2);
    written.push(['its middle', secret.slice(middle, middle + PIECE)], ['its end', secret.slice(-PIECE)]);
  }
  return written.map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
}

/** Bytes, the same without line ends (of which encodings make many), and whatever is packed in them. */
function layersOf(bytes: Buffer, depth = 0): Buffer[] {
  const plain = [bytes, withoutLineEnds(bytes)];
  if (depth === MAX_UNPACKED) return plain;
  for (let at = bytes.indexOf(GZIP); at >= 0; at = bytes.indexOf(GZIP, at + 1)) {
    const unpacked = unpack(bytes.subarray(at));
    if (unpacked !== null) plain.push(...layersOf(unpacked, depth + 1));
  }
  return plain;
}

function withoutLineEnds(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(/\\r|\\n|[\r\n]/g, ''), 'latin1');
}

/** Whatever follows it is no fault of what is packed. */
function unpack(bytes: Buffer): Buffer | null {
  try {
    return inflateRawSync(bytes.subarray(GZIP_HEADER));
  } catch {
    return null;
  }
}
