import type { Submission } from '../../../../domain/message.ts';
import type { TemplateValues } from '../../../../domain/template.ts';
import { type FieldFault, Problem } from '../../../../http/problem.ts';
import { heldWhile } from '../../../../lib/budget.ts';
import { refuseRate } from '../../batch.ts';
import type { Call } from '../../call.ts';
import { refuseFaults } from '../../fields.ts';
import { handOverAll, idempotencyMismatch, type Receipt, refuseSuspended } from '../../hand-over.ts';
import { keyInBatch, keyOfBatch } from '../../idempotency.ts';
import type { ProviderDeps } from '../provider.ts';
import { judgeAll, toSubmission } from '../submitting.ts';
import { answerAsSes, rowOf, messageOf as wordsOfRefusal } from './answers.ts';
import { type Bulk, type BulkEntry, bulkSchema, IGNORED, messageOf, placesOfTemplate } from './fields.ts';
import {
  readReversePath,
  readSesKey,
  readSigned,
  recipientsOf,
  refuseInvalid,
  refuseUnknown,
  tellIgnoredIn,
  withReversePath,
  wordsOfTemplate,
} from './sending.ts';
import { readTemplateData } from './template.ts';

/** `POST /v2/email/outbound-bulk-emails`: a template with values for each of many destinations. */

const TEMPLATE = '/DefaultContent/Template';

/** Each entry is accepted or refused by itself; all that are accepted share one commit. */
export async function sendBulk(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange, caller } = call;
  const { id } = caller.key;
  refuseSuspended(deps.intake, id);
  await heldWhile(deps.budget.share(`${id} batches`), async (budget) => {
    const bulk = await readSigned(call, bulkSchema, deps, budget);
    const given = readSesKey(exchange);
    const { key } = given;
    const faults: FieldFault[] = [...given.faults];
    const { Template } = bulk.DefaultContent;
    const defaults = readTemplateData(Template.TemplateData, `${TEMPLATE}/TemplateData`, faults);
    const bounce = readReversePath(bulk.FeedbackForwardingEmailAddress);
    refuseFaults([...faults, ...bounce.faults]);
    tellIgnoredIn(exchange, bulk, IGNORED, Template.Attachments);
    if (key !== null && (await isOfSingle(id, key, deps))) throw idempotencyMismatch();
    const keys = key === null ? [] : bulk.BulkEmailEntries.map((_, index) => keyInBatch(key, index));
    await refuseUnknown(Template, call, keys, deps);
    refuseRate(id, bulk.BulkEmailEntries.length, deps);
    const shared = { key, defaults, bounce: bounce.mailbox };
    const judged = await judgeAll(bulk.BulkEmailEntries, call, budget, (entry, index) =>
      submissionOf(call, { bulk, entry, index }, shared, deps),
    );
    const submissions = judged.flatMap((one) => ('submission' in one ? [one.submission] : []));
    await call.checkKey();
    const receipts = await deps.inProgress.alone(id, key === null ? null : keyOfBatch(key), () =>
      handOverAll(submissions, deps),
    );
    const [first] = receipts;
    if (first instanceof Problem && receipts.every((receipt) => receipt instanceof Problem)) throw first;
    const left = receipts.values();
    const results = judged.map((one) => resultOf('problem' in one ? one.problem : left.next().value));
    answerAsSes(exchange, { BulkEmailEntryResults: results });
  });
}

/** Whether the key was used for a message by itself. */
async function isOfSingle(keyId: string, key: string, { views, clock }: ProviderDeps): Promise<boolean> {
  return (await views.remembered(keyId, key, clock.wall())) !== null;
}

interface Shared {
  readonly key: string | null;
  /** Values for every entry that has none of its own. */
  readonly defaults: TemplateValues;
  readonly bounce: ReturnType<typeof readReversePath>['mailbox'];
}

async function submissionOf(
  call: Call,
  { bulk, entry, index }: { bulk: Bulk; entry: BulkEntry; index: number },
  { key, defaults, bounce }: Shared,
  deps: ProviderDeps,
): Promise<Submission> {
  const { FromEmailAddress: from, ReplyToAddresses: replyTo, DefaultContent, DefaultEmailTags } = bulk;
  const { Destination: destination, ReplacementEmailContent, ReplacementHeaders, ReplacementTags } = entry;
  refuseInvalid([from, ...recipientsOf(destination)]);
  const place = `/BulkEmailEntries/${index}`;
  const faults: FieldFault[] = [];
  const values = readTemplateData(
    ReplacementEmailContent?.ReplacementTemplate?.ReplacementTemplateData,
    `${place}/ReplacementEmailContent/ReplacementTemplate/ReplacementTemplateData`,
    faults,
  );
  const places = placesOfTemplate(TEMPLATE, `${place}/Destination`, `${place}/ReplacementTags`);
  const { maxMessageBytes } = deps.options.limits;
  const words = await wordsOfTemplate(
    DefaultContent.Template,
    { ...defaults, ...values },
    { places, faults, maxMessageBytes },
  );
  const letter = { from, replyTo, destination, tags: replaced(DefaultEmailTags, ReplacementTags) };
  const headers = replaced(words.headers, ReplacementHeaders);
  const message = messageOf(letter, { ...words, headers }, places);
  const ownKey = key === null ? null : keyInBatch(key, index);
  return withReversePath(await toSubmission(call, message, ownKey, deps, faults), bounce, call);
}

interface Named {
  readonly Name: string;
  readonly Value: string;
}

/** The ones of all entries, but for those that an entry names itself; then its own. */
function replaced(
  all: readonly Named[] | null | undefined,
  own: readonly Named[] | null | undefined,
): Named[] {
  const names = new Set((own ?? []).map(({ Name }) => Name.toLowerCase()));
  return [...(all ?? []).filter(({ Name }) => !names.has(Name.toLowerCase())), ...(own ?? [])];
}

/** By our statuses: what SES says of an entry. */
const STATUSES: Readonly<Record<number, string>> = { 400: 'INVALID_PARAMETER', 503: 'TRANSIENT_FAILURE' };

function resultOf(one: Receipt | Problem | undefined) {
  if (one === undefined) throw new Error('an entry has no receipt');
  if (!(one instanceof Problem)) return { Status: 'SUCCESS', MessageId: one.id };
  const isRejected = rowOf(one).name === 'MessageRejected' || one.status === 413;
  const status = isRejected ? 'MESSAGE_REJECTED' : (STATUSES[one.status] ?? 'FAILED');
  return { Status: status, Error: wordsOfRefusal(one) };
}
