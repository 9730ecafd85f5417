import type { LogFields } from '../lib/log.ts';
import type { LogLevel } from './log-level.ts';

/** A line of the log that is still remembered. */
export interface KeptLine {
  /** From 1 on, without gaps. */
  readonly number: number;
  /** Wall ms. */
  readonly at: number;
  readonly level: LogLevel;
  readonly event: string;
  readonly fields: LogFields;
}

/** Lines remembered; the oldest go first. */
export const MAX_LINES = 2000;
/** Characters of one field. */
const MAX_FIELD = 1000;

/** The last lines of the log, for people who look at it from afar. What the log does not say is not in here either. */
export class LogRing {
  readonly #lines: KeptLine[] = [];
  #count = 0;

  /** Remembers a line as it was written. */
  add(at: number, level: LogLevel, event: string, fields: LogFields): void {
    this.#lines[this.#count % MAX_LINES] = { number: ++this.#count, at, level, event, fields: short(fields) };
  }

  /** The lines that are remembered, the oldest first. */
  lines(): KeptLine[] {
    const start = this.#count % MAX_LINES;
    if (this.#count < MAX_LINES) return [...this.#lines];
    return [...this.#lines.slice(start), ...this.#lines.slice(0, start)];
  }
}

function short(fields: LogFields): LogFields {
  let cut: Record<string, LogFields[string]> | null = null;
  for (const name in fields) {
    const value = fields[name];
    if (typeof value !== 'string' || value.length <= MAX_FIELD) continue;
    cut ??= { ...fields };
    cut[name] = `${value.slice(0, MAX_FIELD - 1)}…`;
  }
  return cut ?? fields;
}
