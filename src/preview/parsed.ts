import { withoutUrlEscapes } from '../lib/decode.ts';
import { checkHeader } from '../mail/headers.ts';

/** A parsed message. All of it is text from strangers. */
export interface ParsedMessage {
  readonly subject: string;
  /** The author as one text. */
  readonly from: string;
  /** Header fields, unfolded, encoded words decoded, in order; a bounded number. */
  readonly headers: readonly ParsedField[];
  readonly html: string | null;
  readonly text: string | null;
  /** What it says as text, from the HTML where there is no text: the beginning of it. */
  readonly plain: string;
  /** Who it names as its authors and recipients, groups taken apart; a bounded number. */
  readonly mailboxes: ParsedMailboxes;
  readonly attachments: readonly ParsedAttachment[];
  /** How many pictures its HTML has a browser fetch from elsewhere, where it may. */
  readonly remotePictures: number;
  /** Web addresses in it. */
  readonly links: readonly FoundLink[];
  /** Likely codes to type in, such as one of six digits. */
  readonly codes: readonly string[];
  /** What was left out, or unreadable. */
  readonly notes: readonly string[];
}

/** A mailbox in a header. */
export interface ParsedMailbox {
  /** Empty if there is none. */
  readonly name: string;
  readonly address: string;
}

/** The mailboxes in a message's header. Those of Bcc are only in mail that was never sent. */
export type ParsedMailboxes = Readonly<Record<'from' | 'to' | 'cc' | 'replyTo', readonly ParsedMailbox[]>>;

/** A link in a message. */
export interface FoundLink {
  readonly url: string;
  /** The text that a reader sees; empty if that is the address itself. */
  readonly text: string;
}

/** A field of the header. */
export interface ParsedField {
  readonly name: string;
  readonly value: string;
}

/** A file in a message. */
export interface ParsedAttachment {
  readonly filename: string;
  /** Lower case, without parameters. */
  readonly contentType: string;
  readonly inline: boolean;
  /** Without angle brackets. */
  readonly contentId: string | null;
  readonly content: Uint8Array;
}

/** A message that cannot be previewed: invalid MIME, or too much of it. The text is for people. */
export class PreviewError extends Error {
  /**
   * - `unreadable`: the message cannot be parsed.
   * - `too_large`: larger than a preview allows.
   * - `too_slow`: parsing took too long.
   * - `busy`: too many are being read; try again.
   */
  readonly code: 'unreadable' | 'too_large' | 'too_slow' | 'busy';
  constructor(code: PreviewError['code'], message: string) {
    super(message);
    this.name = 'PreviewError';
    this.code = code;
  }
}

/**
 * The policy of a document made from a message: its own origin, no script, form or frame, nothing external (design
 * §11).
 */
export const DOCUMENT_POLICY = policyWith('data:', "'none'");

/** What addresses without a host are meant for: otherwise pictures would be asked of the dashboard itself. */
const NO_HOST = 'https://nothing.invalid/';

/** The same, but that the reader's browser fetches pictures, which somebody has asked for (decision 0017). */
export const REMOTE_PICTURES_POLICY = policyWith('https: data:', NO_HOST);

/** The policy for a message's document that is shown so. */
export function policyOf({ html }: Pick<ParsedMessage, 'html'>, look: DocumentLook): string {
  return fetchesPictures(html, look) ? REMOTE_PICTURES_POLICY : DOCUMENT_POLICY;
}

function fetchesPictures(html: string | null, { hasRemotePictures = false }: DocumentLook): boolean {
  return hasRemotePictures && !tellsByStyle(html ?? '');
}

function policyWith(pictures: string, base: string): string {
  return `sandbox; default-src 'none'; img-src ${pictures}; style-src 'unsafe-inline'; base-uri ${base}; form-action 'none'`;
}

/** Most bytes of pictures in a document. */
const MAX_PICTURES = 10 * 1024 * 1024;
const PICTURE_TYPE = /^image\/(?:png|jpeg|gif|webp|bmp|x-icon|avif)$/;

/**
 * Elements that could make a browser send something in spite of a policy (a DNS look-up, an early connection), lead
 * elsewhere, or run. They lose their names, and with them their effect.
 */
const ACTIVE =
  /<(\/?)(?=(?:base|meta|link|script|iframe|frame|frameset|object|embed|applet|form|portal|template|plaintext|xmp|noscript)[\s/>])/gi;

/** How a document is shown: as clients in dark mode do, and with pictures from elsewhere. */
interface DocumentLook {
  readonly isDark?: boolean;
  readonly hasRemotePictures?: boolean;
}

/** An inert document that shows a message's HTML, or its text. What it may fetch is for its policy to say. */
export function documentOf(message: ParsedMessage, look: DocumentLook = {}): string {
  const { isDark = false } = look;
  const body =
    message.html === null ? textDocument(message.text ?? '') : htmlDocument(message, message.html, look);
  const colours = !isDark ? LIGHT : hasOwnDark(message.html ?? '') ? DARK : TURNED;
  const base = fetchesPictures(message.html, look) ? `<base href="${NO_HOST}">` : '';
  return `<!doctype html><html><head>${base}<meta charset="utf-8"><meta name="referrer" content="no-referrer"><style>${colours}${STYLE}</style></head><body>${body}</body></html>`;
}

// The root has no background, so that the mail's own fills all there is.
const LIGHT = 'html{color-scheme:light;color:#111}';
const DARK = 'html{color-scheme:dark;color:#eee}';
/** A mail without styles for dark mode, as by clients that invert its colours. */
const TURNED = `${LIGHT}html,img{filter:invert(1) hue-rotate(180deg)}`;

/** Styles of a mail for one of the modes. */
const OWN_DARK = /\(\s*prefers-color-scheme\s*:\s*dark\s*\)/i;
const SHEET = /<style\b[\s\S]*?(?:<\/style|$)/gi;
const MODE = /\(\s*prefers-color-scheme\s*:\s*(dark|light)\s*\)/gi;
const ALWAYS = '(min-width:0px)';
const NEVER = '(max-width:0px)';

/** Whether it has styles for dark mode that {@link inMode} has hold. */
function hasOwnDark(html: string): boolean {
  return (html.match(SHEET) ?? []).some((sheet) => OWN_DARK.test(sheet));
}

/** Styles for the mode that was chosen hold, whatever the reader's machine prefers. */
function inMode(html: string, isDark: boolean): string {
  return html.replace(SHEET, (sheet) =>
    sheet.replace(MODE, (_, mode: string) => ((mode.toLowerCase() === 'dark') === isDark ? ALWAYS : NEVER)),
  );
}

const STYLE =
  'body{margin:12px;font:14px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}img{max-width:100%}pre{white-space:pre-wrap;font:13px/1.5 ui-monospace,monospace;margin:0}x-script,x-noscript,x-template,x-title{display:none}';

function htmlDocument(message: ParsedMessage, html: string, look: DocumentLook): string {
  const inert = inMode(html, look.isDark === true).replace(ACTIVE, '<$1x-');
  return withPictures(
    fetchesPictures(html, look) ? inert.replace(TELLING, 'x-').replace(WITHIN, 'x-') : inert,
    message.attachments,
  );
}

/** Before attributes by which a picture would be fetched with cookies, or with the page it is on. */
const TELLING = /\b(?=(?:crossorigin|referrerpolicy)[\s=/>])/gi;
/** Before the addresses of links within the mail: from its base they would lead to {@link NO_HOST}, away from the mail. */
const WITHIN = /\b(?=href\s*=\s*["']?\s*#)/gi;
/** What says the same of a picture in a style (CSS Values 5, request URL modifiers). */
const TELLING_STYLE = /(?:cross-?origin|referrer-?policy)\(/i;
/** From here on a style's words may have comments and elements within them. */
const FOREIGN = /<(?:svg|math)[\s/>]/i;

/**
 * Whether styles may have a picture fetched with cookies, or with the page it is on. Whoever writes so means to: such a
 * message is better shown without remote pictures than mended.
 */
export function tellsByStyle(html: string): boolean {
  // Browsers decode references in attributes, and not in styles.
  for (const copy of [html, withoutReferences(html)])
    if (TELLING_STYLE.test(copy) || TELLING_STYLE.test(withoutCssEscapes(copy))) return true;
  const foreign = html.search(FOREIGN);
  return foreign >= 0 && /<style[\s/>]/i.test(html.slice(foreign));
}

/** The names of characters that matter to {@link tellsByStyle}. */
const REFERENCES: Readonly<Record<string, string>> = { lpar: '(', bsol: '\\', tab: '\t', newline: '\n' };

/** As browsers read numeric references: also without a semicolon, with any number of zeros. */
function withoutReferences(html: string): string {
  return html.replace(
    /&(?:#x([0-9a-f]+);?|#(\d+);?|(lpar|bsol|tab|newline);)/gi,
    (whole, hex: string | undefined, decimal: string | undefined, name: string | undefined) =>
      name === undefined
        ? characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16), whole)
        : (REFERENCES[name.toLowerCase()] ?? whole),
  );
}

function withoutCssEscapes(text: string): string {
  return text.replace(
    /\\(?:([0-9a-f]{1,6})(?:\r\n|\s)?|([^\n\r\f]))/gi,
    (whole, hex: string | undefined, character: string | undefined) =>
      character ?? characterOf(Number.parseInt(hex ?? '', 16), whole),
  );
}

function characterOf(code: number, otherwise: string): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : otherwise;
}

function textDocument(text: string): string {
  return `<pre>${escapeHtml(text)}</pre>`;
}

/** Replaces references (RFC 2392) by the pictures in the message. */
export function withPictures(html: string, attachments: readonly ParsedAttachment[]): string {
  const byId = new Map(
    attachments
      .filter(({ contentId, contentType }) => contentId !== null && PICTURE_TYPE.test(contentType))
      .map((file) => [file.contentId, file]),
  );
  if (byId.size === 0) return html;
  let left = MAX_PICTURES;
  return html.replace(/\bcid:([^"'\s)>]{1,250})/gi, (reference: string, id: string) => {
    const file = byId.get(withoutUrlEscapes(id));
    if (file === undefined || file.content.length > left) return reference;
    left -= file.content.length;
    return `data:${file.contentType};base64,${Buffer.from(file.content).toString('base64')}`;
  });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** What a draft needs besides the message's text: its recipients. */
export interface DraftOf {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly priority: string;
}

/** A new message's fields, in the form of the API's JSON, and the parts of the old one that it lacks. */
export interface Draft {
  readonly message: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
}

/** Bytes of all files in a draft, which travels to a browser and back. */
export const MAX_DRAFT_FILES = 5 * 1024 * 1024;
/** The API's default limit of custom headers. */
const MAX_HEADERS = 50;

/** Fields added by us or by servers on the way: a new message gets its own. */
const OWN = new Set(['date', 'message-id', 'return-path', 'delivered-to', 'user-agent', 'x-mailer']);

/** The fields of a new message like this one. */
export function draftOf(of: DraftOf, parsed: ParsedMessage): Draft {
  const notes: string[] = [];
  const { html, text } = parsed;
  const message = {
    from: of.from,
    to: of.to,
    cc: of.cc,
    bcc: of.bcc,
    subject: parsed.subject,
    text: text ?? (html === null ? '' : null),
    html,
    headers: headersOf(parsed),
    attachments: filesOf(parsed, notes),
    tags: of.tags,
    metadata: of.metadata,
    priority: of.priority,
  };
  return { message, notes: [...parsed.notes, ...notes] };
}

function headersOf({ headers }: ParsedMessage): Record<string, string> {
  const kept: Record<string, string> = Object.create(null);
  const seen = new Set<string>();
  for (const { name, value } of headers) {
    const lower = name.toLowerCase();
    if (OWN.has(lower) || seen.has(lower) || seen.size >= MAX_HEADERS) continue;
    if (checkHeader(name, value) !== null) continue;
    seen.add(lower);
    kept[name] = value;
  }
  return { ...kept };
}

function filesOf({ attachments }: ParsedMessage, notes: string[]): object[] {
  let left = MAX_DRAFT_FILES;
  const files: object[] = [];
  for (const { filename, contentType, inline, contentId, content } of attachments) {
    if (content.length > left) {
      notes.push(`${filename} is too large to be sent along from here.`);
      continue;
    }
    left -= content.length;
    files.push({
      filename,
      contentType,
      content: Buffer.from(content).toString('base64'),
      disposition: inline ? 'inline' : 'attachment',
      ...(contentId === null ? {} : { contentId }),
    });
  }
  return files;
}
