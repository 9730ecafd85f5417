import {
  addressKey,
  formatMailbox,
  type Mailbox,
  parseAddressList,
  parseMailbox,
} from '../../../../domain/mailbox.ts';
import { parseJson } from '../../../../http/json.ts';
import { type FieldFault, Problem, pointerToken } from '../../../../http/problem.ts';
import type { AddressField, AttachmentField, ReadFields } from '../../fields.ts';
import type { FormEntry } from '../../form-fields.ts';
import type { IngestLimits } from '../../options.ts';
import { replaceMatches } from '../replacing.ts';
import type { GivenMessage } from '../submitting.ts';

/** Mailgun's `recipient-variables`: a message of its own for each recipient, with values of its own (contract-2 §C5). */

const FIELD = 'recipient-variables';
/** Mailgun takes as many. */
const MAX_MESSAGES = 1000;
/** What stands for a value; the bound keeps hostile texts from being searched again and again. */
const PLACEHOLDER = /%recipient\.([^%\r\n]{1,200})%/g;

/** The values for one recipient, by name. */
type Variables = ReadonlyMap<string, string>;

/** A message for each recipient, and what is wrong with what they are made of. */
export interface ForEach {
  readonly recipients: readonly Mailbox[];
  readonly faults: readonly FieldFault[];
  /** The message for one of them. Throws a `Problem`: 400, 413. */
  readonly make: (recipient: Mailbox) => GivenMessage;
}

/** Takes the field out of a form; null: it is not given. */
export function takeVariables(form: readonly FormEntry[]): {
  readonly given: readonly FormEntry[] | null;
  readonly others: readonly FormEntry[];
} {
  const given = form.filter((entry) => entry.name === FIELD && !('value' in entry && entry.value === ''));
  return { given: given.length === 0 ? null : given, others: form.filter(({ name }) => name !== FIELD) };
}

/** A message for each in `to` of these fields. */
export function forEachRecipient(
  { fields, faulty, pointTo, asked, givenSubject, unlessRepeat }: ReadFields,
  given: readonly FormEntry[],
  limits: Pick<IngestLimits, 'maxJsonDepth' | 'maxJsonValues' | 'maxMessageBytes'>,
): ForEach {
  const faults: FieldFault[] = [];
  const variables = variablesIn(given, limits, faults);
  const recipients = recipientsIn(fields.to, faults);
  if (recipients.some(({ address }) => variables.of(address) === 'ambiguous')) faults.push(AMBIGUOUS);
  for (const name of ['cc', 'bcc'] as const)
    if (fields[name].texts.length > 0) faults.push({ pointer: `/${name}`, ...NO_COPIES });
  const bounds = { pointer: `/${FIELD}`, maxBytes: limits.maxMessageBytes };
  return {
    recipients,
    faults,
    make: (recipient) => {
      const own = variables.of(recipient.address);
      const filled = (text: string) =>
        own === undefined || own === 'ambiguous'
          ? text
          : replaceMatches(text, PLACEHOLDER, (_, name) => own.get(name) ?? null, bounds);
      const named = (list: ReadFields['fields']['headers']) =>
        list.map(([name, value]): [string, string] => [name, filled(value)]);
      return {
        fields: {
          ...fields,
          to: { texts: [formatMailbox(recipient)], lists: false },
          subject: filled(fields.subject),
          text: fields.text === null ? null : filled(fields.text),
          html: fields.html === null ? null : filled(fields.html),
          headers: named(fields.headers),
          metadata: named(fields.metadata),
          attachments: fields.attachments.map(copyOf),
        },
        faulty,
        ...(asked && { asked: withOwn(asked, own) }),
        ...(givenSubject !== undefined && { givenSubject }),
        ...(unlessRepeat && { unlessRepeat }),
        pointTo: (field, ...place) => (field === 'to' ? '/to' : pointTo(field, ...place)),
      };
    },
  };
}

/** What was asked for one recipient: what was filled in is part of it. */
function withOwn(
  { template, variables }: NonNullable<ReadFields['asked']>,
  own: Variables | 'ambiguous' | undefined,
): NonNullable<ReadFields['asked']> {
  return { template, variables: { ...variables, own: own instanceof Map ? Object.fromEntries(own) : null } };
}

const NO_COPIES = {
  code: 'not_supported',
  detail: `Cannot be given with ${FIELD}: each recipient has a message of its own, and would be shown, or copied to, others.`,
};

const AMBIGUOUS = {
  pointer: `/${FIELD}`,
  code: 'repeated',
  detail:
    'A recipient has different values under addresses that differ in case alone; name it exactly as it is written in to.',
};

/** Composing a message frees the memory of its attachments. */
function copyOf(attachment: AttachmentField): AttachmentField {
  const { content } = attachment;
  return content instanceof Uint8Array ? { ...attachment, content: new Uint8Array(content) } : attachment;
}

/** Each address once; none if there are faults. */
function recipientsIn({ texts }: AddressField, faults: FieldFault[]): Mailbox[] {
  const found = new Map<string, Mailbox>();
  const before = faults.length;
  for (const [place, text] of texts.entries()) {
    const parsed = parseAddressList(text, MAX_MESSAGES);
    const pointer = texts.length === 1 ? '/to' : `/to/${place}`;
    if (!parsed.ok) faults.push({ pointer, code: parsed.code, detail: parsed.detail });
    for (const mailbox of parsed.ok ? parsed.value : [])
      if (!found.has(addressKey(mailbox.address))) found.set(addressKey(mailbox.address), mailbox);
    if (found.size > MAX_MESSAGES) {
      const detail = `There may be at most ${MAX_MESSAGES} recipients with ${FIELD}. Send to the others in another request.`;
      faults.push({ pointer: '/to', code: 'too_many_recipients', detail });
    }
    // Others would only repeat it.
    if (faults.length > before) return [];
  }
  return [...found.values()];
}

/** The values of each recipient. Applications write addresses in any case, though the case may tell two apart. */
class VariablesByAddress {
  readonly #exact = new Map<string, Variables | 'ambiguous'>();
  readonly #anyCase = new Map<string, Variables | 'ambiguous'>();

  add(address: string, values: Variables): void {
    const key = addressKey(address);
    put(this.#exact, key, values);
    put(this.#anyCase, key.toLowerCase(), values);
  }

  /** Those under exactly this address, else those under it in another case; `ambiguous` if these differ. */
  of(address: string): Variables | 'ambiguous' | undefined {
    const key = addressKey(address);
    return this.#exact.get(key) ?? this.#anyCase.get(key.toLowerCase());
  }
}

function put(into: Map<string, Variables | 'ambiguous'>, key: string, values: Variables): void {
  const before = into.get(key);
  into.set(key, before === undefined || isSame(before, values) ? values : 'ambiguous');
}

function isSame(one: Variables | 'ambiguous', other: Variables): boolean {
  if (one === 'ambiguous' || one.size !== other.size) return false;
  return [...one].every(([name, value]) => other.get(name) === value);
}

function variablesIn(
  given: readonly FormEntry[],
  { maxJsonDepth: maxDepth, maxJsonValues: maxValues }: Parameters<typeof forEachRecipient>[2],
  faults: FieldFault[],
): VariablesByAddress {
  const [entry, ...more] = given;
  const found = new VariablesByAddress();
  const fault = (code: string, detail: string, ...place: readonly string[]) => {
    const pointer = `/${[FIELD, ...place].map(pointerToken).join('/')}`;
    faults.push({ pointer, code, detail });
    return found;
  };
  if (more.length > 0) return fault('repeated', 'May be given only once; remove the others.');
  if (entry === undefined || 'file' in entry)
    return fault('type', 'Must be a plain field, without a filename.');
  const value = parsed(entry.value, { maxDepth, maxValues });
  if (value instanceof Problem)
    return fault(
      value.code,
      value.code === 'malformed_json' ? `Is not well-formed JSON. ${SHAPE}` : value.detail,
    );
  if (!isObject(value)) return fault('type', SHAPE);
  for (const [address, values] of Object.entries(value)) {
    const mailbox = parseMailbox(address);
    if (!mailbox.ok) return fault(mailbox.code, mailbox.detail, address);
    if (!isObject(values)) return fault('type', SHAPE, address);
    const own = new Map<string, string>();
    for (const [name, one] of Object.entries(values)) {
      if (typeof one === 'object' && one !== null)
        return fault('type', 'Must be a text, a number, true or false.', address, name);
      own.set(name, one === null ? '' : String(one));
    }
    found.add(mailbox.value.address, own);
  }
  return found;
}

const SHAPE = `Must be a JSON object with an object for each recipient: {"bob@example.org": {"name": "Bob"}}.`;

function parsed(text: string, limits: Parameters<typeof parseJson>[1]): unknown {
  try {
    return parseJson(Buffer.from(text), limits);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
