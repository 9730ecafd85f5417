// Asks one URL after the other with fetch, and prints what each answer is, one a line. The root that it trusts comes
// from NODE_EXTRA_CA_CERTS.
//
// usage: node http_fetch.mjs ROUNDS URL...

const REQUESTS = [
  ['GET', '/health'],
  ['GET', '/metrics'],
  ['HEAD', '/health'],
  ['POST', '/api/v1/messages', 'x'.repeat(100_000)],
  ['DELETE', '/api/v1/messages/1'],
  ['OPTIONS', '/'],
  ['BREW', '/pot'],
];
const [rounds, ...urls] = process.argv.slice(2);

for (let round = 0; round < Number(rounds); round++)
  for (const url of urls)
    for (const [method, path, body] of REQUESTS)
      process.stdout.write(`${await seen(url, method, path, body)}\n`);

async function seen(url, method, path, body) {
  try {
    const answer = await fetch(url + path, { method, ...(body && { body }) });
    await answer.arrayBuffer();
    return `${answer.status} ${answer.statusText}`;
  } catch (error) {
    return `${method} ${url}${path}: ${error.cause ?? error}`;
  }
}
