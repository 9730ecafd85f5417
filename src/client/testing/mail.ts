import type { Captured, MailAttachment, MailLink } from './captured.ts';
import { checkWanted, isOrMatches } from './query.ts';
import { attachmentLine, linkLine, listed, quoted, titleOf } from './show.ts';

/** Gets the bytes of an attachment. */
type FetchAttachment = (id: string, index: number) => Promise<Uint8Array>;

/** A captured mail. */
export class Mail {
  /** `msg_` and 26 characters. */
  readonly id: string;
  /** The box that it lies in; `null` without one. */
  readonly box: string | null;
  /** When the server accepted it (RFC 3339). */
  readonly createdAt: string;
  /** The author, as in `Shop <shop@example.com>`. */
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly tags: readonly string[];
  /** `null` if it has none. */
  readonly text: string | null;
  /** `null` if it has none. */
  readonly html: string | null;
  /** The web addresses in it, in their order. */
  readonly links: readonly MailLink[];
  /** What looks as if a reader should type it in, the likeliest first. */
  readonly codes: readonly string[];
  /** The fields of the header in their order, decoded. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly attachments: readonly MailAttachment[];
  readonly #fetch: FetchAttachment;

  constructor({ message, ...content }: Captured, fetch: FetchAttachment) {
    this.id = message.id;
    this.box = message.box;
    this.createdAt = message.createdAt;
    this.from = message.from;
    this.to = message.to;
    this.cc = message.cc;
    this.bcc = message.bcc;
    this.subject = message.subject;
    this.tags = message.tags;
    this.text = content.text;
    this.html = content.html;
    this.links = content.links;
    this.codes = content.codes;
    this.headers = content.headers;
    this.attachments = content.attachments;
    this.#fetch = fetch;
  }

  /** The address of the first link whose address or text is this, or matches. Throws if there is none. */
  link(which: string | RegExp): string {
    checkWanted('The link', which);
    const found = this.links.find((link) => isOrMatches(link.url, which) || isOrMatches(link.text, which));
    if (found !== undefined) return found.url;
    throw new Error(
      `There is no link ${quoted(which)} in ${titleOf(this)}. ${listed('links', this.links.map(linkLine))}`,
    );
  }

  /** The value of the first field of this name in the header, whatever its letter case; `null` if there is none. */
  header(name: string): string | null {
    const wanted = name.toLowerCase();
    return this.headers.find(([one]) => one.toLowerCase() === wanted)?.[1] ?? null;
  }

  /** The bytes of the first attachment whose file name is this, or matches. Rejects if there is none. */
  async attachment(name: string | RegExp): Promise<Uint8Array> {
    checkWanted('The name', name);
    const index = this.attachments.findIndex(({ filename }) => isOrMatches(filename, name));
    if (index >= 0) return await this.#fetch(this.id, index);
    const lines = listed('attachments', this.attachments.map(attachmentLine));
    throw new Error(`There is no attachment ${quoted(name)} in ${titleOf(this)}. ${lines}`);
  }
}
