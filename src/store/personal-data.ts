/**
 * What every table holds of the people whose mail passes through. A test fails for a table or a column that is not
 * here: whoever adds one decides what it holds.
 */

/** Columns by what they hold, separated by blanks, with their names in PostgreSQL. */
export interface TableData {
  /** One address, as it was accepted, or none. */
  readonly address?: string;
  /** Text, or JSON, that may name a person by address: written by senders, peers, applications or programs of ours. */
  readonly text?: string;
  /** Base64 of bytes from outside. */
  readonly base64?: string;
  /** What people who administer the installation wrote. */
  readonly configuration?: string;
  /** Made of what other columns hold; it is made anew, or removed, with that. */
  readonly derived?: string;
  /** Nothing of a person, or nothing that can be read: hashes, and what is sealed. */
  readonly nothing?: string;
  /** The columns that identify a row. */
  readonly key: string;
}

/** `users`, `sessions` and what belongs to them are about people who sign in here: removing the user removes them. */
// biome-ignore format: a table
export const PERSONAL_DATA: Readonly<Record<string, TableData>> = {
  messages: {
    key: 'id',
    address: 'reverse_path',
    text: 'last_error source_address envid header_from subject message_id tags metadata stream box inbox_tags',
    nothing:
      'seq id key_id status queued processing retrying delivered failed attempts kept possible_duplicate created_at ' +
      'updated_at status_at delivered_at final_at not_before expires_at priority test reportable ignores_suppression ' +
      'copies source door tls ret size_bytes eight_bit utf8 dot_stuffing segment offset length route_table inbox_read',
  },
  deliveries: {
    key: 'message index',
    address: 'address',
    text: 'orcpt provider_message_id last_reply',
    nothing:
      'message index state lane relay priority due_at expires_at fence begun_at cancel_requested attempts ' +
      'attempts_before delay_reported outcome kind notify route_rule route_group last_code last_enhanced',
  },
  attempts: { key: 'message number', text: 'evidence results', nothing: 'message number started_at relay' },
  events: { key: 'seq', text: 'facts', nothing: 'seq at type message index attempt' },
  aftermath: {
    key: 'message idx',
    text: 'bounce',
    nothing: 'message idx confirmed_at complained_at unsubscribed_at suppression',
  },
  message_tags: { key: 'key_id tag id', text: 'tag', nothing: 'key_id id' },
  unsubscribe_links: { key: 'seq', address: 'address', text: 'header_from stream', nothing: 'seq message idx key_id' },
  restored: { key: 'message idx', nothing: 'message idx' },

  // What others told, and the suppression list.
  suppressions: {
    key: 'id',
    address: 'address',
    text: 'evidence note stream',
    // A domain, or that of the address.
    derived: 'domain',
    nothing: 'id scope reason source created_at updated_at expires_at',
  },
  erasures: { key: 'id', nothing: 'id pseudonym sealed requested_at finished_at progress' },
  suppression_counts: { key: 'change', nothing: 'change' },
  soft_bounces: { key: 'address', address: 'address', nothing: 'times last_at delivered_by' },
  feedback: { key: 'id', address: 'address', base64: 'evidence', nothing: 'id at source kind message content_type' },
  told_once: { key: 'source once', text: 'once', nothing: 'source at' },
  early_feedback: { key: 'id', text: 'body', nothing: 'id at' },
  dmarc_reports: {
    key: 'id',
    text: 'reporter contact report_id',
    nothing: 'id domain begin_at end_at policy received_at via row_count messages passed',
  },
  dmarc_rows: {
    key: 'report place',
    nothing:
      'report place source messages disposition dkim spf header_from spf_domain dkim_domain selector',
  },
  tls_sessions: { key: 'day domain kind', nothing: 'day domain kind session is_good sessions' },
  // Where a domain's postmaster wants reports.
  tls_reports: {
    key: 'day domain',
    text: 'targets',
    nothing: 'day domain report_id state tries next_at updated_at',
  },

  // What was asked, by whom, and what was told of it.
  idempotency: { key: 'key_id idem_key', text: 'idem_key', nothing: 'key_id hash id created_at' },
  journal: { key: 'number', text: 'actor source_address subject before after', nothing: 'number at actor_kind action' },
  request_log: {
    key: 'number',
    text: 'source_address path code faults request_id session',
    nothing: 'number at key_id refused method status duration_ms weight',
  },
  webhook_deliveries: { key: 'endpoint seq', text: 'tries', nothing: 'endpoint seq type state attempts next_try_at' },
  webhook_endpoints: { key: 'id', text: 'health', configuration: 'definition', nothing: 'id key_id secrets' },
  webhook_cursor: { key: 'seq', nothing: 'seq' },

  alerts: { key: 'id', text: 'body', nothing: 'id fired is_open ended_at' },
  alert_channels: { key: 'id', configuration: 'name definition', nothing: 'id secret' },
  alert_silences: { key: 'id', configuration: 'definition', nothing: 'id ends_at' },
  alert_rules: { key: 'name', nothing: 'name change' },

  // Of names of servers, all of it is public but what is sealed.
  acme_accounts: { key: 'directory', nothing: 'directory sealed' },
  acme_certificate: { key: 'id', nothing: 'id certificate sealed directory renewal holder held_until' },
  acme_challenges: { key: 'token', nothing: 'token answer' },

  // What was configured.
  keys: {
    key: 'id',
    configuration: 'name',
    nothing:
      'id mode prefix scopes created_at last_used_at expires_at revoked_at rate_limit cidrs sender_domains content_days ' +
      'record_days',
  },
  key_secrets: { key: 'hash', nothing: 'hash key_id until' },
  signing_secrets: { key: 'id', nothing: 'id key_id sealed until' },
  relays: { key: 'name', configuration: 'definition', nothing: 'name secret disabled' },
  settings: { key: 'name', configuration: 'value', nothing: 'name' },
  holds: { key: 'target', nothing: 'target kind since' },
  route_tables: { key: 'version', configuration: 'definition', nothing: 'version published_at origin' },
  domains: { key: 'name', configuration: 'definition', nothing: 'name secrets' },
  templates: { key: 'id', configuration: 'alias name', nothing: 'id version published_version created_at updated_at' },
  template_versions: {
    key: 'template version',
    configuration: 'author note subject html text sample',
    nothing: 'template version at',
  },
  users: {
    key: 'name',
    configuration: 'name issuer subject',
    nothing: 'role disabled created_at password last_sign_in_at second_factor last_step',
  },
  passkeys: {
    key: 'id',
    configuration: 'user_name host label',
    nothing: 'id handle public_key counter created_at last_used_at',
  },
  spent_challenges: { key: 'hash', nothing: 'hash expires_at' },
  recovery_codes: { key: 'user_name hash', configuration: 'user_name', nothing: 'hash' },
  sessions: {
    key: 'hash',
    configuration: 'user_name source_address agent',
    nothing: 'hash id stage created_at last_seen_at expires_at offered tries',
  },
  setup_links: { key: 'hash', configuration: 'user_name mailed_to', nothing: 'hash expires_at message' },
  // What was searched for may be somebody.
  saved_views: { key: 'id', text: 'search', configuration: 'user_name page name', nothing: 'id is_shared created_at' },
  story_links: {
    key: 'hash',
    configuration: 'made_by',
    nothing: 'hash id message has_content created_at expires_at',
  },

  // Figures, leases and places.
  lanes: { key: 'lane', nothing: 'lane node fence lease_until waiting processing first_due look_at' },
  depths: { key: 'lane', nothing: 'lane waiting processing' },
  fences: { key: 'last', nothing: 'last' },
  segments: { key: 'segment', nothing: 'segment live bytes' },
  counters: { key: 'period start node event relay', nothing: 'period start node event relay count' },
  traffic: {
    key: 'period start relay domain provider key_id tags',
    text: 'tags',
    nothing:
      'period start relay domain provider key_id accepted delivered captured failed deferred bounced complained ' +
      't0 t1 t2 t3 t4 t5 t6 t7 t8 t9 t10 t11 t12 t13 t14 t15 t16',
  },
  traffic_replies: {
    key: 'period start relay domain provider key_id tags reply_group',
    text: 'tags reply_group example',
    nothing: 'period start relay domain provider key_id deferred failed bounced message',
  },
  gauges: { key: 'name', nothing: 'name value' },
  key_queues: { key: 'key_id', nothing: 'key_id messages' },
  quotas: { key: 'day relay', nothing: 'day relay used' },
  log_mark: { key: 'one', nothing: 'one segment offset' },
  sqlite_sequence: { key: 'name', nothing: 'name seq' },
  nodes: {
    key: 'id',
    // What next hops said last, and for what they rest.
    text: 'report',
    nothing: 'id number name roles version started_at last_seen_at shares_with lanes',
  },
  key_rates: { key: 'second node key_id rate_window', nothing: 'second node key_id rate_window units' },
  registry_revision: { key: 'revision', nothing: 'revision' },
  secret_key: { key: 'only_one', nothing: 'only_one key_id' },
  schema_migrations: { key: 'version', nothing: 'version name checksum compatible_with applied_at' },

  // The words of messages, over their rows: in SQLite, then in PostgreSQL.
  search: { key: 'rowid', derived: 'subject sender recipients tags ids' },
  search_data: { key: 'id', derived: 'block', nothing: 'id' },
  search_idx: { key: 'segid term', derived: 'term', nothing: 'segid pgno' },
  search_docsize: { key: 'id', nothing: 'id sz origin' },
  search_config: { key: 'k', nothing: 'k v' },
  search_range: { key: 'low', nothing: 'low high' },
  message_words: { key: 'id', derived: 'words', nothing: 'id' },
  pending_words: { key: 'id', nothing: 'id' },

  // Contents, where they are in the database: removed with what their message says.
  contents: { key: 'segment offset piece', derived: 'bytes', nothing: 'segment offset piece header' },
  spool_segments: { key: 'segment', nothing: 'segment node opened_at bytes dropped_at emptied wrapped_key' },
};

/** Columns with other names in SQLite. */
export const SQLITE_COLUMNS: Readonly<Record<string, string>> = { index: 'idx', user_name: 'user' };

/** All columns of a table by what they hold. */
export function columnsOf(table: TableData): string[] {
  const { address, text, base64, configuration, derived, nothing } = table;
  return [address, text, base64, configuration, derived, nothing].flatMap((names) => names?.split(' ') ?? []);
}
