import * as examples from './examples.ts';
import type { Access, Success } from './operation.ts';

/** What every operation that makes one message asks and answers. */

/** A key for sending. */
export const SEND: Access = { scheme: 'bearer', scopes: ['messages:send'] };

/** The message is accepted. */
export const ACCEPTED: Success = {
  status: 202,
  description: 'The message is on stable storage, and will be sent. A repeat gets this answer once more.',
  headers: ['Location', 'Idempotency-Replayed'],
  content: {
    'application/json': {
      schema: 'Receipt',
      examples: {
        queued: { summary: 'Queued', value: examples.RECEIPT },
        captured: {
          summary: 'A test key’s message, or no relay is set up',
          value: examples.CAPTURED_RECEIPT,
        },
      },
    },
  },
};

/** The message was only to be checked. */
export const CHECKED: Success = {
  status: 200,
  description: 'A dry run: the submission is valid, and this is the way it would take.',
  headers: [],
  content: {
    'application/json': {
      schema: 'Verdict',
      examples: { valid: { summary: 'A valid submission', value: examples.VERDICT } },
    },
  },
};
