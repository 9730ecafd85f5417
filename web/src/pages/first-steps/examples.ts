/** Commands to paste that send a message. Whatever is put into them is quoted for a shell. */

/** What an example is made of. */
export interface ExampleFacts {
  /** Of the API, such as `http://localhost:8025`. */
  readonly apiUrl: string;
  readonly secret: string;
  readonly from: string;
  readonly to: string;
  /** The certificate is self-signed: clients must be told to take it. */
  readonly selfSigned?: boolean;
}

/** What the first message says. */
const FIRST_SUBJECT = 'Hello from Waybill';

/** A word of a command line that a shell takes as it is written. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A message by the HTTP API. */
export function curlExample({ apiUrl, secret, from, to, selfSigned = false }: ExampleFacts): string {
  const message = { from, to: [to], subject: FIRST_SUBJECT, text: 'My first message.' };
  const insecure = selfSigned && apiUrl.startsWith('https:') ? ' --insecure' : '';
  return [
    `curl${insecure} ${quoted(`${apiUrl.replace(/\/$/, '')}/api/v1/messages`)}`,
    `  -H ${always(`Authorization: Bearer ${secret}`)}`,
    `  -H ${always('Content-Type: application/json')}`,
    `  -d ${always(JSON.stringify(message))}`,
  ].join(' \\\n');
}

/** A message by SMTP. */
export function smtpExample(
  { secret, from, to }: Pick<ExampleFacts, 'secret' | 'from' | 'to'>,
  { host, port }: { readonly host: string; readonly port: number },
): string {
  const server = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return [
    `swaks --server ${quoted(server)} --tls`,
    `  --auth PLAIN --auth-user waybill --auth-password ${quoted(secret)}`,
    `  --from ${quoted(from)} --to ${quoted(to)}`,
    `  --header ${always(`Subject: ${FIRST_SUBJECT}`)} --body ${always('My first message.')}`,
  ].join(' \\\n');
}

function always(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
