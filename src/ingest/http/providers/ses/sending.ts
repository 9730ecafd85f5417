import type { z } from 'zod';
import { type Mailbox, parseMailbox } from '../../../../domain/mailbox.ts';
import type { Submission } from '../../../../domain/message.ts';
import type { TemplateValues } from '../../../../domain/template.ts';
import type { Exchange } from '../../../../http/exchange.ts';
import { parseJson } from '../../../../http/json.ts';
import { type FieldFault, Problem, quote } from '../../../../http/problem.ts';
import { giveBack, type Share } from '../../../../lib/budget.ts';
import { decodeBase64 } from '../../../../lib/decode.ts';
import { idempotencyKeyFault } from '../../../message-rules.ts';
import { canUnsubscribe } from '../../../unsubscribing.ts';
import type { Call } from '../../call.ts';
import type { AddressField, PointTo } from '../../fields.ts';
import type { SubmitDeps } from '../../hand-over.ts';
import { takeOne } from '../../hand-over.ts';
import { type GivenKey, readIdempotencyKey } from '../../idempotency.ts';
import { NO_PARAMETERS, readParameters } from '../../query.ts';
import { headerValues, MESSAGE_POINTER, rawSubmission } from '../../raw.ts';
import { requireType } from '../../read-fields.ts';
import { base64Rule } from '../../schema.ts';
import { refuseSender, signingOf, submissionContext } from '../../submission-context.ts';
import type { ProviderDeps } from '../provider.ts';
import { checked, tellIgnored, toSubmission } from '../submitting.ts';
import { readSignedBody } from './access.ts';
import { answerAsSes } from './answers.ts';
import {
  type Email,
  emailSchema,
  IGNORED,
  IGNORED_OF_ATTACHMENTS,
  messageOf,
  type Places,
  placesOfTemplate,
  SIMPLE,
  type Template,
  tagsOf,
  type Words,
  wordsOfSimple,
} from './fields.ts';
import { readTemplateData, renderInline } from './template.ts';

/** `POST /v2/email/outbound-emails`, and what it shares with mail in bulk. */

/** Answers with the id of the message. */
export async function send(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange } = call;
  const outcome = await takeOne(call, deps, async (budget) => {
    const email = await readSigned(call, emailSchema, deps, budget);
    const { key, faults } = readSesKey(exchange);
    refuseInvalid([email.FromEmailAddress, ...recipientsOf(email.Destination)]);
    const stream = streamOf(email, call, deps);
    const { Simple, Template } = email.Content;
    const ignorable = stream === null ? IGNORED_WITHOUT_STREAM : IGNORED;
    tellIgnoredIn(exchange, email, ignorable, Simple?.Attachments ?? Template?.Attachments);
    const submission = await submissionOf(call, email, { key, stream, others: faults }, deps);
    return { submission, dryRun: false, ofTemplate: Template != null };
  });
  if (outcome.kind === 'receipt') answerAsSes(exchange, { MessageId: outcome.receipt.id });
}

/** Reads a body of JSON by a schema. Throws a `Problem`: 415, 413, 400 with the faulty fields or another body. */
export async function readSigned<T>(
  { exchange }: Call,
  schema: z.ZodType<T>,
  { options: { limits } }: Pick<SubmitDeps, 'options'>,
  budget: Share,
): Promise<T> {
  requireType(exchange, ['application/json']);
  const body = await readSignedBody(exchange, limits, budget);
  const value = parseJson(body, { maxDepth: limits.maxJsonDepth, maxValues: limits.maxJsonValues });
  giveBack(body);
  readParameters(exchange.query, NO_PARAMETERS);
  return checked(value, schema);
}

/** The key that repeats have in common: SDKs try again by themselves, with the same id. */
export function readSesKey(exchange: Exchange): GivenKey {
  const given = readIdempotencyKey(exchange);
  const invocation = exchange.headers['amz-sdk-invocation-id']?.toString() ?? '';
  if (given.key !== null || given.faults.length > 0) return given;
  if (idempotencyKeyFault(invocation) !== null) return given;
  return { key: invocation, faults: [] };
}

/** Every recipient of a destination: To, Cc and Bcc in this order. */
export function recipientsOf(destination: Email['Destination']): string[] {
  const { ToAddresses, CcAddresses, BccAddresses } = destination ?? {};
  return [...(ToAddresses ?? []), ...(CcAddresses ?? []), ...(BccAddresses ?? [])];
}

const INVALID = /@(?:[^\s@<>]+\.)?invalid>?\s*$/i;

/** Throws the problem 400 for an address in `invalid`: clients test their access so, and expect to be refused. */
export function refuseInvalid(addresses: readonly (string | null | undefined)[]): void {
  const found = addresses.find((address) => INVALID.test(address ?? ''));
  if (found !== undefined)
    throw new Problem(400, 'address_invalid', 'There is no mail in the domain "invalid".');
}

/** Names what is ignored; of attachments, once for all of them. */
export function tellIgnoredIn(
  exchange: Exchange,
  given: object,
  ignorable: readonly string[],
  attachments: Template['Attachments'],
): void {
  const inAttachments = attachments
    ? IGNORED_OF_ATTACHMENTS.filter((name) => attachments.some((one) => one[name] != null))
    : [];
  tellIgnored(exchange, given, ignorable, inAttachments);
}

const IGNORED_WITHOUT_STREAM = [...IGNORED, 'ListManagementOptions'];

/** The stream that recipients can unsubscribe from; null: not asked for, or not possible here. */
function streamOf({ FromEmailAddress, ListManagementOptions }: Email, { caller }: Call, deps: SubmitDeps) {
  const stream = ListManagementOptions?.TopicName;
  if (!stream) return null;
  const from = parseMailbox(FromEmailAddress ?? '');
  if (!from.ok) return null;
  const isPossible = canUnsubscribe(stream, from.value.domain, signingOf(caller.key), deps.unsubscribing());
  return isPossible ? stream : null;
}

/** What is known of a message beside its body. */
interface Beside {
  readonly key: string | null;
  readonly stream: string | null;
  readonly others: readonly FieldFault[];
}

async function submissionOf(
  call: Call,
  email: Email,
  beside: Beside,
  deps: ProviderDeps,
): Promise<Submission> {
  const { Simple, Raw, Template } = email.Content;
  const kinds = [Simple, Raw, Template].filter((kind) => kind != null);
  const bounce = readReversePath(email.FeedbackForwardingEmailAddress);
  const others = [...beside.others, ...bounce.faults];
  if (kinds.length !== 1) others.push(ONE_CONTENT);
  if (Raw != null && email.ReplyToAddresses?.length) others.push(REPLY_TO_IN_RAW);
  const letter = {
    from: email.FromEmailAddress,
    replyTo: email.ReplyToAddresses,
    destination: email.Destination,
    tags: email.EmailTags,
  };
  const toBuilt = async (words: Words, places: Places) => {
    const { fields, pointTo } = messageOf(letter, words, places);
    const message = { fields: { ...fields, unsubscribe: beside.stream }, pointTo };
    return await toSubmission(call, message, beside.key, deps, others);
  };
  const { maxMessageBytes } = deps.options.limits;
  const build = async () => {
    if (Raw != null) return await toRaw(call, { ...email, data: Raw.Data }, { ...beside, others }, deps);
    if (Template == null) return await toBuilt(wordsOfSimple(Simple ?? {}), SIMPLE);
    const place = '/Content/Template';
    await refuseUnknown(Template, call, beside.key === null ? [] : [beside.key], deps);
    const data = readTemplateData(Template.TemplateData, `${place}/TemplateData`, others);
    const places = placesOfTemplate(place, '/Destination', '/EmailTags');
    return await toBuilt(
      await wordsOfTemplate(Template, data, { places, faults: others, maxMessageBytes }),
      places,
    );
  };
  return withReversePath(await build(), bounce.mailbox, call);
}

const ONE_CONTENT: FieldFault = {
  pointer: '/Content',
  code: 'required',
  detail: 'Must have exactly one of Simple, Raw and Template.',
};

const REPLY_TO_IN_RAW: FieldFault = {
  pointer: '/ReplyToAddresses',
  code: 'not_supported',
  detail: 'A finished message is sent as it is: write Reply-To into it.',
};

/** The content of a template with its values; of a stored one, what it is called by. */
export async function wordsOfTemplate(
  template: Template,
  values: TemplateValues,
  { places, faults, maxMessageBytes }: { places: Places; faults: FieldFault[]; maxMessageBytes: number },
): Promise<Words> {
  const { TemplateContent, Headers: headers, Attachments: attachments } = template;
  const name = nameOf(template);
  if (name === null) {
    const texts = await renderInline(TemplateContent ?? {}, { values, places, faults, maxMessageBytes });
    return { ...texts, headers, attachments };
  }
  // What is given beside a stored one is refused with it.
  const { Subject = '', Text = null, Html = null } = TemplateContent ?? {};
  const stored = { name, values };
  return { subject: Subject ?? '', text: Text, html: Html, stored, headers, attachments };
}

/** The name of a stored template, which an ARN ends in; null: the template is given. */
function nameOf({ TemplateName, TemplateArn }: Template): string | null {
  return TemplateName || TemplateArn?.split('/').at(-1) || null;
}

/** Throws the problem 404 for a stored template that is not there, unless something was sent under one of these keys. */
export async function refuseUnknown(
  template: Template,
  { caller }: Call,
  keys: readonly string[],
  { templates, views, clock }: ProviderDeps,
): Promise<void> {
  const name = nameOf(template);
  if (name === null || typeof (await templates.published(name.toLowerCase())) !== 'string') return;
  for (const key of keys) if ((await views.remembered(caller.key.id, key, clock.wall())) !== null) return;
  throw new Problem(404, 'template_not_found', `Template ${quote(name)} does not exist.`);
}

/** Where bounces are asked for, and what is wrong with that. */
export function readReversePath(given: string | null | undefined) {
  if (!given) return { mailbox: null, faults: [] };
  const parsed = parseMailbox(given);
  if (parsed.ok) return { mailbox: parsed.value, faults: [] };
  const { code, detail } = parsed;
  return { mailbox: null, faults: [{ pointer: '/FeedbackForwardingEmailAddress', code, detail }] };
}

/** The submission with another reverse-path. Throws the problem 403 for one that the key may not use. */
export function withReversePath(
  submission: Submission,
  mailbox: Mailbox | null,
  { caller }: Call,
): Submission {
  if (mailbox === null) return submission;
  refuseSender(caller.key, mailbox.domain);
  const { content, envelope } = submission;
  const utf8 = content.flags.utf8 || !mailbox.ascii;
  return {
    ...submission,
    content: { ...content, flags: { ...content.flags, utf8 } },
    envelope: { ...envelope, reversePath: mailbox.address },
  };
}

const RAW_DATA = '/Content/Raw/Data';

/** A finished message: its envelope is the destination's or, without one, as its own header says. */
async function toRaw(
  call: Call,
  email: Email & { readonly data: string },
  { key, stream, others }: Beside,
  deps: SubmitDeps,
): Promise<Submission> {
  const { limits } = deps.options;
  const body = decodeBase64(email.data);
  if (body === null)
    throw new Problem(400, 'invalid_submission', base64Rule(email.data), {
      errors: [...others, { pointer: RAW_DATA, code: 'base64', detail: base64Rule(email.data) }],
    });
  const written = (...names: readonly string[]) => headerValues(body, names, limits.maxHeaderBytes);
  const recipients = recipientsOf(email.Destination);
  const to: AddressField =
    recipients.length > 0
      ? { texts: recipients, lists: false }
      : { texts: written('to', 'cc', 'bcc'), lists: true };
  const from = email.FromEmailAddress || (written('from')[0] ?? null);
  refuseInvalid([from, ...to.texts]);
  const fields = { from, to, tags: tagsOf(email.EmailTags), unsubscribe: stream };
  const pointTo = pointToRaw(email, recipients.length > 0);
  return await rawSubmission({ fields, pointTo }, body, submissionContext(call, key, deps), limits, others);
}

function pointToRaw({ FromEmailAddress, Destination }: Email, isAddressed: boolean): PointTo {
  return (field, place) => {
    if (field === 'tags') return place === undefined ? '/EmailTags' : `/EmailTags/${place}`;
    if (field === 'unsubscribe') return '/ListManagementOptions';
    if (field === 'from') return FromEmailAddress ? '/FromEmailAddress' : `${MESSAGE_POINTER}/From`;
    if (!isAddressed) return `${MESSAGE_POINTER}/To`;
    if (typeof place !== 'number') return '/Destination';
    let left = place;
    for (const list of ['ToAddresses', 'CcAddresses', 'BccAddresses'] as const) {
      const { length } = Destination?.[list] ?? [];
      if (left < length) return `/Destination/${list}/${left}`;
      left -= length;
    }
    return '/Destination';
  };
}
