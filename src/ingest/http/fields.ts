import { type FieldFault, Problem } from '../../http/problem.ts';

/**
 * A submission as its fields were given, whatever form carried them (contract §2, first table): JSON,
 * `multipart/form-data` and urlencoded forms all become this. The shape is right; nothing else is checked yet.
 */
export interface Fields {
  readonly from: string | null;
  readonly to: AddressField;
  readonly cc: AddressField;
  readonly bcc: AddressField;
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  readonly headers: readonly NamedValue[];
  readonly attachments: readonly AttachmentField[];
  readonly tags: readonly string[];
  readonly sendAt: string | null;
  readonly metadata: readonly NamedValue[];
  readonly priority: string | null;
  readonly dryRun: boolean;
  /** Mailgun's `o:testmode=yes`: capture, as for a test key. */
  readonly capture: boolean;
  /** Mailgun's `o:dkim`: taken where it asks for what happens anyway; null where nothing is asked. */
  readonly dkim: boolean | null;
}

/** The fields by their JSON names. */
export type FieldName = keyof Fields;

/** A field that holds addresses: one mailbox in each text, or an address list in each. */
export interface AddressField {
  readonly texts: readonly string[];
  readonly lists: boolean;
}

/** A name and its value, in the order given. */
export type NamedValue = readonly [name: string, value: string];

/** A text that should have been base64, and the rule that it breaks. */
interface NotBase64 {
  readonly rule: string;
}

/** An attachment as given, its content already decoded. */
export interface AttachmentField {
  readonly filename: string | null;
  readonly content: Uint8Array | NotBase64;
  readonly contentType: string | null;
  readonly contentId: string | null;
  readonly disposition: string | null;
}

/** No addresses given. */
export const NO_ADDRESSES: AddressField = { texts: [], lists: false };

/**
 * The JSON pointer (RFC 6901) of a field as the client knows it: `/sendAt` in JSON is `/o:send-at` in a form.
 * `place` is an index or a name within the field, `property` one of an attachment's.
 */
export type PointTo = (field: FieldName, place?: number | string, property?: keyof AttachmentField) => string;

/** A submission read from its form, and what was already found wrong with it. */
export interface ReadFields {
  readonly fields: Fields;
  /** Fields that were given but could not be read. They are in `fields` as if absent. */
  readonly faulty: ReadonlySet<FieldName>;
  readonly faults: readonly FieldFault[];
  readonly pointTo: PointTo;
  /** What the whole is called where none of its fields is at fault; absent for `The body`. */
  readonly whole?: string;
}

/** More than this are neither told nor looked for: the answer to a hostile request must not outgrow the request. */
const MAX_TOLD = 1000;

/** The faults that are told, and one more where there are others; no further ones are made. */
export function firstFaults(faults: Iterable<FieldFault>): FieldFault[] {
  const first: FieldFault[] = [];
  for (const fault of faults) if (first.push(fault) > MAX_TOLD) break;
  return first;
}

/** What is wrong with a submission, gathered field by field and told all at once (contract §5). */
export class Faults {
  readonly #found: FieldFault[];
  readonly #pointTo: PointTo;
  readonly #faulty: Set<FieldName>;
  readonly #whole: string | undefined;

  /** `others`: what was found beside the fields. */
  constructor(read: ReadFields, others: readonly FieldFault[] = []) {
    this.#found = [...read.faults, ...others];
    this.#pointTo = read.pointTo;
    this.#faulty = new Set(read.faulty);
    this.#whole = read.whole;
  }

  /** Reports a fault of a field, or of a place in it. */
  add(
    fault: { readonly code: string; readonly detail: string },
    field: FieldName,
    place?: number | string,
    property?: keyof AttachmentField,
  ): void {
    const { code, detail } = fault;
    this.#faulty.add(field);
    if (this.#found.length > MAX_TOLD) return;
    this.#found.push({ pointer: this.#pointTo(field, place, property), code, detail });
  }

  /** Whether something was found in one of these fields: what depends on them cannot be judged. */
  has(...fields: readonly FieldName[]): boolean {
    return fields.some((field) => this.#faulty.has(field));
  }

  /** What was found so far. */
  get found(): readonly FieldFault[] {
    return this.#found;
  }

  /** Throws the problem 400 if anything was found. */
  refuse(): void {
    refuseFaults(this.#found, this.#whole);
  }
}

/** Throws the problem 400 if there are any faults. */
export function refuseFaults(faults: readonly FieldFault[], whole = 'The body'): void {
  if (faults.length > 0) throw faultyFields('invalid_submission', faults, whole);
}

/** The problem 400 for these faults, of which its detail tells the first; `whole` is what an empty pointer is called. */
export function faultyFields(
  code: 'invalid_submission' | 'invalid_request',
  faults: readonly FieldFault[],
  whole = 'The body',
): Problem {
  const [first, ...others] = faults;
  const count = others.length < MAX_TOLD ? `${others.length}` : `at least ${MAX_TOLD}`;
  const more = others.length === 0 ? '' : ` (and ${count} more; see errors)`;
  const detail = `${first?.pointer.slice(1) || whole}: ${first?.detail}${more}`;
  return new Problem(400, code, detail, { errors: faults.slice(0, MAX_TOLD) });
}

/** What decides the limit that a fault of a header's totals is about. */
const HEADER_SETTINGS: Readonly<Record<string, string>> = {
  header_count: ' The limit is api.max_headers.',
  header_size: ' The limit is api.max_header_bytes.',
};

/** A fault of a header, with the setting where it is about one. */
export function withSetting<Fault extends { readonly code: string; readonly detail: string }>(fault: Fault) {
  return { ...fault, detail: `${fault.detail}${HEADER_SETTINGS[fault.code] ?? ''}` };
}
