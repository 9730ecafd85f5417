import { localPostmaster, serverName } from '../config/names.ts';
import { type Mailbox, parseMailbox } from '../domain/mailbox.ts';
import { INVITATION_TAG, ownSubmission } from '../domain/message.ts';
import { formatTimestamp, inSlices } from '../lib/clock.ts';
import { isLoopback } from '../lib/network.ts';
import { compose } from '../mail/compose.ts';
import { OperationError } from '../operations/call.ts';
import type { LocalDeps } from './deps.ts';
import { ASKING } from './door.ts';

/** Sends links by which users choose passwords: as messages of ours, by the usual ways. */

/** What it needs. */
export type InvitationDeps = Pick<LocalDeps, 'intake' | 'resolution' | 'clock' | 'random'>;

/** A link to be sent. */
export interface Invitation {
  /** The id that the message gets. */
  readonly message: string;
  readonly to: Mailbox;
  readonly user: string;
  /** The user has no password yet. */
  readonly isNew: boolean;
  readonly url: string;
  readonly expiresAt: number;
}

/** The address in a request. Throws `OperationError`. */
export function readInvited(text: string): Mailbox {
  const parsed = parseMailbox(text);
  if (parsed.ok) return parsed.value;
  throw new OperationError('invalid', `mailTo: ${parsed.detail}`);
}

/** The URL, if others can open it. Throws `OperationError`. */
export function requireReachable(url: string | null): string {
  const host = url === null ? 'localhost' : new URL(url).hostname;
  if (url !== null && host !== 'localhost' && !isLoopback(host.replace(/^\[|\]$/g, ''))) return url;
  throw new OperationError(
    'refused',
    'mailTo: it is not known how others reach the dashboard. Open it under its name, or put that into webui.allowed_hosts.',
  );
}

/** Accepts the message. Returns why that failed; null: it is on its way. */
export async function sendInvitation(invitation: Invitation, deps: InvitationDeps): Promise<string | null> {
  const { intake, resolution, clock, random } = deps;
  const { config } = resolution();
  const server = serverName(config);
  const sender = config.webui.invitationFrom ?? localPostmaster(config);
  const from = parseMailbox(sender);
  if (!from.ok) return `The sender ${sender} is no address: see webui.invitation_from.`;
  const { to, message: id } = invitation;
  const messageId = `<${id}@${server}>`;
  const draft = {
    from: { ...from.value, name: from.value.name ?? 'Waybill' },
    to: [to],
    cc: [],
    ...wordsOf(invitation, server),
    html: null,
    // RFC 3834: no vacation message answers it.
    headers: [['Auto-Submitted', 'auto-generated']] as const,
    attachments: [],
  };
  const content = await inSlices(compose(draft, { date: clock.wall(), messageId, random }));
  const header = { from: from.value.address, subject: draft.subject, messageId };
  const tags = [INVITATION_TAG];
  const [answer] = await intake.accept([
    ownSubmission({ id, recipients: [to.address], notify: 'NEVER', header, content, priority: 'high', tags }),
  ]);
  if (answer?.kind === 'suspended') return answer.suspension.detail;
  if (answer?.kind !== 'accepted') return 'The message was not accepted.';
  return (answer.suppressed?.length ?? 0) > 0 ? `${to.address} is on the suppression list.` : null;
}

/** Such as `2026-11-23 10:00 UTC`. */
function inWords(ms: number): string {
  return `${formatTimestamp(ms).slice(0, 16).replace('T', ' ')} UTC`;
}

function wordsOf({ user, isNew, url, expiresAt }: Invitation, server: string) {
  const by = ASKING.getStore()?.name ?? '';
  const who = by === '' ? 'An administrator' : by;
  const paragraphs = [
    isNew
      ? `${who} invites you to the dashboard of the mail server ${server}, as the user ${user}.`
      : `${who} sends you a link for a new password at the dashboard of the mail server ${server}. You are its user ${user}.`,
    `Choose a password here. The link works once, until ${inWords(expiresAt)}:`,
    url,
    isNew
      ? 'If you did not expect this, do nothing: nobody is let in without a password.'
      : 'If you did not expect this, tell an administrator: whoever opens the link can take your place.',
  ];
  return {
    subject: isNew ? `Your invitation to Waybill at ${server}` : `A new password for Waybill at ${server}`,
    text: `${paragraphs.join('\n\n')}\n`,
  };
}
