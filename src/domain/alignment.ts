/**
 * Whether mail would align with its author's domain, as DMARC requires (RFC 7489 §3.1): by a signature, or by the
 * reverse-path. Only names are compared. Whether SPF passes, and whether a record is right, is checked in the DNS by
 * `domains check`.
 */
import { keyState, type SendingDomain } from './domain-keys.ts';
import { maySendFrom } from './key.ts';
import type { RelayType } from './lane.ts';
import type { SigningRights } from './message.ts';

/** How one recipient's copy would align on its route. */
export interface Alignment {
  /** `aligned` if dkim or spf is, else `depends_on_provider` if one of them is the provider's. */
  readonly verdict: 'aligned' | 'not_aligned' | 'depends_on_provider';
  /** `none`: no signature of ours would align. */
  readonly dkim: 'aligned' | 'none' | 'by_provider';
  /** The domain that would sign; null if none of ours would, or the provider does. */
  readonly dkimDomain: string | null;
  readonly spf: 'aligned' | 'not_aligned' | 'by_provider';
  /** The domain that SPF would check; null for the null reverse-path, or the provider's own. */
  readonly spfDomain: string | null;
  /** One sentence: the result, and what to do about it. */
  readonly detail: string;
}

/** The facts that decide alignment. Domain names are in lower case, in A-labels. */
export interface AlignmentFacts {
  /** The domains of From's addresses, the displayed mailbox's first; empty if they cannot be parsed reliably. */
  readonly authors: readonly string[];
  /** The domain of the reverse-path; null for the null one. */
  readonly reverseDomain: string | null;
  readonly rights: SigningRights;
  readonly domains: readonly SendingDomain[];
  /** Whether two domains align, relaxed (RFC 7489 §3.1). */
  readonly areAligned: (one: string, other: string) => boolean;
}

/** The facts that decide who signs. */
type SigningFacts = Pick<AlignmentFacts, 'authors' | 'rights' | 'domains'>;

/** Which parts of what DMARC checks are ours on a type of relay. */
interface Part {
  /** Our signature is still valid on arrival. */
  readonly keepsSignature: boolean;
  /** The provider signs with a key of its own, in addition or instead. */
  readonly signs: boolean;
  /** The reverse-path is ours. */
  readonly keepsReversePath: boolean;
}

const OURS: Part = { keepsSignature: true, signs: false, keepsReversePath: true };
const THEIRS: Part = { keepsSignature: false, signs: true, keepsReversePath: false };
const PARTS: Readonly<Record<RelayType, Part>> = {
  inbox: OURS,
  smtp: OURS,
  mx: OURS,
  webhook: OURS,
  mailgun: { keepsSignature: true, signs: true, keepsReversePath: false },
  // Replaces our Date and Message-ID, which are signed, with its own.
  ses: THEIRS,
  // Takes the message apart into a mailbox item, and writes it anew.
  graph: THEIRS,
  // They get the parts, not the message.
  postmark: THEIRS,
  sendgrid: THEIRS,
  resend: THEIRS,
};

/** Why nothing of ours would sign. */
type Unsigned = 'unregistered' | 'waiting' | 'not_allowed' | 'unreadable';

/** The alignment of the copies that would use relays of a type. */
export function alignmentOf(facts: AlignmentFacts, type: RelayType): Alignment {
  const part = PARTS[type];
  const signing = part.keepsSignature ? signingDomain(facts) : null;
  const dkimDomain = typeof signing === 'object' ? (signing?.name ?? null) : null;
  const dkim = dkimDomain !== null ? 'aligned' : part.signs ? 'by_provider' : 'none';
  const spfDomain = part.keepsReversePath ? facts.reverseDomain : null;
  const spf = part.keepsReversePath ? (reverseAligns(facts) ? 'aligned' : 'not_aligned') : 'by_provider';
  const isAligned = dkim === 'aligned' || spf === 'aligned';
  const depends = dkim === 'by_provider' || spf === 'by_provider';
  const verdict = isAligned ? 'aligned' : depends ? 'depends_on_provider' : 'not_aligned';
  const detail = detailOf({ verdict, dkim, dkimDomain }, facts, type);
  return { verdict, dkim, dkimDomain, spf, spfDomain, detail };
}

/** Whether a key of ours signs the message as submitted. */
export function isSigned(facts: SigningFacts): boolean {
  return typeof signingDomain(facts) === 'object';
}

/**
 * The domain whose keys would sign: the author's, else the nearest parent that has one (as `signing` chooses); or why
 * none.
 */
function signingDomain({ authors, rights, domains }: SigningFacts): SendingDomain | Unsigned {
  const author = authors[0];
  if (author === undefined) return 'unreadable';
  const above = domains
    .filter(({ name }) => isWithin(author, name))
    .sort((a, b) => b.name.length - a.name.length);
  const signs = above.find((domain) => domain.keys.some(isSigning));
  if (signs === undefined) return above.length > 0 ? 'waiting' : 'unregistered';
  return authors.every((domain) => maySignFor(rights, domain)) ? signs : 'not_allowed';
}

function isSigning(key: SendingDomain['keys'][number]): boolean {
  return keyState(key) === 'signing' && key.privateKey !== null;
}

function maySignFor(rights: SigningRights, domain: string): boolean {
  return rights === 'any' || (rights.length > 0 && maySendFrom({ senderDomains: rights }, domain));
}

function reverseAligns({ authors, reverseDomain, areAligned }: AlignmentFacts): boolean {
  if (reverseDomain === null || authors.length === 0) return false;
  return authors.every((author) => areAligned(author, reverseDomain));
}

/** Whether a name is a domain, or a subdomain of it. */
function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

function detailOf(
  { verdict, dkim, dkimDomain }: Pick<Alignment, 'verdict' | 'dkim' | 'dkimDomain'>,
  facts: AlignmentFacts,
  type: RelayType,
): string {
  if (dkim === 'aligned') return `Signed for ${dkimDomain}, which aligns with From.`;
  if (dkim === 'by_provider')
    return `${type} uses its own signature and reverse-path: have it verify ${authorOf(facts)}, and sign for it.`;
  const cure = signingCure(facts);
  if (verdict === 'aligned') return `Only SPF can align, and forwarding breaks that: ${cure}.`;
  return `Neither a signature nor the reverse-path aligns with From: ${cure}.`;
}

/** What to do so that a key of ours signs, as the end of a sentence; null if one does. */
export function signingCure(facts: SigningFacts): string | null {
  const why = signingDomain(facts);
  if (typeof why === 'object') return null;
  if (why === 'unreadable') return 'write From as one plain address';
  const author = authorOf(facts);
  if (why === 'not_allowed') return `let the sender's key send from ${author} by name`;
  const registered = facts.domains.find(({ name }) => isWithin(author, name))?.name;
  if (why === 'waiting' && registered !== undefined)
    return `run waybill domains check ${registered}, which says why nothing signs`;
  return `waybill domains add ${author}`;
}

function authorOf({ authors: [author = 'the domain of From'] }: SigningFacts): string {
  return author;
}
