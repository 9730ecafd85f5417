/** Reading encoded words (RFC 2047), for display: of what cannot be read, the text stays as it is. */
import { TextDecoder } from 'node:util';
import type { Mailbox } from '../domain/mailbox.ts';

const WORD = /=\?([\w-]+)(?:\*[\w-]*)?\?([BbQq])\?([!->@-~]*)\?=/g;
/** Blanks between two encoded words are not shown (RFC 2047 §6.2). */
const BLANKS = /^[\t ]*$/;
const CONTROLS = /[\0-\x1f\x7f-\x9f]+/g;

/** A run of encoded words in one charset; a character may be split between them, though it must not be. */
interface Run {
  readonly charset: string;
  readonly bytes: Buffer[];
}

const NO_RUN: Run = { charset: '', bytes: [] };

/** Charsets of one text; of more, words stay as they are. Looking for one that is unknown takes as long as a thousand words. */
const MAX_CHARSETS = 30;
/** By charset, for making one takes longer than a word: those that are known, which are some two hundred names. */
const DECODERS = new Map<string, TextDecoder>();

/** Decodes the encoded words in a field's unfolded value. What comes out is one line: controls become blanks. */
export function decodeWords(text: string): string {
  if (!text.includes('=?')) return text.replace(CONTROLS, ' ');
  let shown = '';
  let run: Run = NO_RUN;
  let from = 0;
  const decoders = new Map<string, TextDecoder | null>();
  for (const match of text.matchAll(WORD)) {
    const [whole, name = '', encoding = '', encoded = ''] = match;
    const charset = name.toLowerCase();
    const between = text.slice(from, match.index);
    from = match.index + whole.length;
    const isKnown = decoderIn(decoders, charset) !== null;
    const follows = isKnown && run !== NO_RUN && BLANKS.test(between);
    if (!follows || run.charset !== charset) {
      shown += readRun(run) + (follows ? '' : between) + (isKnown ? '' : whole);
      run = isKnown ? { charset, bytes: [] } : NO_RUN;
    }
    if (isKnown) run.bytes.push(decodeBytes(encoding, encoded));
  }
  return (shown + readRun(run) + text.slice(from)).replace(CONTROLS, ' ');
}

/** The mailbox with its name decoded, as many libraries format one for an API; without a name where nothing is left of it. */
export function withDecodedName(mailbox: Mailbox): Mailbox {
  return mailbox.name === null ? mailbox : { ...mailbox, name: decodeWords(mailbox.name).trim() || null };
}

function readRun(run: Run): string {
  return DECODERS.get(run.charset)?.decode(Buffer.concat(run.bytes)) ?? '';
}

/** Null for a charset that is not known here, or is one too many of this text. */
function decoderIn(decoders: Map<string, TextDecoder | null>, charset: string): TextDecoder | null {
  const found = decoders.get(charset);
  if (found !== undefined) return found;
  if (decoders.size >= MAX_CHARSETS) return null;
  const decoder = DECODERS.get(charset) ?? newDecoder(charset);
  decoders.set(charset, decoder);
  return decoder;
}

function newDecoder(charset: string): TextDecoder | null {
  try {
    const decoder = new TextDecoder(charset);
    DECODERS.set(charset, decoder);
    return decoder;
  } catch {
    return null;
  }
}

function decodeBytes(encoding: string, encoded: string): Buffer {
  if (encoding === 'B' || encoding === 'b') return Buffer.from(encoded, 'base64');
  const latin1 = encoded
    .replaceAll('_', ' ')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(latin1, 'latin1');
}
