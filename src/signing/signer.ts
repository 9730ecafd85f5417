import { createHash, sign, verify } from 'node:crypto';
import type { Content, SigningRights } from '../domain/message.ts';
import type { Signer } from '../engine/contract.ts';
import { type Clock, inSlices, type Sliced, turnFor } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import {
  type ReadSignature,
  readSignature,
  SIGNATURE_NAME,
  signedField,
  signingInput,
  unsignedField,
} from '../mail/dkim.ts';
import { namesAgain, relaxedBodyHash, signedNames, signedText } from '../mail/dkim-canonical.ts';
import { type FieldSpan, readLooseHeader } from '../mail/header-block.ts';
import { keysForAuthor, type SigningKey, type SigningKeys } from './keys.ts';

/** What signing needs. */
interface SignerParts {
  /** The current keys, read for every message. */
  readonly keys: () => SigningKeys;
  readonly clock: Clock;
  readonly log: Log;
}

const SECOND_MS = 1000;
/** How often a domain's failure is logged, in ms. */
const TELL_EVERY_MS = 60_000;
/** Domains whose failures are remembered. */
const MAX_TOLD = 1000;
/** Most signatures of a message examined as ours; we never made as many. */
const MAX_SIGNATURES = 8;
const LOWER_NAME = SIGNATURE_NAME.toLowerCase();

/** A key, the time from which it signs a message (Unix seconds), and the names of the signed fields. */
interface Use {
  readonly key: SigningKey;
  readonly time: number;
  readonly names: readonly string[];
}

/** Signs mail when it is accepted, and again after a conversion for a hop. */
export class MailSigner implements Signer {
  readonly #parts: SignerParts;
  readonly #signing = new Signing();
  readonly #told = new Map<string, number>();

  constructor(parts: SignerParts) {
    this.#parts = parts;
  }

  sign(content: Content, rights: SigningRights): Content | Promise<Content> {
    const { active } = this.#parts.keys();
    if (active.size === 0 || (rights !== 'any' && rights.length === 0)) return content;
    return this.#sign(content, rights, active);
  }

  async #sign(
    content: Content,
    rights: SigningRights,
    active: ReturnType<SignerParts['keys']>['active'],
  ): Promise<Content> {
    const { clock } = this.#parts;
    let domain = '';
    try {
      const letter = readLetter(content.chunks);
      const chosen = letter === null ? [] : keysForAuthor(letter.fields, rights, active);
      if (letter === null || chosen[0] === undefined) return content;
      domain = chosen[0].domain;
      const time = Math.floor(clock.wall() / SECOND_MS);
      const names = allNames(letter);
      const uses = chosen.map((key) => ({ key, time, names }));
      const chunks = await this.#signed(letter, uses);
      return chunks === null ? content : { chunks, sizeBytes: lengthOf(chunks), flags: content.flags };
    } catch (error) {
      this.#failed(domain, error);
      return content;
    }
  }

  /**
   * Signs a converted message like `original`: with the same keys and times, so that a repeat gives the same bytes.
   * Only valid signatures of ours are remade, each for the same fields: a field added since may be a stranger's. All
   * others stay as they are. Never rejects.
   */
  async resign(original: Uint8Array, converted: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
    let domain = '';
    try {
      const before = readLetter([original]);
      const held = before === null ? [] : await this.#signaturesOf(before);
      const letter = held[0] === undefined ? null : readLetter(converted);
      if (before === null || letter === null || held[0] === undefined) return converted;
      domain = held[0].key.domain;
      const uses = held.map((use) => ({
        ...use,
        names: namesAgain(use.names, before.fields, letter.fields),
      }));
      return (await this.#signed(letter, uses)) ?? converted;
    } catch (error) {
      this.#failed(domain, error);
      return converted;
    }
  }

  /** The letter with signatures on top, replacing those of the same keys; null if no key could be used. */
  async #signed(letter: Letter, uses: readonly Use[]): Promise<Uint8Array[] | null> {
    const plain = withoutFields(letter, isSignatureOf(letter, uses));
    const bodyHash = await inSlices(bodyHashOf(plain), turnFor(lengthOf(plain.chunks)));
    const made: Promise<string>[] = [];
    let signable: Signable | null = null;
    for (const use of uses) {
      // Computed once for all keys when a message is first signed.
      if (signable?.names !== use.names) signable = signableOf(plain, use.names, bodyHash);
      made.push(this.#field(use, signable));
    }
    const fields = (await Promise.all(made)).join('');
    return fields === '' ? null : [Buffer.from(fields, 'latin1'), ...plain.chunks];
  }

  /** A signature as a field; '' if it cannot be made. */
  async #field({ key, time }: Use, { names, bodyHash, signedText: text }: Signable): Promise<string> {
    const { algorithm, domain, selector } = key;
    try {
      const unsigned = unsignedField({ algorithm, domain, selector, time, names, bodyHash });
      return signedField(unsigned, await this.#signing.sign(key, signingInput(text, unsigned)));
    } catch (error) {
      this.#failed(domain, error);
      return '';
    }
  }

  /**
   * Our valid signatures. Anyone, even without the right to send from a domain, can write a field that looks like one:
   * what we have not signed before must not be signed now.
   */
  async #signaturesOf(letter: Letter): Promise<Use[]> {
    const { keys } = this.#parts;
    const found = letter.fields
      .filter(({ lowerName }) => lowerName === LOWER_NAME)
      .slice(0, MAX_SIGNATURES)
      .flatMap((field): { read: ReadSignature; key: SigningKey }[] => {
        const read = readSignature(letter.text.slice(field.start, field.end));
        const key = read === null ? null : keys().held(read.domain, read.selector);
        return read === null || key?.algorithm !== read.algorithm ? [] : [{ read, key }];
      });
    if (found.length === 0) return [];
    const bodyHash = await inSlices(bodyHashOf(letter), turnFor(lengthOf(letter.chunks)));
    const holding = found.filter(({ read, key }) => {
      if (read.bodyHash !== bodyHash) return false;
      const signed = signedText(letter.text, letter.fields, read.names);
      return isSignedBy(key, signingInput(signed, read.unsigned), read.signature);
    });
    const uses = holding.map(({ read: { time, names }, key }) => ({ key, time, names }));
    return uses.filter(({ key }, place) => uses.findIndex((other) => other.key === key) === place);
  }

  /** Logged once a minute for each domain. */
  #failed(domain: string, error: unknown): void {
    const { clock, log } = this.#parts;
    const now = clock.mono();
    const last = this.#told.get(domain);
    if (last !== undefined && now - last < TELL_EVERY_MS) return;
    if (this.#told.size >= MAX_TOLD) this.#told.clear();
    this.#told.set(domain, now);
    const reason = error instanceof Error ? error.message : String(error);
    log.error('signing.failed', { code: 'signing_failed', domain, reason });
  }
}

/** Whether a field is a signature by one of these keys, valid or not. */
function isSignatureOf(letter: Letter, uses: readonly Use[]): (field: FieldSpan) => boolean {
  return ({ lowerName, start, end }) => {
    if (lowerName !== LOWER_NAME) return false;
    const read = readSignature(letter.text.slice(start, end));
    return uses.some(
      ({ key }) => key.domain === read?.domain && key.selector.toLowerCase() === read.selector,
    );
  };
}

function lengthOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
}

/**
 * RSA signatures under way at once. They use the thread pool that also reads and flushes files, and has four threads:
 * with more, flushes would wait behind them. The intake limits the mail that waits for one.
 */
export const MAX_UNDER_WAY = 3;

/** Makes signatures: with RSA off the event loop, a few at once. */
export class Signing {
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;

  /** Signatures under way. */
  get underWay(): number {
    return this.#underWay;
  }

  /** The signature, base64. The same input always gives the same one. Rejects if the key cannot be used. */
  async sign(key: SigningKey, input: Buffer): Promise<string> {
    const privateKey = key.privateKey();
    // It costs less than a turn through the pool, and mail accepted together stays together.
    if (key.algorithm === 'ed25519-sha256') return sign(null, digestOf(input), privateKey).toString('base64');
    if (this.#underWay >= MAX_UNDER_WAY) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#underWay += 1;
    try {
      return await new Promise<string>((resolve, reject) => {
        const done = (error: Error | null, signature: Buffer) =>
          error === null ? resolve(signature.toString('base64')) : reject(error);
        sign('sha256', input, privateKey, done);
      });
    } finally {
      const next = this.#waiting.shift();
      // The slot passes to the next in the queue without becoming free.
      if (next === undefined) this.#underWay -= 1;
      else next();
    }
  }
}

/** Whether a key made this signature (base64). False if the key cannot be used. */
export function isSignedBy(key: SigningKey, input: Buffer, signature: string): boolean {
  try {
    const bytes = Buffer.from(signature, 'base64');
    if (key.algorithm === 'rsa-sha256') return verify('sha256', input, key.publicKey(), bytes);
    return verify(null, digestOf(input), key.publicKey(), bytes);
  } catch {
    return false;
  }
}

/** RFC 8463 §3: Ed25519 signs the hash. */
function digestOf(input: Buffer): Buffer {
  return createHash('sha256').update(input).digest();
}

/** Headers are smaller (`MAX_HANDED_IN_HEADER`), except for what was put on top of them. */
const MAX_HEADER_BYTES = 512 * 1024;
const BLANK_LINE = Buffer.from('\r\n\r\n');
const CRLF_LENGTH = 2;

/** A message in its wire form, as signing sees it. */
export interface Letter {
  readonly chunks: readonly Uint8Array[];
  /** The header, one character per byte. */
  readonly text: string;
  readonly fields: readonly FieldSpan[];
}

/** The signed parts of a letter, for any key. */
interface Signable {
  readonly names: readonly string[];
  /** Base64. */
  readonly bodyHash: string;
  readonly signedText: string;
}

/** Reads a letter's header, which may span several chunks; null if it is invalid or too long. */
export function readLetter(chunks: readonly Uint8Array[]): Letter | null {
  const start = beginning(chunks);
  const end = start.indexOf(BLANK_LINE);
  const text = start.toString('latin1', 0, end < 0 ? start.length : end + BLANK_LINE.length);
  const header = readLooseHeader(text, MAX_HEADER_BYTES);
  if (header === null || header.brokenOff) return null;
  return { chunks, text: text.slice(0, header.sizeBytes), fields: header.fields };
}

/** The first chunk if the header ends in it; else as much as a header may have. */
function beginning(chunks: readonly Uint8Array[]): Buffer {
  const first = viewOf(chunks[0] ?? new Uint8Array());
  if (chunks.length <= 1 || first.includes(BLANK_LINE)) return first;
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (const chunk of chunks) {
    pieces.push(chunk);
    length += chunk.length;
    if (length > MAX_HEADER_BYTES + CRLF_LENGTH) break;
  }
  return Buffer.concat(pieces, Math.min(length, MAX_HEADER_BYTES + CRLF_LENGTH));
}

/** The letter without some of its fields; the same object if none is meant. */
export function withoutFields(letter: Letter, isMeant: (field: FieldSpan) => boolean): Letter {
  const stay = letter.fields.filter((field) => !isMeant(field));
  if (stay.length === letter.fields.length) return letter;
  const text = stay.map(({ start, end }) => letter.text.slice(start, end)).join('');
  const rest = skipped(letter.chunks, letter.text.length);
  const kept = readLooseHeader(text, MAX_HEADER_BYTES);
  return { chunks: [Buffer.from(text, 'latin1'), ...rest], text, fields: kept?.fields ?? [] };
}

/** What follows the first `count` bytes. */
function skipped(chunks: readonly Uint8Array[], count: number): Uint8Array[] {
  const rest: Uint8Array[] = [];
  let left = count;
  for (const chunk of chunks) {
    if (chunk.length > left) rest.push(chunk.subarray(left));
    left = Math.max(0, left - chunk.length);
  }
  return rest;
}

/** The names of all its fields to be signed. Throws for a letter with too many of them. */
function allNames({ fields }: Letter): readonly string[] {
  const names = signedNames(fields);
  if (names === null) throw new Error('the header has too many fields to be signed');
  return names;
}

/** The signed parts of a letter for these names. */
function signableOf(letter: Letter, names: readonly string[], bodyHash: string): Signable {
  return { names, bodyHash, signedText: signedText(letter.text, letter.fields, names) };
}

/** The hash of its body, base64. */
export function* bodyHashOf({ chunks, text }: Letter): Sliced<string> {
  const sum = yield* relaxedBodyHash(chunks, text.length + CRLF_LENGTH);
  return sum.toString('base64');
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
