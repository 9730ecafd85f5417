import type { CapturedContent, CapturedRecord, MailAttachment, MailLink } from './captured.ts';
import { type CheckedQuery, type Field, fits, readableText, valuesOf } from './query.ts';

/** What assertions that fail say, for people: what was asked for, and what is there instead. */

/** How many characters of a value are shown, and how many of several values. */
const VALUE_LENGTH = 160;
const VALUES_SHOWN = 10;

/** A mail as far as it is shown. */
export type ShownMail = CapturedRecord & Pick<CapturedContent, 'text' | 'html'>;

/** A value as people would write it in a test; on one line, of bounded length. */
export function quoted(value: unknown): string {
  return oneLine(typeof value === 'string' ? JSON.stringify(value) : String(value));
}

/** How sentences call a mail. */
export function titleOf({ subject, to }: Pick<CapturedRecord, 'subject' | 'to'>): string {
  return `the mail ${quoted(subject)} to ${to[0] ?? 'nobody'}`;
}

/** `Its links:` and a line for each; or that there is none. */
export function listed(what: string, lines: readonly string[]): string {
  return lines.length === 0 ? `It has no ${what}.` : `Its ${what}:\n  ${several(lines, '\n  ')}`;
}

/** Several values, and how many more there are. */
export function several(values: readonly string[], between = ', '): string {
  const more = values.length - VALUES_SHOWN;
  return [...values.slice(0, VALUES_SHOWN), ...(more > 0 ? [`and ${more} more`] : [])].join(between);
}

/** A link on a line. */
export function linkLine({ url, text }: MailLink): string {
  return text === '' ? quoted(url) : `${quoted(url)}  ${quoted(text)}`;
}

/** An attachment on a line. */
export function attachmentLine({ filename, contentType, sizeBytes, inline }: MailAttachment): string {
  return `${quoted(filename)}  ${contentType}, ${sizeBytes} bytes${inline ? ', inline' : ''}`;
}

/** What was asked for, a line for each field. */
export function queryLines({ wanted, filter }: CheckedQuery, box: string | null): string {
  const rows = wanted.map(([name, want]): Row => [name, quoted(want)]);
  if (box !== null) rows.push(['box', quoted(box)]);
  if (filter['since'] !== undefined) rows.push(['since', filter['since']]);
  return rows.length === 0 ? '  (any mail)' : table(rows);
}

/** A mail that was looked at, and what was wanted: a line for each field, with ✗ where it does not fit. */
export function comparison(mail: ShownMail, { wanted }: CheckedQuery, box: string | null): string {
  const rows = wanted.map(([name, want]): Row => {
    const values = name === 'text' ? [readableText(mail)] : valuesOf(mail, name);
    return [name, several(values.map(quoted)) || '(none)', fits(name, want, values)];
  });
  const shown = wanted.some(([name]) => name === 'subject') ? [] : [subjectRow(mail)];
  if (box !== null) rows.push(['box', mail.box === null ? '(none)' : quoted(mail.box), mail.box === box]);
  return table([...shown, ...rows]);
}

/** A mail for somebody who did not expect it. */
export function mailLines(mail: ShownMail): string {
  const rows: Row[] = [
    ['from', quoted(mail.from)],
    ['to', several([...mail.to, ...mail.cc, ...mail.bcc].map(quoted))],
    subjectRow(mail),
    ...(mail.tags.length === 0 ? [] : [['tags', several(mail.tags.map(quoted))] as const]),
    ...(mail.box === null ? [] : [['box', quoted(mail.box)] as const]),
    ['text', quoted(readableText(mail))],
    ['accepted', `${mail.createdAt}, as ${mail.id}`],
  ];
  return table(rows);
}

/** A field's name, its value, and whether it fits, where that is a question. */
type Row = readonly [name: Field | string, value: string, fits?: boolean];

function subjectRow({ subject }: CapturedRecord): Row {
  return ['subject', quoted(subject)];
}

function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value, isRight]) => {
    const mark = isRight === undefined ? ' ' : isRight ? '✓' : '✗';
    return `  ${mark} ${name.padEnd(width)}  ${value}`;
  });
  return lines.join('\n');
}

function oneLine(text: string): string {
  const line = text.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
  return line.length <= VALUE_LENGTH ? line : `${line.slice(0, VALUE_LENGTH - 1)}…`;
}
