import { z } from 'zod';
import { PRIORITIES } from '../../domain/message.ts';
import { asBoolean, asText } from './query.ts';

/** The parameters of `POST /api/v1/messages/raw` (contract §2): the envelope, and what is no part of the message. */

/** The table. Addresses, tags and times are checked as those of any submission are. */
export const RAW_PARAMETERS = {
  from: {
    schema: z.string().optional(),
    fromText: asText,
    repeatable: false,
    code: 'type',
    rule: 'one address',
    meaning:
      "The envelope's sender, where failure reports go. Required here or as the request's header field From.",
    example: 'jane@example.com',
  },
  to: {
    schema: z.array(z.string()),
    fromText: asText,
    repeatable: true,
    code: 'type',
    rule: 'addresses',
    meaning:
      "The recipients: addresses, or lists of them. Required here or as the request's header field To. Those in the message itself are only shown.",
    example: 'bob@example.org',
  },
  tag: {
    schema: z.array(z.string()),
    fromText: asText,
    repeatable: true,
    code: 'tag',
    rule: 'a tag of 1 to 128 characters',
    meaning: 'Tags; at most `api.max_tags`.',
    example: 'newsletter',
  },
  sendAt: {
    schema: z.string().optional(),
    fromText: asText,
    repeatable: false,
    code: 'timestamp',
    rule: 'an RFC 3339 time such as 2026-11-20T11:15:00Z',
    meaning: 'When to send, at most 30 days ahead.',
    example: '2026-11-20T11:15:00Z',
  },
  priority: {
    schema: z.enum(PRIORITIES).optional(),
    fromText: asText,
    repeatable: false,
    code: 'priority',
    rule: 'high, normal or bulk',
    meaning: 'Which waiting mail goes first.',
    example: 'bulk',
  },
  dryRun: {
    schema: z.boolean().default(false),
    fromText: asBoolean,
    repeatable: false,
    code: 'type',
    rule: 'true or false',
    meaning: 'Check everything and store nothing.',
    example: 'true',
  },
};
