/** Reads the beginning of a TLS connection (RFC 8446 §4.1.2), as far as it says who is asked for, and by which protocol. */

/** What a client asks for in its first message. */
export interface ClientHello {
  /** RFC 6066 §3; null: the client names no server. */
  readonly serverName: string | null;
  /** RFC 7301. */
  readonly protocols: readonly string[];
}

const RECORD_HEAD = 5;
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const ALPN = 16;
/** Version and random. */
const FIXED = 2 + 32;

/** The hello in the first bytes of a connection; `more`: it is not complete yet; null: it is none, or not in one record. */
export function readClientHello(bytes: Buffer): ClientHello | 'more' | null {
  if (bytes.length < RECORD_HEAD) return 'more';
  if (bytes[0] !== HANDSHAKE) return null;
  const length = bytes.readUInt16BE(3);
  if (bytes.length < RECORD_HEAD + length) return 'more';
  try {
    return helloIn(new Reader(bytes.subarray(RECORD_HEAD, RECORD_HEAD + length)));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function helloIn(record: Reader): ClientHello | null {
  if (record.number(1) !== CLIENT_HELLO) return null;
  const body = record.vector(3);
  body.skip(FIXED);
  body.vector(1);
  body.vector(2);
  body.vector(1);
  let serverName: string | null = null;
  const protocols: string[] = [];
  const extensions = body.isAtEnd ? body : body.vector(2);
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const value = extensions.vector(2);
    if (type === SERVER_NAME) serverName = hostIn(value.vector(2)) ?? serverName;
    if (type === ALPN)
      for (const list = value.vector(2); !list.isAtEnd; ) protocols.push(list.vector(1).text());
  }
  return { serverName, protocols };
}

function hostIn(names: Reader): string | null {
  while (!names.isAtEnd) {
    const type = names.number(1);
    const name = names.vector(2);
    if (type === 0) return name.text().toLowerCase();
  }
  return null;
}

/** Reads numbers and vectors (RFC 8446 §3.4). Throws `RangeError` beyond the end. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  number(size: number): number {
    const value = this.#bytes.readUIntBE(this.#at, size);
    this.#at += size;
    return value;
  }

  vector(size: number): Reader {
    const length = this.number(size);
    return new Reader(this.#take(length));
  }

  skip(length: number): void {
    this.#take(length);
  }

  text(): string {
    return this.#bytes.toString('latin1');
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError('beyond the end');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
