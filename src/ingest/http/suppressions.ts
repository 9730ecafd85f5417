import { z } from 'zod';
import { SUPPRESSION_REASONS } from '../../domain/suppression.ts';
import { readWholeBody } from '../../http/body.ts';
import { decodeUtf8 } from '../../http/problem.ts';
import type { Budget } from '../../lib/budget.ts';
import { MAX_CHECKED, MAX_IMPORT_BYTES, type SuppressionOperations } from '../../operations/suppressions.ts';
import type { AdminDoor } from '../service.ts';
import { askAsKey } from './admin.ts';
import type { Call } from './call.ts';
import { type ObjectBounds, readObject } from './json-object.ts';
import { LIST_PARAMETERS, nextLink } from './list.ts';
import { NO_PARAMETERS, readParameters, TIMESTAMP_RULE } from './query.ts';
import { requireType } from './read-fields.ts';

/**
 * `/api/v1/suppressions`: the addresses that get no mail (contract-2 §A5). What a key may see and change is decided
 * where the operations are carried out; these ask for them as the calling key.
 */

/** What the endpoints need. */
export interface SuppressionDeps {
  readonly admin: AdminDoor;
  /** Bytes of bodies in memory. */
  readonly budget: Budget;
}

const ADVICE = 'Divide it.';
const BOUNDS: ObjectBounds = {
  maxBytes: 1024 * 1024,
  json: { maxDepth: 3, maxValues: MAX_CHECKED + 20 },
  advice: ADVICE,
};

const word = z.string().min(1).max(1000);
const SCOPE_RULE = 'global, domain: and a domain, or key: and the name of an API key';
const { limit } = LIST_PARAMETERS;

/** The parameters of the list. */
// biome-ignore format: a table
export const SUPPRESSIONS_PARAMETERS = {
  address: { schema: word.optional(), code: 'address_syntax', rule: 'an address, *@example.org or *@*.example.org', meaning: 'Only entries of exactly this address, or pattern. Case-insensitive.', example: 'bob@example.org' },
  domain: { schema: word.optional(), code: 'address_domain', rule: 'a domain such as example.org', meaning: 'Only entries whose address is of this domain.', example: 'example.org' },
  reason: { schema: z.enum(SUPPRESSION_REASONS).optional(), code: 'reason', rule: `one of ${SUPPRESSION_REASONS.join(', ')}`, meaning: 'Only entries with this reason.', example: 'complaint' },
  scope: { schema: word.optional(), code: 'scope', rule: SCOPE_RULE, meaning: 'Only entries of this scope.', example: 'global' },
  stream: { schema: word.optional(), code: 'stream', rule: '1 to 255 printable characters', meaning: 'Only entries that stop this stream alone. Case-insensitive.', example: 'news' },
  since: { schema: word.optional(), code: 'timestamp', rule: TIMESTAMP_RULE, meaning: 'Only entries made at this time or later (RFC 3339).', example: '2026-11-20T00:00:00Z' },
  until: { schema: word.optional(), code: 'timestamp', rule: TIMESTAMP_RULE, meaning: 'Only entries made before this time (RFC 3339).', example: '2026-11-21T00:00:00Z' },
  limit: { ...limit, meaning: 'The most entries that a page may have.' },
  cursor: { schema: word.optional(), code: 'bad_cursor', rule: 'the nextCursor of a page of this list', meaning: 'Continues after a page: its nextCursor, with the same parameters.', example: 'sup_01k9f5y7f0e2c4a8b6d0e2f4g6' },
};

/** The parameters of an import. */
// biome-ignore format: a table
export const IMPORT_PARAMETERS = {
  scope: { ...SUPPRESSIONS_PARAMETERS.scope, meaning: 'The scope of rows that name none; without it, as for a single entry.' },
  stream: { ...SUPPRESSIONS_PARAMETERS.stream, meaning: 'The stream of rows that name none.' },
};

/** The parameters of a removal. */
// biome-ignore format: a table
export const REMOVAL_PARAMETERS = {
  confirm: { schema: z.literal('complaint').optional(), code: 'confirm', rule: 'complaint', meaning: 'Also removes entries because of a complaint. Confirm it only when the recipient asks for mail.', example: 'complaint' },
};

/** The body of a new entry. */
export const newSuppressionSchema = z.strictObject({
  address: word.describe('A whole address; `*@example.org`, or `*@*.example.org` for all domains below it.'),
  scope: word
    .nullable()
    .default(null)
    .describe(
      'Whose mail it stops: `global`, `domain:example.com`, or `key:` and the name of a key. Null: the scope of the calling key; with the scope `admin`, `global`.',
    ),
  stream: word.nullable().default(null).describe('The only stream that it stops; null: all mail.'),
  reason: z.enum(['manual', 'unsubscribe']).default('manual'),
  expiresAt: z.string().max(100).nullable().default(null).meta({ format: 'date-time' }),
  note: z.string().max(500).default(''),
});

/** The body of a check. */
export const suppressionQuestionSchema = z.strictObject({
  addresses: z.array(word).min(1).max(MAX_CHECKED),
  from: word
    .nullable()
    .default(null)
    .describe('The address or domain that the mail is from; null: no entry for a domain counts.'),
  stream: word.nullable().default(null).describe('The stream of the mail; null: it has none.'),
});

/** Answers with a page. */
export async function answerSuppressions(call: Call, deps: SuppressionDeps): Promise<void> {
  const { exchange } = call;
  const values = readParameters(exchange.query, SUPPRESSIONS_PARAMETERS);
  const { address, domain, reason, scope, stream, since, until, cursor } = values;
  const page = await askOfList('listSuppressions', call, deps, {
    address: address ?? null,
    domain: domain ?? null,
    reason: reason ?? null,
    scope: scope ?? null,
    stream: stream ?? null,
    since: since ?? null,
    until: until ?? null,
    limit: values.limit,
    cursor: cursor ?? null,
  });
  exchange.json(200, page, nextLink(exchange.path, exchange.query, page.nextCursor));
}

/** Answers with an entry, by its id or address. */
export async function answerSuppression(call: Call, deps: SuppressionDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  call.exchange.json(200, await askOfList('getSuppression', call, deps, { which: named(call) }));
}

/** Adds an entry: 201, or 200 where there was one. */
export async function answerSuppressing(call: Call, deps: SuppressionDeps): Promise<void> {
  const request = await readObject(call, newSuppressionSchema, BOUNDS, deps.budget);
  await call.checkKey();
  const { suppression, added } = await askOfList('addSuppression', call, deps, request);
  call.exchange.json(added ? 201 : 200, suppression);
}

/** Removes an entry by its id, or every entry of an address. */
export async function answerSuppressionRemoval(call: Call, deps: SuppressionDeps): Promise<void> {
  const { confirm } = readParameters(call.exchange.query, REMOVAL_PARAMETERS);
  await askOfList('removeSuppressions', call, deps, {
    which: named(call),
    complaints: confirm !== undefined,
  });
  call.exchange.empty(204);
}

/** Tells which addresses are suppressed. */
export async function answerSuppressionCheck(call: Call, deps: SuppressionDeps): Promise<void> {
  const request = await readObject(call, suppressionQuestionSchema, BOUNDS, deps.budget);
  call.exchange.json(200, await askOfList('checkSuppressions', call, deps, request));
}

/** Adds the entries of a table. */
export async function answerSuppressionImport(call: Call, deps: SuppressionDeps): Promise<void> {
  const { exchange, caller } = call;
  const { scope = null, stream = null } = readParameters(exchange.query, IMPORT_PARAMETERS);
  const { type } = requireType(exchange, ['text/csv', 'application/json']);
  const budget = deps.budget.share(caller.key.id);
  const body = await readWholeBody(exchange, { maxBytes: MAX_IMPORT_BYTES, advice: ADVICE, budget });
  const text = decodeUtf8(body, 'The table');
  await call.checkKey();
  const format = type === 'text/csv' ? 'csv' : 'json';
  exchange.json(200, await askOfList('importSuppressions', call, deps, { format, text, scope, stream }));
}

/** Answers with the list as CSV. The next page is read only when the client has taken the one before. */
export async function answerSuppressionExport(call: Call, deps: SuppressionDeps): Promise<void> {
  const { exchange } = call;
  readParameters(exchange.query, NO_PARAMETERS);
  let page = await askOfList('exportSuppressions', call, deps, { cursor: null });
  const flow = exchange.flow(200, 'text/csv; charset=utf-8; header=present', {
    'Content-Disposition': 'attachment; filename="suppressions.csv"',
  });
  if (flow === null) return;
  try {
    while (exchange.method !== 'HEAD' && (await flow.pass(Buffer.from(page.text)))) {
      if (page.next === null) break;
      await call.checkKey();
      page = await askOfList('exportSuppressions', call, deps, { cursor: page.next });
    }
    flow.end();
  } catch (error) {
    // The head has left: only a cut tells that something is missing.
    flow.cut();
    throw error;
  }
}

function named({ params }: Call): string {
  return params['address'] ?? '';
}

/** See {@link askAsKey}. */
export async function askOfList<K extends keyof SuppressionOperations>(
  operation: K,
  call: Call,
  deps: Pick<SuppressionDeps, 'admin'>,
  request: Omit<Parameters<SuppressionOperations[K]>[0], 'as'>,
): Promise<Awaited<ReturnType<SuppressionOperations[K]>>> {
  // Sound because the operation of this name answers so.
  return (await askAsKey(operation, call, deps, request)) as Awaited<ReturnType<SuppressionOperations[K]>>;
}
