import type { SetupLink } from '../store/accounts.ts';
import type { Reception } from './reception.ts';
import { hashToken, isToken, newToken } from './tokens.ts';

/** How long a set-up link works (contract §14). */
const LINK_MS = 60 * 60_000;

/** A new link's token, and until when it works (wall ms). */
export interface NewLink {
  readonly token: string;
  readonly expiresAt: number;
}

type LinkDeps = Pick<Reception, 'accounts' | 'clock' | 'random' | 'linkMade'>;

/** Makes a link by which a user, or (null) the first administrator, chooses a password; an older one of theirs ends. */
export async function makeLink(
  { accounts, clock, random, linkMade }: LinkDeps,
  user: string | null,
): Promise<NewLink> {
  const token = newToken(random);
  const now = clock.wall();
  const expiresAt = now + LINK_MS;
  await accounts.putLink({ hash: hashToken(token), user, expiresAt }, now);
  // Links for others are handed on by someone who reaches us by a name that is ours.
  if (user === null) linkMade(expiresAt);
  return { token, expiresAt };
}

/** The link of a token; null when it was used, has ended, or never was. */
export async function findLink(
  { accounts, clock }: Pick<LinkDeps, 'accounts' | 'clock'>,
  token: string,
): Promise<SetupLink | null> {
  return isToken(token) ? await accounts.link(hashToken(token), clock.wall()) : null;
}

/** The dashboard's path of a link: what follows the # never leaves the browser. */
export function linkPath({ token }: NewLink): string {
  return `/setup#${token}`;
}
