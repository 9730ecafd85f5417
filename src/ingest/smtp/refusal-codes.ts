/**
 * Every code by which SMTP refuses something, and how a session may come to nothing: what docs/errors.md and the log of
 * requests say of it. A test holds the table to the codes that are given.
 */

/** What an operator should know of a code. */
export interface SmtpRefusalRow {
  /** Why it is given. */
  readonly meaning: string;
  /** What to do about it. */
  readonly cure: string;
}

/** In the order of a session. */
// biome-ignore format: a table
export const SMTP_REFUSALS = {
  too_many_connections: { meaning: 'There are as many connections as `listener.max_connections` allows.', cure: 'Let it try again; raise `listener.max_connections` if it happens often.' },
  too_many_connections_of_source: { meaning: 'There are as many connections from this address as `listener.max_connections_per_source` allows.', cure: 'Let the client close connections that it does not use, or raise `listener.max_connections_per_source`.' },
  proxy_header: { meaning: 'A proxy of `listener.trusted_proxies` sent no PROXY header, or a wrong one.', cure: 'Switch the PROXY protocol on in the proxy, or take its address out of `listener.trusted_proxies`.' },
  early_talk: { meaning: 'The client sent something before the greeting. Scanners do; mail programs wait.', cure: 'If it is a program of yours, let it wait for the line that begins with 220.' },
  http_after_greeting: { meaning: 'The client spoke HTTP on a port of SMTP.', cure: 'Use the port of the API, or an SMTP client.' },
  tls_failed: { meaning: 'The TLS handshake failed: the client does not trust the certificate, or knows no version of TLS that is safe.', cure: 'Give the server a certificate that the client trusts (`tls.cert_file`), or the device a copy of this one; see whether it can do TLS 1.2.' },
  tls_required: { meaning: 'The client has to start TLS before it signs in or sends.', cure: 'Switch on STARTTLS in the client, often called TLS. Only in a network that you trust, `listener.allow_insecure_auth`.' },
  auth_required: { meaning: 'The client has to sign in before it sends (`listener.require_auth`).', cure: 'Give it an API key as its password: `waybill keys create`. The user name may be anything.' },
  auth_malformed: { meaning: 'The password is no API key.', cure: 'Make an API key for the client, and enter it as the password: `waybill keys create`.' },
  auth_checksum_wrong: { meaning: 'The API key was mistyped, or cut off: its checksum is wrong.', cure: 'Enter the whole key once more; if it is lost, make another: `waybill keys create`.' },
  auth_unknown: { meaning: 'There is no such API key here.', cure: 'Make an API key for the client: `waybill keys create`.' },
  auth_expired: { meaning: 'The API key has expired.', cure: 'Make a new one, and enter it in the client: `waybill keys create`.' },
  auth_revoked: { meaning: 'The API key is revoked.', cure: 'Make a new one, and enter it in the client: `waybill keys create`.' },
  auth_identity: { meaning: 'The client wants to act in the name of another than its key.', cure: 'Leave the authorization identity empty in the client.' },
  scope_missing: { meaning: 'The key may not send: it lacks the scope `messages:send`.', cure: 'Use a key that may send: `waybill keys create`.' },
  key_source_not_allowed: { meaning: 'The key may not be used from this address.', cure: 'Use the key where it may be used, or make one without this restriction: `waybill keys create`.' },
  key_changed: { meaning: 'The key lost its scope, or its address, during the session.', cure: 'Use another key: `waybill keys create`.' },
  auth_too_many_failures: { meaning: 'Too many wrong keys came from this address.', cure: 'Correct the password in the client; it must be an API key.' },
  rate_limited: { meaning: 'Too many messages came in this minute: from the key, the source, or the address.', cure: 'Let it try again, or allow more: for the key, or by `listener.rate_limit_per_source`.' },
  relay_not_allowed: { meaning: 'The client may not send to others: it signs in with no key, and its address is not allowed.', cure: 'Let it sign in with an API key (`waybill keys create`), or allow its address in `listener.allowed_cidrs`.' },
  sender_not_allowed: { meaning: 'The key, or the source, may not send as this domain.', cure: 'Let it send from a domain that it may use, or use another key: `waybill keys create`.' },
  suppressed: { meaning: 'The recipient is on the suppression list, and `listener.suppressed` is `refuse`.', cure: 'See why it is on the list: `waybill suppressions list`.' },
  unknown_bounce_address: { meaning: 'There is no such address in the bounce domain, or no longer.', cure: 'Nothing: it is an old bounce, or a guess.' },
  not_a_dmarc_report: { meaning: 'Mail to `dmarc@` of the bounce domain has no DMARC report that can be read.', cure: 'Nothing; the reply says what is wrong with it.' },
  not_our_domain: { meaning: 'The DMARC report is about a domain that is not registered here.', cure: 'Register the domain, if it is yours: `waybill domains add`.' },
  dmarc_report_dated: { meaning: 'The DMARC report is about a time that is too far away.', cure: 'Nothing; see to the server’s clock if it happens often.' },
  mixed_recipients: { meaning: 'A message had recipients of the bounce domain together with others.', cure: 'Nothing: mail servers send to the others in another message.' },
  too_many_recipients: { meaning: 'The message has more recipients than `api.max_recipients`.', cure: 'Let the client send to the others in another message, as mail servers do, or raise `api.max_recipients`.' },
  address_syntax: { meaning: 'A sender or recipient is not an address.', cure: 'Correct it in the client; the reply says what is wrong.' },
  needs_smtputf8: { meaning: 'An address is not ASCII, and the client does not know SMTPUTF8.', cure: 'Use another address, or a client that knows SMTPUTF8.' },
  no_recipients: { meaning: 'Every recipient was refused, so that there was nobody to send to.', cure: 'See why the recipients were refused.' },
  command_order: { meaning: 'A command came before the one that it needs.', cure: 'The client has a fault; the reply says what comes first.' },
  command_syntax: { meaning: 'A command, or one of its parameters, is unknown or malformed.', cure: 'Use what EHLO offers; AUTH is PLAIN or LOGIN. The reply says what is wrong.' },
  message_too_large: { meaning: 'The message is larger than `api.max_message_bytes`.', cure: 'Send less, or raise `api.max_message_bytes`.' },
  header_too_large: { meaning: 'The header of the message is larger than 256 KiB.', cure: 'Send fewer or shorter header fields.' },
  bare_newline: { meaning: 'The message has a CR or LF by itself; lines must end in CRLF.', cure: 'Correct the client, or let it pass with `listener.bare_newline`.' },
  nul: { meaning: 'The message has a NUL byte.', cure: 'Let the client encode binary content as base64.' },
  line_too_long: { meaning: 'A line of the message has more than 1,000 bytes.', cure: 'Let the client encode the text as quoted-printable or base64.' },
  malformed_end: { meaning: 'A dot stood alone on a line that does not end in CRLF, by which messages are smuggled past servers.', cure: 'Correct the client: lines must end in CRLF.' },
  unreadable_chunk: { meaning: 'The size of a BDAT chunk could not be read.', cure: 'The client has a fault in CHUNKING; let it send with DATA.' },
  mail_loop: { meaning: 'The message has more than 50 `Received` fields: it goes round in a loop.', cure: 'Find out which server sends it back here.' },
  header_instruction: { meaning: 'A header that Waybill acts on (`X-Waybill-…`) is faulty.', cure: 'Correct the header that the reply names.' },
  unsubscribe_unavailable: { meaning: 'What links to unsubscribe need is missing.', cure: 'Set `server.public_url` to an address with https, and sign for the domain of From.' },
  too_slow: { meaning: 'The message arrived more slowly than `listener.min_data_bytes_per_second`, or held memory for too long.', cure: 'Send it again over a better connection.' },
  time_out: { meaning: 'The client was silent for too long within a message.', cure: 'Look at the client and the network between; `listener.data_timeout_seconds` is how long it may be silent.' },
  session_lost: { meaning: 'The connection was lost before a message was complete. Nothing of it was accepted.', cure: 'Look at the client’s log and the network between. Mail programs send it again.' },
  no_memory: { meaning: 'Too much mail was arriving at once (`limits.max_bytes_in_flight`).', cure: 'Let it try again; raise `limits.max_bytes_in_flight` if it happens often.' },
  queue_limit: { meaning: 'Too much mail is waiting to be sent, from this key (`limits.max_queued_per_key`) or in total (`limits.max_queued_bytes`).', cure: 'See why mail waits: `waybill queue`. The client tries again.' },
  disk_full: { meaning: 'The server’s disk is nearly full.', cure: 'Free space on the disk. The client tries again.' },
  store_unavailable: { meaning: 'The server’s database cannot be used at the moment.', cure: 'See what is wrong with it: `waybill doctor`. The client tries again.' },
  shutting_down: { meaning: 'The server was stopping.', cure: 'Nothing: the client tries again.' },
  too_many_errors: { meaning: 'The client made too many errors, and the session was ended (`listener.hard_errors`).', cure: 'See the errors before; correct the client.' },
  too_many_commands: { meaning: 'The client sent too many commands without a message, and the session was ended (`listener.max_commands_without_mail`).', cure: 'Let it connect when there is mail to send.' },
  too_many_transactions: { meaning: 'There were as many messages in one session as `listener.max_messages_per_connection` allows.', cure: 'Nothing: the client connects again.' },
  too_much_input: { meaning: 'The client sent too much without waiting for replies.', cure: 'Let it wait for the reply to EHLO, DATA, AUTH and the end of a message.' },
  nothing_sent: { meaning: 'The client left without a message: a scanner, or a check of the port or of an address.', cure: 'Nothing.' },
} as const satisfies Record<string, SmtpRefusalRow>;
