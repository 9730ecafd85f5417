/** Holds what operations answer, and tell on the way, to the shapes of their records: while serving nobody looks. */
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import * as answers from '../../src/ingest/http/answers.ts';
import * as attemptAnswers from '../../src/ingest/http/attempt-answers.ts';
import * as eventAnswers from '../../src/ingest/http/event-answers.ts';
import * as operatorAnswers from '../../src/ingest/http/operator-answers.ts';
import * as requestAnswers from '../../src/ingest/http/request-answers.ts';
import * as suppressionAnswers from '../../src/ingest/http/suppression-answers.ts';
import * as templateAnswers from '../../src/ingest/http/template-answers.ts';
import * as webhookAnswers from '../../src/ingest/http/webhook-answers.ts';
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
      if (record?.step !== undefined) hold(record.step(), step);
      progress?.tell(step);
    },
  });
  if (record !== null) hold(record.result(ANSWERS), result);
  return result;
}

const ANSWERS = {
  ...answers,
  ...attemptAnswers,
  ...eventAnswers,
  ...operatorAnswers,
  ...requestAnswers,
  ...suppressionAnswers,
  ...templateAnswers,
  ...webhookAnswers,
};

/** Throws for a value that is not of that shape once it is JSON, or has more. */
function hold(shape: z.ZodType, value: unknown): void {
  const json: unknown = JSON.parse(JSON.stringify(value));
  if (!isDeepStrictEqual(shape.parse(json), json))
    throw new Error(`The shape has no such members as some of ${JSON.stringify(json)}`);
}
