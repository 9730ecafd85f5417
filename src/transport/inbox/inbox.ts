import { NO_EVIDENCE } from '../../domain/attempt.ts';
import { localReply } from '../../domain/outcome.ts';
import type { Transport } from '../transport.ts';

/**
 * The local inbox captures mail instead of sending it. The spool has the bytes already, so capturing only means
 * answering; the retention sweep decides how long they stay.
 */
export function createInboxTransport(): Transport {
  return {
    deliver: async (job) => {
      const taken = await job.gate();
      const outcome = taken
        ? ({
            kind: 'delivered',
            captured: true,
            reply: CAPTURED,
            providerMessageId: null,
            dsnPassed: false,
          } as const)
        : ({ kind: 'deferred', reply: LEASE_LOST } as const);
      return {
        outcomes: job.envelope.recipients.map(() => outcome),
        evidence: NO_EVIDENCE,
        hopFailed: false,
        restMs: null,
      };
    },
    connections: () => 0,
    close: async () => {},
  };
}

const CAPTURED = { code: 250, enhanced: '2.0.0', cause: 'captured', text: 'Captured in the local inbox' };
const LEASE_LOST = localReply('lease_lost', '4.3.0', 'The lease was lost before the message was captured');
