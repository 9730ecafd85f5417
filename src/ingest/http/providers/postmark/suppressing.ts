import { z } from 'zod';
import { maySendFrom } from '../../../../domain/key.ts';
import { parseAddress } from '../../../../domain/mailbox.ts';
import { suppressedOf } from '../../../../domain/suppressed-address.ts';
import { hasEnded, type Suppression, type SuppressionReason } from '../../../../domain/suppression.ts';
import { Problem } from '../../../../http/problem.ts';
import { heldWhile } from '../../../../lib/budget.ts';
import { formatTimestamp } from '../../../../lib/clock.ts';
import type { SuppressionView } from '../../../../operations/suppressions.ts';
import type { Call } from '../../call.ts';
import { anyCase } from '../../json-object.ts';
import { NO_PARAMETERS, readParameters } from '../../query.ts';
import { askOfList } from '../../suppressions.ts';
import type { ProviderDeps } from '../provider.ts';
import { readBody } from '../submitting.ts';
import { PERIOD_PARAMETERS, readQuery } from './queries.ts';

/** Postmark's suppressions of a message stream, which are our list (contract-2 §C3). */

type Reason = 'HardBounce' | 'SpamComplaint' | 'ManualSuppression';
type Origin = 'Recipient' | 'Customer' | 'Admin';

/** Postmark's words for our reasons. */
// biome-ignore format: a table
const REASONS: Readonly<Record<SuppressionReason, { readonly reason: Reason; readonly origin: Origin }>> = {
  hard_bounce:  { reason: 'HardBounce',        origin: 'Recipient' },
  soft_bounces: { reason: 'HardBounce',        origin: 'Recipient' },
  provider:     { reason: 'HardBounce',        origin: 'Admin' },
  complaint:    { reason: 'SpamComplaint',     origin: 'Recipient' },
  unsubscribe:  { reason: 'ManualSuppression', origin: 'Recipient' },
  manual:       { reason: 'ManualSuppression', origin: 'Customer' },
  import:       { reason: 'ManualSuppression', origin: 'Customer' },
};

// biome-ignore format: a table
const DUMP_PARAMETERS = {
  ...PERIOD_PARAMETERS,
  suppressionreason: { schema: z.enum(['HardBounce', 'SpamComplaint', 'ManualSuppression']).optional(), code: 'reason', rule: 'HardBounce, SpamComplaint or ManualSuppression', meaning: 'Only those with this reason.', example: 'HardBounce' },
  origin: { schema: z.enum(['Recipient', 'Customer', 'Admin']).optional(), code: 'type', rule: 'Recipient, Customer or Admin', meaning: 'Only those of this origin.', example: 'Customer' },
  emailaddress: { schema: z.string().min(1).max(1000).optional(), code: 'address_syntax', rule: 'an address', meaning: 'Only this address.', example: 'bob@example.org' },
  // The SDK sends them; Postmark's list is whole, too.
  count: { schema: z.string().optional(), code: 'type', rule: 'a number', meaning: 'Without effect.', example: '100' },
  offset: { schema: z.string().optional(), code: 'type', rule: 'a number', meaning: 'Without effect.', example: '0' },
};

const PAGE = 200;

/** Answers with the whole list. The next page is read only when the client has taken the one before. */
export async function dumpSuppressions(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange } = call;
  const values = readQuery(exchange.query, DUMP_PARAMETERS);
  const page = (cursor: string | null) =>
    askOfList('listSuppressions', call, deps, {
      address: values.emailaddress ?? null,
      domain: null,
      reason: null,
      scope: null,
      stream: null,
      since: timeText(values.fromdate),
      until: timeText(values.todate),
      limit: PAGE,
      cursor,
    });
  const isWanted = ({ reason }: SuppressionView) =>
    (values.suppressionreason ?? REASONS[reason].reason) === REASONS[reason].reason &&
    (values.origin ?? REASONS[reason].origin) === REASONS[reason].origin;
  let { suppressions, nextCursor } = await page(null);
  const flow = exchange.flow(200, 'application/json; charset=utf-8');
  if (flow === null) return;
  try {
    let text = '{"Suppressions":[';
    let separator = '';
    while (exchange.method !== 'HEAD') {
      for (const entry of suppressions.filter(isWanted)) {
        text += separator + JSON.stringify(entryJson(entry));
        separator = ',';
      }
      if (!(await flow.pass(Buffer.from(nextCursor === undefined ? `${text}]}` : text)))) break;
      if (nextCursor === undefined) break;
      text = '';
      await call.checkKey();
      ({ suppressions, nextCursor } = await page(nextCursor));
    }
    flow.end();
  } catch (error) {
    // The head has left: only a cut tells that something is missing.
    flow.cut();
    throw error;
  }
}

function timeText(ms: number | undefined): string | null {
  return ms === undefined ? null : formatTimestamp(ms);
}

function entryJson({ address, reason, createdAt }: SuppressionView) {
  const { reason: told, origin } = REASONS[reason];
  return { EmailAddress: address, SuppressionReason: told, Origin: origin, CreatedAt: createdAt };
}

const MAX_CHANGED = 50;
const changesSchema = anyCase({
  Suppressions: z
    .array(anyCase({ EmailAddress: z.string() }))
    .min(1)
    .max(MAX_CHANGED),
});

/** Changes the list for one address, in the form that it has there. */
type Change = (address: string) => Promise<'Suppressed' | 'Deleted'>;

/** Adds addresses, each by itself. */
export function addSuppressions(call: Call, deps: ProviderDeps): Promise<void> {
  return changeEach(call, deps, async (address) => {
    const entry = { address, scope: null, stream: null, expiresAt: null };
    await askOfList('addSuppression', call, deps, entry);
    return 'Suppressed';
  });
}

/** Takes addresses off the list, each by itself; who complained stays. */
export function deleteSuppressions(call: Call, deps: ProviderDeps): Promise<void> {
  return changeEach(call, deps, async (address) => {
    try {
      await askOfList('removeSuppressions', call, deps, { which: address });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'suppression_not_found') throw error;
      if (await isStillStopped(address, call, deps)) throw error;
    }
    return 'Deleted';
  });
}

/** Whether an entry that the key may not change stops its mail to an address, or some of it. */
async function isStillStopped(
  address: string,
  { caller: { key } }: Call,
  { suppressions, clock }: ProviderDeps,
): Promise<boolean> {
  const entries = await suppressions.suppressionsUnder([address]);
  const stops = ({ scope }: Suppression) =>
    scope === `key:${key.id}` ||
    (key.mode === 'live' &&
      (scope === 'global' ||
        (scope.startsWith('domain:') && maySendFrom(key, scope.slice('domain:'.length)))));
  return entries.some((entry) => stops(entry) && !hasEnded(entry, clock.wall()));
}

async function changeEach(call: Call, deps: ProviderDeps, change: Change): Promise<void> {
  const { exchange, caller } = call;
  await heldWhile(deps.budget.share(caller.key.id), async (budget) => {
    const { Suppressions } = await readBody(exchange, changesSchema, deps, budget);
    readParameters(exchange.query, NO_PARAMETERS);
    await call.checkKey();
    const told: object[] = [];
    for (const { EmailAddress } of Suppressions) told.push(await changed(EmailAddress, change));
    exchange.json(200, { Suppressions: told });
  });
}

/** A refusal is the answer for one address, unless nothing can be done now. Here `*@example.org` is no pattern. */
async function changed(EmailAddress: string, change: Change) {
  try {
    const parsed = parseAddress(EmailAddress.trim());
    if (!parsed.ok) return { EmailAddress, Status: 'Failed', Message: parsed.detail };
    return { EmailAddress, Status: await change(suppressedOf(parsed.value.address).address), Message: null };
  } catch (error) {
    if (!(error instanceof Problem) || error.status === 503) throw error;
    const [fault] = error.errors;
    return { EmailAddress, Status: 'Failed', Message: fault?.detail ?? error.detail };
  }
}
