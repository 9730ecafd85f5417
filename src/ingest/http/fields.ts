import type { FieldFault } from '../../http/problem.ts';

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
export interface NotBase64 {
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
