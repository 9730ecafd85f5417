import type { Submission } from '../../domain/message.ts';
import { INBOX } from '../../domain/relay.ts';
import type { Intake } from '../../engine/intake.ts';

/** What a dry run answers (contract §2): what would be sent, and the way each recipient's copy would take. */
export type Verdict = ReturnType<typeof verdictOf>;

/**
 * The verdict on a submission that passed every check. Changes nothing. Whoever may send may ask for it, so how relays do
 * is none of it: that is told by `routes/explain`.
 */
export function verdictOf(submission: Submission, intake: Pick<Intake, 'plan'>) {
  const plan = intake.plan(submission);
  return {
    dryRun: true as const,
    message: 'Valid. Nothing was stored, nothing will be sent.',
    captured: submission.test || plan.every(({ relay }) => relay === INBOX),
    sizeBytes: submission.content.sizeBytes,
    from: submission.envelope.reversePath,
    recipients: submission.envelope.recipients.map(({ address, kind }, place) => ({
      address,
      type: kind,
      relay: plan[place]?.relay ?? null,
      rule: plan[place]?.rule ?? null,
    })),
  };
}
