import { type FieldFault, Problem } from '../../http/problem.ts';
import { pointerToken } from '../../http/quote.ts';

/** Faults of a query's parameters, told like those of a body's fields: `/limit` points to `limit`. */

/** The parameters an endpoint takes. */
export interface Parameters {
  readonly single: readonly string[];
  readonly repeatable: readonly string[];
}

/** One fault of a parameter. */
export function parameterFault(name: string, code: string, detail: string): FieldFault {
  return { pointer: `/${pointerToken(name)}`, code, detail };
}

/** Parameters that do not exist, and those given twice that may be given once. */
export function parameterFaults(query: URLSearchParams, taken: Parameters): FieldFault[] {
  const faults: FieldFault[] = [];
  for (const name of new Set(query.keys())) {
    if (taken.repeatable.includes(name)) continue;
    if (!taken.single.includes(name))
      faults.push(parameterFault(name, 'unknown_parameter', 'There is no such parameter.'));
    else if (query.getAll(name).length > 1)
      faults.push(parameterFault(name, 'repeated', 'May be given only once.'));
  }
  return faults;
}

/** Throws 400 with all the faults, if there are any. */
export function refuseQuery(faults: readonly FieldFault[]): void {
  if (faults.length === 0) return;
  throw new Problem(400, 'invalid_query', 'Some parameters are not valid; see errors.', { errors: faults });
}
