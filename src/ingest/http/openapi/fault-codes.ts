import type { ProblemCode } from './problem-codes.ts';

/**
 * Every code with which a single field or parameter is refused, in `errors`: with the problems, the table that
 * docs/errors.md is made from. A test holds it to the codes that are thrown.
 */

/** What a client should know of a fault's code. */
export interface FaultRow {
  readonly meaning: string;
  readonly cure: string;
}

/** By subject: any field, addresses, header fields, attachments, the other fields, parameters. */
// biome-ignore format: a table
export const FAULTS = {
  required: { meaning: 'The field is missing, null or empty.', cure: 'Give it a value.' },
  type: { meaning: 'The value has the wrong type.', cure: 'Use the type that the detail names.' },
  unknown_field: { meaning: 'There is no such field. A typo must not lose a recipient, so nothing is ignored.', cure: 'Correct the name, or leave the field out.' },
  not_supported: { meaning: 'The field asks for something that Waybill does not support.', cure: 'Leave it out.' },
  repeated: { meaning: 'The field or parameter is given twice.', cure: 'Give it once.' },
  too_many: { meaning: 'There are more values than allowed.', cure: 'Give at most as many as the detail says.' },
  too_long: { meaning: 'The value is longer than allowed.', cure: 'Shorten it to what the detail says.' },
  address_missing: { meaning: 'An address is expected.', cure: 'Give one: `a@example.com` or `Name <a@example.com>`.' },
  address_count: { meaning: 'One address is expected, but several are given.', cure: 'Give each its own array item. A display name with a comma needs quotes.' },
  address_syntax: { meaning: 'The text is not an address, or there are blanks around it.', cure: 'Write `a@example.com` or `Name <a@example.com>`.' },
  address_quotes: { meaning: 'A display name has characters that need quotes, or quotes that are not closed.', cure: 'Write `"Doe, Jane" <jane@example.com>`.' },
  address_group: { meaning: 'The text is a group of addresses, as in `Team: a@x, b@x;`.', cure: 'Give the addresses themselves.' },
  address_unquoted_comma: { meaning: 'A display name has a comma and no quotes, so it reads as two addresses.', cure: 'Write `"Doe, Jane" <jane@example.com>`.' },
  address_control: { meaning: 'An address has control characters.', cure: 'Remove them.' },
  address_too_long: { meaning: 'An address is longer than RFC 5321 allows: 64 bytes before the @, 254 in all.', cure: 'Shorten it; no server would accept it.' },
  address_domain: { meaning: 'The part after the @ is not a domain name or an address literal.', cure: 'Correct it, as in `example.com`.' },
  address_local_part: { meaning: 'The part before the @ has blanks, `@`, `<` or `>`, which programs read differently; or it has dots at its ends or two in a row, and no quotes.', cure: 'Use an address without them; if only its dots are wrong, quote it: `"a..b"@example.com`.' },
  too_many_recipients: { meaning: 'There are more recipients than `api.max_recipients`.', cure: 'Send several messages.' },
  header_name: { meaning: 'The name is not a valid header field name.', cure: 'Use printable ASCII without a colon.' },
  header_forbidden: { meaning: 'Waybill writes this header field itself.', cure: 'Use the field for it (from, to, subject, …), or leave it out.' },
  header_value: { meaning: 'The value cannot be written as a header field.', cure: 'Remove line breaks and NUL.' },
  header_date: { meaning: 'Date is not a date.', cure: 'Write it as `Fri, 20 Nov 2026 11:15:00 +0000`.' },
  header_message_id: { meaning: 'Message-ID is not valid.', cure: 'Write it as `<unique@example.com>`.' },
  header_repeated: { meaning: 'This header field may appear only once.', cure: 'Give it once.' },
  header_count: { meaning: 'There are more header fields than `api.max_headers`.', cure: 'Send fewer.' },
  header_size: { meaning: 'The header fields are larger than `api.max_header_bytes`.', cure: 'Shorten them.' },
  header_address: { meaning: 'The header field must hold addresses.', cure: 'Write `Name <a@example.com>`.' },
  header_sender_domain: { meaning: 'Sender is on a different domain from `from`.', cure: 'Use the domain of `from`, or leave Sender out.' },
  header_syntax: { meaning: 'A line of a finished message’s header is not a field of the form `Name: value`.', cure: 'Correct the line that the detail names; an empty line ends the header.' },
  header_encoding: { meaning: 'A line of a finished message’s header is neither ASCII nor UTF-8.', cure: 'Write it in encoded words (RFC 2047), or in UTF-8.' },
  mail_loop: { meaning: 'A finished message has more than 50 Received fields: it is in a loop.', cure: 'Find the server that sends it back.' },
  nul: { meaning: 'A finished message has a NUL byte.', cure: 'Encode binary content as base64.' },
  bare_cr: { meaning: 'A finished message has a CR without an LF; programs read it differently.', cure: 'End lines in CRLF.' },
  mixed_line_endings: { meaning: 'Some lines of a finished message end in CRLF and some in LF; programs read it differently.', cure: 'End all lines in CRLF, or all in LF.' },
  line_too_long: { meaning: 'A line of a finished message has more than 998 bytes (RFC 5322 §2.1.1).', cure: 'Encode the part as quoted-printable or base64.' },
  subject_too_long: { meaning: 'The subject has more than 2,000 characters.', cure: 'Shorten it.' },
  subject_value: { meaning: 'The subject has line breaks, NUL, or marks that turn the direction of text.', cure: 'Remove them.' },
  attachment_filename: { meaning: 'The file name has a path, control characters, or invisible ones, such as marks that turn the direction of text.', cure: 'Give only the name.' },
  attachment_content_type: { meaning: 'The content type is not a media type.', cure: 'Write it as `application/pdf`.' },
  attachment_content_id: { meaning: 'The content id is not valid.', cure: 'Write it as `logo` or `logo@example.com`.' },
  disposition: { meaning: 'The disposition is neither `attachment` nor `inline`.', cure: 'Use one of them.' },
  base64: { meaning: 'The content is not base64.', cure: 'Encode it with padding and without line breaks.' },
  tag: { meaning: 'A tag is not 1 to 128 printable characters.', cure: 'Shorten it, and remove control characters.' },
  metadata_name: { meaning: 'A name is not 1 to 64 of `A-Z a-z 0-9 _ . -`.', cure: 'Choose another name.' },
  template_not_found: { meaning: 'There is no template of this alias or id.', cure: 'Use one from `GET /api/v1/templates`.' },
  template_not_published: { meaning: 'The template is there, but none of its versions is published.', cure: 'Publish one.' },
  template_value: { meaning: 'A value cannot be written where the template has it: a list, a line break in a subject, a link that runs a program.', cure: 'Give the value that the detail asks for.' },
  template_limit: { meaning: 'A template is too long or nests too deep, or what is made of it becomes too long; the detail names the line.', cure: 'Shorten the template, or its lists of values.' },
  template_syntax: { meaning: 'A template has a tag that is none, or has no end; the detail names the line.', cure: 'Write what the detail says; docs/templates.md has the language.' },
  template_place: { meaning: 'A tag of a template cannot stand where it does; the detail names the line.', cure: 'Write what the detail says; docs/templates.md has the language.' },
  template_alias: { meaning: 'The alias of a template looks like an id.', cure: 'Choose one that does not begin with `tpl_`.' },
  timestamp: { meaning: 'The value is not a time.', cure: 'Write it as `2026-11-20T11:15:00Z`.' },
  too_far_ahead: { meaning: 'The time is more than 30 days ahead.', cure: 'Submit it later.' },
  priority: { meaning: 'The priority does not exist.', cure: 'Use `high`, `normal` or `bulk`.' },
  stream: { meaning: 'The text cannot be a stream, or the message would have two.', cure: 'Use a short name such as `news`, the same in `stream` and `unsubscribe`.' },
  box: { meaning: 'The text cannot be a box, or the message would have two.', cure: 'Use 1 to 64 characters of `a-z 0-9 . _ -`, the same in `box` and `X-Waybill-Box`.' },
  words: { meaning: 'The words to search for are none, or too many.', cure: 'Give 1 to 20 words.' },
  has: { meaning: 'Captured mail cannot be asked for by that.', cure: 'Use `attachment`, or leave it out.' },
  unsubscribe_unavailable: { meaning: 'What links to unsubscribe need is missing.', cure: 'See the problem of this name.' },
  suppression: { meaning: 'The value is not `ignore`.', cure: 'Leave it out, or use `ignore`.' },
  unknown_recipient: { meaning: 'The message has no such recipient.', cure: 'Give an address as the message’s record has it.' },
  idempotency_key: { meaning: 'The `Idempotency-Key` is not 1 to 256 printable ASCII characters.', cure: 'Use a UUID, or anything unique to the message.' },
  malformed_escape: { meaning: 'A parameter has a malformed percent escape, or bytes that are not UTF-8.', cure: 'Encode it as UTF-8, then each byte with percent; `%` itself is `%25`.' },
  unknown_parameter: { meaning: 'There is no such parameter.', cure: 'Correct its name, or leave it out.' },
  name: { meaning: 'The text cannot be a name.', cure: 'Use one of a length that the detail allows.' },
  unknown_status: { meaning: 'There is no such status.', cure: 'Use one that the detail names.' },
  bad_cursor: { meaning: 'The cursor does not belong to this list: it was cut, or belongs to other parameters or another key.', cure: 'Give `nextCursor` as it is, with the same parameters; without a cursor the list starts again.' },
  event_type: { meaning: 'A type of event does not exist.', cure: 'Use those that the detail names, separated by commas, or `message.*`.' },
  message_id: { meaning: 'The text is not the id of a message.', cure: 'Use the id from the 202 answer: `msg_` and 26 characters.' },
  combination: { meaning: 'The parameter contradicts another one, or needs another one.', cure: 'The detail says which; leave one out, or add the other.' },
  subject: { meaning: 'The text to search for is empty or too long.', cure: 'Give 1 to 2,000 characters.' },
  url: { meaning: 'The URL of a webhook is none, has a user name or a fragment, or is not https.', cure: 'Use one such as `https://shop.example.com/waybill`.' },
  key: { meaning: 'There is no key of this name.', cure: 'Use the name of a key.' },
  scope: { meaning: 'The scope of a suppression is wrong, or names a key that does not exist.', cure: 'Use `global`, `domain:example.com`, or `key:` and the name of a key.' },
  reason: { meaning: 'There is no such reason for a suppression.', cure: 'Use one that the detail names.' },
  confirm: { meaning: 'What is to be confirmed is not `complaint`.', cure: 'Leave it out, or write `confirm=complaint`.' },
  in_the_past: { meaning: 'The time is not in the future.', cure: 'Give a later one, or none.' },
  out_of_range: { meaning: 'The number is out of range.', cure: 'Use one in the range that the detail names.' },
} as const satisfies Readonly<Record<string, FaultRow>>;

/** Problems of the whole body that name the field they were found in, in `errors` too. */
const PROBLEMS_OF_A_FIELD: readonly ProblemCode[] = [
  'malformed_json',
  'lone_surrogate',
  'duplicate_name',
  'forbidden_name',
  'invalid_utf8',
  'unsupported_charset',
  'unsupported_part_encoding',
  'malformed_multipart',
  'part_header_too_large',
  'too_many_part_headers',
  'field_too_large',
];

/** Every code that may stand in `errors`. */
export const FIELD_CODES: readonly string[] = [...Object.keys(FAULTS), ...PROBLEMS_OF_A_FIELD];
