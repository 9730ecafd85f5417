import type { TlsDemand } from '../domain/message.ts';
import type { FieldSpan } from './header-block.ts';

/** The header field `TLS-Required` (RFC 8689 §3). */
const FIELD = 'tls-required';
/** The only value that it has. */
const NO = /^\s*no\s*$/i;

/**
 * What a message demands of the way, as a part of its submission. REQUIRETLS outranks the header (RFC 8689 §4.1). A field
 * that is given twice, or says anything but `No`, says nothing.
 */
export function tlsDemandOf(
  requireTls: boolean,
  fields: readonly Pick<FieldSpan, 'lowerName' | 'value'>[],
): { readonly tls?: TlsDemand } {
  if (requireTls) return REQUIRED;
  const first = fields.findIndex(({ lowerName }) => lowerName === FIELD);
  if (first < 0 || !NO.test(fields[first]?.value ?? '')) return NOTHING;
  return fields.findLastIndex(({ lowerName }) => lowerName === FIELD) === first ? OPTIONAL : NOTHING;
}

const REQUIRED = { tls: 'required' } as const;
const OPTIONAL = { tls: 'optional' } as const;
const NOTHING = {};
