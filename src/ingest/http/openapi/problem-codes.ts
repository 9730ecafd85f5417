import { HTTP_PROBLEMS, type ProblemRow } from './http-problem-codes.ts';

/**
 * Every code with which the ingestion API refuses a request: the one table that its description and
 * docs/errors.md are made from. A test holds it to the codes that are thrown.
 */

/** In the order in which a request is decided on, as far as there is one (contract §5). */
export const PROBLEMS = {
  ...HTTP_PROBLEMS,
  not_found: {
    statuses: [404],
    meaning: 'There is nothing at this path, or what an operation is to work on does not exist.',
    cure: 'Compare the path with this description; a slash at its end makes it another one. The detail names what is missing.',
  },
  source_not_allowed: {
    statuses: [403],
    meaning: 'The client’s address may not use this API. Decided before any key is looked at.',
    cure: 'The operator can add the address to `api.allowed_cidrs`.',
  },
  method_not_allowed: {
    statuses: [405],
    meaning: 'The path does not take this method.',
    cure: 'Use one that the answer’s `Allow` names.',
  },
  unauthorized: {
    statuses: [401],
    meaning: 'There is no key in the request, or none that is good: mistyped, unknown, expired or revoked.',
    cure: 'Send `Authorization: Bearer <API_KEY>`. The server’s log says which of these it was.',
  },
  key_source_not_allowed: {
    statuses: [403],
    meaning: 'The key may not be used from the client’s address.',
    cure: 'Use the key where it may be used, or one without such a bound.',
  },
  scope_missing: {
    statuses: [403],
    meaning: 'The key lacks the scope that this needs.',
    cure: 'Use a key with the scope that the detail names.',
  },
  rate_limited: {
    statuses: [429],
    meaning: 'The key has used up its requests of this minute.',
    cure: 'Wait for the seconds that `Retry-After` says. `ratelimit-remaining` tells beforehand.',
  },
  batch_rate_limited: {
    statuses: [429],
    meaning: 'The key has used up its messages in batches of this minute. The batch was refused as a whole.',
    cure: 'Wait for the seconds that `Retry-After` says, or send smaller batches.',
  },
  disk_full: {
    statuses: [503],
    meaning: 'The server’s disk is nearly full. Nothing was accepted.',
    cure: 'Try again after `Retry-After`; the operator must make room.',
  },
  store_unavailable: {
    statuses: [503],
    meaning: 'The server’s database cannot be used at the moment. Nothing was accepted.',
    cure: 'Try again after `Retry-After`.',
  },
  shutting_down: {
    statuses: [503],
    meaning: 'The server is stopping. Nothing was accepted.',
    cure: 'Try again after `Retry-After`.',
  },
  queue_limit: {
    statuses: [503],
    meaning:
      'Too much is waiting to be sent, of this key (`limits.max_queued_per_key`) or in all (`limits.max_queued_bytes`). Nothing was accepted.',
    cure: 'Try again after `Retry-After`, when some of it has been sent.',
  },
  unsupported_media_type: {
    statuses: [415],
    meaning: 'The body’s `Content-Type` is not taken here, or is not in UTF-8.',
    cure: 'Use one that the answer’s `Accept` names.',
  },
  message_too_large: {
    statuses: [413],
    meaning: 'The message, as it would be sent, is larger than `api.max_message_bytes`.',
    cure: 'Send less: attachments grow by 37 % in transit. For large files send a link.',
  },
  invalid_query: {
    statuses: [400],
    meaning: 'Some parameters of the query are not valid; `errors` names each.',
    cure: 'Correct the parameters that `errors` names.',
  },
  body_not_empty: {
    statuses: [400],
    meaning: 'The request has a body, and needs none.',
    cure: 'Send no body, or `{}`.',
  },
  invalid_submission: {
    statuses: [400],
    meaning: 'Some fields are not valid; `errors` names each with its rule.',
    cure: 'Correct the fields that `errors` names. Nothing was accepted.',
  },
  sender_not_allowed: {
    statuses: [403],
    meaning: 'The key may not send as this domain.',
    cure: 'Use a sender of a domain that the key allows, or another key.',
  },
  idempotency_mismatch: {
    statuses: [409],
    meaning: 'The `Idempotency-Key` was used for another submission within the last 24 hours.',
    cure: 'Use a new key for a new message; repeat the very same submission to get the first answer.',
  },
  idempotency_in_progress: {
    statuses: [409],
    meaning: 'The first request with this `Idempotency-Key` is still running.',
    cure: 'Try again in a moment.',
  },
  message_not_found: {
    statuses: [404],
    meaning: 'There is no such message, or it belongs to another key.',
    cure: 'Use the id that the 202 gave, and the key that sent the message or one with `messages:read_all`.',
  },
  content_expired: {
    statuses: [404, 409],
    meaning: 'The message’s contents are no longer kept (`retention.content_days`).',
    cure: 'Submit the message anew.',
  },
  nothing_captured: {
    statuses: [404],
    meaning: 'No message that matches was captured in the time that was to be waited.',
    cure: 'Look at the status of the message: only mail of test keys, and mail that is routed to the inbox, is captured.',
  },
  unreadable_content: {
    statuses: [409, 503],
    meaning: 'The message is too large, or too unlike mail, for what it says to be read.',
    cure: 'Get it as it is: `GET /api/v1/messages/{id}/content`. With 503, try again in a moment.',
  },
  not_cancellable: {
    statuses: [409],
    meaning: 'Every recipient is final: there is nothing left to cancel.',
    cure: 'Nothing is to be done; the status says how each ended.',
  },
  nothing_to_retry: {
    statuses: [409],
    meaning: 'No recipient has failed or waits for another try.',
    cure: 'Nothing is to be done; to send it once more to all, resend it.',
  },
  invalid_request: {
    statuses: [400],
    meaning: 'Some fields are not valid, or do not go together; the detail or `errors` say which.',
    cure: 'Correct them. Nothing was done.',
  },
  relay_not_found: {
    statuses: [404],
    meaning: 'There is no relay of that name.',
    cure: 'Name one of the configuration; `waybill relays list` shows them.',
  },
  relay_disabled: {
    statuses: [409],
    meaning: 'The relay is disabled: what is given to it would only wait.',
    cure: 'Name another relay, or enable it first.',
  },
  refused: {
    statuses: [409],
    meaning: 'The operation cannot be done as things are; the detail says why, and what to do first.',
    cure: 'Do what the detail says. Nothing was changed.',
  },
  unavailable: {
    statuses: [503],
    meaning: 'The operation could not be done now.',
    cure: 'Try again in a moment; the detail says what was in the way.',
  },
  test_key: {
    statuses: [409],
    meaning:
      'The message was submitted with a test key, and never leaves; or a test key was to administer something.',
    cure: 'Use a live key.',
  },
} as const satisfies Readonly<Record<string, ProblemRow>>;

/** The code of a refusal. */
export type ProblemCode = keyof typeof PROBLEMS;
