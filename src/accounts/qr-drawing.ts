/** Where what goes in a QR code, and which mask makes it easiest to read. */

type Mask = (row: number, column: number) => boolean;

const MASKS: readonly Mask[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2 === 0,
];

/** Centres of the alignment patterns, by version from 1 on. */
const ALIGNMENTS: readonly (readonly number[])[] = [
  [],
  [6, 18],
  [6, 22],
  [6, 26],
  [6, 30],
  [6, 34],
  [6, 22, 38],
  [6, 24, 42],
  [6, 26, 46],
  [6, 28, 50],
];

/** Level M, as the format information has it. */
const LEVEL_M = 0b00;
const FORMAT_POLYNOMIAL = 0b10100110111;
const FORMAT_MASK = 0b101010000010010;
const VERSION_POLYNOMIAL = 0b1111100100101;
const VERSION_TOLD_FROM = 7;

/** Modules that are drawn, and whether they are black; those of patterns are not masked. */
class Grid {
  readonly size: number;
  readonly #black: Uint8Array;
  readonly #fixed: Uint8Array;

  constructor(size: number) {
    this.size = size;
    this.#black = new Uint8Array(size * size);
    this.#fixed = new Uint8Array(size * size);
  }

  isBlack(row: number, column: number): boolean {
    return this.#black[row * this.size + column] === 1;
  }

  isFixed(row: number, column: number): boolean {
    return this.#fixed[row * this.size + column] === 1;
  }

  set(row: number, column: number, black: boolean): void {
    this.#black[row * this.size + column] = black ? 1 : 0;
  }

  /** Draws a module of a pattern; beyond the edge nothing. */
  fix(row: number, column: number, black: boolean): void {
    if (row < 0 || column < 0 || row >= this.size || column >= this.size) return;
    this.set(row, column, black);
    this.#fixed[row * this.size + column] = 1;
  }

  rows(): string[] {
    return Array.from({ length: this.size }, (_, row) =>
      [...this.#black.subarray(row * this.size, (row + 1) * this.size)].join(''),
    );
  }
}

/** The rows of a code whose codewords these are. */
export function drawCode(version: number, codewords: readonly number[]): string[] {
  const drawn = MASKS.map((mask, number) => {
    const grid = new Grid(17 + 4 * version);
    drawPatterns(grid, version);
    drawFormat(grid, number);
    drawData(grid, codewords, mask);
    return grid.rows();
  });
  const [first = [], ...others] = drawn;
  return others.reduce((best, rows) => (penalty(rows) < penalty(best) ? rows : best), first);
}

function drawPatterns(grid: Grid, version: number): void {
  const { size } = grid;
  for (let at = 0; at < size; at++) {
    grid.fix(6, at, at % 2 === 0);
    grid.fix(at, 6, at % 2 === 0);
  }
  for (const [row, column] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const)
    drawRings(grid, row, column, 4, [0, 1, 3]);
  const centres = ALIGNMENTS[version - 1] ?? [];
  const last = centres.at(-1);
  for (const row of centres)
    for (const column of centres) {
      const inCorner = (row === 6 && (column === 6 || column === last)) || (row === last && column === 6);
      if (!inCorner) drawRings(grid, row, column, 2, [0, 2]);
    }
  if (version >= VERSION_TOLD_FROM) drawVersion(grid, version);
}

/** Squares around a centre, out to a distance; black at those given. */
function drawRings(grid: Grid, row: number, column: number, out: number, black: readonly number[]): void {
  for (let down = -out; down <= out; down++)
    for (let right = -out; right <= out; right++)
      grid.fix(row + down, column + right, black.includes(Math.max(Math.abs(down), Math.abs(right))));
}

function drawVersion(grid: Grid, version: number): void {
  const told = (version << 12) | remainder(version << 12, VERSION_POLYNOMIAL);
  for (let bit = 0; bit < 18; bit++) {
    const black = ((told >> bit) & 1) === 1;
    const [far, near] = [grid.size - 11 + (bit % 3), Math.floor(bit / 3)];
    grid.fix(near, far, black);
    grid.fix(far, near, black);
  }
}

function drawFormat(grid: Grid, mask: number): void {
  const { size } = grid;
  const data = (LEVEL_M << 3) | mask;
  const told = ((data << 10) | remainder(data << 10, FORMAT_POLYNOMIAL)) ^ FORMAT_MASK;
  const isBlack = (bit: number) => ((told >> bit) & 1) === 1;
  // Around the corner, leaving out the timing patterns.
  for (let bit = 0; bit < 6; bit++) grid.fix(bit, 8, isBlack(bit));
  grid.fix(7, 8, isBlack(6));
  grid.fix(8, 8, isBlack(7));
  grid.fix(8, 7, isBlack(8));
  for (let bit = 9; bit < 15; bit++) grid.fix(8, 14 - bit, isBlack(bit));
  // And once more, half below and half to the right.
  for (let bit = 0; bit < 8; bit++) grid.fix(8, size - 1 - bit, isBlack(bit));
  for (let bit = 8; bit < 15; bit++) grid.fix(size - 15 + bit, 8, isBlack(bit));
  grid.fix(size - 8, 8, true);
}

/** What is left of a number divided by a polynomial over GF(2). */
function remainder(value: number, polynomial: number): number {
  const degree = 31 - Math.clz32(polynomial);
  let rest = value;
  while (rest >= 1 << degree) rest ^= polynomial << (31 - Math.clz32(rest) - degree);
  return rest;
}

/** In columns two wide, from the right, up and down in turn; the column of the timing pattern is left out. */
function drawData(grid: Grid, codewords: readonly number[], mask: Mask): void {
  const { size } = grid;
  let bit = 0;
  let upwards = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step++) {
      const row = upwards ? size - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (grid.isFixed(row, column)) continue;
        const word = codewords[bit >> 3] ?? 0;
        const black = ((word >> (7 - (bit & 7))) & 1) === 1;
        grid.set(row, column, black !== mask(row, column));
        bit++;
      }
    }
    upwards = !upwards;
  }
}

/** How hard a code is to read (ISO/IEC 18004 §7.8.3). */
function penalty(rows: readonly string[]): number {
  const columns = rows.map((_, at) => rows.map((row) => row.charAt(at)).join(''));
  const lines = [...rows, ...columns];
  let total = 0;
  for (const line of lines) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) total += run.length - 2;
    total += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  for (let row = 1; row < rows.length; row++)
    for (let column = 1; column < rows.length; column++) {
      const square = [0, 1].flatMap((up) => [0, 1].map((left) => rows[row - up]?.charAt(column - left)));
      if (new Set(square).size === 1) total += 3;
    }
  const black = rows.join('').replaceAll('0', '').length;
  return total + 10 * Math.floor(Math.abs((black * 100) / rows.length ** 2 - 50) / 5);
}
