import { mustPromiseTls, type Submission } from '../../domain/message.ts';
import { INBOX } from '../../domain/relay.ts';
import { suppressionKeys } from '../../domain/suppressed-address.ts';
import { stoppedBy } from '../../domain/suppression.ts';
import { isStoppedForTest } from '../../domain/test-outcome.ts';
import type { Intake, PlannedDelivery } from '../../engine/contract.ts';
import type { Clock } from '../../lib/clock.ts';
import { referredIn } from '../../mail/compose.ts';
import type { Shown } from '../../operations/operation.ts';
import { type Finding, OPERATORS, type Preflight, type Way } from '../../preflight/contract.ts';
import { askingOf } from '../../store/accepting.ts';
import type { SuppressionList } from '../../store/suppressions.ts';
import type { verdictSchema } from './answers.ts';
import type { ReadFields } from './fields.ts';
import {
  type AlignedMail,
  alignedMail,
  alignmentBy,
  hopsOf,
  type Sending,
  utf8AddressOf,
  willSign,
} from './way.ts';

/** The answer to a dry run (contract §2): what would be sent, and each copy's route. */
export type Verdict = Shown<typeof verdictSchema>;

/** What a verdict is based on. */
export interface VerdictDeps {
  readonly intake: Pick<Intake, 'plan'>;
  readonly suppressions: Pick<SuppressionList, 'suppressionsUnder'>;
  readonly clock: Pick<Clock, 'wall'>;
  /** The relays and sending domains in force. */
  readonly sending: () => Sending;
  readonly preflight: Pick<Preflight, 'message'>;
}

/**
 * The verdict on a checked submission. Changes nothing. Every sender may ask for it, so it hides the state of relays,
 * which `routes/explain` shows. `given`: see {@link givenPlaces}.
 */
export async function verdictOf(
  submission: Submission,
  deps: VerdictDeps,
  given: GivenPlaces = { files: [], template: null },
): Promise<Verdict> {
  const plan = await deps.intake.plan(submission);
  const suppressed = await suppressedIn(submission, deps);
  const sending = deps.sending();
  const mail = alignedMail(submission);
  const captured = submission.test || plan.every(({ relay }) => relay === INBOX);
  return {
    dryRun: true,
    ...withSuppressed('Valid. Nothing was stored, nothing will be sent.', suppressed, plan.length),
    captured,
    sizeBytes: submission.content.sizeBytes,
    from: submission.envelope.reversePath,
    recipients: submission.envelope.recipients.map(({ address, kind }, place) => {
      const relay = plan[place]?.relay ?? null;
      return {
        address,
        type: kind,
        relay,
        rule: plan[place]?.rule ?? null,
        alignment: alignmentBy(relay, mail, sending),
      };
    }),
    findings: (await findingsOf(submission, mail, captured ? null : plan, deps)).map((finding) => ({
      ...finding,
      ...asGiven(finding, given),
    })),
  };
}

/** Where the client gave each file, as a pointer, in the order in which the message has them; and its template. */
export interface GivenPlaces {
  readonly files: readonly string[];
  /** Null: it said itself what the message says. */
  readonly template: string | null;
}

/** See {@link GivenPlaces}; of a message made from these fields. */
export function givenPlaces({ fields, pointTo }: Pick<ReadFields, 'fields' | 'pointTo'>): GivenPlaces {
  const { html, attachments } = fields;
  const first = referredIn(html, attachments);
  const written = [...first, ...attachments.filter((file) => !first.includes(file))];
  return {
    files: written.map((file) => pointTo('attachments', attachments.indexOf(file))),
    template: fields.template === null ? null : pointTo('template'),
  };
}

/**
 * Where a finding is, as the client knows it: files have another order in the message, and another name in a form; and
 * what a template says is in none of the request's fields.
 */
function asGiven({ where, detail }: Finding, { files, template }: GivenPlaces): Partial<Finding> {
  const [, text, line] = /^\/(subject|html|text)(?:#L(\d+))?$/.exec(where) ?? [];
  if (text !== undefined) {
    if (template === null) return {};
    const at = line === undefined ? text : `${text}, line ${line} as rendered`;
    return { where: template, detail: `${detail} (${at})` };
  }
  const [, place] = /^\/attachments\/(\d+)$/.exec(where) ?? [];
  return { where: files[Number(place)] ?? where };
}

/** What the checks find; mail that is captured, where `plan` is null, is judged as if it were sent. */
async function findingsOf(
  submission: Submission,
  mail: AlignedMail,
  plan: readonly PlannedDelivery[] | null,
  { intake, sending, preflight }: VerdictDeps,
): Promise<readonly Finding[]> {
  const { envelope, content, copies } = submission;
  const planned = plan ?? (await intake.plan({ ...submission, test: false }));
  const addresses = [envelope.reversePath, ...envelope.recipients.map(({ address }) => address)];
  const way: Way = {
    hops: hopsOf(
      planned.map(({ relay }) => relay),
      mail,
      sending(),
    ),
    isBulk: submission.priority === 'bulk',
    utf8Address: utf8AddressOf(addresses),
    requiresTls: mustPromiseTls(submission.tls, envelope.reversePath),
  };
  // Where each recipient has a copy, they differ by their links alone.
  const sizeBytes = copies?.[0] ?? content.sizeBytes;
  return await preflight.message(
    sizeBytes,
    () => Buffer.concat(content.chunks, content.sizeBytes).subarray(0, sizeBytes),
    way,
    submission.keyId ?? OPERATORS,
  );
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
    if (isStoppedForTest(address, asking)) return [address];
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
  return willSign(alignedMail(submission), sending());
}
