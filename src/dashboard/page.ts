import { createHash } from 'node:crypto';
import type { HealthReport } from '../observe/health-report.ts';

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5c6675; --line: #dfe3e9; --paper: #fff; --back: #f5f6f8;
  --healthy: #18794e; --degraded: #ad5700; --critical: #c62a2f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #98a2b3; --line: #2b323d; --paper: #171b21;
  --back: #0f1216; --healthy: #4cc38a; --degraded: #f1a10d; --critical: #ff6369; } }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 42rem; margin: 0 auto; padding: 3rem 1.25rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1rem; margin: 0 0 .5rem; }
p { margin: .25rem 0 0; } .soft { color: var(--soft); }
section { background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.25rem; margin-top: 1rem; }
table { width: 100%; border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; }
th { font-weight: 500; white-space: nowrap; } tr + tr > * { border-top: 1px solid var(--line); }
.healthy { color: var(--healthy); } .degraded { color: var(--degraded); } .critical { color: var(--critical); }
strong { font-weight: 600; } a { color: inherit; }
`;

/** Nothing but the page's own style sheet: no script, no image, no frame, nothing from elsewhere. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The status page: how things are, for someone with a browser. It looks again every ten seconds. */
export function renderPage(report: HealthReport): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="10">
<title>Waybill: ${escapeHtml(report.status)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Waybill</h1>
<p class="soft">Version ${escapeHtml(report.version)}, up ${upTime(report.uptimeSeconds)}</p>
<section>
<h2>${statusWord(report.status)}</h2>
<p>${escapeHtml(report.message)}</p>
</section>
<section>
<h2>Checks</h2>
${table(report.checks.map(({ name, status, detail }) => [name, `${statusWord(status)}<br>${escapeHtml(detail)}`]))}
</section>
<section>
<h2>Ports</h2>
${table(portRows(report))}
</section>
<p class="soft">For machines: <a href="/health">/health</a>, <a href="/metrics">/metrics</a></p>
</main>
</body>
</html>
`;
}

function portRows({ api, smtp }: HealthReport): [string, string][] {
  return [
    ['API', api.port === null ? 'off' : String(api.port)],
    ['API, TLS', api.tlsPort === null ? 'off' : String(api.tlsPort)],
    ['SMTP', smtp.listening ? smtp.listeningPorts.join(', ') : 'not listening'],
  ];
}

/** Rows of a name and HTML. */
function table(rows: readonly (readonly [name: string, html: string])[]): string {
  const cells = rows.map(
    ([name, html]) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${html}</td></tr>`,
  );
  return `<table>\n${cells.join('\n')}\n</table>`;
}

function statusWord(status: HealthReport['status']): string {
  return `<strong class="${status}">${status}</strong>`;
}

function upTime(seconds: number): string {
  const units: [string, number][] = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ];
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
