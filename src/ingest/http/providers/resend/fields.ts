import { z } from 'zod';
import { addressKey, parseAddressList } from '../../../../domain/mailbox.ts';
import { type FieldFault, pointerToken } from '../../../../http/problem.ts';
import { formatTimestamp } from '../../../../lib/clock.ts';
import type { AddressField, FieldName, NamedValue, PointTo } from '../../fields.ts';
import { NO_ADDRESSES } from '../../fields.ts';
import { attachmentOf, fileOf, type GivenMessage } from '../submitting.ts';

/** Resend's fields, and what they are in ours (contract-2 §C2). */

const addresses = () => z.union([z.string(), z.array(z.string())]).nullish();

const attachment = z.strictObject({
  /** Lists of bytes are base64 by now (`byte-lists.ts`). */
  content: z.union([z.string(), z.strictObject({ type: z.literal('Buffer'), data: z.string() })]).nullish(),
  filename: z.string().nullish(),
  content_type: z.string().nullish(),
  content_id: z.string().nullish(),
  /** Its older name. */
  inline_content_id: z.string().nullish(),
  /** Nothing is fetched: refused. */
  path: z.unknown().optional(),
});

/** The body of `POST /emails`, and each of `POST /emails/batch`. */
export const emailSchema = z.strictObject({
  from: z.string().nullish(),
  to: addresses(),
  cc: addresses(),
  bcc: addresses(),
  reply_to: addresses(),
  subject: z.string().nullish(),
  html: z.string().nullish(),
  text: z.string().nullish(),
  /** Of several values each is a header. */
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())]).nullable()).nullish(),
  tags: z.array(z.strictObject({ name: z.string(), value: z.string().nullish() })).nullish(),
  attachments: z.array(attachment).nullish(),
  scheduled_at: z.string().nullish(),
  template: z
    .strictObject({ id: z.string(), variables: z.record(z.string(), z.unknown()).nullish() })
    .nullish(),
  topic_id: z.unknown().optional(),
});

/** See {@link emailSchema}. */
export type Email = z.infer<typeof emailSchema>;

/** Fields that are taken and mean nothing here. */
export const IGNORED = ['topic_id'] as const;

/** Resend's names of our fields, where they differ. */
const NAMES: Partial<Record<FieldName, string>> = {
  sendAt: 'scheduled_at',
  template: 'template/id',
  variables: 'template/variables',
};
const ATTACHMENT_NAMES: Readonly<Record<string, string>> = {
  contentType: 'content_type',
  contentId: 'content_id',
};

/** A message of Resend's in our terms, at `now` (wall ms). */
export function messageOf(email: Email, now: number): GivenMessage {
  const { scheduled_at: given } = email;
  const sendAt = given ? timeOf(given, now) : null;
  return {
    fields: {
      from: email.from || null,
      to: addressesOf(email.to),
      cc: addressesOf(email.cc),
      bcc: addressesOf(email.bcc),
      subject: email.subject ?? '',
      text: email.text || null,
      html: email.html || null,
      template: email.template?.id ?? null,
      variables: email.template == null ? null : (email.template.variables ?? {}),
      headers: headersOf(email),
      attachments: (email.attachments ?? []).map(attachmentFrom),
      tags: (email.tags ?? []).map(({ name, value }) => (value ? `${name}:${value}` : name)),
      sendAt,
    },
    pointTo,
    ownSubject: true,
    ...(given && given !== sendAt && { relativeSendAt: given }),
  };
}

/** A text is one address, not a list of them. */
function addressesOf(value: Email['to']): AddressField {
  if (!value || value.length === 0) return NO_ADDRESSES;
  return { texts: typeof value === 'string' ? [value] : value, lists: false };
}

function headersOf({ headers, reply_to }: Email): NamedValue[] {
  const given = Object.entries(headers ?? {}).flatMap(([name, values]) =>
    [values ?? []].flat().flatMap((value): NamedValue[] => (value === '' ? [] : [[name, value]])),
  );
  const { texts } = addressesOf(reply_to);
  const isSaid = texts.length === 0 || given.some(isReplyTo);
  return isSaid ? given : [['Reply-To', texts.join(', ')], ...given];
}

/**
 * The fault of a header Reply-To that leaves out an address of `reply_to`, which would get no reply. Symfony's mailer
 * says it twice, in full among the headers.
 */
export function replyToFaults(email: Email): FieldFault[] {
  const { texts } = addressesOf(email.reply_to);
  const said = texts.length === 0 ? [] : headersOf(email).filter(isReplyTo);
  const [name = ''] = said[0] ?? [];
  const written = texts.join(', ');
  const values = said.map(([, value]) => value);
  if (values.every((value) => value === written)) return [];
  const [asked, all] = [repliesOf(written), repliesOf(values.join(', '))];
  if (asked !== null && all !== null && [...asked].every((one) => all.has(one))) return [];
  const detail = 'This says other addresses than reply_to; give one of the two.';
  return [{ pointer: pointTo('headers', name), code: 'reply_to', detail }];
}

const isReplyTo = ([name]: NamedValue) => name.toLowerCase() === 'reply-to';

/** More than any mail has. */
const MAX_REPLIES = 100;

/** The addresses of a list; null if it is none. */
function repliesOf(text: string): ReadonlySet<string> | null {
  const list = parseAddressList(text, MAX_REPLIES);
  return list.ok ? new Set(list.value.map(({ address }) => addressKey(address))) : null;
}

function attachmentFrom(given: z.infer<typeof attachment>) {
  const { content, filename, content_type, content_id, inline_content_id } = given;
  const contentId = content_id || inline_content_id || null;
  return attachmentOf({
    filename: filename || null,
    content: fileOf((typeof content === 'object' ? content?.data : content) ?? ''),
    contentType: content_type || null,
    contentId,
    // What the text refers to is shown within it.
    disposition: contentId === null ? null : 'inline',
  });
}

const AHEAD = /^in (\d{1,5}) ?(m|min|mins|minute|minutes|h|hour|hours|d|day|days)$/i;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** "in 5 min" as a time; any other text as it is. */
export function timeOf(text: string, now: number): string {
  const [, count, unit = ''] = AHEAD.exec(text.trim()) ?? [];
  const unitMs = UNIT_MS[unit.charAt(0).toLowerCase()];
  return count === undefined || unitMs === undefined ? text : formatTimestamp(now + Number(count) * unitMs);
}

const pointTo: PointTo = (field, place, property) => {
  const name = NAMES[field] ?? field;
  if (place === undefined) return `/${name}`;
  const inner = `/${name}/${pointerToken(String(place))}`;
  return property === undefined ? inner : `${inner}/${ATTACHMENT_NAMES[property] ?? property}`;
};
