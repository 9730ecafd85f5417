/** Fields of a log line. Never bodies, subjects, secrets, or the names of failed logins. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/**
 * A structured log. `event` is a stable name an operator can search for (`message.accepted`); `fields.code`
 * carries an error's code.
 */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** A log that discards everything. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
