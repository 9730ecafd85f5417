import { z } from 'zod';
import { MESSAGE_STATUSES } from '../../domain/delivery.ts';
import { parseDomain } from '../../domain/domain-name.ts';
import { parseMailbox } from '../../domain/mailbox.ts';
import { isMessageId } from '../../lib/id.ts';
import type { ListFilter } from '../../store/views.ts';
import { MAX_LIMIT } from './paging.ts';
import {
  asBoolean,
  asInteger,
  asText,
  type ParameterValues,
  TIMESTAMP_RULE,
  timestampSchema,
} from './query.ts';

/** The parameters of `GET /api/v1/messages` (contract §3.2). */

const DEFAULT_LIMIT = 20;
/** As long as a tag and a subject may be. */
const MAX_TAG = 128;
const MAX_SUBJECT = 2000;
/** A digest's characters in a cursor; see {@link Cursor.filter}. */
const DIGEST = /^[\w-]{16}$/;

const ADDRESS_RULE = 'an address such as ann@example.com, or @example.com for a whole domain';

/** Where a page ended. */
export interface Cursor {
  /** The last message's id. */
  readonly last: string;
  /** A digest of the filter it belongs to. */
  readonly filter: string;
}

/** A whole address or `@` and a domain, the domain in its canonical form. */
const addressSchema = z.string().transform((text, context) => {
  const canonical = canonicalAddress(text);
  if (canonical !== null) return canonical;
  context.issues.push({ code: 'custom', input: text, message: 'not an address' });
  return z.NEVER;
});

const cursorSchema = z.string().transform((text, context): Cursor => {
  const [last = '', filter = '', ...rest] = Buffer.from(text, 'base64url').toString('latin1').split('.');
  const cursor = { last, filter };
  const isOurs = isMessageId(last) && DIGEST.test(filter) && rest.length === 0;
  if (isOurs && formatCursor(cursor) === text) return cursor;
  context.issues.push({ code: 'custom', input: text, message: 'not a cursor' });
  return z.NEVER;
});

/** What a message must be to be listed, besides its status. */
export const FILTER_PARAMETERS = {
  tag: {
    schema: z.string().min(1).max(MAX_TAG).optional(),
    fromText: asText,
    repeatable: false,
    code: 'tag',
    rule: `a tag of 1 to ${MAX_TAG} characters`,
    meaning: 'Only messages with exactly this tag.',
    example: 'receipts',
  },
  to: {
    schema: addressSchema.optional(),
    fromText: asText,
    repeatable: false,
    code: 'address_syntax',
    rule: ADDRESS_RULE,
    meaning:
      'Only messages with this recipient (to, cc or bcc): a whole address, or @ and a domain. Letter case makes no difference.',
    example: 'bob@example.org',
  },
  from: {
    schema: addressSchema.optional(),
    fromText: asText,
    repeatable: false,
    code: 'address_syntax',
    rule: ADDRESS_RULE,
    meaning:
      'Only messages from this sender: a whole address, or @ and a domain. Letter case makes no difference.',
    example: '@example.com',
  },
  subject: {
    schema: z.string().min(1).max(MAX_SUBJECT).optional(),
    fromText: asText,
    repeatable: false,
    code: 'subject',
    rule: `a text of 1 to ${MAX_SUBJECT} characters`,
    meaning: 'Only messages whose subject contains this text, whatever its letter case.',
    example: 'invoice',
  },
  since: {
    schema: timestampSchema.optional(),
    fromText: asText,
    repeatable: false,
    code: 'timestamp',
    rule: TIMESTAMP_RULE,
    meaning: 'Only messages accepted at this time or later (RFC 3339).',
    example: '2026-11-20T00:00:00Z',
  },
  until: {
    schema: timestampSchema.optional(),
    fromText: asText,
    repeatable: false,
    code: 'timestamp',
    rule: TIMESTAMP_RULE,
    meaning: 'Only messages accepted before this time (RFC 3339).',
    example: '2026-11-21T00:00:00Z',
  },
};

/** Every parameter of the list. */
export const LIST_PARAMETERS = {
  limit: {
    schema: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT),
    fromText: asInteger,
    repeatable: false,
    code: 'out_of_range',
    rule: `an integer from 1 to ${MAX_LIMIT}`,
    meaning: 'How many messages a page has at most.',
    example: '50',
  },
  status: {
    schema: z.array(z.enum(MESSAGE_STATUSES)),
    fromText: asText,
    repeatable: true,
    code: 'unknown_status',
    rule: `one of ${MESSAGE_STATUSES.join(', ')}`,
    meaning: 'Only messages with this status; given several times, with any of these.',
    example: 'failed',
  },
  ...FILTER_PARAMETERS,
  all: {
    schema: z.boolean().default(false),
    fromText: asBoolean,
    repeatable: false,
    code: 'type',
    rule: 'true or false',
    meaning: "Messages of every key instead of the calling key's own; needs the scope messages:read_all.",
    example: 'true',
  },
  cursor: {
    schema: cursorSchema.optional(),
    fromText: asText,
    repeatable: false,
    code: 'bad_cursor',
    rule: 'the nextCursor of a page of this list',
    meaning: 'Goes on where a page ended: its nextCursor, with the same parameters (limit may differ).',
    example: 'bXNnXzAxazlmNXk3ZjBlMmM0YThiNmQwZTJmNGc2LkFiQ2RFZkdoSWpLbE1uT3A',
  },
};

/** The list's filter from what {@link FILTER_PARAMETERS} read. */
export function listFilter(values: ParameterValues<typeof FILTER_PARAMETERS>): ListFilter {
  return {
    tag: values.tag ?? null,
    to: values.to ?? null,
    from: values.from ?? null,
    subject: values.subject ?? null,
    since: values.since ?? null,
    until: values.until ?? null,
  };
}

/** A cursor as text that tells nothing. */
export function formatCursor({ last, filter }: Cursor): string {
  return Buffer.from(`${last}.${filter}`).toString('base64url');
}

function canonicalAddress(text: string): string | null {
  if (text.startsWith('@')) {
    const domain = parseDomain(text.slice(1));
    return domain === null ? null : `@${domain}`;
  }
  const mailbox = parseMailbox(text);
  return mailbox.ok && mailbox.value.name === null ? mailbox.value.address : null;
}
