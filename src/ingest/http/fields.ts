import type { TemplateValues } from '../../domain/template.ts';
import { type FieldFault, Problem } from '../../http/problem.ts';

/**
 * The fields of a submission as given, whatever the media type (contract §2, first table): JSON, `multipart/form-data`
 * and urlencoded forms all become this. The types are right; values are not checked yet.
 */
export interface Fields {
  readonly from: string | null;
  readonly to: AddressField;
  readonly cc: AddressField;
  readonly bcc: AddressField;
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  /** The alias or id of the template that says what the message says. */
  readonly template: string | null;
  /** The values for its names. */
  readonly variables: TemplateValues | null;
  readonly headers: readonly NamedValue[];
  readonly attachments: readonly AttachmentField[];
  readonly tags: readonly string[];
  readonly sendAt: string | null;
  readonly metadata: readonly NamedValue[];
  readonly priority: string | null;
  readonly stream: string | null;
  /** `ignore`: only complaints stop it. */
  readonly suppression: string | null;
  /** The stream from which recipients can unsubscribe with one click. */
  readonly unsubscribe: string | null;
  /** The box that it is captured in. */
  readonly box: string | null;
  /** REQUIRETLS (RFC 8689). */
  readonly requireTls: boolean;
  readonly dryRun: boolean;
  /** Mailgun's `o:testmode=yes`: capture, as for a test key. */
  readonly capture: boolean;
  /** Mailgun's `o:dkim`: accepted where it asks for what happens anyway; null where absent. */
  readonly dkim: boolean | null;
}

/** The fields by their JSON names. */
export type FieldName = keyof Fields;

/** A field that holds addresses: each text is one mailbox, or an address list. */
export interface AddressField {
  readonly texts: readonly string[];
  readonly lists: boolean;
}

/** A name and its value, in the order given. */
export type NamedValue = readonly [name: string, value: string];

/** A text that is not base64, and the rule that it breaks. */
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

/** No field given. */
export const NO_FIELDS: Fields = {
  from: null,
  to: NO_ADDRESSES,
  cc: NO_ADDRESSES,
  bcc: NO_ADDRESSES,
  subject: '',
  text: null,
  html: null,
  template: null,
  variables: null,
  headers: [],
  attachments: [],
  tags: [],
  sendAt: null,
  metadata: [],
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

/**
 * The JSON pointer (RFC 6901) of a field as the client knows it: `/sendAt` in JSON is `/o:send-at` in a form.
 * `place` is an index or a name within the field, `property` one of an attachment's.
 */
export type PointTo = (field: FieldName, place?: number | string, property?: keyof AttachmentField) => string;

/** A submission read from its body, with the faults found so far. */
export interface ReadFields {
  readonly fields: Fields;
  /** Fields that were given but could not be read; `fields` has them as absent. */
  readonly faulty: ReadonlySet<FieldName>;
  readonly faults: readonly FieldFault[];
  readonly pointTo: PointTo;
  /** The name of the whole when no field is at fault; absent for `The body`. */
  readonly whole?: string;
  /** A subject that is given beside a template wins over the template's. */
  readonly ownSubject?: boolean;
  /** The subject as given, if a template's may have taken its place. */
  readonly givenSubject?: string;
  /** The template and values as given, if what they say is among the fields: repeats are compared by them. */
  readonly asked?: { readonly template: string; readonly variables: Readonly<Record<string, unknown>> };
  /** Why its template says nothing: see `MadeSubmission`. */
  readonly unlessRepeat?: Problem;
  /** The send time as given, if it counts from now: repeats are compared by this text. */
  readonly relativeSendAt?: string;
}

/** Further faults are neither reported nor searched for: the answer to a hostile request must not outgrow it. */
const MAX_TOLD = 1000;

/** The reported faults, and one more if there are others; the rest is never computed. */
export function firstFaults(faults: Iterable<FieldFault>): FieldFault[] {
  const first: FieldFault[] = [];
  for (const fault of faults) if (first.push(fault) > MAX_TOLD) break;
  return first;
}

/** Collects the faults of a submission, to report them all at once (contract §5). */
export class Faults {
  readonly #found: FieldFault[];
  readonly #pointTo: PointTo;
  readonly #faulty: Set<FieldName>;
  readonly #whole: string | undefined;

  /** `others`: faults found beside the fields. */
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

  /** Whether any of these fields is faulty: checks that depend on them cannot be made. */
  has(...fields: readonly FieldName[]): boolean {
    return fields.some((field) => this.#faulty.has(field));
  }

  /** The faults found so far. */
  get found(): readonly FieldFault[] {
    return this.#found;
  }

  /** Throws the problem 400 if there are any faults. */
  refuse(): void {
    refuseFaults(this.#found, this.#whole);
  }
}

/** Throws the problem 400 if there are any faults. */
export function refuseFaults(faults: readonly FieldFault[], whole = 'The body'): void {
  if (faults.length > 0) throw faultyFields('invalid_submission', faults, whole);
}

/** The problem 400 for these faults, with the first in its detail; `whole` names what an empty pointer means. */
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

/** The setting behind each limit on a header's totals. */
const HEADER_SETTINGS: Readonly<Record<string, string>> = {
  header_count: ' The limit is api.max_headers.',
  header_size: ' The limit is api.max_header_bytes.',
};

/** A fault of a header, with the setting that limits it, if any. */
export function withSetting<Fault extends { readonly code: string; readonly detail: string }>(fault: Fault) {
  return { ...fault, detail: `${fault.detail}${HEADER_SETTINGS[fault.code] ?? ''}` };
}
