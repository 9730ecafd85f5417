import { writeSync } from 'node:fs';
import { type Clock, formatTimestamp } from '../lib/clock.ts';
import { errorCode } from '../lib/error.ts';
import type { Log, LogFields } from '../lib/log.ts';

/** Settings that can change while the service runs. */
export interface LogSettings {
  /** Less severe lines are dropped. */
  readonly level: LogLevel;
  /** How much of mail addresses is shown, in every field of every line. */
  readonly addresses: AddressDetail;
}

export interface LogOptions extends LogSettings {
  /** `json`: one object a line, for machines; `text`: for people at a terminal. */
  readonly format: 'json' | 'text';
  readonly clock: Pick<Clock, 'wall'>;
  readonly destination: LogDestination;
  /** Keeps the last lines as well. */
  readonly ring?: LogRing;
}

/** Takes whole lines, newline included. */
export interface LogDestination {
  write(line: string): void;
  /** Writes buffered data before it returns. */
  flushSync?(): void;
}

/** The log of the process. */
export interface ServiceLog extends Log {
  /** Changes level and address detail from the next line on. */
  configure(settings: LogSettings): void;
  /** Writes buffered data: before the process ends. */
  flush(): void;
}

/**
 * Makes the log. Warnings and errors are flushed at once. No line shows more of a mail address than `addresses` allows.
 */
export function createLog(options: LogOptions): ServiceLog {
  const { destination } = options;
  const time = timeSource(options.clock);
  const write = options.format === 'json' ? jsonLines(destination, time) : textLines(destination, time);
  let settings: LogSettings = options;
  let threshold = LOG_LEVELS.indexOf(settings.level);

  const at = (level: LogLevel) => {
    const rank = LOG_LEVELS.indexOf(level);
    return (event: string, fields?: LogFields) => {
      if (rank < threshold) return;
      const shown = shownFields(fields ?? NO_FIELDS, settings.addresses);
      write(level, event, shown);
      options.ring?.add(options.clock.wall(), level, event, shown);
      if (level === 'warn' || level === 'error') destination.flushSync?.();
    };
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    configure: (changed) => {
      settings = changed;
      threshold = LOG_LEVELS.indexOf(changed.level);
    },
    flush: () => destination.flushSync?.(),
  };
}

const NO_FIELDS: LogFields = {};

type LineWriter = (level: LogLevel, event: string, fields: LogFields) => void;

/** The fields for display: unchanged if none contains an address. */
function shownFields(fields: LogFields, detail: AddressDetail): LogFields {
  if (detail === 'full') return fields;
  let shown: Record<string, LogFields[string]> | null = null;
  for (const name in fields) {
    const value = fields[name];
    if (typeof value !== 'string' || !value.includes('@')) continue;
    shown ??= { ...fields };
    shown[name] = hideAddresses(value, detail);
  }
  return shown ?? fields;
}

function jsonLines(destination: LogDestination, time: () => string): LineWriter {
  return (level, event, fields) => {
    let line = `{"level":"${level}","time":"${time()}"`;
    for (const name in fields) {
      const value = fields[name];
      if (value === undefined) continue;
      line +=
        typeof value === 'string' ? `,"${name}":${JSON.stringify(value)}` : `,"${name}":${plain(value)}`;
    }
    destination.write(`${line},"event":"${event}"}\n`);
  };
}

/** As in JSON, which has only finite numbers. */
function plain(value: number | boolean | null): string {
  return typeof value === 'number' && !Number.isFinite(value) ? 'null' : String(value);
}

function textLines(destination: LogDestination, time: () => string): LineWriter {
  return (level, event, fields) => {
    let line = `${time()} ${level.padEnd(5)} ${event}`;
    for (const [name, value] of Object.entries(fields))
      if (value !== undefined && value !== null) line += ` ${name}=${printable(value)}`;
    destination.write(`${line}\n`);
  };
}

/** The time in RFC 3339, formatted once a millisecond: under load that is every tenth line. */
function timeSource(clock: Pick<Clock, 'wall'>): () => string {
  let at = Number.NaN;
  let text = '';
  return () => {
    const now = clock.wall();
    if (now !== at) {
      at = now;
      text = formatTimestamp(now);
    }
    return text;
  };
}

/** Text that cannot steer a terminal: quoted if longer than a word, control characters escaped. */
function printable(value: string | number | boolean): string {
  if (typeof value !== 'string' || /^[\w.:@/*+-]+$/.test(value)) return String(value);
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Severities of log lines, in rising order. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** The severity of a line. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A remembered line of the log. */
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

/** The last lines of the log, for people who read it remotely. Contains nothing that the log does not. */
export class LogRing {
  readonly #lines: KeptLine[] = [];
  #count = 0;

  /** Adds a written line. */
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

/** How much of a mail address the log shows (contract §16): all, the part after the `@`, or nothing. */
export type AddressDetail = 'full' | 'domain' | 'none';

/**
 * A mail address anywhere in text. A local part is at most 64 octets, quoted or a run without delimiters, so that the
 * search is linear in the text, which a hostile peer may have written.
 */
const ADDRESS =
  /(?:"(?:[^"\\]|\\.){0,64}"|(?<![^\s<>()[\]",;:@])[^\s<>()[\]",;:@]+)@(\[[^\s\]]*\]|[^\s<>()[\]",;:]*)/gu;

/** `text` with every mail address in it shortened: `joe@example.com` → `*@example.com` or `*`. */
export function hideAddresses(text: string, detail: AddressDetail): string {
  if (detail === 'full' || !text.includes('@')) return text;
  return text.replace(ADDRESS, (_match, domain: string) => (detail === 'domain' ? `*@${domain}` : '*'));
}

/** Lines are written together once they fill this much, or after {@link FLUSH_MS}. */
const BUFFER_BYTES = 8192;
const FLUSH_MS = 100;
/** Most bytes that wait for a slow reader; more are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

const NOTHING = Buffer.alloc(0);

/**
 * Writes lines to a file descriptor. It neither waits nor fails: bytes that a full pipe refuses are kept for a while,
 * and those that cannot be written at all (the reader has gone, the disk is full) are dropped, since a log must not
 * stop the mail.
 */
export class Output implements LogDestination {
  readonly #fd: number;
  readonly #clock: Pick<Clock, 'sleep'>;
  #lines = '';
  /** Bytes that a full pipe has refused. */
  #left: Uint8Array = NOTHING;
  #timed = false;

  constructor(fd: number, clock: Pick<Clock, 'sleep'>) {
    this.#fd = fd;
    this.#clock = clock;
  }

  write(line: string): void {
    if (this.#left.length + this.#lines.length >= MAX_WAITING_BYTES) return;
    this.#lines += line;
    if (this.#lines.length >= BUFFER_BYTES) this.flushSync();
    else if (!this.#timed) void this.#flushLater();
  }

  flushSync(): void {
    let bytes: Uint8Array = Buffer.concat([this.#left, Buffer.from(this.#lines)]);
    this.#lines = '';
    this.#left = NOTHING;
    try {
      while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.#fd, bytes));
    } catch (error) {
      if (!isFull(error)) return;
      this.#left = bytes;
      if (!this.#timed) void this.#flushLater();
    }
  }

  async #flushLater(): Promise<void> {
    this.#timed = true;
    await this.#clock.sleep(FLUSH_MS);
    this.#timed = false;
    this.flushSync();
  }
}

/** Whether a pipe is full, and may accept bytes later. */
function isFull(error: unknown): boolean {
  return errorCode(error) === 'EAGAIN';
}
