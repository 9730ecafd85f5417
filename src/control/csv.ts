import { type Info, parse } from 'csv-parse';

/** A row of a table, and the number of the line that it begins on, from 1. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** Longer rows are no rows. */
const MAX_ROW = 64 * 1024;
/** What separates cells: by the RFC, in countries that write numbers with a comma, and in tables that are copied. */
const DELIMITERS = [',', ';', '\t'] as const;
/** So much is read before others may go on. */
const PIECE = 64 * 1024;

/** Text that is no table; the message says why, with the line. */
export class CsvError extends Error {}

/**
 * Reads CSV (RFC 4180) row by row, and lets others go on in between. Quotes, blanks and numbers of cells that others
 * write wrongly are taken as they are meant; empty lines are left out. Throws {@link CsvError}.
 */
export async function* readCsv(text: string): AsyncGenerator<CsvRow, void, undefined> {
  const parser = parse({
    bom: true,
    delimiter: delimiterOf(text),
    info: true,
    max_record_size: MAX_ROW,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    trim: true,
  });
  let place = 0;
  const feed = () => {
    const piece = text.slice(place, place + PIECE);
    place += piece.length;
    if (piece === '') parser.end();
    else parser.write(piece, (error) => error || setImmediate(feed));
  };
  feed();
  try {
    // With `info` it yields these.
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>)
      yield { line: info.lines - linesWithin(record), cells: record };
  } catch (error) {
    throw new CsvError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The line that a row ends on is told; a cell may have several. */
function linesWithin(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + cell.split('\n').length - 1, 0);
}

/** The one that is in the header most often. */
function delimiterOf(text: string): string {
  const header = text.slice(0, MAX_ROW).trimStart().split('\n', 1)[0] ?? '';
  const counts = DELIMITERS.map((delimiter) => header.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}
