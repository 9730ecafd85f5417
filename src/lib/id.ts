import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

/** Crockford's base32, lower case: no i, l, o or u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_BYTES = 10;
/** In base32. */
const TAIL_CHARACTERS = (RANDOM_BYTES * 8) / 5;
const MESSAGE_ID = /^msg_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** How ids begin: of messages, events, suppressions, webhook endpoints, feedback, templates, DMARC reports, alerts, erasures, saved views, and links to stories. */
export type IdPrefix =
  | 'msg_'
  | 'evt_'
  | 'sup_'
  | 'whe_'
  | 'fbk_'
  | 'tpl_'
  | 'dmr_'
  | 'alr_'
  | 'alc_'
  | 'als_'
  | 'era_'
  | 'viw_'
  | 'stl_';

/**
 * Makes ids, of messages unless told otherwise: a prefix and 26 characters, 48 bits of milliseconds and 80 bits of
 * randomness, strictly increasing within one generator even when the clock stands still or goes back. The time in an
 * id is the `createdAt` of what has it, so ids sort as messages do.
 */
export function createIdSource(
  clock: Pick<Clock, 'wall'>,
  random: Random,
  prefix: IdPrefix = 'msg_',
): () => string {
  let lastMs = -1;
  let time = '';
  const tail = new Uint8Array(RANDOM_BYTES);
  return () => {
    const now = clock.wall();
    if (now > lastMs) {
      lastMs = now;
      time = encodeTime(now);
      random.fill(tail);
      // Room to count upwards within one millisecond without overflow.
      tail[0] = (tail[0] ?? 0) & 0x7f;
    } else {
      increment(tail);
    }
    return `${prefix}${time}${toBase32(tail)}`;
  };
}

/**
 * Makes names for submissions that have no id yet, for their `Received` and `Message-ID`: like ids, but without `msg_`,
 * since the engine later gives the message its own id and nobody should look for this one.
 */
export function createTokenSource(clock: Pick<Clock, 'wall'>, random: Random): () => string {
  const next = createIdSource(clock, random);
  return () => next().slice('msg_'.length);
}

/** Whether `text` has the form of a message id. It says nothing about the existence of such a message. */
export function isMessageId(text: string): boolean {
  return MESSAGE_ID.test(text);
}

/** Whether `text` has the form of an id with this prefix. */
export function isId(text: string, prefix: IdPrefix): boolean {
  return text.startsWith(prefix) && isMessageId(`msg_${text.slice(prefix.length)}`);
}

/** The milliseconds since the epoch that a message id carries. The id must be well formed. */
export function messageIdTime(id: string): number {
  let ms = 0;
  for (let i = 4; i < 14; i++) ms = ms * 32 + ALPHABET.indexOf(id.charAt(i));
  return ms;
}

/**
 * The least id of the time `ms` (milliseconds since the epoch): ids of that time and later are not below it, earlier
 * ones are. A time outside the range of ids gives the nearest end.
 */
export function idFloor(prefix: IdPrefix, ms: number): string {
  return `${prefix}${encodeTime(Math.min(Math.max(Math.ceil(ms), 0), 2 ** 48))}`;
}

/** The same for messages. */
export function messageIdFloor(ms: number): string {
  return idFloor('msg_', ms);
}

// The other form of a message id: the same 128 bits as a UUID, for clients that parse ids as one (contract-2 §0).

const ID_BYTES = 16;
const TIME_BYTES = ID_BYTES - RANDOM_BYTES;
const UUID = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/i;

/** The 128 bits of a message id. Throws RangeError if it is not well formed. */
export function messageIdBytes(id: string): Buffer {
  if (!isMessageId(id)) throw new RangeError('not a message id');
  const bytes = Buffer.alloc(ID_BYTES);
  bytes.writeUIntBE(messageIdTime(id), 0, TIME_BYTES);
  bytes.set(fromBase32(id.slice(-TAIL_CHARACTERS)) ?? [], TIME_BYTES);
  return bytes;
}

/** The message id of 128 bits. Throws RangeError for any other number of bytes. */
export function messageIdOf(bytes: Uint8Array): string {
  if (bytes.length !== ID_BYTES) throw new RangeError('a message id has 16 bytes');
  const time = Buffer.from(bytes.subarray(0, TIME_BYTES)).readUIntBE(0, TIME_BYTES);
  return `msg_${encodeTime(time)}${toBase32(bytes.subarray(TIME_BYTES))}`;
}

/** A message id as a UUID. It has no version; its order is that of ids. Throws like {@link messageIdBytes}. */
export function messageUuid(id: string): string {
  return messageIdBytes(id)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The message id that a text is, in either form; null if it has neither. Hex digits may be in upper case. */
export function readMessageId(text: string): string | null {
  if (isMessageId(text)) return text;
  const [, ...groups] = UUID.exec(text) ?? [];
  return groups.length === 0 ? null : messageIdOf(Buffer.from(groups.join(''), 'hex'));
}

/** Bytes as Crockford's base32, in lower case. Their number must be a multiple of five, so that no bits are left. */
export function toBase32(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 5) {
    const high = ((bytes[i] ?? 0) << 12) | ((bytes[i + 1] ?? 0) << 4) | ((bytes[i + 2] ?? 0) >> 4);
    const low = (((bytes[i + 2] ?? 0) & 15) << 16) | ((bytes[i + 3] ?? 0) << 8) | (bytes[i + 4] ?? 0);
    for (const half of [high, low])
      for (let shift = 15; shift >= 0; shift -= 5) text += ALPHABET.charAt((half >> shift) & 31);
  }
  return text;
}

/**
 * The bytes of such a text; null if it contains anything else, or is no multiple of eight characters. As with ids, no
 * letter stands for another.
 */
export function fromBase32(text: string): Buffer | null {
  if (text.length % 8 !== 0) return null;
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i += 4) {
    let half = 0;
    for (let j = i; j < i + 4; j++) {
      const digit = ALPHABET.indexOf(text.charAt(j));
      if (digit < 0) return null;
      half = (half << 5) | digit;
    }
    // Two halves of 20 bits are five bytes.
    if (i % 8 === 0) bytes.push(half >> 12, (half >> 4) & 0xff, half & 15);
    else bytes.push(((bytes.pop() ?? 0) << 4) | (half >> 16), (half >> 8) & 0xff, half & 0xff);
  }
  return Buffer.from(bytes);
}

/**
 * The id of an event: `evt_` and 26 characters, as those of messages: 48 bits of the time at which it happened
 * (milliseconds), then its sequence in 80 bits instead of randomness. So an event has the same id whenever it is read,
 * nothing need be stored for that, and ids sort as the times do.
 */
export function eventId(at: number, sequence: number): string {
  return `evt_${encodeTime(at)}${encodeNumber(sequence, 16)}`;
}

/** An id that follows from bytes, such as a digest: the same each time. */
export function idOfBytes(prefix: string, bytes: Uint8Array): string {
  return prefix + [...bytes.subarray(0, 26)].map((byte) => ALPHABET.charAt(byte % 32)).join('');
}

/** The sequence in the id of an event; null: it is none. */
export function sequenceOfEvent(id: string): number | null {
  const [, digits] = EVENT_ID.exec(id) ?? [];
  if (digits === undefined) return null;
  const sequence = [...digits].reduce((number, digit) => number * 32 + ALPHABET.indexOf(digit), 0);
  return Number.isSafeInteger(sequence) ? sequence : null;
}

const EVENT_ID = /^evt_[0-9a-hjkmnp-tv-z]{10}([0-9a-hjkmnp-tv-z]{16})$/;

function encodeTime(ms: number): string {
  return encodeNumber(ms, 10);
}

function encodeNumber(number: number, characters: number): string {
  let text = '';
  let rest = number;
  for (let i = 0; i < characters; i++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function increment(bytes: Uint8Array): void {
  for (let i = bytes.length - 1; i >= 0; i--) {
    const value = ((bytes[i] ?? 0) + 1) & 0xff;
    bytes[i] = value;
    if (value !== 0) return;
  }
}

// The text of an API key (contract §9): `wb_live_` or `wb_test_`, 43 characters base62 (256 random bits), and 6
// characters base62 of the CRC-32 of everything before them. The checksum distinguishes a typo from an unknown key
// without asking the store, and lets scanners find leaked keys without false alarms.

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = BigInt(BASE62.length);
const SECRET_BYTES = 32;
const SECRET_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
const SHOWN_CHARACTERS = 'wb_live_'.length + 6;
const SECRET = /^wb_(live|test)_[0-9A-Za-z]{49}$/;
/** Anywhere in a text, whatever follows. */
const SECRETS = /wb_(live|test)_[0-9A-Za-z]{43,}/g;

/** What the form of an alleged key shows without asking the store. */
export type SecretForm = 'well_formed' | 'checksum_wrong' | 'malformed';

/** Makes a new secret. It is shown once and never stored. */
export function generateSecret(random: Random, mode: 'live' | 'test'): string {
  const bits = random.fill(new Uint8Array(SECRET_BYTES));
  const number = BigInt(`0x${Buffer.from(bits).toString('hex')}`);
  const body = `wb_${mode}_${toBase62(number, SECRET_CHARACTERS)}`;
  return body + checksum(body);
}

/** Whether `text` is a key, a key with a typo, or no key at all. */
export function inspectSecret(text: string): SecretForm {
  if (!SECRET.test(text)) return 'malformed';
  const body = text.slice(0, -CHECKSUM_CHARACTERS);
  return checksum(body) === text.slice(-CHECKSUM_CHARACTERS) ? 'well_formed' : 'checksum_wrong';
}

/** SHA-256 of a secret, hex: the only form that is stored. A fast hash is enough, since the secret has 256 bits. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The first characters of a secret: enough to recognize it, useless to guess the rest. */
export function secretPrefix(secret: string): string {
  return secret.slice(0, SHOWN_CHARACTERS);
}

/** A text without the keys in it: only their prefixes stay. For what people paste where a name belongs. */
export function withoutKeys(text: string): string {
  return text.replaceAll(SECRETS, (secret) => `${secretPrefix(secret)}…`);
}

function checksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_CHARACTERS);
}

function toBase62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest /= BASE)
    text = BASE62.charAt(Number(rest % BASE)) + text;
  return text;
}

const GOOD_ID = /^[A-Za-z0-9._-]{1,64}$/;
const PREFIX_BYTES = 9;

/**
 * Gives each request its id: the client's own if it is well formed (contract §5), else a prefix drawn once and a count.
 */
export function createRequestIds(random: Random): (inbound: string | undefined) => string {
  const prefix = Buffer.from(random.fill(new Uint8Array(PREFIX_BYTES))).toString('base64url');
  let count = 0;
  return (inbound) => {
    if (inbound !== undefined && GOOD_ID.test(inbound)) return inbound;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
