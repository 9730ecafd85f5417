import { z } from 'zod';
import { readWholeBody } from '../../http/body.ts';
import { type JsonLimits, parseJson } from '../../http/json.ts';
import type { Budget } from '../../lib/budget.ts';
import { requestFaults } from '../../operations/request-faults.ts';
import type { Call } from './call.ts';
import { faultyFields } from './fields.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';
import { requireType } from './read-fields.ts';

/** What a body may hold at most. */
export interface ObjectBounds {
  readonly maxBytes: number;
  readonly json: JsonLimits;
  /** What to do about a body that is too large: a sentence. */
  readonly advice: string;
}

/** The most faults that an answer names. */
const MAX_FAULTS = 20;

/**
 * Reads a small JSON object, from a request without parameters.
 * Throws 400 `invalid_request` with its faulty fields, and what reading a body throws.
 */
export async function readObject<T>(
  { exchange, caller }: Call,
  schema: z.ZodType<T>,
  { maxBytes, json, advice }: ObjectBounds,
  budget: Budget,
): Promise<T> {
  readParameters(exchange.query, NO_PARAMETERS);
  requireType(exchange, ['application/json']);
  const bounds = { maxBytes, advice, budget: budget.share(caller.key.id) };
  const body = parseJson(await readWholeBody(exchange, bounds), json);
  const parsed = schema.safeParse(body, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw faultyFields('invalid_request', requestFaults(parsed.error.issues.slice(0, MAX_FAULTS)));
}

/** An object of these members, whose names ignore case. A member that is there twice is not taken. */
export function anyCase<Shape extends z.ZodRawShape>(shape: Shape) {
  const names = new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]));
  return z.preprocess((value) => renamed(value, names), z.strictObject(shape));
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = new Map<string, unknown>();
  for (const [given, member] of Object.entries(value)) {
    const name = names.get(given.toLowerCase()) ?? given;
    // Refused under the name of its own: which of both is meant?
    members.set(members.has(name) ? `${given} (twice)` : name, member);
  }
  return Object.fromEntries(members);
}
