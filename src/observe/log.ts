import type { Clock } from '../lib/clock.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { Log, LogFields } from '../lib/log.ts';
import { type AddressDetail, hideAddresses } from './addresses.ts';
import { LOG_LEVELS, type LogLevel } from './log-level.ts';
import type { LogRing } from './log-ring.ts';

/** What can be changed while the service runs. */
export interface LogSettings {
  /** Less serious lines are dropped. */
  readonly level: LogLevel;
  /** How much of mail addresses is shown, in every field of every line. */
  readonly addresses: AddressDetail;
}

/** How a log is made. */
export interface LogOptions extends LogSettings {
  /** `json`: one object a line, for machines; `text`: for people at a terminal. */
  readonly format: 'json' | 'text';
  readonly clock: Pick<Clock, 'wall'>;
  readonly destination: LogDestination;
  /** Remembers the last lines, too. */
  readonly ring?: LogRing;
}

/** Takes whole lines, newline included. */
export interface LogDestination {
  write(line: string): void;
  /** Writes what is buffered before it returns. */
  flushSync?(): void;
}

/** The log of the process. */
export interface ServiceLog extends Log {
  /** Changes level and address detail from the next line on. */
  configure(settings: LogSettings): void;
  /** Writes what is buffered: before the process ends. */
  flush(): void;
}

/** Makes the log. Warnings and errors are flushed at once. No line ever shows more of a mail address than `addresses` allows, whoever writes it. */
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

/** The fields as they may be shown: themselves where nothing in them is an address. */
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

/** As JSON has it, which knows no number that is not finite. */
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

/** The time in RFC 3339. Written once a millisecond: under load that is every tenth line. */
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

/** Text that cannot steer a terminal: quoted when it is more than a word, control characters escaped. */
function printable(value: string | number | boolean): string {
  if (typeof value !== 'string' || /^[\w.:@/*+-]+$/.test(value)) return String(value);
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
