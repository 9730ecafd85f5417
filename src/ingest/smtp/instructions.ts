import type { Parsed } from '../../domain/address-entry.ts';
import type { Submission } from '../../domain/message.ts';
import { streamKey } from '../../domain/suppression.ts';
import { decodeWords } from '../../mail/field-values.ts';
import { BOX_FIELD, OURS_PREFIX } from '../../mail/finished.ts';
import type { FieldSpan } from '../../mail/header-block.ts';
import type { Fault } from '../../mail/headers.ts';
import {
  boxFault,
  idempotencyKeyFault,
  ignoresSuppression,
  metadataFaults,
  readPriority,
  readSendAt,
  STREAM_RULE,
  SUPPRESSION_RULE,
  TWO_STREAMS,
  tagFault,
  tooMany,
} from '../message-rules.ts';
import { labelFault } from '../unsubscribing.ts';
import type { MessageLimits } from './options.ts';
import { decline, type Refusal } from './refusal.ts';

/**
 * Header fields that carry what an API client says beside its message (contract §10), under the same rules. An empty
 * field equals an absent one; an unknown one is refused, for a typo must not silently do nothing.
 */

/** The values of a message's instructions. */
export interface Instructions
  extends Pick<Submission, 'tags' | 'metadata' | 'sendAt' | 'priority' | 'stream' | 'ignoresSuppression'> {
  readonly idempotencyKey: string | null;
  /** The stream, as written, from which recipients can unsubscribe. */
  readonly unsubscribe: string | null;
  readonly box: string | null;
}

/** The values of a message without instructions. */
export const NO_INSTRUCTIONS: Instructions = {
  tags: [],
  metadata: {},
  sendAt: null,
  priority: 'normal',
  idempotencyKey: null,
  stream: null,
  ignoresSuppression: false,
  unsubscribe: null,
  box: null,
};

/** The values, or the refusal of the message. */
export type ReadInstructions =
  | { readonly ok: true; readonly instructions: Instructions }
  | { readonly ok: false; readonly refusal: Refusal };

const IDEMPOTENCY_KEY = 'idempotency-key';
const TAG = `${OURS_PREFIX}tag`;
const SEND_AT = `${OURS_PREFIX}send-at`;
const PRIORITY = `${OURS_PREFIX}priority`;
const STREAM = `${OURS_PREFIX}stream`;
const SUPPRESSION = `${OURS_PREFIX}suppression`;
const UNSUBSCRIBE = `${OURS_PREFIX}unsubscribe`;
const METADATA_PREFIX = `${OURS_PREFIX}metadata-`;
const NAMES = new Set([TAG, SEND_AT, PRIORITY, STREAM, SUPPRESSION, UNSUBSCRIBE, BOX_FIELD, IDEMPOTENCY_KEY]);
const KNOWN =
  'X-Waybill-Tag, X-Waybill-Send-At, X-Waybill-Priority, X-Waybill-Stream, X-Waybill-Suppression, X-Waybill-Unsubscribe, X-Waybill-Box, X-Waybill-Metadata-<name> and Idempotency-Key are known';
/** Characters of a field's name, or of a value's beginning, that a refusal quotes. */
const MAX_SHOWN = 90;

/** Whether a field is an instruction to us, known or not: it is never sent. */
export function isInstruction({ lowerName }: Pick<FieldSpan, 'lowerName'>): boolean {
  return lowerName.startsWith(OURS_PREFIX) || lowerName === IDEMPOTENCY_KEY;
}

/** Reads the instructions in a header. The refusal names the first faulty field and the rule that it breaks. */
export function readInstructions(
  fields: readonly FieldSpan[],
  limits: Pick<MessageLimits, 'maxTags' | 'maxMetadata'>,
  now: number,
): ReadInstructions {
  const given = fields.filter(isInstruction);
  if (given.length === 0) return { ok: true, instructions: NO_INSTRUCTIONS };
  const reader = new Reader(limits, now);
  for (const field of given) {
    const fault = field.value === '' && isKnown(field) ? null : reader.read(field);
    if (fault !== null) return { ok: false, refusal: refusalOf(field, fault) };
  }
  return { ok: true, instructions: reader.instructions };
}

function isKnown({ lowerName }: FieldSpan): boolean {
  return NAMES.has(lowerName) || lowerName.startsWith(METADATA_PREFIX);
}

function refusalOf({ name }: FieldSpan, { detail }: Fault): Refusal {
  return decline('header_instruction', 550, '5.6.0', `${name.slice(0, MAX_SHOWN)}: ${detail}`);
}

/** Gathers the instructions of one message. */
class Reader {
  readonly #limits: Pick<MessageLimits, 'maxTags' | 'maxMetadata'>;
  readonly #now: number;
  readonly #tags = new Set<string>();
  #tagCount = 0;
  readonly #metadata = new Map<string, string>();
  #sendAt: { readonly value: number | null } | null = null;
  #priority: Instructions['priority'] | null = null;
  #idempotencyKey: string | null = null;
  #stream: string | null = null;
  #ignoresSuppression = false;
  #unsubscribe: string | null = null;
  #box: string | null = null;

  constructor(limits: Pick<MessageLimits, 'maxTags' | 'maxMetadata'>, now: number) {
    this.#limits = limits;
    this.#now = now;
  }

  get instructions(): Instructions {
    return {
      tags: [...this.#tags],
      metadata: Object.fromEntries(this.#metadata),
      sendAt: this.#sendAt?.value ?? null,
      priority: this.#priority ?? NO_INSTRUCTIONS.priority,
      idempotencyKey: this.#idempotencyKey,
      stream: this.#unsubscribe === null ? this.#stream : streamKey(this.#unsubscribe),
      ignoresSuppression: this.#ignoresSuppression,
      unsubscribe: this.#unsubscribe,
      box: this.#box,
    };
  }

  /** Takes a field with a value. Returns its fault; null if it is valid. */
  read({ lowerName, name, value }: FieldSpan): Fault | null {
    if (lowerName === TAG) return this.#tag(decodeWords(value));
    if (lowerName === SEND_AT) return this.#at(value);
    if (lowerName === PRIORITY) return this.#rank(value);
    if (lowerName === IDEMPOTENCY_KEY) return this.#key(value);
    if (lowerName === STREAM) return this.#belongs(decodeWords(value));
    if (lowerName === SUPPRESSION) return this.#ignores(value);
    if (lowerName === UNSUBSCRIBE) return this.#leaves(value);
    if (lowerName === BOX_FIELD) return this.#captured(value);
    if (lowerName.startsWith(METADATA_PREFIX))
      return this.#entry(name.slice(METADATA_PREFIX.length), decodeWords(value));
    return { code: 'unknown_field', detail: `There is no such header; ${KNOWN}. Correct or remove it.` };
  }

  #tag(tag: string): Fault | null {
    const { maxTags } = this.#limits;
    this.#tagCount += 1;
    if (this.#tagCount > maxTags) return tooMany(this.#tagCount, 'tags or more', maxTags, 'api.max_tags');
    this.#tags.add(tag);
    return tagFault(tag);
  }

  #entry(name: string, value: string): Fault | null {
    const { maxMetadata } = this.#limits;
    if (this.#metadata.has(name)) return REPEATED;
    const count = this.#metadata.size + 1;
    if (count > maxMetadata)
      return tooMany(count, 'entries of metadata or more', maxMetadata, 'api.max_metadata');
    this.#metadata.set(name, value);
    return metadataFaults(name, value)[0] ?? null;
  }

  #at(text: string): Fault | null {
    if (this.#sendAt !== null) return REPEATED;
    const at = readSendAt(text, this.#now);
    if (at.ok) this.#sendAt = at;
    return faultOf(at);
  }

  #rank(text: string): Fault | null {
    if (this.#priority !== null) return REPEATED;
    const priority = readPriority(text);
    if (priority.ok) this.#priority = priority.value;
    return faultOf(priority);
  }

  #belongs(text: string): Fault | null {
    if (this.#stream !== null) return REPEATED;
    this.#stream = streamKey(text);
    return this.#stream === null ? STREAM_RULE : this.#streamFault();
  }

  #ignores(text: string): Fault | null {
    if (this.#ignoresSuppression) return REPEATED;
    this.#ignoresSuppression = ignoresSuppression(text) ?? false;
    return this.#ignoresSuppression ? null : SUPPRESSION_RULE;
  }

  #leaves(text: string): Fault | null {
    if (this.#unsubscribe !== null) return REPEATED;
    this.#unsubscribe = text;
    return labelFault(text) ?? this.#streamFault();
  }

  #captured(box: string): Fault | null {
    if (this.#box !== null) return REPEATED;
    this.#box = box;
    return boxFault(box);
  }

  #streamFault(): Fault | null {
    const isOne =
      this.#stream === null || this.#unsubscribe === null || this.#stream === streamKey(this.#unsubscribe);
    return isOne ? null : TWO_STREAMS;
  }

  #key(key: string): Fault | null {
    if (this.#idempotencyKey !== null) return REPEATED;
    this.#idempotencyKey = key;
    return idempotencyKeyFault(key);
  }
}

const REPEATED: Fault = { code: 'repeated', detail: 'May appear only once; remove all but one.' };

function faultOf(parsed: Parsed<unknown>): Fault | null {
  return parsed.ok ? null : parsed;
}
