import { createHash } from 'node:crypto';

/**
 * The page at which people unsubscribe (contract-2 §A7). Programs open links to look at them, so that only a press of
 * its button does anything. It has no scripts and loads nothing, and its colours are the dashboard's.
 */

/** What a person can unsubscribe from. */
export interface Subscription {
  readonly stream: string;
  /** The author as shown. Hostile, like the stream. */
  readonly from: string;
}

const STYLE = `
:root { color-scheme: light dark; --paper: #f6f6f3; --surface: #fff; --line: #e0e1db; --ink: #16191d; --soft: #565c5c;
  --accent: #2742c9; --strong: #1c319c; --on: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0f1113; --surface: #16191c; --line: #292e33; --ink: #eceeef; --soft: #a7afb4;
    --accent: #9db0ff; --strong: #b9c6ff; --on: #0d1230; }
}
* { box-sizing: border-box; margin: 0; }
body { min-height: 100vh; display: flex; align-items: center; justify-content: center; padding: 24px 16px;
  background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; }
main { width: 100%; max-width: 28rem; padding: 32px 28px; background: var(--surface); border: 1px solid var(--line);
  border-radius: 9px; }
h1 { font-size: 1.43rem; line-height: 1.25; margin-bottom: 12px; }
p { color: var(--soft); }
p + p { margin-top: 12px; }
strong { color: var(--ink); font-weight: 600; }
form { margin: 24px 0 16px; }
button { width: 100%; min-height: 48px; padding: 10px 20px; border: 0; border-radius: 6px; background: var(--accent);
  color: var(--on); font: inherit; font-weight: 600; cursor: pointer; }
button:hover { background: var(--strong); }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

/** Nothing but its own style is applied, nothing is loaded, and it is shown in no frame. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of each page. The link is a secret: no other site may see it, and no cache keep it. */
export const PAGE_HEADERS = {
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex',
} as const;

/** The page that asks. */
export function askingPage({ stream, from }: Subscription): string {
  return page(
    'Unsubscribe',
    `<p>You will get no more of <strong><bdi>${escapeHtml(stream)}</bdi></strong> from
<strong><bdi>${escapeHtml(from)}</bdi></strong>.</p>
<form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>
<p>Other mail from this sender, such as receipts, still comes.</p>`,
  );
}

/** The page of a link that leads nowhere. */
export function unknownPage(): string {
  return page(
    'This link does not work',
    `<p>It may be incomplete, or the message that it comes from is too old.</p>
<p>Copy the whole link from the message, use the link in a newer one, or write to the sender.</p>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it stands in HTML. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
