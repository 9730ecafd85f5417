import type { ParsedAttachment, ParsedMessage } from './parsed.ts';

/**
 * The policy of a document made of a message: an origin of its own, no script, no form, no frame, nothing from anywhere
 * (design §11).
 */
export const DOCUMENT_POLICY =
  "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** Bytes of pictures that are put into a document. */
const MAX_PICTURES = 10 * 1024 * 1024;
const PICTURE_TYPE = /^image\/(?:png|jpeg|gif|webp|bmp|x-icon|avif)$/;

/**
 * Elements that could make a browser ask for something in spite of a policy (a look-up of a name, a connection made
 * ahead), lead elsewhere, or run. They lose their names, and with them what they do.
 */
const ACTIVE =
  /<(\/?)(?=(?:base|meta|link|script|iframe|frame|frameset|object|embed|applet|form|portal|template|plaintext|xmp|noscript)[\s/>])/gi;

/** A document that shows a message's HTML, or its text, and can do nothing. */
export function documentOf(message: ParsedMessage): string {
  const body = message.html === null ? textDocument(message.text ?? '') : htmlDocument(message, message.html);
  return `<!doctype html><html><head><meta charset="utf-8"><meta name="referrer" content="no-referrer"><style>${STYLE}</style></head><body>${body}</body></html>`;
}

const STYLE =
  'html{color-scheme:light;background:#fff;color:#111}body{margin:12px;font:14px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}img{max-width:100%}pre{white-space:pre-wrap;font:13px/1.5 ui-monospace,monospace;margin:0}x-script,x-noscript,x-template,x-title{display:none}';

function htmlDocument(message: ParsedMessage, html: string): string {
  return withPictures(html.replace(ACTIVE, '<$1x-'), message.attachments);
}

function textDocument(text: string): string {
  return `<pre>${escapeHtml(text)}</pre>`;
}

/** Pictures that travel with the message stand in the place of their references (RFC 2392). */
function withPictures(html: string, attachments: readonly ParsedAttachment[]): string {
  const byId = new Map(
    attachments
      .filter(({ contentId, contentType }) => contentId !== null && PICTURE_TYPE.test(contentType))
      .map((file) => [file.contentId, file]),
  );
  if (byId.size === 0) return html;
  let left = MAX_PICTURES;
  return html.replace(/\bcid:([^"'\s)>]{1,250})/gi, (reference: string, id: string) => {
    const file = byId.get(decoded(id));
    if (file === undefined || file.content.length > left) return reference;
    left -= file.content.length;
    return `data:${file.contentType};base64,${Buffer.from(file.content).toString('base64')}`;
  });
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
