import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  advised,
  afterFailure,
  type ChallengeAnswer,
  type ChallengeKind,
  FRESH_STATE,
  type KeyType,
  type OrderFault,
  orderTime,
  type RenewalState,
  renewalTime,
} from '../domain/certificate.ts';
import { type Clock, formatTimestamp, WakeUp } from '../lib/clock.ts';
import { Few } from '../lib/few.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { IssuedCertificate, Issuing } from '../store/issuing.ts';
import type { ChallengeDesk } from '../tls/challenge-desk.ts';
import { lifeOf, namesIn } from '../tls/pair.ts';
import { certificateId } from '../tls/request.ts';
import type { KeyAndCertificate } from '../tls/self-signed.ts';
import { type AccountTerms, AcmeClient, createAccountKey } from './client.ts';
import type { Carrier } from './https.ts';
import { obtain } from './order.ts';
import { AcmeError } from './problem.ts';

/** What is ordered, and of whom. */
export interface IssuingTerms extends AccountTerms {
  readonly names: readonly string[];
  readonly directory: string;
  /** The PEM file of the roots that are trusted besides the usual ones; null: none. */
  readonly caFile: string | null;
  readonly challenge: ChallengeKind;
  readonly keyType: KeyType;
  readonly renewPercent: number;
}

/** What the keeper needs. */
export interface KeeperDeps {
  readonly issuing: Issuing;
  readonly desk: ChallengeDesk;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** This process's name in the store, new at every start. */
  readonly node: string;
  /** Other nodes use the same store. */
  readonly isShared: boolean;
  /** Reaches authorities; `ca`: roots as PEM that are trusted besides the usual ones; null: none. */
  readonly connect: (ca: string | null) => Carrier;
  /** Null: nothing is to be ordered. */
  readonly terms: () => IssuingTerms | null;
  /** The certificate in use is the operator's own. */
  readonly isOverruled: () => boolean;
  readonly vault: () => {
    seal(secret: string, owner: string): string;
    open(sealed: string, owner: string): string | null;
  } | null;
  /** There is another certificate. */
  readonly changed: () => void;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}

/** How the renewal stands. Times are wall ms. */
export interface IssuingView {
  readonly terms: IssuingTerms | null;
  readonly renewal: RenewalState;
  /** When the next order is due; null: none is, because nothing is to be ordered. */
  readonly orderAt: number | null;
  readonly isOrdering: boolean;
}

/** How often a node looks at what the others wrote, and one alone whether something is due. */
const SHARED_LOOK_MS = 5_000;
const OWN_LOOK_MS = 60_000;
/** In this time every node has looked, and gives the same answers. */
const PUBLISHED_MS = 2 * SHARED_LOOK_MS + 1_000;
/** Longer than an order usually takes. What is ordered more slowly is refused once another node has the lease. */
const LEASE_MS = 15 * 60_000;
/** How soon to ask an authority again that gave no advice, or could not be asked. */
const NO_ADVICE_MS = 6 * 3_600_000;
const CERTIFICATE_KEY = 'acme certificate';

/**
 * Keeps the certificate that is ordered by ACME: every node loads it, and gives the answers that authorities look for;
 * one node at a time orders it. Whatever fails, the present certificate stays.
 */
export class CertificateKeeper {
  readonly #deps: KeeperDeps;
  readonly #wakeUp = new WakeUp();
  #issued: IssuedCertificate | null = null;
  #pair: KeyAndCertificate | null = null;
  #renewal: RenewalState = FRESH_STATE;
  #terms = '';
  /** When the terms were seen to change; wall ms. */
  #termsAt = 0;
  #isOrdering = false;
  /** The lease is the process's: what needs it takes turns. */
  readonly #turns = new Few(1);
  /** No authority is asked for advice before this. */
  #askAt = 0;
  #isFailing = false;

  constructor(deps: KeeperDeps) {
    this.#deps = deps;
  }

  /** The certificate to use; null: there is none, or nothing is to be ordered any more. */
  get pair(): KeyAndCertificate | null {
    return this.#deps.terms() === null ? null : this.#pair;
  }

  /** How the renewal stands. */
  get view(): IssuingView {
    const terms = this.#deps.terms();
    return {
      terms,
      renewal: this.#renewal,
      orderAt: terms === null || this.#deps.isOverruled() ? null : this.#orderAt(terms),
      isOrdering: this.#isOrdering,
    };
  }

  /** Looks at once: what is to be ordered may have changed. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Reads what is stored. Rejects with `StoreError`. */
  async load(): Promise<void> {
    const { issuing, desk, vault, changed, log } = this.#deps;
    const state = await issuing.issuing();
    this.#renewal = state.renewal;
    if (!this.#isOrdering) desk.set(state.challenges);
    if (state.issued?.sealed === this.#issued?.sealed) return;
    this.#issued = state.issued;
    const key = state.issued === null ? null : (vault()?.open(state.issued.sealed, CERTIFICATE_KEY) ?? null);
    if (state.issued !== null && key === null) log.warn('certificate.key_unreadable', { code: 'secret_key' });
    this.#pair = state.issued === null || key === null ? null : { key, cert: state.issued.certificate };
    changed();
  }

  /** Keeps the certificate until the service stops. Never rejects. */
  async run(): Promise<void> {
    const { clock, isShared, log, stopping } = this.#deps;
    stopping.addEventListener('abort', () => this.#wakeUp.wake(), { once: true });
    while (!stopping.aborted) {
      try {
        await this.#look();
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) log.warn('certificate.keeper_failed', { error: String(error) });
        this.#isFailing = true;
      }
      if (!stopping.aborted) await this.#wakeUp.wait(clock, isShared ? SHARED_LOOK_MS : OWN_LOOK_MS);
    }
    // Until what was under way has ended.
    await this.#turns.run(async () => {});
  }

  /**
   * Orders now, whether or not it is due. Rejects with {@link AcmeError}, or where another node is at it; the present
   * certificate stays then.
   */
  async order(): Promise<void> {
    const terms = this.#deps.terms();
    if (terms === null) throw new AcmeError('order_failed', 'nothing is to be ordered');
    if (!(await this.#begin(terms, () => true)))
      throw new AcmeError('order_failed', 'another node orders it now');
  }

  async #look(): Promise<void> {
    const { terms: termsOf, isOverruled, clock } = this.#deps;
    await this.load();
    const terms = termsOf();
    if (terms === null || isOverruled() || this.#isOrdering) return;
    const text = JSON.stringify(terms);
    if (this.#terms !== '' && this.#terms !== text) this.#termsAt = clock.wall();
    this.#terms = text;
    const isDue = () => this.#orderAt(terms) <= clock.wall();
    if (isDue()) {
      // The fault is in the log, and in what is known of the renewal.
      await this.#begin(terms, isDue).catch((error) => {
        if (!(error instanceof AcmeError)) throw error;
      });
    } else await this.#askForAdvice(terms);
  }

  /** When an order is due: at once where the certificate is not what the terms ask for. */
  #orderAt(terms: IssuingTerms): number {
    const now = this.#deps.clock.wall();
    const pair = this.#pair;
    const { fault } = this.#renewal;
    // Whoever corrects what was wrong need not wait for the next try.
    const isCorrected = fault !== null && fault.at < this.#termsAt;
    const renewal = isCorrected ? { ...this.#renewal, notBefore: null } : this.#renewal;
    if (pair === null || this.#issued?.directory !== terms.directory) return orderTime(null, renewal, now);
    const read = new X509Certificate(pair.cert);
    const names = new Set(namesIn(read).map((name) => name.toLowerCase()));
    const isFit =
      names.size === new Set(terms.names).size && terms.names.every((name) => names.has(name.toLowerCase()));
    if (!isFit) return orderTime(null, renewal, now);
    return orderTime(renewalTime(lifeOf(pair), terms.renewPercent, renewal.advice), renewal, now);
  }

  /**
   * Orders under the lease, if it is still to be done then. False: another node has the lease. Rejects with
   * {@link AcmeError} or `StoreError`.
   */
  async #begin(terms: IssuingTerms, isWanted: () => boolean): Promise<boolean> {
    try {
      return await this.#underLease(async () => {
        if (!isWanted()) return;
        this.#isOrdering = true;
        try {
          await this.#orderOnce(terms, true);
        } catch (error) {
          if (error instanceof AcmeError && !this.#deps.stopping.aborted) await this.#failed(error);
          throw error;
        } finally {
          this.#isOrdering = false;
        }
      });
    } finally {
      await this.load();
    }
  }

  /** Does something that only one node may do at a time. False: another is at it, and nothing was done. */
  async #underLease(work: () => Promise<void>): Promise<boolean> {
    return await this.#turns.run(() => this.#leased(work));
  }

  async #leased(work: () => Promise<void>): Promise<boolean> {
    const { issuing, node, clock, isShared, desk } = this.#deps;
    const now = clock.wall();
    // Without other nodes, whoever held it before is gone.
    const isTaken = await issuing.leaseIssuing(
      node,
      isShared ? now : Number.MAX_SAFE_INTEGER,
      now + LEASE_MS,
    );
    if (!isTaken) return false;
    try {
      // Another node may have ordered it meanwhile.
      await this.load();
      await work();
      return true;
    } finally {
      desk.set([]);
      await issuing.endIssuing(node);
    }
  }

  async #orderOnce(terms: IssuingTerms, mayBeNewAccount: boolean): Promise<void> {
    if (!terms.agreesToTerms) throw new AcmeError('terms_not_agreed', 'tls.acme.agree_terms is not set');
    const { issuing, node, clock, log } = this.#deps;
    const vault = this.#vault();
    const owner = `acme account ${terms.directory}`;
    const sealed = await issuing.acmeAccount(terms.directory);
    const known = sealed === null ? null : vault.open(sealed, owner);
    const accountKey = known ?? createAccountKey();
    if (known === null)
      await this.#held(issuing.putAcmeAccount(node, terms.directory, vault.seal(accountKey, owner)));
    const client = this.#client(terms, accountKey);
    try {
      await client.signIn(terms);
    } catch (error) {
      client.close();
      // The authority has closed the account: another one is made, once.
      const isClosed =
        error instanceof AcmeError && error.code === 'account_refused' && error.type === 'unauthorized';
      if (!isClosed || !mayBeNewAccount || known === null) throw error;
      const another = vault.seal(createAccountKey(), owner);
      await this.#held(issuing.putAcmeAccount(node, terms.directory, another));
      await this.#orderOnce(terms, false);
      return;
    }
    try {
      const { names, challenge: kind, keyType } = terms;
      const publish = (answers: readonly ChallengeAnswer[]) => this.#publish(answers);
      const replaces = this.#idOfPresent(terms);
      const pair = await obtain({
        client,
        names,
        kind,
        keyType,
        replaces,
        publish,
        clock,
        signal: this.#deps.stopping,
      });
      const issued = {
        certificate: pair.cert,
        sealed: vault.seal(pair.key, CERTIFICATE_KEY),
        directory: terms.directory,
      };
      await this.#held(issuing.putIssued(node, issued, FRESH_STATE));
      this.#askAt = 0;
      log.info('certificate.issued', { names: names.join(' '), directory: terms.directory });
    } finally {
      client.close();
    }
  }

  async #publish(answers: readonly ChallengeAnswer[]): Promise<void> {
    const { issuing, node, desk, clock, isShared, stopping } = this.#deps;
    desk.set(answers);
    await this.#held(issuing.putChallenges(node, answers));
    if (isShared) await clock.sleep(PUBLISHED_MS, stopping);
  }

  async #failed(error: AcmeError): Promise<void> {
    const { issuing, node, clock, random, log } = this.#deps;
    const fault: OrderFault = { at: clock.wall(), code: error.code, message: error.message };
    const renewal = afterFailure(this.#renewal, fault, error.retryAfterMs, () => random.next());
    this.#renewal = renewal;
    log.warn('certificate.order_failed', {
      code: fault.code,
      message: fault.message,
      retryAt: formatTimestamp(renewal.notBefore ?? fault.at),
    });
    await issuing.putRenewal(node, renewal);
  }

  /** Asks when to renew (ARI), where that is due. */
  async #askForAdvice(terms: IssuingTerms): Promise<void> {
    const { clock, random, issuing, node, log } = this.#deps;
    const askAgainAt = this.#renewal.advice?.askAgainAt ?? 0;
    if (this.#idOfPresent(terms) === null || clock.wall() < Math.max(this.#askAt, askAgainAt)) return;
    await this.#underLease(async () => {
      // By now there may be another certificate, or another node has asked.
      const id = this.#idOfPresent(terms);
      const { advice } = this.#renewal;
      if (id === null || clock.wall() < (advice?.askAgainAt ?? 0)) return;
      this.#askAt = clock.wall() + NO_ADVICE_MS;
      // No account is needed to ask (RFC 9773 §4.1): any key will do.
      const client = this.#client(terms, createAccountKey());
      try {
        const told = await client.renewalInfo(id);
        if (told === null) return;
        const next = advised(advice, told.window, told.retryAfterMs, clock.wall(), () => random.next());
        this.#askAt = 0;
        this.#renewal = { ...this.#renewal, advice: next };
        await issuing.putRenewal(node, this.#renewal);
        const isNew = next.drawnAt !== advice?.drawnAt;
        if (isNew) log.info('certificate.renewal_advised', { at: formatTimestamp(Math.round(next.drawnAt)) });
      } catch (error) {
        if (!(error instanceof AcmeError)) throw error;
        log.debug('certificate.no_advice', { message: error.message });
      } finally {
        client.close();
      }
    });
    if (this.#orderAt(terms) <= clock.wall()) this.wake();
  }

  /** The name of the present certificate where its own authority is spoken to. */
  #idOfPresent({ directory }: IssuingTerms): string | null {
    return this.#issued === null || this.#issued.directory !== directory
      ? null
      : certificateId(this.#issued.certificate);
  }

  #client({ directory, caFile }: IssuingTerms, accountKey: string): AcmeClient {
    let ca: string | null;
    try {
      ca = caFile === null ? null : readFileSync(caFile, 'utf8');
    } catch (error) {
      throw new AcmeError('authority_not_trusted', `tls.acme.ca_file: ${String(error)}`);
    }
    return new AcmeClient({ directory, accountKey, carrier: this.#deps.connect(ca) });
  }

  #vault() {
    const vault = this.#deps.vault();
    if (vault === null)
      throw new AcmeError('order_failed', 'secret.key cannot be read: no key could be kept');
    return vault;
  }

  async #held(write: Promise<boolean>): Promise<void> {
    if (!(await write)) throw new AcmeError('order_failed', 'another node orders it now');
  }
}
