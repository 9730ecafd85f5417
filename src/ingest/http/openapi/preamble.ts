/** What the document says before anything else. */
export const PREAMBLE = `
Every request but those under *Service* needs an API key: \`Authorization: Bearer <API_KEY>\`. Keys have scopes; an
operation's \`security\` names the scopes of which one is needed.

**Form.** JSON is UTF-8 with camelCase names. Times are RFC 3339 in UTC with milliseconds; durations end in \`Ms\`, sizes
in \`Bytes\`. Members that do not apply are absent, unless a schema says that its shape is constant. Members may be added
to answers: ignore those you do not know. Fields and parameters that do not exist are refused by name.

**Methods.** HEAD answers as GET does, without the body. OPTIONS answers 204 with \`Allow\` on every path, without a key.
Another method is 405 with \`Allow\`, and a path that is not described here 404.

**Refusals** are \`application/problem+json\` (RFC 9457): tell them apart by \`code\`, and read \`errors\`, which names every
faulty field at once. They are decided in this order: path 404, source 403, method 405, key 401, scope 403, rate 429,
intake suspended 503, type 415, size 413, content 400, sender 403, idempotency 409. Every answer carries
\`X-Request-Id\`, the request's own if it was 1 to 64 of \`A-Z a-z 0-9 . _ -\`.

**Trying again.** 408, 429, 500, 502, 503, 504 and lost connections may be tried again, after \`Retry-After\` where it is
given. With an \`Idempotency-Key\` no message is accepted twice.

**Limits** in this document are those of the default configuration; the operator may have set others.
`.trim();
