import { type ChallengeAnswer, FRESH_STATE, type RenewalState } from '../../domain/certificate.ts';
import { fromJson } from '../columns.ts';
import type { Issuing } from '../issuing.ts';
import { rows, run, type Subject, send, type Work } from './work.ts';

/** The certificate that is ordered by ACME, as rows: there is one, or none. */

interface CertificateRow {
  readonly certificate: string | null;
  readonly sealed: string | null;
  readonly directory: string | null;
  /** JSON */
  readonly renewal: string;
}

const FRESH = JSON.stringify(FRESH_STATE);

/** See {@link Issuing}. */
export const ISSUING: Subject<Issuing> = {
  reads: { issuing: 'snapshot', acmeAccount: 'statement' },
  verbs: {
    *issuing() {
      const [row] =
        yield* rows<CertificateRow>`SELECT certificate, sealed, directory, renewal FROM acme_certificate`;
      const challenges = yield* rows<{ answer: string }>`SELECT answer FROM acme_challenges ORDER BY token`;
      const { certificate = null, sealed = null, directory = null, renewal = FRESH } = row ?? {};
      const isIssued = certificate !== null && sealed !== null && directory !== null;
      return {
        issued: isIssued ? { certificate, sealed, directory } : null,
        renewal: fromJson<RenewalState>(renewal),
        challenges: challenges.map(({ answer }) => fromJson<ChallengeAnswer>(answer)),
      };
    },
    *leaseIssuing(holder, now, until) {
      const taken = yield* run`INSERT INTO acme_certificate (id, renewal, holder, held_until)
        VALUES (1, ${FRESH}, ${holder}, ${until})
        ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
        WHERE acme_certificate.holder IS NULL OR acme_certificate.holder = excluded.holder
          OR acme_certificate.held_until <= ${now}`;
      return taken > 0;
    },
    *endIssuing(holder) {
      if (!(yield* holds(holder))) return;
      yield* send`DELETE FROM acme_challenges`;
      yield* send`UPDATE acme_certificate SET holder = NULL, held_until = NULL`;
    },
    *acmeAccount(directory) {
      const [row] = yield* rows<{
        sealed: string;
      }>`SELECT sealed FROM acme_accounts WHERE directory = ${directory}`;
      return row?.sealed ?? null;
    },
    *putAcmeAccount(holder, directory, sealed) {
      if (!(yield* holds(holder))) return false;
      yield* send`INSERT INTO acme_accounts (directory, sealed) VALUES (${directory}, ${sealed})
        ON CONFLICT (directory) DO UPDATE SET sealed = excluded.sealed`;
      return true;
    },
    *putChallenges(holder, answers) {
      if (!(yield* holds(holder))) return false;
      yield* send`DELETE FROM acme_challenges`;
      for (const answer of answers)
        yield* send`INSERT INTO acme_challenges (token, answer) VALUES (${answer.token}, ${JSON.stringify(answer)})
          ON CONFLICT (token) DO NOTHING`;
      return true;
    },
    *putIssued(holder, { certificate, sealed, directory }, renewal) {
      const changed = yield* run`UPDATE acme_certificate SET certificate = ${certificate}, sealed = ${sealed},
        directory = ${directory}, renewal = ${JSON.stringify(renewal)} WHERE holder = ${holder}`;
      return changed > 0;
    },
    *putRenewal(holder, renewal) {
      const changed = yield* run`UPDATE acme_certificate
        SET renewal = ${JSON.stringify(renewal)} WHERE holder = ${holder}`;
      return changed > 0;
    },
  },
};

/** Whether the lease is this node's; locks it until the transaction ends. */
function* holds(holder: string): Work<boolean> {
  return (yield* run`UPDATE acme_certificate SET holder = holder WHERE holder = ${holder}`) > 0;
}
