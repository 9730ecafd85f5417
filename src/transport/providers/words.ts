/** What a provider says, as it may be kept: one line, bounded, without secrets. */

/** Characters that are kept of what a provider says. */
export const MAX_TEXT = 1000;
const MAX_CODE = 64;
/** Shorter secrets would be found in any text. */
const MIN_SECRET = 6;

/** One line of at most 1,000 characters, in which the secrets are dots. */
export function plainText(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, '…');
  return clean
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT);
}

/** Secrets, and how they may come back: bare, in base64, in a URL, in a form, as the credentials of a request. */
export function formsOf(
  secrets: string | readonly string[],
  headers: Readonly<Record<string, string>>,
): string[] {
  const credentials = Object.entries(headers)
    .filter(([name]) => /authorization|token|api-key|signature/i.test(name))
    .flatMap(([, value]) => [value, value.replace(/^\w+ /, '')]);
  const forms = [secrets].flat().flatMap((secret) => {
    const bare = secret.replace(/^whsec_/, '');
    const inForm = new URLSearchParams([['', secret]]).toString().slice(1);
    return [secret, bare, Buffer.from(secret).toString('base64'), encodeURIComponent(secret), inForm];
  });
  return [...new Set([...forms, ...credentials])]
    .filter(({ length }) => length >= MIN_SECRET)
    .sort((a, b) => b.length - a.length);
}

/** A searchable code: `provider_message_rejected` of `MessageRejected`. */
export function causeOf(code: string | number): string {
  const words = String(code)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase();
  return `provider_${words.slice(0, MAX_CODE)}`;
}
