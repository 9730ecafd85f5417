import { NO_PARAMETERS } from '../query.ts';
import type { Operation } from './operation.ts';
import { JSON_PROBLEMS, mergeProblems } from './refusals.ts';

/** What the document says of administering by scripts. */

const HOLD = { target: 'inbox', kind: 'pause' };
const HELD = { ...HOLD, changed: true, waiting: 3, processing: 1 };

const CALL: Operation = {
  method: 'post',
  path: '/api/v1/admin/{operation}',
  operationId: 'callOperation',
  tag: 'Administering',
  summary: 'Do what the dashboard does',
  description:
    'Every operation of the dashboard by its name, with the same request and result; docs/dashboard.md lists them. What changes something is written down in the activity under the key’s name. With `Accept: application/x-ndjson` the answer comes line by line: `{"step": …}` for each step as it happens, then `{"result": …}` or `{"error": …}`, the error being a problem. A test key may administer nothing.',
  access: { scheme: 'bearer', scopes: ['admin'] },
  query: NO_PARAMETERS,
  requestHeaders: [],
  body: {
    required: true,
    description: 'The operation’s request; `{}` where it takes nothing.',
    content: {
      'application/json': {
        schema: { type: 'object' },
        examples: { hold: { summary: 'The request of `hold`', value: HOLD } },
      },
    },
  },
  answers: [
    {
      status: 200,
      description: 'The operation’s result.',
      headers: [],
      content: {
        'application/json': {
          schema: {},
          examples: { held: { summary: 'The result of `hold`', value: HELD } },
        },
        'application/x-ndjson': {
          schema: { type: 'string' },
          examples: {
            steps: { summary: 'A step, and the result', value: '{"step":{}}\n{"result":{}}\n' },
          },
        },
      },
    },
  ],
  problems: mergeProblems(JSON_PROBLEMS, {
    400: ['invalid_request'],
    404: ['not_found'],
    409: ['refused', 'test_key'],
    503: ['unavailable'],
  }),
};

/** The operation that administers. */
export const ADMIN: readonly Operation[] = [CALL];
