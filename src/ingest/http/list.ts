import { createHash } from 'node:crypto';
import { z } from 'zod';
import { MESSAGE_STATUSES } from '../../domain/delivery.ts';
import { parseDomain } from '../../domain/domain-name.ts';
import type { ApiKey } from '../../domain/key.ts';
import { parseMailbox } from '../../domain/mailbox.ts';
import { Problem } from '../../http/problem.ts';
import { isMessageId } from '../../lib/id.ts';
import type { Shown } from '../../operations/operation.ts';
import type { ListFilter, ListQuery, Views } from '../../store/views.ts';
import type { Outlook } from '../service.ts';
import type { messagesPageSchema } from './answers.ts';
import type { Call } from './call.ts';
import {
  asBoolean,
  asInteger,
  invalidQuery,
  type ParameterValues,
  parameterFault,
  readParameters,
  TIMESTAMP_RULE,
  timestampSchema,
} from './query.ts';
import { messagesJson } from './record.ts';

/** The longest page. */
export const MAX_LIMIT = 200;

type MessagesPage = Shown<typeof messagesPageSchema>;

/** The members that point to the next page, given its cursor; undefined when there is none. */
export function nextPage(cursor: string | undefined): Omit<MessagesPage, 'messages'> {
  return { hasMore: cursor !== undefined, nextCursor: cursor };
}

/** The `Link` header (RFC 8288) to the next page of the query at `path`. */
export function nextLink(
  path: string,
  query: URLSearchParams,
  cursor: string | undefined,
): Readonly<Record<string, string>> {
  if (cursor === undefined) return {};
  const next = new URLSearchParams(query);
  next.set('cursor', cursor);
  return { Link: `<${path}?${next}>; rel="next"` };
}

// `GET /api/v1/messages`: the caller's messages, newest first, page by page (contract §3.2).

/** What the endpoint needs. */
interface ListDeps {
  readonly views: Pick<Views, 'list'>;
  readonly outlook: Outlook;
}

/** Answers with a page. */
export async function answerList({ exchange, caller }: Call, { views, outlook }: ListDeps): Promise<void> {
  const { query, digest } = readQuery(exchange.query, caller.key);
  const page = await views.list(query);
  const cursor = page.next === null ? undefined : formatCursor({ last: page.next, filter: digest });
  const body: MessagesPage = { messages: await messagesJson(page.messages, outlook), ...nextPage(cursor) };
  exchange.json(200, body, nextLink(exchange.path, exchange.query, cursor));
}

/** The query, and the digest of its filter. Throws 400 with every faulty parameter, 403 for `all` without its scope. */
function readQuery(parameters: URLSearchParams, key: ApiKey): { query: ListQuery; digest: string } {
  const { limit, status, all, cursor, ...rest } = readParameters(parameters, LIST_PARAMETERS);
  if (all && !key.scopes.includes('messages:read_all'))
    throw new Problem(403, 'scope_missing', 'all=true needs a key with the scope messages:read_all.');
  const owner = all ? 'all' : { keyId: key.id };
  const filter = { owner, statuses: [...new Set(status)].sort(), filter: listFilter(rest) } as const;
  const digest = digestOf(filter);
  return { query: { ...filter, asker: key.id, before: startOf(cursor, digest), limit }, digest };
}

/** Where a page starts. Throws 400 for the cursor of another list. */
export function startOf(cursor: Cursor | undefined, digest: string): string | null {
  if (cursor === undefined) return null;
  if (cursor.filter === digest) return cursor.last;
  const detail =
    'Must be given with the same key and parameters as the page it came from (limit may differ); without a cursor the list starts again.';
  throw invalidQuery([parameterFault('cursor', 'bad_cursor', detail)]);
}

/** A digest of the filter that a cursor belongs to. */
export function digestOf(filter: object): string {
  return createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 16);
}

// The parameters of `GET /api/v1/messages` (contract §3.2).

const DEFAULT_LIMIT = 20;
/** The longest tag and the longest subject. */
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

/** Filters by everything but status. */
// biome-ignore format: a table
export const FILTER_PARAMETERS = {
  tag: { schema: z.string().min(1).max(MAX_TAG).optional(), code: 'tag', rule: `a tag of 1 to ${MAX_TAG} characters`, meaning: 'Only messages with exactly this tag.', example: 'receipts' },
  to: { schema: addressSchema.optional(), code: 'address_syntax', rule: ADDRESS_RULE, meaning: 'Only messages with this recipient (to, cc or bcc): a whole address, or @ and a domain. Case-insensitive.', example: 'bob@example.org' },
  from: { schema: addressSchema.optional(), code: 'address_syntax', rule: ADDRESS_RULE, meaning: 'Only messages from this sender: a whole address, or @ and a domain. Case-insensitive.', example: '@example.com' },
  subject: { schema: z.string().min(1).max(MAX_SUBJECT).optional(), code: 'subject', rule: `a text of 1 to ${MAX_SUBJECT} characters`, meaning: 'Only messages whose subject contains this text (case-insensitive).', example: 'invoice' },
  since: { schema: timestampSchema.optional(), code: 'timestamp', rule: TIMESTAMP_RULE, meaning: 'Only messages accepted at this time or later (RFC 3339).', example: '2026-11-20T00:00:00Z' },
  until: { schema: timestampSchema.optional(), code: 'timestamp', rule: TIMESTAMP_RULE, meaning: 'Only messages accepted before this time (RFC 3339).', example: '2026-11-21T00:00:00Z' },
};

/** Every parameter of the list. */
// biome-ignore format: a table
export const LIST_PARAMETERS = {
  limit: { schema: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT), fromText: asInteger, code: 'out_of_range', rule: `an integer from 1 to ${MAX_LIMIT}`, meaning: 'The most messages that a page may have.', example: '50' },
  status: { schema: z.array(z.enum(MESSAGE_STATUSES)), repeatable: true, code: 'unknown_status', rule: `one of ${MESSAGE_STATUSES.join(', ')}`, meaning: 'Only messages with this status; given several times, with any of these.', example: 'failed' },
  ...FILTER_PARAMETERS,
  all: { schema: z.boolean().default(false), fromText: asBoolean, code: 'type', rule: 'true or false', meaning: "Messages of every key instead of the calling key's own; needs the scope messages:read_all.", example: 'true' },
  cursor: { schema: cursorSchema.optional(), code: 'bad_cursor', rule: 'the nextCursor of a page of this list', meaning: 'Continues after a page: its nextCursor, with the same parameters (limit may differ).', example: 'bXNnXzAxazlmNXk3ZjBlMmM0YThiNmQwZTJmNGc2LkFiQ2RFZkdoSWpLbE1uT3A' },
};

/** The list's filter from what {@link FILTER_PARAMETERS} read. */
export function listFilter(values: Partial<ParameterValues<typeof FILTER_PARAMETERS>>): ListFilter {
  return {
    tag: values.tag ?? null,
    to: values.to ?? null,
    from: values.from ?? null,
    subject: values.subject ?? null,
    since: values.since ?? null,
    until: values.until ?? null,
  };
}

/** The cursor as opaque text. */
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
