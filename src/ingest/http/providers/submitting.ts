import type { z } from 'zod';
import type { Submission } from '../../../domain/message.ts';
import { reserveMore } from '../../../http/body.ts';
import type { Exchange } from '../../../http/exchange.ts';
import { type FieldFault, Problem } from '../../../http/problem.ts';
import type { Share } from '../../../lib/budget.ts';
import { yieldToLoop } from '../../../lib/clock.ts';
import { decodeBase64 } from '../../../lib/decode.ts';
import { requestFaults } from '../../../operations/request-faults.ts';
import type { Call } from '../call.ts';
import {
  type AttachmentField,
  type FieldName,
  type Fields,
  faultyFields,
  NO_FIELDS,
  type PointTo,
  type ReadFields,
} from '../fields.ts';
import type { SubmitDeps } from '../hand-over.ts';
import { type Rewrite, readJsonBody } from '../read-fields.ts';
import { base64Rule } from '../schema.ts';
import { makeSubmission } from '../submission.ts';

/** From a provider's JSON to submissions. */

/** The fields that a provider's message has, in our terms; what it lacks is as in {@link NO_FIELDS}. */
export type GivenFields = Partial<Fields> & Pick<Fields, 'from'>;

/** A message as a provider's API has it. */
export interface GivenMessage {
  readonly fields: GivenFields;
  /** Where the provider's message has each of our fields. */
  readonly pointTo: PointTo;
  /** Fields that were given but could not be read; what is wrong with them is told beside. */
  readonly faulty?: ReadonlySet<FieldName>;
  /** See {@link ReadFields}. */
  readonly relativeSendAt?: string;
  readonly ownSubject?: boolean;
  readonly asked?: NonNullable<ReadFields['asked']>;
  readonly givenSubject?: string;
  readonly unlessRepeat?: Problem;
}

/** The most faults of a body's form that are told. */
const MAX_FAULTS = 20;

/** Reads a body by a provider's schema. Throws a `Problem`: 415, 413, 400 with the faulty fields. */
export async function readBody<T>(
  exchange: Exchange,
  schema: z.ZodType<T>,
  { options: { limits } }: Pick<SubmitDeps, 'options'>,
  budget: Share,
  rewrite?: Rewrite,
): Promise<T> {
  return checked(await readJsonBody(exchange, { limits, budget }, rewrite), schema);
}

/** A value by a provider's schema. Throws a `Problem`: 400 with the faulty fields. */
export function checked<T>(value: unknown, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw faultyFields('invalid_submission', requestFaults(parsed.error.issues.slice(0, MAX_FAULTS)));
}

/**
 * Names the fields that were given and have no meaning here, in the answer's header `X-Waybill-Ignored`; `others` were
 * given elsewhere.
 */
export function tellIgnored(
  exchange: Exchange,
  given: object,
  ignorable: readonly string[],
  others: readonly string[] = [],
): void {
  const ignored = ignorable.filter((name) => Reflect.get(given, name) != null);
  ignored.push(...others);
  if (ignored.length > 0) exchange.setHeader('X-Waybill-Ignored', ignored.join(', '));
}

/**
 * A submission of a provider's message. `others` are faults found beside its fields. Throws a `Problem`: 400 with all
 * faults, 413, 403.
 */
export async function toSubmission(
  call: Call,
  { fields, faulty = new Set<never>(), ...rest }: GivenMessage,
  idempotencyKey: string | null,
  deps: SubmitDeps,
  others: readonly FieldFault[] = [],
): Promise<Submission> {
  const given: ReadFields = { fields: { ...NO_FIELDS, ...fields }, faulty, faults: [], ...rest };
  const { submission } = await makeSubmission(call, given, idempotencyKey, deps, others);
  return submission;
}

/** A message of a batch: a submission, or why it is none. */
export type Judged = { readonly submission: Submission } | { readonly problem: Problem };

/** Makes a submission of each message of a batch. Throws a `Problem` 503 alone. */
export function judgeAll<T>(
  messages: readonly T[],
  call: Call,
  budget: Share,
  make: (message: T, place: number) => Promise<Submission>,
): Promise<Judged[]> {
  return inTurns(
    messages,
    call,
    budget,
    async (message, place): Promise<Judged> => {
      try {
        return { submission: await make(message, place) };
      } catch (error) {
        if (error instanceof Problem && error.status !== 503) return { problem: error };
        throw error;
      }
    },
    (one) => ('submission' in one ? one.submission.content.sizeBytes : 0),
  );
}

/** Makes a value of each of a list, with turns for others in between; counts the memory of what they became. */
export async function inTurns<T, R>(
  list: readonly T[],
  { exchange }: Call,
  budget: Share,
  make: (one: T, place: number) => Promise<R>,
  sizeOf: (made: R) => number,
): Promise<R[]> {
  const made: R[] = [];
  for (const [place, one] of list.entries()) {
    const result = await make(one, place);
    made.push(result);
    reserveMore(exchange, budget, sizeOf(result));
    // After the last one nobody waits for longer than for a single message.
    if (place < list.length - 1) await yieldToLoop();
  }
  return made;
}

/**
 * The bytes of a file, or why the text is not base64. Some SDKs write it in lines, as mail has it (RFC 2045 §6.8):
 * Postmark's for Ruby, Symfony's mailer.
 */
export function fileOf(text: string): AttachmentField['content'] {
  const joined = text.includes('\n') ? text.replaceAll(/\r?\n/g, '') : text;
  return decodeBase64(joined) ?? { rule: base64Rule(joined) };
}

/** An attachment without what a provider's API does not say. */
export function attachmentOf(
  given: Partial<AttachmentField> & Pick<AttachmentField, 'content'>,
): AttachmentField {
  return { filename: null, contentType: null, contentId: null, disposition: null, ...given };
}

/** The most faults that a text names. */
const MAX_TOLD = 20;

/** Faults as one text, for who reads no pointers: `/attachments/0/content` is `attachments[0].content`. */
export function faultsText(faults: readonly FieldFault[]): string {
  const texts = faults.slice(0, MAX_TOLD).map(faultText);
  return texts.reduce((all, text) => `${all}${all.endsWith('.') ? ' ' : '; '}${text}`);
}

function faultText({ pointer, detail }: FieldFault): string {
  const place = pointer
    .slice(1)
    .split('/')
    .map((token, depth) => (/^\d+$/.test(token) ? `[${token}]` : depth === 0 ? token : `.${token}`))
    .join('');
  return `${place || 'body'}: ${detail}`;
}
