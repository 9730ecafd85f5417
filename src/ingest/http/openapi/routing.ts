import type { z } from 'zod';
import { EXPLAIN_PARAMETERS } from '../explain.ts';
import type { routeExplanationSchema } from '../route-answers.ts';
import type { Operation } from './operation.ts';

/** What the document says of routing. */

const EXPLANATION: z.infer<typeof routeExplanationSchema> = {
  from: 'ann@example.com',
  to: 'bob@example.org',
  at: '2026-11-20T11:15:00.123Z',
  tableVersion: 7,
  rules: [
    { rule: 'news', matched: false, unmet: 'tag' },
    { rule: 'partners', matched: true, unmet: null },
  ],
  rule: 'partners',
  weighted: false,
  group: [
    { relay: 'out', fitness: 'paused' },
    { relay: 'direct', fitness: 'usable' },
  ],
  relay: 'direct',
};

const EXPLAIN_ROUTE: Operation = {
  method: 'get',
  path: '/api/v1/routes/explain',
  operationId: 'explainRoute',
  tag: 'Routing',
  summary: 'Ask where mail would go, and why',
  description:
    'Describes mail, and is told what each rule of the routing table makes of it, which relays it may go by, how each of them is now, and which would be tried first. Nothing is sent.',
  access: { scheme: 'bearer', scopes: ['admin'] },
  query: EXPLAIN_PARAMETERS,
  requestHeaders: [],
  body: null,
  answers: [
    {
      status: 200,
      description: 'How it would be routed at this moment.',
      headers: [],
      content: {
        'application/json': {
          schema: 'RouteExplanation',
          examples: { second: { summary: 'By the second relay of a group', value: EXPLANATION } },
        },
      },
    },
  ],
  problems: {},
};

/** The operations on routes. */
export const ROUTING: readonly Operation[] = [EXPLAIN_ROUTE];
