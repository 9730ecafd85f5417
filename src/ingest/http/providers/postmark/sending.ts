import { z } from 'zod';
import type { Submission } from '../../../../domain/message.ts';
import { Problem } from '../../../../http/problem.ts';
import { heldWhile } from '../../../../lib/budget.ts';
import { formatTimestamp } from '../../../../lib/clock.ts';
import { messageUuid } from '../../../../lib/id.ts';
import { refuseRate } from '../../batch.ts';
import type { Call } from '../../call.ts';
import { refuseFaults } from '../../fields.ts';
import { handOverAll, idempotencyMismatch, type Receipt, refuseSuspended, takeOne } from '../../hand-over.ts';
import { keyInBatch, keyOfBatch, readIdempotencyKey } from '../../idempotency.ts';
import { anyCase } from '../../json-object.ts';
import { NO_PARAMETERS, readParameters } from '../../query.ts';
import { suppressedIn } from '../../verdict.ts';
import type { ProviderDeps } from '../provider.ts';
import { checked, type Judged, judgeAll, readBody, tellIgnored, toSubmission } from '../submitting.ts';
import { type Email, emailSchema, IGNORED, ignoredIn, messageOf, templatedSchema } from './fields.ts';
import { inactiveRecipients, noTemplate, refusalInBatch, tooManyMessages } from './refusals.ts';
import { POSTMARK_TESTER } from './tester.ts';

/** How Postmark takes mail: `POST /email`, `POST /email/batch`, and the same with templates (contract-2 §C3). */

/** What an email is read by. Throws a `Problem`. */
type ReadEmail = (body: unknown) => Email;

const plainEmail: ReadEmail = (body) => checked(body, emailSchema);

const templatedEmail: ReadEmail = (body) => {
  const email = checked(body, templatedSchema);
  if (!email.TemplateAlias && email.TemplateId == null) throw noTemplate();
  return email;
};

/** Takes one email. */
export const sendEmail = (call: Call, deps: ProviderDeps) => takeEmail(call, plainEmail, deps);
/** Takes one email that is made of a template. */
export const sendTemplated = (call: Call, deps: ProviderDeps) => takeEmail(call, templatedEmail, deps);

async function takeEmail(call: Call, read: ReadEmail, deps: ProviderDeps): Promise<void> {
  const { exchange } = call;
  let email: Email = {};
  const outcome = await takeOne(call, deps, async (budget) => {
    email = read(await readBody(exchange, z.unknown(), deps, budget));
    readParameters(exchange.query, NO_PARAMETERS);
    const { key, faults } = readIdempotencyKey(exchange);
    tellIgnored(exchange, ignoredIn(email), IGNORED);
    const submission = await toSubmission(call, messageOf(email), key, deps, faults);
    if (isTester(call)) return { receipt: receiptOfTest(submission, deps) };
    await refuseInactive(submission, deps);
    return { submission, dryRun: false, ofTemplate: read === templatedEmail };
  });
  if (outcome.kind === 'receipt') exchange.json(200, taken(outcome.receipt, email, call, deps));
}

const MAX_BATCH = 500;
const batchSchema = z.array(z.unknown());

const templatedBatchSchema = anyCase({ Messages: batchSchema });

/** Takes many emails, or refuses each by itself. All that is accepted shares one commit. */
export const sendBatch = (call: Call, deps: ProviderDeps) =>
  takeBatch(call, { bodiesIn: (body) => checked(body, batchSchema), read: plainEmail }, deps);
/** The same of templates. */
export const sendTemplatedBatch = (call: Call, deps: ProviderDeps) =>
  takeBatch(
    call,
    { bodiesIn: (body) => checked(body, templatedBatchSchema).Messages, read: templatedEmail },
    deps,
  );

interface BatchForm {
  readonly bodiesIn: (body: unknown) => readonly unknown[];
  readonly read: ReadEmail;
}

async function takeBatch(call: Call, { bodiesIn, read }: BatchForm, deps: ProviderDeps): Promise<void> {
  const { exchange, caller } = call;
  const { id } = caller.key;
  refuseSuspended(deps.intake, id);
  await heldWhile(deps.budget.share(`${id} batches`), async (budget) => {
    const bodies = bodiesIn(await readBody(exchange, z.unknown(), deps, budget));
    if (bodies.length > MAX_BATCH) throw tooManyMessages(MAX_BATCH);
    readParameters(exchange.query, NO_PARAMETERS);
    const { key, faults } = readIdempotencyKey(exchange);
    refuseFaults(faults);
    refuseRate(id, bodies.length, deps);
    if (key !== null && (await deps.views.remembered(id, key, deps.clock.wall())) !== null)
      throw idempotencyMismatch();
    const emails: Email[] = [];
    const judged = await judgeAll(bodies, call, budget, async (body, place) => {
      const email = read(body);
      emails[place] = email;
      const inBatch = key === null ? null : keyInBatch(key, place);
      const submission = await toSubmission(call, messageOf(email), inBatch, deps);
      if (!isTester(call)) await refuseInactive(submission, deps);
      return submission;
    });
    tellIgnored(exchange, Object.assign({}, ...emails.map(ignoredIn)), IGNORED);
    await call.checkKey();
    const submissions = judged.flatMap((one) => ('submission' in one ? [one.submission] : []));
    const receipts = isTester(call)
      ? submissions.map((submission) => receiptOfTest(submission, deps))
      : await deps.inProgress.alone(id, key === null ? null : keyOfBatch(key), () =>
          handOverAll(submissions, deps),
        );
    refuseAll(receipts);
    exchange.json(200, answersOf(judged, receipts, emails, call, deps));
  });
}

/** Whoever only tries the API out, without a key. */
function isTester({ caller }: Call): boolean {
  return caller === POSTMARK_TESTER;
}

/** What a tester hears: as if it had been taken. Whether anybody is suppressed is nothing for strangers. */
function receiptOfTest(
  { header: { messageId } }: Submission,
  { intake }: Pick<ProviderDeps, 'intake'>,
): Receipt {
  return { id: intake.newId(), messageId, message: 'Test job accepted', replayed: false };
}

/** Throws a `Problem` if all recipients are suppressed. A repeat gets the first answer. */
async function refuseInactive(submission: Submission, deps: ProviderDeps): Promise<void> {
  const suppressed = await suppressedIn(submission, deps);
  if (suppressed.length < submission.envelope.recipients.length) return;
  const { keyId, idempotency } = submission;
  const isRepeat =
    keyId !== null &&
    idempotency !== null &&
    (await deps.views.remembered(keyId, idempotency.key, deps.clock.wall())) !== null;
  if (!isRepeat) throw inactiveRecipients(suppressed);
}

/** If nothing is taken at all, no single email is at fault. */
function refuseAll(receipts: readonly (Receipt | Problem)[]): void {
  const [first] = receipts;
  if (first instanceof Problem && receipts.every((receipt) => receipt instanceof Problem)) throw first;
}

function answersOf(
  judged: readonly Judged[],
  receipts: readonly (Receipt | Problem)[],
  emails: readonly Email[],
  call: Call,
  deps: ProviderDeps,
) {
  const left = receipts.values();
  return judged.map((one, place) => {
    const receipt = 'problem' in one ? one.problem : left.next().value;
    const email = emails[place];
    if (receipt instanceof Problem) return refusalInBatch(receipt);
    if (receipt === undefined || email === undefined) throw new Error('an email of a batch has no answer');
    return taken(receipt, email, call, deps);
  });
}

function taken(
  { id, message, suppressed = [] }: Receipt,
  { To, Cc, Bcc }: Email,
  call: Call,
  { clock }: Pick<ProviderDeps, 'clock'>,
) {
  const inactive = suppressed.join(', ');
  const told =
    inactive === '' ? 'OK' : `Message OK, but will not deliver to these inactive addresses: ${inactive}`;
  return {
    To: To ?? '',
    ...(Cc && { Cc }),
    ...(Bcc && { Bcc }),
    SubmittedAt: formatTimestamp(clock.wall()),
    MessageID: messageUuid(id),
    ErrorCode: 0,
    Message: isTester(call) ? message : told,
  };
}
