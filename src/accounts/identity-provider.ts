import type { ProviderAccount } from '../domain/account.ts';
import type { AdmissionRules, Claims } from '../domain/identity.ts';

/** The identity provider that users may sign in with, as the accounts see it: `src/oidc` talks to it. */
export interface IdentityProvider {
  readonly issuer: string;
  /** What people call it. */
  readonly name: string;
  /** The URL of the dashboard that it returns to; null: that of the page that asks. */
  readonly publicUrl: string | null;
  readonly rules: AdmissionRules;
  /** The longest session of such a user, in ms. */
  readonly sessionMs: number;
  /** The URL at which the provider asks who somebody is. Rejects with `ProviderFault`. */
  urlFor(begun: BegunSignIn): Promise<string>;
  /** Whom an answer of the provider is about. `search`: the query of the URL to which it returned. Rejects with `ProviderFault`. */
  prove(begun: BegunSignIn, search: string): Promise<Proven>;
  /** The URL at which the provider signs people out of itself; null if it has none, or does not answer. Never rejects. */
  signOutUrl(): Promise<string | null>;
}

/** What ties the answer of a provider to the browser that asked, and to nothing else. */
export interface BegunSignIn {
  /** Where the provider returns to. */
  readonly redirectUri: string;
  /** Returned beside the answer. */
  readonly state: string;
  /** Inside the signed answer. */
  readonly nonce: string;
  /** Known to us alone: only with it is a code worth anything (PKCE, RFC 7636). */
  readonly verifier: string;
}

/** Somebody whom the provider vouches for. */
export interface Proven {
  readonly account: ProviderAccount;
  readonly claims: Claims;
}

/**
 * - `away`: the provider cannot be reached, or does not do what it should.
 * - `denied`: it says that it lets nobody in; often the user's own choice.
 * - `refused`: its answer is not to be believed, or too old.
 */
export type ProviderFaultKind = 'away' | 'denied' | 'refused';

/** Why a provider's answer signs nobody in. The message is for operators, and has no secrets. */
export class ProviderFault extends Error {
  readonly kind: ProviderFaultKind;
  /** For searching: of the library, of RFC 6749 or of the transport. */
  readonly code: string;
  constructor(kind: ProviderFaultKind, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ProviderFault';
    this.kind = kind;
    this.code = code;
  }
}
