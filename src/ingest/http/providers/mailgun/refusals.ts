import type { Exchange } from '../../../../http/exchange.ts';
import type { Problem } from '../../../../http/problem.ts';

/**
 * Mailgun's errors: `{"message"}` under our own status, with each faulty field by its name (contract-2 §C5). The table of
 * a provider's errors is a file of its own.
 */

/** The most fields whose first fault is told. */
const MAX_TOLD = 20;

/** Answers a refusal as Mailgun does. */
export function refuseAsMailgun(exchange: Exchange, problem: Problem): void {
  const told = new Map<string, string>();
  for (const { pointer, detail } of problem.errors)
    if (told.size < MAX_TOLD && !told.has(pointer)) told.set(pointer, `${nameOf(pointer)}: ${detail}`);
  const faults = [...told.values()].join(' ');
  exchange.json(problem.status, { message: faults || problem.detail }, problem.headers);
}

/** `/v:a~1b` is `v:a/b`; an empty pointer means the whole body. */
function nameOf(pointer: string): string {
  return pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~') || 'body';
}
