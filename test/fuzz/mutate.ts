/** Changes stored examples as damage, chance and spite would: the common mutator of all parsers. */
import type { Dice } from './dice.ts';

/** Bytes that end, separate or escape something in one of the grammars. */
const MEANING = Buffer.from(
  '\0\t\n\r !"#%&\'()*+,-./0:;<=>?@[\\]_`{|}~\x7f\x80\xbf\xc0\xe2\xed\xff',
  'latin1',
);
const NUMBERS = [
  '0',
  '-1',
  '00',
  '1e9',
  '255',
  '256',
  '65536',
  '2147483648',
  '4294967296',
  '9007199254740993',
];
const PIECES = [
  '\r\n',
  '\r\n.\r\n',
  '\n.\n',
  '\r',
  '\0',
  '\u202e',
  '\ufeff',
  '\ud800',
  'ß',
  'İ',
  '%00',
  '%0d%0a',
  '\\u0000',
  '__proto__',
  '=?utf-8?B?',
  '../',
].map((text) => Buffer.from(text));
/** Changes of one example. */
const MOST_CHANGES = 6;
/** How seldom an example is made as long as it may be. */
const SELDOM = 150;
/** Copies of a piece that is repeated, but for the seldom case. */
const MOST_COPIES = 40;

type Change = (bytes: Buffer, dice: Dice, examples: readonly Buffer[]) => Buffer;

const CHANGES: readonly Change[] = [
  // A bit, a byte, a byte that means something.
  (bytes, dice) => set(bytes, dice.below(bytes.length), (old) => old ^ (1 << dice.below(8))),
  (bytes, dice) => set(bytes, dice.below(bytes.length), () => dice.below(256)),
  (bytes, dice) => set(bytes, dice.below(bytes.length), () => meaning(dice)),
  (bytes, dice) => splice(bytes, dice.below(bytes.length + 1), 0, Buffer.of(meaning(dice))),
  (bytes, dice) => splice(bytes, dice.below(bytes.length + 1), 0, dice.pick(PIECES)),
  // A piece goes, comes twice, comes often, comes elsewhere.
  (bytes, dice) => splice(bytes, ...rangeOf(bytes, dice), EMPTY),
  (bytes, dice) => repeat(bytes, dice, 1 + dice.below(3)),
  (bytes, dice) => repeat(bytes, dice, dice.below(MOST_COPIES)),
  (bytes, dice) => splice(bytes, dice.below(bytes.length + 1), 0, pieceOf(bytes, dice)),
  // The end is missing; another example goes on where this one ends, or lends a piece.
  (bytes, dice) => bytes.subarray(0, dice.below(bytes.length + 1)),
  (bytes, dice, examples) => {
    const other = dice.pick(examples);
    return Buffer.concat([
      bytes.subarray(0, dice.below(bytes.length + 1)),
      other.subarray(dice.below(other.length + 1)),
    ]);
  },
  (bytes, dice, examples) =>
    splice(bytes, dice.below(bytes.length + 1), 0, pieceOf(dice.pick(examples), dice)),
  // Another number, another letter case.
  (bytes, dice) => withNumber(bytes, dice),
  (bytes, dice) =>
    set(bytes, dice.below(bytes.length), (old) => (/[a-z]/i.test(charOf(old)) ? old ^ 0x20 : old)),
];

const EMPTY = Buffer.alloc(0);

/**
 * One of the examples, changed a few times, of at most `maxBytes`. Once in {@link SELDOM} times a piece of it is repeated
 * until it is that long: what takes more than linear time shows then.
 */
export function mutate(dice: Dice, examples: readonly Buffer[], maxBytes: number): Buffer {
  let bytes = dice.pick(examples);
  for (let left = 1 + dice.below(MOST_CHANGES); left > 0; left--)
    bytes = dice.pick(CHANGES)(bytes.length === 0 ? Buffer.of(0) : bytes, dice, examples);
  if (dice.once(SELDOM) && bytes.length > 0) bytes = lengthened(bytes, dice, maxBytes);
  return Buffer.from(bytes.subarray(0, maxBytes));
}

/** A short piece of it again and again, and then the rest. */
function lengthened(bytes: Buffer, dice: Dice, maxBytes: number): Buffer {
  const at = dice.below(bytes.length);
  const piece = bytes.subarray(at, at + 1 + dice.below(dice.once(2) ? 2 : 24));
  const copies = Math.floor((maxBytes - bytes.length) / piece.length);
  return copies > 0 ? splice(bytes, at, 0, Buffer.alloc(copies * piece.length, piece)) : bytes;
}

function set(bytes: Buffer, at: number, change: (old: number) => number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = change(bytes[at] ?? 0);
  return changed;
}

function splice(bytes: Buffer, at: number, gone: number, come: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), come, bytes.subarray(at + gone)]);
}

function repeat(bytes: Buffer, dice: Dice, copies: number): Buffer {
  const [at, length] = rangeOf(bytes, dice);
  const piece = bytes.subarray(at, at + length);
  return splice(bytes, at, 0, Buffer.alloc(copies * piece.length, piece));
}

/** Mostly a short piece: long ones are whole lines and parts. */
function rangeOf(bytes: Buffer, dice: Dice): [at: number, length: number] {
  const at = dice.below(bytes.length);
  return [at, 1 + dice.below(dice.once(3) ? bytes.length - at : Math.min(16, bytes.length - at))];
}

function pieceOf(bytes: Buffer, dice: Dice): Buffer {
  if (bytes.length === 0) return EMPTY;
  const [at, length] = rangeOf(bytes, dice);
  return bytes.subarray(at, at + length);
}

function withNumber(bytes: Buffer, dice: Dice): Buffer {
  const numbers = [...bytes.toString('latin1').matchAll(/\d+/g)];
  if (numbers.length === 0) return bytes;
  const found = dice.pick(numbers);
  return splice(bytes, found.index, found[0].length, Buffer.from(dice.pick(NUMBERS)));
}

function meaning(dice: Dice): number {
  return MEANING[dice.below(MEANING.length)] ?? 0;
}

function charOf(byte: number): string {
  return String.fromCharCode(byte);
}
