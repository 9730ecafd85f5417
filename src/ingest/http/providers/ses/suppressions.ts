import { z } from 'zod';
import type { SuppressionReason } from '../../../../domain/suppression.ts';
import { Problem } from '../../../../http/problem.ts';
import type { SuppressionView } from '../../../../operations/suppressions.ts';
import type { Call } from '../../call.ts';
import { asInteger, NO_PARAMETERS, readParameters, TIMESTAMP_RULE } from '../../query.ts';
import { askOfList } from '../../suppressions.ts';
import type { ProviderDeps } from '../provider.ts';
import { answerAsSes } from './answers.ts';
import { readSigned } from './sending.ts';

/** SES's suppression list, which has two reasons only. */

const REASONS = ['BOUNCE', 'COMPLAINT'] as const;
type Reason = (typeof REASONS)[number];

/** What people want is a complaint for SES; all else is that mail does not arrive. */
const COMPLAINTS: ReadonlySet<SuppressionReason> = new Set(['complaint', 'unsubscribe']);

const MAX_PAGE = 200;

// biome-ignore format: a table
const LIST_PARAMETERS = {
  Reason: { schema: z.array(z.enum(REASONS)), repeatable: true, code: 'reason', rule: 'BOUNCE or COMPLAINT', meaning: 'Only addresses with one of these reasons.', example: 'BOUNCE' },
  StartDate: { schema: z.string().optional(), code: 'timestamp', rule: TIMESTAMP_RULE, meaning: 'Only addresses added at this time or later.', example: '2026-11-20T00:00:00Z' },
  EndDate: { schema: z.string().optional(), code: 'timestamp', rule: TIMESTAMP_RULE, meaning: 'Only addresses added before this time.', example: '2026-11-21T00:00:00Z' },
  PageSize: { schema: z.int().min(1).max(1000).default(100), fromText: asInteger, code: 'out_of_range', rule: 'an integer from 1 to 1000', meaning: 'How many addresses.', example: '100' },
  NextToken: { schema: z.string().optional(), code: 'bad_cursor', rule: 'the NextToken of a page', meaning: 'Continues after a page.', example: 'sup_01k9f5y7f0e2c4a8b6d0e2f4g6' },
};

const entrySchema = z.strictObject({ EmailAddress: z.string(), Reason: z.enum(REASONS) });

/** Answers with a page. It may have fewer addresses than there are of a reason: the next page has the others. */
export async function listSuppressed(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange } = call;
  const given = readParameters(exchange.query, LIST_PARAMETERS);
  const page = await askOfList('listSuppressions', call, deps, {
    address: null,
    domain: null,
    reason: null,
    scope: null,
    stream: null,
    since: given.StartDate ?? null,
    until: given.EndDate ?? null,
    limit: Math.min(given.PageSize, MAX_PAGE),
    cursor: given.NextToken ?? null,
  });
  const asked = new Set<Reason>(given.Reason.length === 0 ? REASONS : given.Reason);
  answerAsSes(exchange, {
    SuppressedDestinationSummaries: page.suppressions
      .map(summaryOf)
      .filter(({ Reason }) => asked.has(Reason)),
    ...(page.nextCursor !== undefined && { NextToken: page.nextCursor }),
  });
}

/** Answers with one address. */
export async function showSuppressed(call: Call, deps: ProviderDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  const entry = await askOfList('getSuppression', call, deps, { which: addressIn(call) });
  answerAsSes(call.exchange, { SuppressedDestination: summaryOf(entry) });
}

/** Adds an address. A complaint is an entry that its owner wants: only receivers tell of complaints. */
export async function suppress(call: Call, deps: ProviderDeps): Promise<void> {
  const budget = deps.budget.share(call.caller.key.id);
  const { EmailAddress, Reason } = await readSigned(call, entrySchema, deps, budget);
  await call.checkKey();
  await askOfList('addSuppression', call, deps, {
    address: EmailAddress,
    scope: null,
    stream: null,
    reason: Reason === 'COMPLAINT' ? 'unsubscribe' : 'manual',
    expiresAt: null,
  });
  answerAsSes(call.exchange, {});
}

/** Removes an address; not one whose owner complained. */
export async function unsuppress(call: Call, deps: ProviderDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  await askOfList('removeSuppressions', call, deps, { which: addressIn(call), complaints: false });
  answerAsSes(call.exchange, {});
}

/** Ids are ours, not SES's. */
function addressIn({ params }: Call): string {
  const address = params['EmailAddress'] ?? '';
  if (address.includes('@')) return address;
  throw new Problem(404, 'not_found', 'Email address does not exist on your suppression list.');
}

function summaryOf({ address, reason, updatedAt }: SuppressionView) {
  const Reason: Reason = COMPLAINTS.has(reason) ? 'COMPLAINT' : 'BOUNCE';
  return { EmailAddress: address, Reason, LastUpdateTime: Date.parse(updatedAt) / 1000 };
}
