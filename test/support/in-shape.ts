/** Holds what operations answer, and tell on the way, to the shapes of their records: while serving nobody looks. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { messageRecordSchema, statusRecordSchema, verdictSchema } from '../../src/ingest/http/answers.ts';
import { attemptsPageSchema } from '../../src/ingest/http/attempt-answers.ts';
import { holdSchema, queueSchema, routeExplanationSchema } from '../../src/ingest/http/operator-answers.ts';
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
  if (record !== null) hold(record.result(), result);
  return result;
}

/** Throws for a value that is not of that shape once it is JSON. */
function hold(shape: z.ZodType, value: unknown): void {
  const json: unknown = JSON.parse(JSON.stringify(value));
  shape.parse(json);
  holdElsewhere(shape, json);
}

/** The shapes of `elsewhere`, by where it says they are; null for those that tests of that place look at. */
const ELSEWHERE: Readonly<Record<string, z.ZodType | null>> = {
  'GET /api/v1/messages/{id}': statusRecordSchema,
  'GET /api/v1/messages/{id}/attempts': attemptsPageSchema,
  'attempts of GET /api/v1/messages/{id}/attempts': attemptsPageSchema.shape.attempts,
  'a message of GET /api/v1/messages': messageRecordSchema,
  'a message of GET /api/v1/messages, with key: string | null; captured: boolean': messageRecordSchema.extend(
    { key: z.string().nullable(), captured: z.boolean() },
  ),
  'POST /api/v1/messages with dryRun': verdictSchema,
  'GET /api/v1/queue': queueSchema,
  'POST /api/v1/queue/pause': holdSchema,
  'GET /api/v1/routes/explain': routeExplanationSchema,
  'GET /health': null,
  'smtp and api of GET /health, with webui: number | null': null,
};

/** Throws where a part that is described elsewhere is not as it says there, or has more. */
function holdElsewhere(shape: unknown, json: unknown): void {
  if (json === null || json === undefined) return;
  if (shape instanceof z.ZodNullable || shape instanceof z.ZodOptional) holdElsewhere(shape.unwrap(), json);
  else if (shape instanceof z.ZodArray)
    for (const item of Object.values(json)) holdElsewhere(shape.element, item);
  else if (shape instanceof z.ZodObject)
    for (const [name, part] of Object.entries(json)) holdElsewhere(shape.shape[name], part);
  else if (shape instanceof z.ZodCustom) {
    const where = shape.meta()?.title ?? '';
    const described = ELSEWHERE[where];
    if (described === undefined) throw new Error(`There is no shape for ${where}.`);
    if (described !== null && !isDeepStrictEqual(described.parse(json), json))
      throw new Error(`${where} has no such members as some of ${JSON.stringify(json)}`);
  }
}
