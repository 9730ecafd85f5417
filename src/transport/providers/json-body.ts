/** Writes JSON of any size in slices: long texts and files in it would block other work. */
import { SLICE_BYTES, type Sliced } from '../../lib/clock.ts';

/** A value to write. Objects are maps, since their names may come from messages. */
export type Json = string | number | boolean | null | readonly Json[] | ReadonlyMap<string, Json> | Base64;

/** Bytes that become a base64 string in JSON. */
export class Base64 {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/** Bytes encoded at once: a multiple of three, so that the pieces join without padding between them. */
const BLOCK_BYTES = Math.floor(SLICE_BYTES / 3) * 3;
/** Characters of small values gathered into one piece. */
const PIECE_CHARACTERS = 64 * 1024;

/** An object of the defined fields. */
export function jsonObject(fields: Readonly<Record<string, Json | undefined>>): ReadonlyMap<string, Json> {
  const given = Object.entries(fields).filter((field): field is [string, Json] => field[1] !== undefined);
  return new Map(given);
}

/** The UTF-8 of a value, in pieces. */
export function* writeJson(value: Json): Sliced<Uint8Array[]> {
  const writer = new JsonWriter();
  yield* writer.write(value);
  return writer.finish();
}

class JsonWriter {
  readonly #pieces: Uint8Array[] = [];
  #text = '';

  *write(value: Json): Sliced<void> {
    if (typeof value === 'string') yield* this.#string(value);
    else if (value instanceof Base64) yield* this.#base64(value.bytes);
    else if (value instanceof Map) yield* this.#object(value);
    else if (isList(value)) yield* this.#list(value);
    else this.#put(JSON.stringify(value));
  }

  finish(): Uint8Array[] {
    this.#flush();
    return this.#pieces;
  }

  *#object(fields: ReadonlyMap<string, Json>): Sliced<void> {
    let before = '{';
    for (const [name, value] of fields) {
      this.#put(`${before}${JSON.stringify(name)}:`);
      yield* this.write(value);
      before = ',';
    }
    this.#put(fields.size === 0 ? '{}' : '}');
  }

  *#list(items: readonly Json[]): Sliced<void> {
    this.#put('[');
    for (const [index, item] of items.entries()) {
      if (index > 0) this.#put(',');
      yield* this.write(item);
    }
    this.#put(']');
  }

  /** A surrogate pair cut in two becomes two escapes with the same meaning. */
  *#string(text: string): Sliced<void> {
    if (text.length <= PIECE_CHARACTERS) {
      this.#put(JSON.stringify(text));
      return;
    }
    this.#put('"');
    for (let from = 0; from < text.length; from += SLICE_BYTES) {
      yield;
      this.#put(JSON.stringify(text.slice(from, from + SLICE_BYTES)).slice(1, -1));
    }
    this.#put('"');
  }

  *#base64(bytes: Buffer): Sliced<void> {
    this.#put('"');
    for (let from = 0; from < bytes.length; from += BLOCK_BYTES) {
      if (from > 0) yield;
      this.#put(bytes.toString('base64', from, from + BLOCK_BYTES));
    }
    this.#put('"');
  }

  #put(text: string): void {
    this.#text += text;
    if (this.#text.length >= PIECE_CHARACTERS) this.#flush();
  }

  #flush(): void {
    if (this.#text !== '') this.#pieces.push(Buffer.from(this.#text));
    this.#text = '';
  }
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
