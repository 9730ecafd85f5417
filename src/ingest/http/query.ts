import { z } from 'zod';
import { type FieldFault, Problem, pointerToken, quote } from '../../http/problem.ts';
import { Suggester } from '../../http/suggest.ts';
import { parseTimestamp } from '../../lib/clock.ts';

/** Reads query parameters by a table, which also documents them, so that documentation and checks cannot differ. */

/** A row of a table: one parameter whose value, once read, is a `T`. */
export interface Parameter<T> {
  /**
   * Checks the whole value and makes the `T`. A repeatable parameter is an array, empty when absent; any other that is
   * absent is `undefined`, and is optional if the schema accepts that. The schema's input is the value's type in the
   * description.
   */
  readonly schema: z.ZodType<T>;
  /** Converts one text; identity unless given. Unconvertible text is passed on, for the schema to refuse. */
  readonly fromText?: (text: string) => unknown;
  /** It may be given several times; once unless given. */
  readonly repeatable?: boolean;
  /** The fault's code when the schema refuses the value. */
  readonly code: string;
  /** The rule, as the end of `Must be …`. */
  readonly rule: string;
  /** Its effect, in sentences for people. */
  readonly meaning: string;
  readonly example: string;
}

/** The parameters an endpoint takes, by name. */
export type ParameterTable = Readonly<Record<string, Parameter<unknown>>>;

/** The values read by a table. */
export type ParameterValues<Table extends ParameterTable> = {
  readonly [Name in keyof Table]: z.output<Table[Name]['schema']>;
};

/** The table of endpoints without parameters. */
export const NO_PARAMETERS: ParameterTable = {};

/** Most faults in one answer; a query could hold thousands. */
const MAX_FAULTS = 100;

/**
 * Reads a query. Throws 400 `invalid_query` with every faulty parameter: unknown, wrongly repeated, or with a value
 * that the table does not allow.
 */
export function readParameters<Table extends ParameterTable>(
  query: URLSearchParams,
  table: Table,
): ParameterValues<Table> {
  const faults = strangers(query, table);
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(table)) {
    const texts = query.getAll(name);
    const { schema, fromText = (text: string) => text, repeatable = false } = parameter;
    if (texts.length > 1 && !repeatable) {
      faults.push(parameterFault(name, 'repeated', 'May be given only once; remove the others.'));
      continue;
    }
    const given = texts.map(fromText);
    const parsed = schema.safeParse(repeatable ? given : given[0]);
    if (parsed.success) values[name] = parsed.data;
    else faults.push(valueFault(name, parameter, texts, parsed.error));
  }
  if (faults.length > 0) throw invalidQuery(faults);
  // Sound because each value came out of the schema that the type is inferred from.
  return values as ParameterValues<Table>;
}

/** The refusal of a query. */
export function invalidQuery(faults: readonly FieldFault[]): Problem {
  const errors = faults.slice(0, MAX_FAULTS);
  return new Problem(400, 'invalid_query', 'Some parameters are not valid; see errors.', { errors });
}

/** One fault of a parameter, in the form used for body fields: `/limit` points to `limit`. */
export function parameterFault(name: string, code: string, detail: string): FieldFault {
  return { pointer: `/${pointerToken(name)}`, code, detail };
}

/** A whole number in decimal digits. */
export function asInteger(text: string): unknown {
  return /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}

/** `true` or `false`. */
export function asBoolean(text: string): unknown {
  return text === 'true' || (text === 'false' ? false : text);
}

/** An RFC 3339 time, parsed to wall ms. */
export const timestampSchema = z
  .string()
  .meta({ format: 'date-time' })
  .transform((text, context) => {
    const ms = parseTimestamp(text);
    if (ms !== null) return ms;
    context.issues.push({ code: 'custom', input: text, message: 'not a time' });
    return z.NEVER;
  });

/** The rule of {@link timestampSchema}. */
export const TIMESTAMP_RULE = 'an RFC 3339 time such as 2026-11-20T11:15:00Z';

function strangers(query: URLSearchParams, table: ParameterTable): FieldFault[] {
  if (query.size === 0) return [];
  const names = [...new Set(query.keys())].filter((name) => !Object.hasOwn(table, name));
  const suggester = new Suggester();
  return names
    .slice(0, MAX_FAULTS)
    .map((name) =>
      parameterFault(
        name,
        'unknown_parameter',
        `There is no parameter ${quote(name)}.${suggester.didYouMean(name, Object.keys(table))}`,
      ),
    );
}

function valueFault(
  name: string,
  { code, rule }: Parameter<unknown>,
  texts: readonly string[],
  error: z.ZodError,
): FieldFault {
  if (texts.length === 0) return parameterFault(name, 'required', `Is required: ${rule}.`);
  const place = error.issues[0]?.path[0];
  const text = texts[typeof place === 'number' ? place : 0] ?? '';
  // A bare + in a query means a blank: a common mistake with time offsets and plus addresses.
  const hint = text.includes(' ') ? ' In a query, + is written as %2B.' : '';
  return parameterFault(name, code, `Must be ${rule}, not ${quote(text)}.${hint}`);
}
