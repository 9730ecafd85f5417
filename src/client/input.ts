import type { Failure } from './result.ts';

/** What callers give, told apart from what can be sent; types alone do not hold where programs are JavaScript. */

/** What was given cannot be sent. The message names it, says the rule, and how to do it right. */
export class InputFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InputFault';
  }
}

/** What was thrown while a request was made, as the error that the caller gets. */
export function inputFailure(thrown: unknown): Failure {
  const message = thrown instanceof InputFault ? thrown.message : `This cannot be sent: ${String(thrown)}`;
  return { kind: 'input', message };
}

/** Throws {@link InputFault} unless `value` is a number of milliseconds. */
export function checkMs(name: string, value: number): void {
  // Written this way round, NaN fails too.
  if (typeof value === 'number' && value >= 0) return;
  throw new InputFault(`${name} must be a number of milliseconds, 0 or more; Infinity for no end.`);
}
