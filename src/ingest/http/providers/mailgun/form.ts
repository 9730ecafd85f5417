import type { Exchange } from '../../../../http/exchange.ts';
import { type FieldFault, pointerToken } from '../../../../http/problem.ts';
import type { PointTo, ReadFields } from '../../fields.ts';
import { type FormEntry, fieldsFromForm } from '../../form-fields.ts';
import { headerValues, MESSAGE_POINTER } from '../../raw.ts';
import { tellIgnored } from '../submitting.ts';

/** Mailgun's fields, most of which are those of our own forms (`../../form-fields.ts`). */

/** Ask for what Waybill never does, and no recipient sees; `no` asks for what happens anyway. */
const IGNORABLE = [
  'o:tracking',
  'o:tracking-clicks',
  'o:tracking-opens',
  'o:tracking-pixel-location-top',
  'o:sending-ip',
  'o:sending-ip-pool',
  'o:deliverytime-optimize-period',
  'o:time-zone-localize',
];
const ASKS_NOTHING = /^(?:no|false|)$/i;

/** The fields of a form; names in the answer's header those that are ignored, `others` among them. */
export function fieldsOf(
  exchange: Exchange,
  form: readonly FormEntry[],
  others: readonly string[] = [],
): ReadFields {
  const ignorable = [...IGNORABLE, ...others];
  const asked = new Map<string, true>();
  const isOfTemplate = form.some(({ name }) => name === 'template');
  const renamed = form.map(withoutPlace).map((entry) => (isOfTemplate ? withVariables(entry) : entry));
  const read = renamed.filter((entry) => {
    if ('file' in entry || !ignorable.includes(entry.name)) return true;
    if (!ASKS_NOTHING.test(entry.value)) asked.set(entry.name, true);
    return false;
  });
  tellIgnored(exchange, Object.fromEntries(asked), ignorable);
  return { ...fieldsFromForm(read), ownSubject: true };
}

/** An older name of `t:variables`, as a header. */
function withVariables(entry: FormEntry): FormEntry {
  return /^h:x-mailgun-variables$/i.test(entry.name) ? { ...entry, name: 't:variables' } : entry;
}

/** `attachment[0]`: so programs in PHP name the parts of a list, Symfony's mailer among them. */
const IN_LIST = /^(attachment|inline|to|cc|bcc|o:tag)\[\d{0,4}\]$/;

function withoutPlace(entry: FormEntry): FormEntry {
  const [, name] = IN_LIST.exec(entry.name) ?? [];
  return name === undefined ? entry : { ...entry, name };
}

/** A finished message, and the fields of its envelope. */
export interface FinishedForm {
  readonly message: Buffer;
  readonly read: ReadFields;
  readonly faults: readonly FieldFault[];
}

const MESSAGE = 'message';
/** Mailgun's own SDK shows them beside a finished message, which says both itself. */
const SAID_TWICE = ['from', 'subject'];
const RECIPIENTS = new Set(['cc', 'bcc']);
const CONTENT = new Set([
  'text',
  'html',
  'template',
  't:variables',
  'attachment',
  'inline',
  'recipient-variables',
]);

/** Reads the form of a finished message: it is sent by its own From, to those in `to`. */
export function finishedFormOf(
  exchange: Exchange,
  form: readonly FormEntry[],
  maxHeaderBytes: number,
): FinishedForm {
  const faults: FieldFault[] = [];
  const given: Buffer[] = [];
  const others = form.map(withoutPlace).filter((entry) => {
    if (entry.name === MESSAGE) given.push(bytesOf(entry));
    else if (isMisplaced(entry)) faults.push(misplaced(entry.name));
    else return true;
    return false;
  });
  const [message = Buffer.alloc(0), ...more] = given.filter(({ length }) => length > 0);
  if (more.length > 0) faults.push(messageFault('repeated', 'May be given only once; remove the others.'));
  if (message.length === 0)
    faults.push(messageFault('required', 'Is required: the whole message, header and body.'));
  const { fields, faulty, ...read } = fieldsOf(exchange, others, SAID_TWICE);
  const [from = null] = headerValues(message, ['from'], maxHeaderBytes);
  return {
    message,
    faults: [...read.faults, ...faults],
    read: { fields: { ...fields, from }, faulty, faults: [], pointTo: pointIntoMessage(read.pointTo) },
  };
}

function bytesOf(entry: FormEntry): Buffer {
  if ('value' in entry) return Buffer.from(entry.value);
  const { buffer, byteOffset, byteLength } = entry.file.bytes;
  return Buffer.from(buffer, byteOffset, byteLength);
}

function isMisplaced({ name, ...entry }: FormEntry): boolean {
  if ('value' in entry && entry.value === '') return false;
  return RECIPIENTS.has(name) || CONTENT.has(name) || name.startsWith('h:');
}

function misplaced(name: string): FieldFault {
  const detail = RECIPIENTS.has(name)
    ? 'Name every recipient in "to": the message is sent to nobody else.'
    : 'A finished message is sent as it is: write it into that.';
  return { pointer: `/${pointerToken(name)}`, code: 'not_supported', detail };
}

function messageFault(code: string, detail: string): FieldFault {
  return { pointer: `/${MESSAGE}`, code, detail };
}

function pointIntoMessage(pointTo: PointTo): PointTo {
  return (field, ...place) => (field === 'from' ? `${MESSAGE_POINTER}/From` : pointTo(field, ...place));
}
