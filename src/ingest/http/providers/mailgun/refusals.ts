import type { Exchange } from '../../../../http/exchange.ts';
import type { Problem } from '../../../../http/problem.ts';

/**
 * Mailgun's errors: `{"message"}` under our own status, with each faulty field by its name (contract-2 §C5). The table of
 * a provider's errors is a file of its own.
 */

/** The most faults that are told. */
const MAX_TOLD = 20;

/** Answers a refusal as Mailgun does. */
export function refuseAsMailgun(exchange: Exchange, problem: Problem): void {
  const told = problem.errors.slice(0, MAX_TOLD);
  const faults = told.map(({ pointer, detail }) => `${nameOf(pointer)}: ${detail}`).join(' ');
  exchange.json(problem.status, { message: faults || problem.detail }, problem.headers);
}

/** `/v:a~1b` is `v:a/b`; an empty pointer means the whole body. */
function nameOf(pointer: string): string {
  return pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~') || 'body';
}
