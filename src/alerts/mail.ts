/** Tells of an alert by mail: as a message of ours, by a relay that is not the one it is about. */
import type { Alert } from '../domain/alert.ts';
import type { AlertChannel } from '../domain/alert-channel.ts';
import { parseMailbox } from '../domain/mailbox.ts';
import { ownSubmission } from '../domain/message.ts';
import { INBOX } from '../domain/relay.ts';
import type { Intake } from '../engine/contract.ts';
import { inSlices } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { compose } from '../mail/compose.ts';
import { footer, headline, lines, type Telling } from './shapes.ts';

/** A relay that mail may go by. */
export interface MailRelay {
  readonly name: string;
  /** It is neither disabled, nor does it rest. */
  readonly isWell: boolean;
  /** It sends nothing, however well its next hop is. */
  readonly isDisabled: boolean;
}

/** What mail needs. */
export interface AlertMailDeps {
  readonly intake: Pick<Intake, 'accept' | 'newId'>;
  readonly random: Random;
  /** All relays, in their order. */
  readonly relays: () => readonly MailRelay[];
  /** The sender, unless the channel has one. */
  readonly postmaster: () => string;
}

const NO_RELAY =
  'There is no relay that could send it: add one (waybill relays add); the inbox does not count.';
const NO_OTHER_RELAY = 'There is no relay besides the one that fails that could send it.';

/** Accepts a message that tells it. Returns why that failed; null: it is on its way. */
export async function mailAlert(
  telling: Telling,
  channel: AlertChannel,
  { intake, random, relays, postmaster }: AlertMailDeps,
): Promise<string | null> {
  const via = relayFor(channel.relay, illRelay(telling.alert), relays());
  if (via === null) return relayFor(channel.relay, null, relays()) === null ? NO_RELAY : NO_OTHER_RELAY;
  const from = parseMailbox(channel.from ?? postmaster());
  if (!from.ok) return `The sender ${channel.from ?? postmaster()} is no address.`;
  const recipients = channel.to.map(parseMailbox).flatMap((one) => (one.ok ? [one.value] : []));
  const id = intake.newId();
  const messageId = `<${id}@${telling.server}>`;
  const draft = {
    from: { ...from.value, name: from.value.name ?? 'Waybill' },
    to: recipients,
    cc: [],
    subject: headline(telling),
    text: `${[...lines(telling), footer(telling)].join('\n\n')}\n`,
    html: null,
    // RFC 3834: no vacation message answers it.
    headers: [['Auto-Submitted', 'auto-generated']] as const,
    attachments: [],
  };
  const content = await inSlices(compose(draft, { date: telling.now, messageId, random }));
  const addresses = recipients.map(({ address }) => address);
  const header = { from: from.value.address, subject: draft.subject, messageId };
  const [answer] = await intake.accept([
    ownSubmission({
      id,
      recipients: addresses,
      notify: 'NEVER',
      header,
      content,
      priority: 'high',
      tags: ['alert'],
      via,
    }),
  ]);
  if (answer?.kind === 'suspended') return answer.suspension.detail;
  if (answer?.kind !== 'accepted') return 'It was not accepted.';
  if ((answer.suppressed?.length ?? 0) < addresses.length) return null;
  return 'Every recipient is on the suppression list.';
}

/** The relay that an alert is about; null: it is about none. */
function illRelay({ subject }: Alert): string | null {
  return subject.startsWith('relay:') ? subject.slice('relay:'.length) : null;
}

/**
 * The chosen relay if it is well and not the ill one, else the first that is; else one that rests, which will send it
 * later. Null: there is none but the ill one.
 */
export function relayFor(
  chosen: string | null,
  ill: string | null,
  relays: readonly MailRelay[],
): string | null {
  const first = relays.filter(({ name }) => name === chosen);
  const others = relays.filter(({ name }) => name !== chosen && name !== INBOX);
  const fit = [...first, ...others].filter(({ name, isDisabled }) => name !== ill && !isDisabled);
  return (fit.find(({ isWell }) => isWell) ?? fit[0])?.name ?? null;
}
