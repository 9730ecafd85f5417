import { NO_PARAMETERS } from '../query.ts';
import type { Operation } from './operation.ts';

/** What the document says of the service itself. */

const GET_READY: Operation = {
  method: 'get',
  path: '/api/v1/ready',
  operationId: 'getReady',
  tag: 'Service',
  summary: 'Ask whether messages are taken',
  description: 'For a load balancer. Needs no key, and tells no details.',
  access: null,
  query: NO_PARAMETERS,
  requestHeaders: [],
  body: null,
  answers: [
    {
      status: 200,
      description: 'Messages are taken.',
      headers: [],
      content: {
        'text/plain': {
          schema: { const: 'ready\n' },
          examples: { ready: { summary: 'Ready', value: 'ready\n' } },
        },
      },
    },
    {
      status: 503,
      description: 'Messages are not taken now, or will soon not be.',
      headers: [],
      content: {
        'text/plain': {
          schema: { const: 'not ready\n' },
          examples: { notReady: { summary: 'Not ready', value: 'not ready\n' } },
        },
      },
    },
  ],
  problems: {},
};

const GET_DESCRIPTION: Operation = {
  method: 'get',
  path: '/api/v1/openapi.json',
  operationId: 'getDescription',
  tag: 'Service',
  summary: 'Get this document',
  description: 'The description of this API (OpenAPI 3.1). Needs no key.',
  access: null,
  query: NO_PARAMETERS,
  requestHeaders: ['If-None-Match'],
  body: null,
  answers: [
    {
      status: 200,
      description: 'This document.',
      headers: ['ETag', 'Cache-Control'],
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['openapi', 'info', 'paths'],
            properties: { openapi: { type: 'string', pattern: '^3\\.1\\.' } },
            additionalProperties: true,
          },
          examples: {
            beginning: {
              summary: 'How it begins',
              value: { openapi: '3.1.1', info: { title: 'Waybill', version: 'v1' }, paths: {} },
            },
          },
        },
      },
    },
    {
      status: 304,
      description: 'The document that the request’s If-None-Match names still holds.',
      headers: ['ETag', 'Cache-Control'],
      content: {},
    },
  ],
  problems: { 400: ['invalid_query'] },
};

/** The operations that need no key. */
export const SERVICE: readonly Operation[] = [GET_READY, GET_DESCRIPTION];
