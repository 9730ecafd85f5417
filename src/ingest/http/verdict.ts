import { type Alignment, type AlignmentFacts, alignmentOf, isSigned } from '../../domain/alignment.ts';
import type { SendingDomain } from '../../domain/domain-keys.ts';
import { parseAddress } from '../../domain/mailbox.ts';
import type { Submission } from '../../domain/message.ts';
import { INBOX, type Relay } from '../../domain/relay.ts';
import { type BounceDomains, bounceDomainFor } from '../../domain/return-path.ts';
import { suppressionKeys } from '../../domain/suppressed-address.ts';
import { stoppedBy } from '../../domain/suppression.ts';
import type { Intake } from '../../engine/contract.ts';
import type { Clock } from '../../lib/clock.ts';
import { areAligned } from '../../lib/organizational-domain.ts';
import { authorsOf } from '../../mail/field-values.ts';
import { readHandedIn } from '../../mail/handed-in.ts';
import type { Shown } from '../../operations/operation.ts';
import { askingOf } from '../../store/accepting.ts';
import type { SuppressionList } from '../../store/suppressions.ts';
import type { verdictSchema } from './answers.ts';

/** The answer to a dry run (contract §2): what would be sent, and each copy's route. */
export type Verdict = Shown<typeof verdictSchema>;

/** What a verdict is based on. */
export interface VerdictDeps {
  readonly intake: Pick<Intake, 'plan'>;
  readonly suppressions: Pick<SuppressionList, 'suppressionsUnder'>;
  readonly clock: Pick<Clock, 'wall'>;
  /** The relays and sending domains in force. */
  readonly sending: () => {
    readonly relays: readonly (Pick<Relay, 'name' | 'type'> & Partial<Pick<Relay, 'mx' | 'smtp'>>)[];
    readonly domains: readonly SendingDomain[];
    readonly bounceDomains: BounceDomains;
  };
}

/** Bytes of a header to search for From: more than any listener accepts. */
const MAX_HEADER_BYTES = 1024 * 1024;

/**
 * The verdict on a checked submission. Changes nothing. Every sender may ask for it, so it hides the state of relays,
 * which `routes/explain` shows.
 */
export async function verdictOf(submission: Submission, deps: VerdictDeps): Promise<Verdict> {
  const plan = await deps.intake.plan(submission);
  const suppressed = await suppressedIn(submission, deps);
  const { relays, domains, bounceDomains } = deps.sending();
  const facts = alignmentFacts(submission, domains);
  const alignmentBy = (name: string | null): Alignment | null => {
    const relay = relays.find((candidate) => candidate.name === name);
    if (relay === undefined || relay.type === 'inbox') return null;
    // A return path of ours is what SPF is checked for.
    const mail = { reversePath: submission.envelope.reversePath, headerFrom: submission.header.from };
    const reverseDomain = bounceDomainFor(mail, relay, bounceDomains) ?? facts.reverseDomain;
    return alignmentOf({ ...facts, reverseDomain }, relay.type);
  };
  return {
    dryRun: true,
    ...withSuppressed('Valid. Nothing was stored, nothing will be sent.', suppressed, plan.length),
    captured: submission.test || plan.every(({ relay }) => relay === INBOX),
    sizeBytes: submission.content.sizeBytes,
    from: submission.envelope.reversePath,
    recipients: submission.envelope.recipients.map(({ address, kind }, place) => {
      const relay = plan[place]?.relay ?? null;
      return {
        address,
        type: kind,
        relay,
        rule: plan[place]?.rule ?? null,
        alignment: alignmentBy(relay),
      };
    }),
  };
}

/** Whom the suppression list would stop now. */
export async function suppressedIn(
  submission: Submission,
  { suppressions, clock }: Pick<VerdictDeps, 'suppressions' | 'clock'>,
): Promise<readonly string[]> {
  const { recipients } = submission.envelope;
  const forms = recipients.map(({ address }) => suppressionKeys(address));
  const found = Map.groupBy(
    await suppressions.suppressionsUnder([...new Set(forms.flat())]),
    ({ address }) => address,
  );
  const [asking, now] = [askingOf(submission), clock.wall()];
  return recipients.flatMap(({ address }, place) => {
    const entries = forms[place]?.flatMap((form) => found.get(form) ?? []) ?? [];
    return stoppedBy(entries, asking, now) === null ? [] : [address];
  });
}

/** The same as a receipt's, which says whom the suppression list stops. */
export function withSuppressed(
  message: string,
  suppressed: readonly string[],
  recipients: number,
): { readonly message: string; readonly suppressed?: readonly string[] } {
  if (suppressed.length === 0) return { message };
  if (suppressed.length === recipients)
    return { message: 'Not sent: every recipient is suppressed.', suppressed };
  const count = suppressed.length === 1 ? '1 recipient is' : `${suppressed.length} recipients are`;
  return { message: `${message.slice(0, -1)}; ${count} suppressed.`, suppressed };
}

/** Whether a key of ours signs this submission. */
export function willBeSigned(submission: Submission, { sending }: Pick<VerdictDeps, 'sending'>): boolean {
  return isSigned(alignmentFacts(submission, sending().domains));
}

function alignmentFacts(
  { content, envelope, signing }: Submission,
  domains: readonly SendingDomain[],
): AlignmentFacts {
  const chunks = content.chunks.map((chunk) => Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  const fields = readHandedIn(chunks, MAX_HEADER_BYTES)?.header.fields ?? [];
  const from = fields.filter(({ lowerName }) => lowerName === 'from');
  const authors = from.length === 1 ? (authorsOf(from) ?? []) : [];
  const reverse = parseAddress(envelope.reversePath);
  return {
    authors: authors.map(({ domain }) => domain),
    reverseDomain: reverse.ok ? reverse.value.domain : null,
    rights: signing,
    domains,
    areAligned,
  };
}
