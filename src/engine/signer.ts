import type { Content, SigningRights } from '../domain/message.ts';

/** Signs mail, where there is a key for its author's domain (RFC 6376). */
export interface Signer {
  /**
   * The content with its signatures before it; the same content when there is nothing to sign it with, or nothing it may be
   * signed for; at once where that is seen at once. Never rejects: mail that cannot be signed goes as it is, and that is logged.
   */
  sign(content: Content, rights: SigningRights): Content | Promise<Content>;
}

/** Signs nothing. */
export const NO_SIGNER: Signer = { sign: (content) => content };
