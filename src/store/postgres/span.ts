/**
 * How statements look for messages that may lie with the past. Its tables are divided by days, and plans are made before any id is
 * known: from the lowest and the highest of the ids the server sees, when it runs the plan, of which days they are, and leaves
 * out all others. It does not see that from a list.
 */

/** A condition that the column is one of the ids, for a statement whose first parameters are {@link spanned}. */
export function among(column: string): string {
  return `${column} = ANY($1::text[]) AND ${inSpan(column)}`;
}

/** The part of {@link among} that names the days: for a column that is compared with the ids otherwise. */
export function inSpan(column: string): string {
  return `${column} >= $2 AND ${column} <= $3`;
}

/** The ids, the lowest and the highest of them. */
export function spanned(ids: readonly string[]): [ids: readonly string[], first: string, last: string] {
  let [first = '', last = ''] = [ids[0], ids[0]];
  for (const id of ids) {
    if (id < first) first = id;
    if (id > last) last = id;
  }
  return [ids, first, last];
}
