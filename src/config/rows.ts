import { unknownRule } from './fault.ts';
import { type Flaw, flawsOf, formOf, isRecord, type Kind, listOf } from './kinds.ts';

/** Settings that are lists of maps with the same fields; the fields stand in a table, which documentation uses too. */

/** One field of a row. */
export interface RowField<T> {
  readonly kind: Kind<T>;
  /** Undefined: required. */
  readonly fallback: T | undefined;
  readonly meaning: string;
}

/** A field as declared. */
export function rowField<T>(kind: Kind<T>, fallback: NoInfer<T> | undefined, meaning: string): RowField<T> {
  return { kind, fallback, meaning };
}

type Fields = Readonly<Record<string, RowField<unknown>>>;

/** The values of a row, by the names of its fields. */
export type RowValues<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends RowField<infer T> ? T : never;
};

/** What rows become in the program, and the way back. */
export interface RowForm<F extends Fields, T> {
  readonly from: (values: RowValues<F>) => T;
  readonly to: (row: T) => RowValues<F>;
}

/** A list of such rows; in the environment as JSON. */
export function rowsOf<F extends Fields, T>(fields: F, { from, to }: RowForm<F, T>): Kind<readonly T[]> {
  const names = Object.keys(fields);
  const required = names.filter((name) => fields[name]?.fallback === undefined);
  const row: Kind<T> = {
    rule: `a map of ${names.join(', ')}, of which ${required.join(' and ')} must be given`,
    unit: null,
    form: formOf('json'),
    read: (raw) => {
      const { values, flaws } = readRow(raw);
      return flaws.length === 0 && isWhole(values) ? from(values) : undefined;
    },
    flaws: (raw) => readRow(raw).flaws,
    fromText: (line) => line,
  };
  const isWhole = (values: Partial<RowValues<F>>): values is RowValues<F> =>
    names.every((name) => Object.hasOwn(values, name));
  const readRow = (raw: unknown): { values: Partial<RowValues<F>>; flaws: readonly Flaw[] } => {
    if (!isRecord(raw))
      return { values: {}, flaws: [{ place: '', value: undefined, rule: `must be ${row.rule}` }] };
    const flaws: Flaw[] = Object.keys(raw)
      .filter((name) => !names.includes(name))
      .map((name) => ({ place: `.${name}`, value: undefined, rule: unknownRule('field', name, names) }));
    const values: Partial<RowValues<F>> = {};
    for (const [name, { kind, fallback }] of Object.entries(fields)) {
      const item = raw[name];
      const value = item === undefined ? fallback : kind.read(item);
      if (value !== undefined) Object.assign(values, { [name]: value });
      else if (item === undefined) flaws.push({ place: `.${name}`, value: item, rule: 'must be given' });
      else flaws.push(...flawsOf(kind, item, `.${name}`));
    }
    return { values, flaws };
  };
  return { ...listOf(row), fromText: fromJson, inFile: (rows) => rows.map(to) };
}

function fromJson(line: string): unknown {
  if (line.trim() === '') return [];
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
