/**
 * Converts a stored message for an API that composes messages itself. The message is never altered: if the API cannot
 * express it, or would mail other recipients than the envelope's, the message is refused and another relay may take it.
 */
import type { Envelope } from '../../domain/message.ts';
import { localReply, type Reply } from '../../domain/outcome.ts';
import type { Sliced } from '../../lib/clock.ts';
import type { HeaderField } from '../../mail/headers.ts';
import { type FilePart, type MessageParts, readParts } from '../../mail/message-parts.ts';
import { UNREBUILDABLE } from '../../mail/mime-entity.ts';
import type { ProviderMessage } from './provider.ts';

/** What an API can express. */
export interface RebuildRules {
  /** The provider's name, for people. */
  readonly provider: string;
  /** A header field may appear more than once. */
  readonly repeats: boolean;
  /** A subject is required. */
  readonly needsSubject: boolean;
  /** A file may be shown inline without a Content-ID. */
  readonly inlineWithoutId: boolean;
  /** A file's type may have parameters. */
  readonly typeParameters: boolean;
}

/** A message for an API: its parts, and the recipients of blind copies. */
export interface Rebuilt extends MessageParts {
  readonly bcc: readonly string[];
}

/** Or why there is none. */
export type Rebuilding =
  | { readonly ok: true; readonly message: Rebuilt }
  | { readonly ok: false; readonly reply: Reply };

/** Charsets that are ASCII for ASCII bytes: there, it does not matter which one is named. */
const LIKE_ASCII = /^(?:us-ascii|ascii|utf-8|iso-8859-\d{1,2}|windows-125\d)$/i;
/** No real host distinguishes letter case (RFC 5321 §2.4). */
const keyOf = (address: string) => address.toLowerCase();

const NOT_ASCII = 'an address is not ASCII before its "@"';
const isLocalAscii = (address: string) => /^\p{ASCII}*$/u.test(address.slice(0, address.lastIndexOf('@')));

/** Reads a message and checks that an API can express it. */
export function* rebuild({ content, envelope }: ProviderMessage, rules: RebuildRules): Sliced<Rebuilding> {
  const read = yield* readParts(content);
  if (!read.ok) return lossy(rules, UNREBUILDABLE[read.because]);
  const { parts } = read;
  const difference = envelopeDifference(envelope, parts);
  if (difference !== null) {
    const text = `${rules.provider} takes sender and recipients from the message’s header: ${difference}`;
    return { ok: false, reply: localReply('envelope_differs', '5.6.0', text) };
  }
  const named = new Set([...parts.to, ...parts.cc].map(({ address }) => keyOf(address)));
  // Sorted: the same recipients always make the same request.
  const blind = envelope.recipients
    .map(({ address }) => address)
    .filter((address) => !named.has(keyOf(address)))
    .toSorted();
  const loss = blind.every(isLocalAscii) ? lossOf(parts, rules) : NOT_ASCII;
  if (loss !== null) return lossy(rules, loss);
  const bcc = new Map(blind.map((address) => [keyOf(address), address])).values();
  return { ok: true, message: { ...parts, bcc: [...bcc] } };
}

/** The media type of a file in the form such APIs accept. */
export function typeWithParameters({ type, parameters }: Pick<FilePart, 'type' | 'parameters'>): string {
  const written = [...parameters].map(([name, value]) =>
    /^[\w.+-]+$/.test(value) ? `; ${name}=${value}` : `; ${name}="${value.replace(/["\\]/g, '\\$&')}"`,
  );
  return type + written.join('');
}

/** Whether a type means the same without its parameters: only the charset of an ASCII file does. */
function isPlainType({ parameters, bytes }: FilePart): boolean {
  return [...parameters].every(
    ([name, value]) => name === 'charset' && LIKE_ASCII.test(value) && bytes.every((byte) => byte < 0x80),
  );
}

/** Null if sender and recipients are those in the header, apart from blind copies. */
function envelopeDifference({ reversePath, recipients }: Envelope, parts: MessageParts): string | null {
  if (keyOf(reversePath) !== keyOf(parts.from.address)) return 'the reverse-path is not the address in From';
  const getting = new Set(recipients.map(({ address }) => keyOf(address)));
  if (![...parts.to, ...parts.cc].every(({ address }) => getting.has(keyOf(address))))
    return 'To or Cc names somebody who is not a recipient of this delivery and would still get it';
  if (parts.to.length === 0) return 'To names nobody, and blind copies alone are not accepted';
  return null;
}

/** What would be lost or refused, as the end of a sentence; null for nothing. */
function lossOf(parts: MessageParts, rules: RebuildRules): string | null {
  const { from, to, cc, replyTo, others, subject, text, html, files } = parts;
  if (![from, ...to, ...cc, ...replyTo].every(({ ascii }) => ascii)) return NOT_ASCII;
  if (html === null && (text === null || text === '')) return 'it has no text, plain or HTML';
  if (rules.needsSubject && subject === '') return 'it has no subject';
  const names = others.map(([name]) => name.toLowerCase());
  if (!rules.repeats && new Set(names).size < names.length)
    return 'a header field appears more than once, which cannot be expressed';
  if (!rules.inlineWithoutId && files.some(isInlineWithoutId))
    return 'a file is to be shown inline, but has no Content-ID to express that';
  if (!rules.typeParameters && !files.every(isPlainType))
    return 'the type of a file has parameters, which cannot be expressed';
  return null;
}

function isInlineWithoutId({ disposition, contentId }: FilePart): boolean {
  return disposition === 'inline' && contentId === null;
}

function lossy({ provider }: RebuildRules, why: string): Rebuilding {
  const text = `${provider} accepts no finished message, and it cannot be rebuilt from its parts: ${why}`;
  return { ok: false, reply: localReply('not_rebuildable', '5.6.3', text) };
}

/** The header fields to hand over: those without a place of their own. */
export function handedOver(
  { others, messageId, date }: MessageParts,
  own: { readonly messageId: boolean; readonly date: boolean },
): HeaderField[] {
  return [
    ...(own.messageId && messageId !== null ? [['Message-ID', messageId] as const] : []),
    ...(own.date && date !== null ? [['Date', date] as const] : []),
    ...others,
  ];
}
