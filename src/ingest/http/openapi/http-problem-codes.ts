/** Codes with which requests are refused that are no good HTTP, or whose body cannot be read; see `problem-codes.ts`. */

/** What a client should know of a code. */
export interface ProblemRow {
  /** HTTP statuses it comes with. */
  readonly statuses: readonly number[];
  /** Why it is given. */
  readonly meaning: string;
  /** What to do about it. */
  readonly cure: string;
}

/** In the order in which a request is decided on, as far as there is one. */
export const HTTP_PROBLEMS = {
  malformed_request: {
    statuses: [400],
    meaning: 'The request is not well-formed HTTP/1.1.',
    cure: 'Use an HTTP client library. The connection is closed.',
  },
  host_missing: {
    statuses: [400],
    meaning: 'An HTTP/1.1 request has no Host.',
    cure: 'Send the header Host.',
  },
  host_malformed: {
    statuses: [400],
    meaning: 'The Host is not a host name or address with perhaps a port.',
    cure: 'Send the host of the URL, as every HTTP client library does.',
  },
  header_repeated: {
    statuses: [400],
    meaning: 'A header field of which there can be one stands there twice, such as Authorization.',
    cure: 'Send it once; look for a proxy or library that adds its own.',
  },
  tls_on_plain_port: {
    statuses: [400],
    meaning: 'A TLS connection was begun on a port for plain HTTP.',
    cure: 'Use `http://`, or the TLS port (`api.tls_enabled`, `api.tls_port`).',
  },
  plain_on_tls_port: {
    statuses: [400],
    meaning: 'A request in plain HTTP came to the TLS port.',
    cure: 'Use `https://`.',
  },
  target_too_long: {
    statuses: [414],
    meaning: 'The request’s path and query are too long together.',
    cure: 'Send fewer parameters.',
  },
  unsupported_method: {
    statuses: [501],
    meaning: 'The method is none that HTTP servers know.',
    cure: 'Use GET or POST.',
  },
  unsupported_http_version: {
    statuses: [505],
    meaning: 'The request is in another version of HTTP.',
    cure: 'Use HTTP/1.1.',
  },
  header_too_large: {
    statuses: [431],
    meaning: 'The request’s header is larger than `api.max_request_header_bytes`.',
    cure: 'Send fewer or shorter header fields; cookies are not needed here.',
  },
  too_many_headers: {
    statuses: [431],
    meaning: 'The request has more header fields than `api.max_request_headers`.',
    cure: 'Send fewer header fields.',
  },
  request_timeout: {
    statuses: [408],
    meaning: 'The header or the body did not arrive in time.',
    cure: 'Send it again over a better connection. With an `Idempotency-Key` nothing is sent twice.',
  },
  body_too_slow: {
    statuses: [408],
    meaning: 'The body came in more slowly than `api.min_body_bytes_per_second`.',
    cure: 'Send it again over a better connection. With an `Idempotency-Key` nothing is sent twice.',
  },
  too_many_connections: {
    statuses: [503],
    meaning: 'There are as many connections as `api.max_connections` allows. Nothing was accepted.',
    cure: 'Try again after `Retry-After`; keep connections and use them again, or raise `api.max_connections`.',
  },
  overloaded: {
    statuses: [503],
    meaning: 'Too many bodies are being received at once. Nothing was accepted.',
    cure: 'Try again after `Retry-After`.',
  },
  expectation_failed: {
    statuses: [417],
    meaning: 'The header Expect asks for something else than `100-continue`.',
    cure: 'Leave the header out.',
  },
  unsupported_content_encoding: {
    statuses: [415],
    meaning: 'The body is compressed.',
    cure: 'Send it as it is, without `Content-Encoding`.',
  },
  unsupported_transfer_coding: {
    statuses: [501],
    meaning: 'The body has another transfer coding than `chunked`.',
    cure: 'Send it with a `Content-Length`, or chunked.',
  },
  content_too_large: {
    statuses: [413],
    meaning: 'The body is larger than `api.max_message_bytes`, or a batch than `api.max_batch_bytes`.',
    cure: 'Send less: attachments grow by 37 % in transit. For large files send a link.',
  },
  field_too_large: {
    statuses: [413],
    meaning: 'A field of a form is larger than `api.max_message_bytes`.',
    cure: 'Send less.',
  },
  malformed_json: {
    statuses: [400],
    meaning: 'The body is not well-formed JSON.',
    cure: 'Write it with a JSON library; the detail says where it breaks.',
  },
  invalid_utf8: {
    statuses: [400],
    meaning: 'The text is not UTF-8.',
    cure: 'Encode it as UTF-8.',
  },
  lone_surrogate: {
    statuses: [400],
    meaning: 'A string holds half of a surrogate pair, which is no text.',
    cure: 'Do not cut strings inside a character; the pointer says which it is.',
  },
  duplicate_name: {
    statuses: [400],
    meaning: 'A name stands twice in one JSON object.',
    cure: 'Give each name once; lists are arrays.',
  },
  forbidden_name: {
    statuses: [400],
    meaning: 'A JSON object has the name `__proto__`.',
    cure: 'Choose another name.',
  },
  json_too_complex: {
    statuses: [400],
    meaning:
      'The JSON is nested deeper than `api.max_json_depth`, or has more values than `api.max_json_values`.',
    cure: 'Send a smaller body; several messages go into several requests or a batch.',
  },
  malformed_multipart: {
    statuses: [400],
    meaning: 'The form is not well-formed `multipart/form-data`.',
    cure: 'Let the HTTP library write the body and its `Content-Type`, with the boundary; the detail says what is wrong.',
  },
  malformed_form: {
    statuses: [400],
    meaning: 'The urlencoded form has a malformed percent escape.',
    cure: 'Encode names and values as UTF-8, percent-encoded.',
  },
  too_many_parts: {
    statuses: [400],
    meaning: 'The form has more parts than `api.max_form_parts`.',
    cure: 'Put several addresses into one field, separated by commas.',
  },
  too_many_fields: {
    statuses: [400],
    meaning: 'The urlencoded form has more fields than `api.max_form_parts`.',
    cure: 'Put several addresses into one field, separated by commas.',
  },
  too_many_part_headers: {
    statuses: [400],
    meaning: 'A part of the form has more header lines than `api.max_part_headers`.',
    cure: 'A part needs Content-Disposition, and Content-Type for a file.',
  },
  unsupported_part_encoding: {
    statuses: [400],
    meaning: 'A part of the form has a Content-Transfer-Encoding.',
    cure: 'Send its bytes as they are.',
  },
  unsupported_charset: {
    statuses: [400],
    meaning: 'A text field of the form is in another charset than UTF-8, and not only ASCII.',
    cure: 'Send it in UTF-8.',
  },
  part_header_too_large: {
    statuses: [400],
    meaning: 'The header of a part of the form is larger than `api.max_part_header_bytes`.',
    cure: 'Shorten its name or file name.',
  },
  internal_error: {
    statuses: [500],
    meaning: 'A fault of the server’s. Whether something was accepted is not known.',
    cure: 'Try again, with an `Idempotency-Key`; report the answer’s `requestId` to the operator.',
  },
} as const satisfies Readonly<Record<string, ProblemRow>>;
