/**
 * Every code with which the ingestion API refuses a request: the one table that its description and
 * docs/errors.md are made from. A test holds it to the codes that are thrown.
 */

/** What a client should know of a code. */
export interface ProblemRow {
  /** HTTP statuses it comes with. */
  readonly statuses: readonly number[];
  /** Why it is given. */
  readonly meaning: string;
  /** What to do about it. */
  readonly cure: string;
}

/** In the order in which a request is decided on, as far as there is one (contract §5). */
// biome-ignore format: a table
export const PROBLEMS = {
  malformed_request: { statuses: [400], meaning: 'The request is not well-formed HTTP/1.1.', cure: 'Use an HTTP client library. The connection is closed.' },
  host_missing: { statuses: [400], meaning: 'An HTTP/1.1 request has no Host.', cure: 'Send the header Host.' },
  host_malformed: { statuses: [400], meaning: 'The Host is not a host name or address, with an optional port.', cure: 'Send the host of the URL, as every HTTP client library does.' },
  header_repeated: { statuses: [400], meaning: 'A header field that may appear only once, such as Authorization, appears twice.', cure: 'Send it once; look for a proxy or library that adds its own.' },
  tls_on_plain_port: { statuses: [400], meaning: 'A TLS connection was begun on a port for plain HTTP.', cure: 'Use `http://`, or the TLS port (`api.tls_enabled`, `api.tls_port`).' },
  plain_on_tls_port: { statuses: [400], meaning: 'A request in plain HTTP came to the TLS port.', cure: 'Use `https://`.' },
  target_too_long: { statuses: [414], meaning: 'The request’s path and query are too long together.', cure: 'Send fewer parameters.' },
  unsupported_method: { statuses: [501], meaning: 'The method is not one that HTTP servers know.', cure: 'Use GET or POST.' },
  unsupported_http_version: { statuses: [505], meaning: 'The request is in another version of HTTP.', cure: 'Use HTTP/1.1.' },
  header_too_large: { statuses: [431], meaning: 'The request’s header is larger than `api.max_request_header_bytes`.', cure: 'Send fewer or shorter header fields; cookies are not needed here.' },
  too_many_headers: { statuses: [431], meaning: 'The request has more header fields than `api.max_request_headers`.', cure: 'Send fewer header fields.' },
  request_timeout: { statuses: [408], meaning: 'The header or the body did not arrive in time.', cure: 'Send it again over a better connection. With an `Idempotency-Key` nothing is sent twice.' },
  body_too_slow: { statuses: [408], meaning: 'The body arrived more slowly than `api.min_body_bytes_per_second`.', cure: 'Send it again over a better connection. With an `Idempotency-Key` nothing is sent twice.' },
  too_many_connections: { statuses: [503], meaning: 'There are as many connections as `api.max_connections` allows. Nothing was accepted.', cure: 'Try again after `Retry-After`; reuse connections, or raise `api.max_connections`.' },
  overloaded: { statuses: [503], meaning: 'Too many bodies are being received at once. Nothing was accepted.', cure: 'Try again after `Retry-After`.' },
  expectation_failed: { statuses: [417], meaning: 'The header Expect asks for something other than `100-continue`.', cure: 'Leave the header out.' },
  unsupported_content_encoding: { statuses: [415], meaning: 'The body is compressed.', cure: 'Send it as it is, without `Content-Encoding`.' },
  unsupported_transfer_coding: { statuses: [501], meaning: 'The body has a transfer coding other than `chunked`.', cure: 'Send it with a `Content-Length`, or chunked.' },
  content_too_large: { statuses: [413], meaning: 'The body is larger than `api.max_message_bytes`, or a batch than `api.max_batch_bytes`.', cure: 'Send less: attachments grow by 37 % in transit. For large files send a link.' },
  field_too_large: { statuses: [413], meaning: 'A field of a form is larger than `api.max_message_bytes`.', cure: 'Send less.' },
  malformed_json: { statuses: [400], meaning: 'The body is not well-formed JSON.', cure: 'Write it with a JSON library; the detail says where it breaks.' },
  invalid_utf8: { statuses: [400], meaning: 'The text is not UTF-8.', cure: 'Encode it as UTF-8.' },
  lone_surrogate: { statuses: [400], meaning: 'A string has half of a surrogate pair, which is not text.', cure: 'Do not cut strings inside a character; the pointer says which string it is.' },
  duplicate_name: { statuses: [400], meaning: 'A name appears twice in one JSON object.', cure: 'Give each name once; lists are arrays.' },
  forbidden_name: { statuses: [400], meaning: 'A JSON object has the name `__proto__`.', cure: 'Choose another name.' },
  json_too_complex: { statuses: [400], meaning: 'The JSON is nested deeper than `api.max_json_depth`, or has more values than `api.max_json_values`.', cure: 'Send a smaller body; put several messages into several requests or a batch.' },
  malformed_multipart: { statuses: [400], meaning: 'The form is not well-formed `multipart/form-data`.', cure: 'Let the HTTP library write the body and its `Content-Type`, with the boundary; the detail says what is wrong.' },
  malformed_form: { statuses: [400], meaning: 'The urlencoded form has a malformed percent escape.', cure: 'Encode names and values as UTF-8, percent-encoded.' },
  too_many_parts: { statuses: [400], meaning: 'The form has more parts than `api.max_form_parts`.', cure: 'Put several addresses into one field, separated by commas.' },
  too_many_fields: { statuses: [400], meaning: 'The urlencoded form has more fields than `api.max_form_parts`.', cure: 'Put several addresses into one field, separated by commas.' },
  too_many_part_headers: { statuses: [400], meaning: 'A part of the form has more header lines than `api.max_part_headers`.', cure: 'A part needs Content-Disposition, and Content-Type for a file.' },
  unsupported_part_encoding: { statuses: [400], meaning: 'A part of the form has a Content-Transfer-Encoding.', cure: 'Send its bytes as they are.' },
  unsupported_charset: { statuses: [400], meaning: 'A text field of the form is in a charset other than UTF-8, and is not plain ASCII.', cure: 'Send it in UTF-8.' },
  part_header_too_large: { statuses: [400], meaning: 'The header of a part of the form is larger than `api.max_part_header_bytes`.', cure: 'Shorten its name or file name.' },
  internal_error: { statuses: [500], meaning: 'The server has a fault. It is unknown whether something was accepted.', cure: 'Try again, with an `Idempotency-Key`; report the answer’s `requestId` to the operator.' },
  not_found: { statuses: [404], meaning: 'There is nothing at this path, or the object of the operation does not exist.', cure: 'Compare the path with this description; a trailing slash makes it another path. The detail names what is missing.' },
  source_not_allowed: { statuses: [403], meaning: 'The client’s address may not use this API. This is checked before the key.', cure: 'The operator can add the address to `api.allowed_cidrs`.' },
  method_not_allowed: { statuses: [405], meaning: 'The path does not take this method.', cure: 'Use one that the answer’s `Allow` names.' },
  unauthorized: { statuses: [401], meaning: 'The request has no key, or a bad one: mistyped, unknown, expired or revoked.', cure: 'Send `Authorization: Bearer <API_KEY>`. The server’s log says which.' },
  key_source_not_allowed: { statuses: [403], meaning: 'The key may not be used from the client’s address.', cure: 'Use the key where it may be used, or one without this restriction.' },
  scope_missing: { statuses: [403], meaning: 'The key lacks the required scope.', cure: 'Use a key with the scope that the detail names.' },
  rate_limited: { statuses: [429], meaning: 'The key has used up its requests for this minute.', cure: 'Wait for the seconds that `Retry-After` says. `ratelimit-remaining` warns in advance.' },
  batch_rate_limited: { statuses: [429], meaning: 'The key has used up its batch messages for this minute. The batch was refused as a whole.', cure: 'Wait for the seconds that `Retry-After` says, or send smaller batches.' },
  disk_full: { statuses: [503], meaning: 'The server’s disk is nearly full. Nothing was accepted.', cure: 'Try again after `Retry-After`; the operator must free space.' },
  store_unavailable: { statuses: [503], meaning: 'The server’s database cannot be used at the moment. Nothing was accepted.', cure: 'Try again after `Retry-After`.' },
  shutting_down: { statuses: [503], meaning: 'The server is stopping. Nothing was accepted.', cure: 'Try again after `Retry-After`.' },
  queue_limit: { statuses: [503], meaning: 'Too much mail is waiting to be sent, from this key (`limits.max_queued_per_key`) or in total (`limits.max_queued_bytes`). Nothing was accepted.', cure: 'Try again after `Retry-After`, when some of it has been sent.' },
  unsupported_media_type: { statuses: [415], meaning: 'The body’s `Content-Type` is not accepted here, or is not UTF-8.', cure: 'Use one that the answer’s `Accept` names.' },
  message_too_large: { statuses: [413], meaning: 'The message, as it would be sent, is larger than `api.max_message_bytes`.', cure: 'Send less: attachments grow by 37 % in transit. For large files send a link.' },
  invalid_query: { statuses: [400], meaning: 'Some query parameters are not valid; `errors` names each.', cure: 'Correct the parameters that `errors` names.' },
  body_not_empty: { statuses: [400], meaning: 'The request has a body but must not have one.', cure: 'Send no body, or `{}`.' },
  invalid_submission: { statuses: [400], meaning: 'Some fields are not valid; `errors` names each with its rule.', cure: 'Correct the fields that `errors` names. Nothing was accepted.' },
  unsubscribe_unavailable: { statuses: [400], meaning: 'Recipients could not unsubscribe from the message with one click: the detail says what is missing.', cure: 'Ask the operator for `server.public_url` with https, and for a key that signs for the domain of From (docs/unsubscribe.md).' },
  sender_not_allowed: { statuses: [403], meaning: 'The key may not send as this domain.', cure: 'Use a sender of a domain that the key allows, or another key.' },
  idempotency_mismatch: { statuses: [409], meaning: 'The `Idempotency-Key` was used for another submission within the last 24 hours.', cure: 'Use a new key for a new message; repeat exactly the same submission to get the first answer.' },
  idempotency_in_progress: { statuses: [409], meaning: 'The first request with this `Idempotency-Key` is still running.', cure: 'Try again in a moment.' },
  message_not_found: { statuses: [404], meaning: 'There is no such message, or it belongs to another key.', cure: 'Use the id from the 202 answer, and the key that sent the message or one with `messages:read_all`.' },
  content_expired: { statuses: [404, 409], meaning: 'The message’s contents are no longer kept (`retention.content_days`).', cure: 'Submit the message anew.' },
  nothing_captured: { statuses: [404], meaning: 'No matching message was captured within the timeout.', cure: 'Look at the status of the message: only mail of test keys, and mail that is routed to the inbox, is captured.' },
  unexpected_mail: { statuses: [409], meaning: 'A message came though `not=true` said that none is to come; `message` is its record.', cure: 'Look at the message: it is in the inbox.' },
  attachment_not_found: { statuses: [404], meaning: 'The message has no file of this index.', cure: 'Use an `index` of its `attachments`.' },
  unreadable_content: { statuses: [409, 503], meaning: 'The message is too large, or too malformed, to show what it says.', cure: 'Get it as it is: `GET /api/v1/messages/{id}/content`. With 503, try again in a moment.' },
  not_cancellable: { statuses: [409], meaning: 'Every recipient is final: there is nothing left to cancel.', cure: 'Nothing; the status says how each ended.' },
  not_reschedulable: { statuses: [409], meaning: 'The message does not wait for its `sendAt`: it has none, is due, or has ended.', cure: 'Nothing; the status says what becomes of it. What still waits can be cancelled.' },
  nothing_to_retry: { statuses: [409], meaning: 'No recipient has failed or waits for another attempt.', cure: 'Nothing; to send it once more to all recipients, resend it.' },
  invalid_request: { statuses: [400], meaning: 'Some fields are not valid, or contradict each other; the detail or `errors` say which.', cure: 'Correct them. Nothing was done.' },
  suppression_not_found: { statuses: [404], meaning: 'The suppression list has no such entry, or none that the key may see or change.', cure: 'Nothing: mail to the address is not stopped by an entry of this key.' },
  complaint: { statuses: [409], meaning: 'The owner of the address complained about mail. Nothing was removed.', cure: 'Only if they ask for mail again, confirm it with `confirm=complaint`.' },
  template_not_found: { statuses: [404], meaning: 'There is no such template, or no such version of it.', cure: 'Use an alias from `GET /api/v1/templates`.' },
  template_changed: { statuses: [409], meaning: 'The version was made of another than the newest one, which somebody has saved meanwhile.', cure: 'Read the template again, and save over its newest version.' },
  templates_full: { statuses: [409], meaning: 'There are as many templates as there may be: 1,000.', cure: 'Delete one.' },
  webhook_not_found: { statuses: [404], meaning: 'There is no such webhook, or none that the key may see.', cure: 'Use an `id` from `GET /api/v1/webhooks`.' },
  event_not_found: { statuses: [404], meaning: 'The webhook is told of no such event, or the event is no longer kept.', cure: 'Use an `eventId` from the webhook’s deliveries.' },
  webhooks_full: { statuses: [409], meaning: 'There are as many webhooks as there may be: 20 of a key, 200 in all.', cure: 'Remove one, or let one tell of more.' },
  webhook_in_file: { statuses: [409], meaning: 'The webhook stands in the configuration file.', cure: 'The operator can change it there.' },
  webhook_disabled: { statuses: [409], meaning: 'The webhook is told of nothing now, so that nothing can be told again.', cure: 'Enable it first: `PATCH` it with `{"enabled": true}`.' },
  too_many_events: { statuses: [409], meaning: 'A replay would tell of more than 100,000 events.', cure: 'Replay them in parts: the detail names a time to begin with as `until`.' },
  suppressions_full: { statuses: [503], meaning: 'The suppression list has as many entries as `limits.max_suppressions`.', cure: 'Remove entries, suppress whole domains, or raise the limit.' },
  invalid_import: { statuses: [400], meaning: 'The table cannot be read. Nothing was imported.', cure: 'Name the columns in its first line, one of them `address` or `email`; the detail says what is wrong.' },
  too_many_rows: { statuses: [413], meaning: 'The table has more than 100,000 rows. Nothing was imported.', cure: 'Divide it.' },
  relay_not_found: { statuses: [404], meaning: 'There is no relay of that name.', cure: 'Use the name of a configured relay; `waybill relays list` shows them.' },
  relay_disabled: { statuses: [409], meaning: 'The relay is disabled: mail for it would only wait.', cure: 'Name another relay, or enable it first.' },
  refused: { statuses: [409], meaning: 'The operation is not possible in the present state; the detail says why, and what to do first.', cure: 'Do what the detail says. Nothing was changed.' },
  too_many_event_readers: { statuses: [503], meaning: 'As many readers wait for events, or read streams of them, as `limits.max_event_readers` allows.', cure: 'Ask without `wait`, try again after `Retry-After`, or raise the limit.' },
  unavailable: { statuses: [503], meaning: 'The operation is not possible at the moment.', cure: 'Try again in a moment; the detail says what prevented it.' },
  test_key: { statuses: [409], meaning: 'The message was submitted with a test key, and never leaves; or a test key was used to administer something, or to change a template.', cure: 'Use a live key.' },
} as const satisfies Readonly<Record<string, ProblemRow>>;

/** The code of a refusal. */
export type ProblemCode = keyof typeof PROBLEMS;
