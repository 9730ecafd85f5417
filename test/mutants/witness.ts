/** A reporter of vitest that writes down, one JSON object a line, what became of each test that was run. */
import { appendFileSync } from 'node:fs';
import type { TestCase, TestModule } from 'vitest/node';

/** What became of a test; without a test's name, of a suite that could not even be read. */
export interface Seen {
  /** The suite, relative to the root. */
  readonly file: string;
  readonly test: string | null;
  readonly passed: boolean;
  /** Name and message of each error, and of what caused it. */
  readonly errors: readonly string[];
}

/** An error as vitest carries it from one process to the other. */
interface CarriedError {
  readonly name?: string;
  readonly message: string;
  readonly cause?: unknown;
}

/** Writes to the file that the environment variable WAYBILL_WITNESS names. */
export default class Witness {
  readonly #file = process.env['WAYBILL_WITNESS'] ?? '/dev/null';

  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    if (state === 'skipped' || state === 'pending') return;
    const file = test.module.relativeModuleId;
    this.#write({ file, test: test.fullName, passed: state === 'passed', errors: errors.flatMap(told) });
  }

  onTestModuleEnd(module: TestModule): void {
    const errors = module.errors().flatMap(told);
    if (errors.length > 0) this.#write({ file: module.relativeModuleId, test: null, passed: false, errors });
  }

  #write(seen: Seen): void {
    appendFileSync(this.#file, `${JSON.stringify(seen)}\n`);
  }
}

function told({ name = 'Error', message, cause }: CarriedError): string[] {
  const own = `${name}: ${message}`;
  return isCarried(cause) ? [own, ...told(cause)] : [own];
}

function isCarried(value: unknown): value is CarriedError {
  return typeof value === 'object' && value !== null && 'message' in value;
}
