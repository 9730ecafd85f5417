import type { DkimAlgorithm } from '../domain/domain-keys.ts';
import { relaxedField } from './dkim-canonical.ts';
import { SOFT_LINE } from './field.ts';

/** The DKIM-Signature field (RFC 6376 §3.5): what is signed, and how the signature is written. */

/** The tags of a signature, without the signature itself. */
export interface SignatureTerms {
  readonly algorithm: DkimAlgorithm;
  /** In A-labels. */
  readonly domain: string;
  readonly selector: string;
  /** Seconds since the Unix epoch. */
  readonly time: number;
  /** The names of `h=`. */
  readonly names: readonly string[];
  /** The SHA-256 of the body, base64. */
  readonly bodyHash: string;
}

/** The field's name. */
export const SIGNATURE_NAME = 'DKIM-Signature';
const FOLD = '\r\n ';
/** Characters of the signature in a line: {@link SOFT_LINE} less the blank. */
const SIGNATURE_LINE = 72;

/**
 * The field without its signature, which is appended. It has no `l=`, because additions to a body must break the
 * signature, and no `x=`: the receiver judges by `t=` how old a message may be.
 */
export function unsignedField({
  algorithm,
  domain,
  selector,
  time,
  names,
  bodyHash,
}: SignatureTerms): string {
  const tags = [
    'v=1;',
    `a=${algorithm};`,
    'c=relaxed/relaxed;',
    `d=${domain};`,
    `s=${selector};`,
    `t=${time};`,
  ];
  const listed = names.map((name, index) => `${name}${index < names.length - 1 ? ':' : ';'}`);
  let text = `${SIGNATURE_NAME}:`;
  let column = text.length;
  const write = (piece: string, blank: ' ' | '') => {
    const folds = column + blank.length + piece.length > SOFT_LINE;
    text += folds ? FOLD + piece : blank + piece;
    column = folds ? 1 + piece.length : column + blank.length + piece.length;
  };
  for (const tag of tags) write(tag, ' ');
  for (const [index, name] of listed.entries())
    write(index === 0 ? `h=${name}` : name, index === 0 ? ' ' : '');
  write(`bh=${bodyHash};`, ' ');
  return `${text}${FOLD}b=`;
}

/** The input of the algorithm: the signed fields ({@link signedText}), and the field itself without its end. */
export function signingInput(signedText: string, unsigned: string): Buffer {
  const field = relaxedField(unsigned);
  return Buffer.from(signedText + field.slice(0, -'\r\n'.length), 'latin1');
}

/** The whole field, with its CRLF. `signature` is base64. */
export function signedField(unsigned: string, signature: string): string {
  const lines = signature.match(new RegExp(`.{1,${SIGNATURE_LINE}}`, 'g')) ?? [];
  return `${unsigned}${lines.join(FOLD)}\r\n`;
}

/** A signature as found in a message. */
export interface ReadSignature extends SignatureTerms {
  /** Base64. */
  readonly signature: string;
  /** The field without the value of its `b=` (RFC 6376 §3.5), one character for each byte. */
  readonly unsigned: string;
}

const TAG = /^[\t \r\n]*([A-Za-z][A-Za-z0-9_]*)[\t \r\n]*=([^;]*)$/;
const BLANKS = /[\t \r\n]+/g;
const TIME = /^[0-9]{1,12}$/;
const SIGNATURE_TAG = /(;[\t \r\n]*b[\t \r\n]*=)[^;]*/;
/** Ours are much shorter, unless the header has hundreds of fields. */
const MAX_FIELD = 32 * 1024;

/**
 * Parses a signature of the kind we make: relaxed/relaxed, with a time, without `l=`. Null for any other. `raw` is all
 * its lines, one character for each byte.
 */
export function readSignature(raw: string): ReadSignature | null {
  if (raw.length > MAX_FIELD) return null;
  const tags = new Map<string, string>();
  for (const text of raw.slice(raw.indexOf(':') + 1).split(';')) {
    const [, name, value] = TAG.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      if (text.replace(BLANKS, '') === '') continue;
      return null;
    }
    if (tags.has(name)) return null;
    tags.set(name, value.replace(BLANKS, ''));
  }
  const tag = (name: string) => tags.get(name) ?? '';
  const algorithm = tag('a');
  if (algorithm !== 'rsa-sha256' && algorithm !== 'ed25519-sha256') return null;
  if (tag('v') !== '1' || tag('c') !== 'relaxed/relaxed' || tags.has('l') || !TIME.test(tag('t')))
    return null;
  return {
    algorithm,
    domain: tag('d').toLowerCase(),
    selector: tag('s').toLowerCase(),
    time: Number(tag('t')),
    names: tag('h').toLowerCase().split(':'),
    bodyHash: tag('bh'),
    signature: tag('b'),
    unsigned: raw.replace(SIGNATURE_TAG, '$1'),
  };
}
