import type { FieldFault } from '../../http/problem.ts';
import { pointerToken } from '../../http/problem.ts';
import { Suggester } from '../../http/suggest.ts';
import { formatTimestamp } from '../../lib/clock.ts';
import { contentIdOf } from '../../mail/part.ts';
import { isDate } from '../../mail/trace.ts';
import type { AttachmentField, FieldName, Fields, NamedValue, PointTo, ReadFields } from './fields.ts';
import { valuesIn } from './templating.ts';
import { unknownField } from './unknown-field.ts';

/**
 * The submission as a form (contract §2): multipart's own names, and those of clients written for Mailgun. An unknown
 * field is a fault by its name; nothing is ever ignored.
 */

/** One field of a form, from multipart or urlencoded. */
export type FormEntry =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly file: FormFile };

/** A file part. */
export interface FormFile {
  readonly filename: string;
  readonly contentType: string | null;
  readonly contentId: string | null;
  readonly bytes: Uint8Array;
}

/** Fields that may be given once and need no conversion. */
const SINGLE: Readonly<Record<string, SingleName>> = {
  from: 'from',
  subject: 'subject',
  text: 'text',
  html: 'html',
  template: 'template',
  'o:priority': 'priority',
  'o:send-at': 'sendAt',
  'o:deliverytime': 'sendAt',
  'o:stream': 'stream',
  'o:suppression': 'suppression',
  'o:unsubscribe': 'unsubscribe',
  'o:box': 'box',
  box: 'box',
};
const FLAGS: Readonly<Record<string, FlagName>> = {
  'o:dry-run': 'dryRun',
  'o:testmode': 'capture',
  'o:dkim': 'dkim',
  requireTls: 'requireTls',
};
const ADDRESSES: Readonly<Record<string, 'to' | 'cc' | 'bcc'>> = { to: 'to', cc: 'cc', bcc: 'bcc' };
const FILES: Readonly<Record<string, 'attachment' | 'inline'>> = {
  attachment: 'attachment',
  inline: 'inline',
};
/** Mailgun options accepted only where they ask for what happens anyway. */
const ONLY_NO = new Set(['o:tracking', 'o:tracking-clicks', 'o:tracking-opens', 'o:require-tls']);
interface Unnamed {
  readonly field: 'headers' | 'metadata';
  readonly code: string;
  readonly detail: string;
}
const UNNAMED: Readonly<Record<string, Unnamed>> = {
  'h:': {
    field: 'headers',
    code: 'header_name',
    detail: 'Write the header’s name after "h:", such as "h:Reply-To".',
  },
  'v:': {
    field: 'metadata',
    code: 'metadata_name',
    detail: 'Write a name after "v:", such as "v:order".',
  },
};
/** Mailgun's names; text is made from HTML whatever is asked for. */
const VARIABLES = 't:variables';
const TEXT_OF_HTML = 't:text';
const NOT_FOR_FILES = 'Must be a plain field, without a filename; put files into "attachment" and "inline".';
const FORM_FIELDS = [SINGLE, FLAGS, ADDRESSES, FILES]
  .flatMap(Object.keys)
  .concat('o:tag', VARIABLES, TEXT_OF_HTML, ...ONLY_NO);

/** Reads a submission from a form. Faulty fields are reported and left out, so that the others are still checked. */
export function fieldsFromForm(entries: readonly FormEntry[]): ReadFields {
  const reader = new FormReader();
  for (const entry of entries) {
    if ('file' in entry) reader.file(entry.name, entry.file);
    else reader.value(entry.name, entry.value);
  }
  return reader.done();
}

type SingleName =
  | 'from'
  | 'subject'
  | 'text'
  | 'html'
  | 'template'
  | 'priority'
  | 'sendAt'
  | 'stream'
  | 'suppression'
  | 'unsubscribe'
  | 'box';
type FlagName = 'dryRun' | 'capture' | 'dkim' | 'requireTls';
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Gathers the entries of one form. */
class FormReader {
  readonly #single: Writable<Pick<Fields, SingleName | FlagName>> = {
    from: null,
    subject: '',
    text: null,
    html: null,
    template: null,
    sendAt: null,
    priority: null,
    stream: null,
    suppression: null,
    unsubscribe: null,
    box: null,
    requireTls: false,
    dryRun: false,
    capture: false,
    dkim: null,
  };
  readonly #addresses = { to: [] as string[], cc: [] as string[], bcc: [] as string[] };
  readonly #tags: string[] = [];
  readonly #headers: NamedValue[] = [];
  readonly #metadata: NamedValue[] = [];
  readonly #attachments: AttachmentField[] = [];
  /** The form's name and index of each attachment: `inline/0`. */
  readonly #filePlaces: string[] = [];
  readonly #fileCounts = { attachment: 0, inline: 0 };
  readonly #seen = new Set<string>();
  readonly #faulty = new Set<FieldName>();
  readonly #faults: FieldFault[] = [];
  readonly #suggester = new Suggester();
  #sendAtName = 'o:send-at';
  #variables: Fields['variables'] = null;

  /** Takes a plain field. An empty one equals an absent one. */
  value(name: string, value: string): void {
    const single = lookUp(SINGLE, name);
    const flag = lookUp(FLAGS, name);
    const addresses = lookUp(ADDRESSES, name);
    const unnamed = lookUp(UNNAMED, name);
    if (single !== undefined) this.#takeSingle(single, name, value);
    else if (flag !== undefined) this.#takeFlag(flag, name, value);
    else if (addresses !== undefined) append(this.#addresses[addresses], value);
    else if (name === 'o:tag') append(this.#tags, value);
    else if (name === VARIABLES) this.#takeVariables(value);
    else if (name === TEXT_OF_HTML) this.#takeTextOfHtml(value);
    else if (unnamed !== undefined) this.#takeUnnamed(unnamed, name, value);
    else if (name.startsWith('h:')) this.#takeNamed('headers', this.#headers, name, value);
    else if (name.startsWith('v:')) this.#takeNamed('metadata', this.#metadata, name, value);
    else if (ONLY_NO.has(name)) this.#takeOnlyNo(name, value);
    else if (lookUp(FILES, name) !== undefined) this.#notAFile(name, value);
    else this.#unknown(name);
  }

  /** Takes a file part. A file input that was left empty equals an absent one. */
  file(name: string, file: FormFile): void {
    const disposition = lookUp(FILES, name);
    if (disposition === undefined) {
      const field = lookUp(SINGLE, name) ?? lookUp(ADDRESSES, name);
      if (field !== undefined) this.#faulty.add(field);
      if (isPlainField(name)) this.#fault(name, 'type', NOT_FOR_FILES);
      else this.#unknown(name);
      return;
    }
    if (file.filename === '' && file.bytes.length === 0) return;
    this.#filePlaces.push(`${disposition}/${this.#fileCounts[disposition]++}`);
    this.#attachments.push({
      filename: file.filename || null,
      content: file.bytes,
      contentType: file.contentType,
      // As with Mailgun, the message refers to an inline file by its name.
      contentId: file.contentId ?? (disposition === 'inline' ? contentIdOf(file.filename) : null),
      disposition,
    });
  }

  done(): ReadFields {
    const { to, cc, bcc } = this.#addresses;
    const fields: Fields = {
      ...this.#single,
      variables: this.#variables,
      to: { texts: to, lists: true },
      cc: { texts: cc, lists: true },
      bcc: { texts: bcc, lists: true },
      tags: this.#tags,
      headers: this.#headers,
      metadata: this.#metadata,
      attachments: this.#attachments,
    };
    const pointTo = pointIntoForm(this.#sendAtName, this.#filePlaces);
    return { fields, faulty: this.#faulty, faults: this.#faults, pointTo };
  }

  #takeSingle(field: SingleName, name: string, value: string): void {
    // By its field, as two names mean some of them.
    if (this.#again(field, field, name)) return;
    // Of two such fields, the first is judged.
    if (field === 'sendAt') this.#sendAtName = name;
    // An empty field equals an absent one; but mail that nobody can unsubscribe from must not go out by mistake.
    if (value === '' && field !== 'unsubscribe') return;
    this.#single[field] = name === 'o:deliverytime' ? mailDateToTimestamp(value) : value;
  }

  #takeFlag(field: FlagName, name: string, value: string): void {
    if (this.#again(field, name, name) || value === '') return;
    const flag = parseFlag(value);
    if (flag === null) this.#reject(field, name, 'type', 'Must be "yes" or "no".');
    else this.#single[field] = flag;
  }

  #takeVariables(value: string): void {
    if (this.#again('variables', VARIABLES, VARIABLES) || value === '') return;
    const read = valuesIn(value);
    if ('values' in read) this.#variables = read.values;
    else this.#reject('variables', VARIABLES, read.code, read.detail);
  }

  #takeTextOfHtml(value: string): void {
    if (value !== '' && parseFlag(value) === null)
      this.#fault(TEXT_OF_HTML, 'type', 'Must be "yes" or "no".');
  }

  #takeNamed(field: 'headers' | 'metadata', list: NamedValue[], name: string, value: string): void {
    if (!this.#again(field, name, name) && value !== '') list.push([name.slice(2), value]);
  }

  #takeOnlyNo(name: string, value: string): void {
    if (value !== '' && parseFlag(value) !== false)
      this.#fault(name, 'not_supported', `The only value accepted for ${name} is "no"; leave it out.`);
  }

  /** A plain field where a file is expected; browsers send an empty one for a file input left empty. */
  #notAFile(name: string, value: string): void {
    if (value === '') return;
    this.#faulty.add('attachments');
    this.#fault(name, 'type', 'Must be a file part, with a filename: in curl, -F attachment=@report.pdf.');
  }

  /** Whether a field that may be given once was given before; if so, reports it. */
  #again(field: FieldName, once: string, name: string): boolean {
    if (!this.#seen.has(once)) {
      this.#seen.add(once);
      return false;
    }
    this.#reject(field, name, 'repeated', 'May be given only once; remove the others.');
    return true;
  }

  /** A prefix without the name after it. */
  #takeUnnamed({ field, code, detail }: Unnamed, name: string, value: string): void {
    if (value !== '') this.#reject(field, name, code, detail);
  }

  #unknown(name: string): void {
    const { code, detail } = unknownField(name, FORM_FIELDS, 'form', this.#suggester);
    this.#fault(name, code, detail);
  }

  #reject(field: FieldName, name: string, code: string, detail: string): void {
    this.#faulty.add(field);
    this.#fault(name, code, detail);
  }

  #fault(name: string, code: string, detail: string): void {
    this.#faults.push({ pointer: `/${pointerToken(name)}`, code, detail });
  }
}

/** The form's name of a field, where it is not the JSON name. */
const FORM_NAMES: Partial<Record<FieldName, string>> = {
  attachments: 'attachment',
  variables: VARIABLES,
  tags: 'o:tag',
  priority: 'o:priority',
  stream: 'o:stream',
  suppression: 'o:suppression',
  unsubscribe: 'o:unsubscribe',
  box: 'o:box',
  dryRun: 'o:dry-run',
  capture: 'o:testmode',
  dkim: 'o:dkim',
};

function pointIntoForm(sendAtName: string, filePlaces: readonly string[]): PointTo {
  return (field, place, property) => {
    if (place !== undefined && field === 'headers') return `/h:${pointerToken(String(place))}`;
    if (place !== undefined && field === 'metadata') return `/v:${pointerToken(String(place))}`;
    const name = field === 'sendAt' ? sendAtName : (FORM_NAMES[field] ?? field);
    const file = field === 'attachments' ? filePlaces[Number(place)] : undefined;
    const inner = `/${file ?? (place === undefined ? name : `${name}/${place}`)}`;
    return property === undefined || property === 'content' ? inner : `${inner}/${property}`;
  };
}

function isPlainField(name: string): boolean {
  return FORM_FIELDS.includes(name) || name.startsWith('h:') || name.startsWith('v:');
}

function append(list: string[], value: string): void {
  if (value !== '') list.push(value);
}

/** Own entries only: a form may contain a field named `constructor`. */
function lookUp<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function parseFlag(value: string): boolean | null {
  switch (value.toLowerCase()) {
    case 'yes':
    case 'true':
      return true;
    case 'no':
    case 'false':
      return false;
    default:
      return null;
  }
}

/** Converts `o:deliverytime`, an RFC 5322 date; an invalid one is returned unchanged and refused with its field. */
function mailDateToTimestamp(value: string): string {
  const ms = isDate(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? value : formatTimestamp(ms);
}
