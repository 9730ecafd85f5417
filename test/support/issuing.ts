/** Parts of a certificate by ACME, for tests. */
import { type ChallengeAnswer, FRESH_STATE, type RenewalState } from '../../src/domain/certificate.ts';
import type { IssuedCertificate, Issuing, IssuingState } from '../../src/store/issuing.ts';

export function challengeAnswer(more: Partial<ChallengeAnswer> = {}): ChallengeAnswer {
  return { kind: 'http-01', name: 'mail.example.com', token: 'a', keyAuthorization: 'a.print', ...more };
}

export function issuedCertificate(more: Partial<IssuedCertificate> = {}): IssuedCertificate {
  return { certificate: 'PEM', sealed: 'sealed', directory: 'https://a.example', ...more };
}

/** A store of it in memory, as those of the databases are. */
export class MemoryIssuing implements Issuing {
  readonly #accounts = new Map<string, string>();
  #state: IssuingState = { issued: null, renewal: FRESH_STATE, challenges: [] };
  #holder: string | null = null;
  #until = 0;

  /** All that it holds. */
  rows() {
    return { ...this.#state, accounts: [...this.#accounts], holder: this.#holder };
  }

  async issuing(): Promise<IssuingState> {
    return this.#state;
  }

  async leaseIssuing(holder: string, now: number, until: number): Promise<boolean> {
    if (this.#holder !== null && this.#holder !== holder && this.#until > now) return false;
    this.#holder = holder;
    this.#until = until;
    return true;
  }

  async endIssuing(holder: string): Promise<void> {
    if (this.#write(holder, { challenges: [] })) this.#holder = null;
  }

  async acmeAccount(directory: string): Promise<string | null> {
    return this.#accounts.get(directory) ?? null;
  }

  async putAcmeAccount(holder: string, directory: string, sealed: string): Promise<boolean> {
    if (this.#holder !== holder) return false;
    this.#accounts.set(directory, sealed);
    return true;
  }

  async putChallenges(holder: string, challenges: readonly ChallengeAnswer[]): Promise<boolean> {
    return this.#write(holder, { challenges });
  }

  async putIssued(holder: string, issued: IssuedCertificate, renewal: RenewalState): Promise<boolean> {
    return this.#write(holder, { issued, renewal });
  }

  async putRenewal(holder: string, renewal: RenewalState): Promise<boolean> {
    return this.#write(holder, { renewal });
  }

  #write(holder: string, change: Partial<IssuingState>): boolean {
    if (this.#holder !== holder) return false;
    this.#state = { ...this.#state, ...change };
    return true;
  }
}
