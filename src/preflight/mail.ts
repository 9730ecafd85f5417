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
  readonly files: readonly File[];
  /** Of the whole, as it is sent; null for a draft. */
  readonly sizeBytes: number | null;
}

/** A file in a message. */
export interface File {
  readonly name: string;
  /** Lower case, without parameters. */
  readonly contentType: string;
  readonly sizeBytes: number;
}

/** A message that was parsed. */
export function mailOf(parsed: ParsedMessage, sizeBytes: number): Mail {
  const { headers, subject, text, html, attachments } = parsed;
  return {
    headers,
    subject,
    text,
    ...htmlOf(html),
    files: attachments.map(({ filename, contentType, content }) => ({
      name: filename,
      contentType,
      sizeBytes: content.length,
    })),
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
