import { z } from 'zod';
import { type FieldFault, Problem, pointerToken, quote } from '../../http/problem.ts';
import { Suggester } from '../../http/suggest.ts';
import { parseTimestamp } from '../../lib/clock.ts';

/**
 * Parameters of a query, read by a table. The same table describes them to people and programs, so that what is
 * said and what is checked cannot differ.
 */

/** A row of a table: one parameter whose value, once read, is a `T`. */
export interface Parameter<T> {
  /**
   * Checks the whole value and makes the `T`. A parameter that may be given several times is an array, empty when
   * it is absent; another one that is absent is `undefined`: where that is taken, the parameter is optional. Its
   * input is the value's type for the description.
   */
  readonly schema: z.ZodType<T>;
  /** What one text stands for; itself unless given. Text that stands for nothing is passed on, for the schema to refuse. */
  readonly fromText?: (text: string) => unknown;
  /** It may be given several times; once unless given. */
  readonly repeatable?: boolean;
  /** The fault's code when the schema refuses the value. */
  readonly code: string;
  /** What it must be, as the end of `Must be …`. */
  readonly rule: string;
  /** What it does; sentences for people. */
  readonly meaning: string;
  readonly example: string;
}

/** The parameters an endpoint takes, by name. */
export type ParameterTable = Readonly<Record<string, Parameter<unknown>>>;

/** What was read by a table. */
export type ParameterValues<Table extends ParameterTable> = {
  readonly [Name in keyof Table]: z.output<Table[Name]['schema']>;
};

/** A table for endpoints that take none. */
export const NO_PARAMETERS: ParameterTable = {};

/** One answer tells at most so many faults; a query could hold thousands. */
const MAX_FAULTS = 100;

/**
 * Reads a query. Throws 400 `invalid_query` with every faulty parameter: unknown ones, those given twice that may
 * be given once, and those whose value is not what the table asks for.
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
      faults.push(parameterFault(name, 'repeated', 'May be given only once; leave the others out.'));
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

/** One fault of a parameter, told like those of a body's fields: `/limit` points to `limit`. */
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

/** An RFC 3339 time; read as wall time in ms. */
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
  // A bare + in a query is a blank: the usual mistake with offsets of time and with plus addresses.
  const hint = text.includes(' ') ? ' In a query, + is written as %2B.' : '';
  return parameterFault(name, code, `Must be ${rule}, not ${quote(text)}.${hint}`);
}
