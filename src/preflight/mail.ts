import { type Mailbox, parseAddressList } from '../domain/mailbox.ts';
import type { ParsedField, ParsedMessage } from '../preview/parsed.ts';
import type { MailDraft } from './contract.ts';
import { type Html, readHtml } from './html.ts';

/** What rules look at: a message, taken apart. */

/** A message. */
export interface Mail {
  /** Unfolded, encoded words decoded, in order. */
  readonly headers: readonly ParsedField[];
  readonly subject: string;
  readonly text: string | null;
  readonly html: Html | null;
  /** Of the HTML, decoded. */
  readonly htmlBytes: number;
  /** Names of its files. */
  readonly files: readonly string[];
  /** Of the whole, as it is sent; null for a draft. */
  readonly sizeBytes: number | null;
}

/** A message that was parsed. */
export function mailOf(parsed: ParsedMessage, sizeBytes: number): Mail {
  const { headers, subject, text, html, attachments } = parsed;
  return {
    headers,
    subject,
    text,
    ...htmlOf(html),
    files: attachments.map(({ filename }) => filename),
    sizeBytes,
  };
}

/** A draft as if it were a message. */
export function mailOfDraft({ from, subject, html, text, headers = {} }: MailDraft): Mail {
  const named = Object.entries({ From: from, Subject: subject, ...headers });
  return {
    headers: named.map(([name, value]) => ({ name, value })),
    subject,
    text: text === '' ? null : text,
    ...htmlOf(html === '' ? null : html),
    files: [],
    sizeBytes: null,
  };
}

function htmlOf(html: string | null): Pick<Mail, 'html' | 'htmlBytes'> {
  if (html === null) return { html: null, htmlBytes: 0 };
  return { html: readHtml(html), htmlBytes: Buffer.byteLength(html) };
}

/** A field's first value; null without the field, or with an empty one. */
export function fieldValue({ headers }: Pick<Mail, 'headers'>, lowerName: string): string | null {
  return headers.find(({ name }) => name.toLowerCase() === lowerName)?.value.trim() || null;
}

/** The mailboxes of a field; none where it cannot be read. */
export function mailboxesIn(mail: Pick<Mail, 'headers'>, lowerName: string): readonly Mailbox[] {
  const parsed = parseAddressList(fieldValue(mail, lowerName) ?? '');
  return parsed.ok ? parsed.value : [];
}
