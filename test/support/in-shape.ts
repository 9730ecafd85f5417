/** Holds what operations answer, and tell on the way, to the shapes of their records: while serving nobody looks. */
import type { Progress } from '../../src/operations/operation.ts';
import { OPERATIONS, type Operations, operationNamed } from '../../src/operations/table.ts';

/** The same operations; an answer of another shape than its record says is an error. */
export function inShape<Some extends Partial<Operations>>(operations: Some): Some {
  const held = Object.entries<unknown>({ ...operations }).map(([name, call]) => [
    name,
    typeof call === 'function'
      ? (request: unknown, progress?: Progress<unknown>) =>
          answeredInShape(name, progress, (watched) => call.call(operations, request, watched))
      : call,
  ]);
  // Sound because each does what the one of its name does.
  return Object.fromEntries(held) as Some;
}

/** What a call by that name answers, once it is looked at. */
export async function answeredInShape(
  name: string,
  progress: Progress<unknown> | undefined,
  call: (watched: Progress<unknown>) => unknown,
): Promise<unknown> {
  const operation = operationNamed(name);
  const record = operation === null ? null : OPERATIONS[operation];
  const result = await call({
    signal: progress?.signal ?? new AbortController().signal,
    tell: (step) => {
      record?.step?.().parse(inJson(step));
      progress?.tell(step);
    },
  });
  record?.result().parse(inJson(result));
  return result;
}

function inJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
