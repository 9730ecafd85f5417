import {
  type Alignment,
  type AlignmentFacts,
  alignmentOf,
  isSigned,
  signingCure,
} from '../../domain/alignment.ts';
import type { SendingDomain } from '../../domain/domain-keys.ts';
import { parseAddress } from '../../domain/mailbox.ts';
import type { SigningRights, Submission } from '../../domain/message.ts';
import { PROVIDER_MAX_BYTES, type Relay } from '../../domain/relay.ts';
import { type BounceDomains, bounceDomainFor } from '../../domain/return-path.ts';
import { areAligned } from '../../lib/organizational-domain.ts';
import { authorsOf } from '../../mail/field-values.ts';
import { readHandedIn } from '../../mail/handed-in.ts';
import type { Hop } from '../../preflight/contract.ts';

/** What is known of the way of mail before it is sent: whom it would align with, and what the relays take. */

/** The relays and sending domains in force. */
export interface Sending {
  readonly relays: readonly KnownRelay[];
  readonly domains: readonly SendingDomain[];
  readonly bounceDomains: BounceDomains;
}

type KnownRelay = Pick<Relay, 'name' | 'type'> & Partial<Pick<Relay, 'mx' | 'smtp' | 'limits'>>;

/** What decides how mail aligns. */
export interface AlignedMail extends Pick<AlignmentFacts, 'authors' | 'rights'> {
  readonly reversePath: string;
  /** Its author, as shown: `Jane <jane@example.com>`. */
  readonly headerFrom: string;
}

/** Bytes of a header to search for From: more than any listener accepts. */
const MAX_HEADER_BYTES = 1024 * 1024;

/** What decides how a submission aligns. */
export function alignedMail({ content, envelope, header, signing }: Submission): AlignedMail {
  const chunks = content.chunks.map((chunk) => Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  const fields = readHandedIn(chunks, MAX_HEADER_BYTES)?.header.fields ?? [];
  const from = fields.filter(({ lowerName }) => lowerName === 'from');
  const authors = from.length === 1 ? (authorsOf(from) ?? []) : [];
  return {
    authors: authors.map(({ domain }) => domain),
    rights: signing,
    reversePath: envelope.reversePath,
    headerFrom: header.from,
  };
}

/** What decides how a message aligns that is only known by its record: From as shown, and its reverse-path. */
export function alignedRecord(headerFrom: string, reversePath: string, rights: SigningRights): AlignedMail {
  const authors = authorsOf([{ lowerName: 'from', value: headerFrom }]) ?? [];
  return { authors: authors.map(({ domain }) => domain), rights, reversePath, headerFrom };
}

/** How mail aligns on a relay; null where there is none, or nothing is sent. */
export function alignmentBy(name: string | null, mail: AlignedMail, sending: Sending): Alignment | null {
  const relay = sendingRelay(name, sending);
  return relay === null ? null : alignmentOf(alignmentFacts(relay, mail, sending), relay.type);
}

/** The relay of this name, if it sends. */
function sendingRelay(name: string | null, { relays }: Pick<Sending, 'relays'>): KnownRelay | null {
  return relays.find((relay) => relay.name === name && relay.type !== 'inbox') ?? null;
}

function alignmentFacts(
  relay: KnownRelay,
  mail: AlignedMail,
  { domains, bounceDomains }: Pick<Sending, 'domains' | 'bounceDomains'>,
): AlignmentFacts {
  const { authors, rights, reversePath } = mail;
  const reverse = parseAddress(reversePath);
  // A return path of ours is what SPF is checked for.
  const reverseDomain =
    bounceDomainFor(mail, relay, bounceDomains) ?? (reverse.ok ? reverse.value.domain : null);
  return { authors, reverseDomain, rights, domains, areAligned };
}

/** Whether a key of ours signs the mail. */
export function willSign({ authors, rights }: AlignedMail, { domains }: Pick<Sending, 'domains'>): boolean {
  return isSigned({ authors, rights, domains });
}

/** The relays of these names on its way, each once. */
export function hopsOf(names: Iterable<string | null>, mail: AlignedMail, sending: Sending): Hop[] {
  return [...new Set(names)].flatMap((name) => {
    const relay = sendingRelay(name, sending);
    if (relay === null) return [];
    const { type, smtp } = relay;
    const facts = alignmentFacts(relay, mail, sending);
    const alignment = alignmentOf(facts, type);
    return [
      {
        relay: relay.name,
        type,
        host: smtp?.host ?? null,
        maxBytes: maxBytesOf(relay),
        alignment,
        signingCure: alignment.dkim === 'none' ? signingCure(facts) : null,
      },
    ];
  });
}

function maxBytesOf({ type, limits }: KnownRelay): number | null {
  const ofProvider = Object.entries(PROVIDER_MAX_BYTES).find(([name]) => name === type)?.[1];
  const all = [ofProvider ?? 0, limits?.maxMessageBytes ?? 0].filter((bytes) => bytes > 0);
  return all.length === 0 ? null : Math.min(...all);
}

/** The first address whose local part is not ASCII; null without one. */
export function utf8AddressOf(addresses: readonly string[]): string | null {
  return addresses.find((address) => /[^\0-\x7f]/.test(address.slice(0, address.lastIndexOf('@')))) ?? null;
}
