/** What a browser is shown where the dashboard's page was not built: what to do, and what works without it. */
export const SITE_MISSING = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Waybill</title>
</head>
<body>
<main>
<h1>Waybill is running; its dashboard is not built yet</h1>
<p>In the folder that Waybill was started from, run <code>npm start</code>, which builds it once, or <code>npm run web</code>
while the server runs. Then load this page again.</p>
<p>Everything else works: mail is accepted and delivered. For machines: <a href="/health">/health</a>,
<a href="/metrics">/metrics</a>.</p>
</main>
</body>
</html>
`;
