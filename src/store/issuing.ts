import type { ChallengeAnswer, RenewalState } from '../domain/certificate.ts';

/**
 * The certificate that is ordered by ACME, for all nodes. One node at a time orders it: the one that holds the lease,
 * whose writes are refused once another holds it. Every verb is one transaction; times are wall ms. Errors are
 * `StoreError`.
 */
export interface Issuing {
  /** The present certificate, what is known of its renewal, and what authorities are answered now. */
  issuing(): Promise<IssuingState>;
  /** Takes the lease, or extends it, until a time. False: another node has it. */
  leaseIssuing(holder: string, now: number, until: number): Promise<boolean>;
  /** Gives the lease back, and forgets what authorities were answered. */
  endIssuing(holder: string): Promise<void>;
  /** The sealed key of the account with the authority at a URL; null: there is none. */
  acmeAccount(directory: string): Promise<string | null>;
  /** Keeps the sealed key of an account in place of the former one. False: the lease is lost. */
  putAcmeAccount(holder: string, directory: string, sealed: string): Promise<boolean>;
  /** Replaces what authorities are answered. False: the lease is lost. */
  putChallenges(holder: string, answers: readonly ChallengeAnswer[]): Promise<boolean>;
  /** Replaces the certificate. False: the lease is lost. */
  putIssued(holder: string, issued: IssuedCertificate, renewal: RenewalState): Promise<boolean>;
  /** Replaces what is known of the renewal. False: the lease is lost. */
  putRenewal(holder: string, renewal: RenewalState): Promise<boolean>;
}

/** See {@link Issuing.issuing}. */
export interface IssuingState {
  /** Null: none has been issued. */
  readonly issued: IssuedCertificate | null;
  readonly renewal: RenewalState;
  readonly challenges: readonly ChallengeAnswer[];
}

/** A certificate that an authority issued. */
export interface IssuedCertificate {
  /** PEM: the certificate and its intermediates. */
  readonly certificate: string;
  /** Its sealed key. */
  readonly sealed: string;
  /** The URL of the directory of the authority. */
  readonly directory: string;
}
