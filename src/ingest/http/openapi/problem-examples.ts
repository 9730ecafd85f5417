import { titleOf } from '../../../http/problem.ts';
import type { ProblemRow } from './http-problem-codes.ts';
import type { Json } from './json-schema.ts';
import { PROBLEMS, type ProblemCode } from './problem-codes.ts';

/** One example of each refusal, made of the table of codes; the details of real ones name the field and figures. */

/** Faults as they come with the codes that have them. */
const FAULTS: Readonly<Partial<Record<ProblemCode, readonly Json[]>>> = {
  invalid_submission: [
    {
      pointer: '/to/1',
      code: 'address_syntax',
      detail:
        'bob(at)example.org is not an address of the form local@domain, such as "Jane Doe <jane@example.com>".',
    },
    {
      pointer: '/sendAt',
      code: 'too_far_ahead',
      detail: 'Must be at most 30 days ahead; send it nearer to its time.',
    },
  ],
  invalid_query: [
    { pointer: '/limit', code: 'out_of_range', detail: 'Must be an integer from 1 to 200, not "500".' },
  ],
};

/** An example of each of these codes with each of its statuses, by name. */
export function problemExamples(codes: ReadonlySet<ProblemCode>): Readonly<Record<string, Json>> {
  const entries = Object.entries(PROBLEMS) as [ProblemCode, ProblemRow][];
  return Object.fromEntries(
    entries.flatMap(([code, { statuses }]) =>
      (codes.has(code) ? statuses : []).map((status) => [
        exampleName(status, code),
        problemExample(status, code),
      ]),
    ),
  );
}

/** A reference to one of them. */
export function problemExampleRef(status: number, code: ProblemCode): Json {
  return { $ref: `#/components/examples/${exampleName(status, code)}` };
}

function exampleName(status: number, code: ProblemCode): string {
  return PROBLEMS[code].statuses.length > 1 ? `${code}_${status}` : code;
}

function problemExample(status: number, code: ProblemCode): Json {
  const { meaning, cure } = PROBLEMS[code];
  const value = {
    type: `urn:waybill:problem:${code}`,
    title: titleOf(status),
    status,
    detail: `${meaning} ${cure}`,
    code,
    error: meaning,
    errors: FAULTS[code] ?? [],
    requestId: 'kD3vQ9sZt1mA-2f',
  };
  return { summary: meaning, value };
}
