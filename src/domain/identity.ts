import { ROLES, type Role } from './account.ts';
import { parseDomain } from './domain-name.ts';

/** What an identity provider says of somebody, and what follows from that here: a role, a name, or a refusal. */

/** What a provider says of somebody: the claims of an ID token, or of its user info. */
export type Claims = Readonly<Record<string, unknown>>;

/** Members of this group have this role. */
export interface GroupRole {
  readonly group: string;
  readonly role: Role;
}

/** Who of a provider's users may come in, and as what. */
export interface AdmissionRules {
  /** Where a user's groups are among the claims: the names on the way there. */
  readonly groupsClaim: readonly string[];
  readonly roles: readonly GroupRole[];
  /** The role of those in none of these groups; null: they may not come in. */
  readonly defaultRole: Role | null;
  /** Domains of which somebody must have a verified address; empty: no address is asked for. */
  readonly emailDomains: readonly string[];
}

/**
 * Why somebody may not come in.
 *
 * - `email`: no verified address of an allowed domain.
 * - `group`: none of the groups, and no role for others.
 */
export type Shut = 'email' | 'group';

/** More groups than anybody has. */
const MAX_GROUPS = 10_000;

/** The groups among the claims; null if there is no such claim. */
export function groupsOf(claims: Claims, path: readonly string[]): readonly string[] | null {
  let found: unknown = claims;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return null;
    found = (found as Claims)[name];
  }
  // Some providers give a single one without a list.
  if (typeof found === 'string') return [found];
  if (!Array.isArray(found)) return null;
  return found.slice(0, MAX_GROUPS).filter((group) => typeof group === 'string');
}

/** Whether these claims say all that the rules ask for. */
export function suffices(claims: Claims, { groupsClaim, roles, emailDomains }: AdmissionRules): boolean {
  const hasGroups = roles.length === 0 || groupsOf(claims, groupsClaim) !== null;
  return hasGroups && (emailDomains.length === 0 || claims['email'] !== undefined);
}

/** The role of somebody with these claims: of several, the one that may do most. */
export function admit(claims: Claims, rules: AdmissionRules): Role | Shut {
  if (!hasAddress(claims, rules.emailDomains)) return 'email';
  const groups = new Set(groupsOf(claims, rules.groupsClaim));
  const given = rules.roles.filter(({ group }) => groups.has(group)).map(({ role }) => role);
  const best = ROLES.findLast((role) => given.includes(role));
  return best ?? rules.defaultRole ?? 'group';
}

/** Whether somebody has a verified address of one of the domains, if there are any. */
function hasAddress(claims: Claims, domains: readonly string[]): boolean {
  if (domains.length === 0) return true;
  const { email, email_verified: verified } = claims;
  if (typeof email !== 'string' || verified !== true) return false;
  const domain = parseDomain(email.slice(email.lastIndexOf('@') + 1));
  return email.includes('@') && domain !== null && domains.some((allowed) => parseDomain(allowed) === domain);
}

/** Characters of a claim that are read. */
const MAX_CLAIM = 256;
/** A name has 64 characters at most: this leaves room for a number behind it. */
const LONGEST_STEM = 48;
/** Names that differ by a number. */
const MAX_NUMBERED = 20;

/**
 * Names that a new user of a provider may have here, the best first: as the provider calls them, otherwise with a
 * number behind it. A name is only what others see: it gives nobody anything.
 */
export function namesFor(claims: Claims): readonly string[] {
  const stem =
    ['preferred_username', 'email', 'nickname', 'name']
      .map((claim) => nameFrom(claims[claim]))
      .find((name) => name !== null) ?? 'user';
  const numbered = Array.from({ length: MAX_NUMBERED }, (_, index) => `${stem}-${index + 2}`);
  return [stem, ...numbered];
}

function nameFrom(claim: unknown): string | null {
  if (typeof claim !== 'string') return null;
  const plain = claim
    .slice(0, MAX_CLAIM)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9._@-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, LONGEST_STEM)
    .replace(/[^a-z0-9]+$/, '');
  return plain === '' ? null : plain;
}
