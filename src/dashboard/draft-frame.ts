import { createHash } from 'node:crypto';
import type { Exchange } from '../http/exchange.ts';

/**
 * The frame in which the page shows a mail that is being written: an empty document that is told what to show by
 * `postMessage` (`DraftShown` of the contract), so that it keeps its place while its author types. No script but this runs:
 * the policy names it by its hash. What is shown has no origin, and nothing is loaded.
 */

/** Elements that run, lead elsewhere, or could make a browser send something in spite of the policy. */
const ACTIVE =
  'script,noscript,link,base,meta[http-equiv],iframe,frame,frameset,object,embed,applet,portal,template';

/** Scrolled and selected like any page; links and forms lead nowhere. */
const SCRIPT = `
addEventListener('message', ({ source, data }) => {
  if (source !== parent || typeof data?.html !== 'string') return;
  const mail = new DOMParser().parseFromString(data.html, 'text/html');
  for (const element of mail.querySelectorAll('${ACTIVE}')) element.remove();
  for (const element of mail.querySelectorAll('*'))
    for (const { name, value } of [...element.attributes])
      if (/^on|^(srcset|background|ping|autofocus)$/.test(name) || (name === 'src' && !value.startsWith('data:image/')))
        element.removeAttribute(name);
  mail.head.prepend(document.querySelector('style').cloneNode(true));
  mail.documentElement.dataset.scheme = data.scheme;
  const { scrollX, scrollY } = window;
  document.replaceChild(document.adoptNode(mail.documentElement), document.documentElement);
  for (const sheet of document.styleSheets) choose(sheet, data.scheme === 'dark');
  scrollTo(scrollX, scrollY);
});
function choose({ media, cssRules }, dark) {
  if (media !== undefined && /prefers-color-scheme/.test(media.mediaText))
    media.mediaText = media.mediaText
      .replace(/\\(prefers-color-scheme: dark\\)/g, dark ? '(min-width: 0px)' : '(max-width: 0px)')
      .replace(/\\(prefers-color-scheme: light\\)/g, dark ? '(max-width: 0px)' : '(min-width: 0px)');
  for (const rule of cssRules ?? []) choose(rule, dark);
}
for (const kind of ['click', 'auxclick', 'submit']) addEventListener(kind, (event) => event.preventDefault(), true);
`;

/** As clients begin: their own margins, and room for pictures that are not fetched. */
const STYLE = `
html { color-scheme: light; color: #111; overflow-wrap: anywhere }
body { margin: 12px; font: 14px/1.5 system-ui, sans-serif }
img { max-width: 100% }
img:not([src]) { display: inline-block; min-width: 24px; min-height: 24px; outline: 1px dashed #8888; outline-offset: -1px; background: #8881; font-size: 12px }
html[data-scheme="dark"] { color-scheme: dark; color: #eee }
html[data-scheme="turned"] { background: #fff; filter: invert(1) hue-rotate(180deg) }
html[data-scheme="turned"] img[src] { filter: invert(1) hue-rotate(180deg) }
`;

const FRAME = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Preview</title><style>${STYLE}</style><script>${SCRIPT}</script></head><body></body></html>`;

/**
 * Only the script above runs, and only in a frame of a page of ours. Without a script, each change would be a document of
 * its own, which begins at its top, because the page can scroll no frame without an origin; and `srcdoc` would have the
 * policy of the page, which forbids a mail's own styles.
 */
const DRAFT_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** Answers with the empty frame. */
export function answerDraftFrame(exchange: Exchange): void {
  exchange.send(200, 'text/html; charset=utf-8', FRAME, {
    'Content-Security-Policy': DRAFT_POLICY,
    'X-Frame-Options': 'SAMEORIGIN',
  });
}
