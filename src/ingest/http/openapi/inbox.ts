import { INBOX_WAIT_PARAMETERS } from '../inbox.ts';
import * as examples from './examples.ts';
import type { Operation } from './operation.ts';

/** What the document says of captured mail. */

const WAIT: Operation = {
  method: 'get',
  path: '/api/v1/inbox/wait',
  operationId: 'waitForCaptured',
  tag: 'Reading',
  summary: 'Wait for a captured message',
  description:
    'For tests of other programs: the newest message of the calling key that the local inbox captured and that matches, as soon as it is there, with its text, links and codes. A test key may ask; another needs `messages:content` as well.',
  access: { scheme: 'bearer', scopes: ['messages:read', 'messages:read_all'] },
  query: INBOX_WAIT_PARAMETERS,
  requestHeaders: [],
  body: null,
  answers: [
    {
      status: 200,
      description: 'The message, and what it says.',
      headers: [],
      content: {
        'application/json': {
          schema: 'CapturedMessage',
          examples: { code: { summary: 'A code to sign in with', value: examples.CAPTURED_MESSAGE } },
        },
      },
    },
  ],
  problems: {
    404: ['nothing_captured', 'content_expired'],
    409: ['unreadable_content'],
    503: ['unreadable_content'],
  },
};

/** The operations on captured mail. */
export const INBOX: readonly Operation[] = [WAIT];
