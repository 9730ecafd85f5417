import { maySendFrom } from '../domain/key.ts';
import type { SigningRights } from '../domain/message.ts';
import { authorsOf } from '../mail/field-values.ts';
import type { FieldSpan } from '../mail/header-block.ts';
import type { SigningKey } from './keys.ts';

/**
 * The keys to sign a message with: those of its author's domain, or of the nearest domain above it, which DMARC takes as well
 * (RFC 7489 §3.1.1). None where the message may not be signed: whoever submitted it may not send as each of its authors, or
 * who they are cannot be read for certain; a signature would vouch for them.
 */
export function keysForAuthor(
  fields: readonly FieldSpan[],
  rights: SigningRights,
  keys: ReadonlyMap<string, readonly SigningKey[]>,
): readonly SigningKey[] {
  const from = fields.filter(({ lowerName }) => lowerName === 'from');
  // RFC 5322 §3.6: there is one. Of several, each reader shows another.
  if (from.length !== 1) return [];
  const authors = authorsOf(from);
  const first = authors?.[0];
  if (authors === null || first === undefined) return [];
  if (rights !== 'any' && !authors.every(({ domain }) => isAmong(rights, domain))) return [];
  for (const name of withParents(first.domain)) {
    const found = keys.get(name);
    if (found !== undefined) return found;
  }
  return [];
}

/** No domains at all are none here, and not all of them. */
function isAmong(senderDomains: readonly string[], domain: string): boolean {
  return senderDomains.length > 0 && maySendFrom({ senderDomains }, domain);
}

/** A domain, and those above it. */
function* withParents(domain: string): Generator<string, void> {
  for (let name = domain; ; ) {
    yield name;
    const dot = name.indexOf('.');
    if (dot < 0) return;
    name = name.slice(dot + 1);
  }
}
