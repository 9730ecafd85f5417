import type { Call } from '../call.ts';
import { accountOf } from './account.ts';
import { type MailpitDeps, newestOf } from './mailbox.ts';
import { countTags, unreadOf } from './reading.ts';

/**
 * What Mailpit tells of itself (contract-2 §G2): of the account alone, never of the server. A file of its own: nothing of
 * it is mail.
 */

const VERSION = 'Waybill';

/** Answers with the figures of the account. */
export async function showInfo(call: Call, deps: MailpitDeps): Promise<void> {
  const messages = await newestOf(accountOf(call), deps, call.exchange.signal);
  const bytes = messages.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  call.exchange.json(200, {
    Version: VERSION,
    LatestVersion: VERSION,
    Database: VERSION,
    DatabaseSize: bytes,
    Messages: messages.length,
    Unread: unreadOf(messages),
    Tags: Object.fromEntries(countTags(messages)),
    RuntimeStats: {
      Uptime: 0,
      Memory: 0,
      MessagesDeleted: 0,
      SMTPAccepted: messages.length,
      SMTPAcceptedSize: bytes,
      SMTPRejected: 0,
      SMTPIgnored: 0,
    },
  });
}

/** Answers with what Mailpit's own page asks first: nothing of it is offered. */
export async function showConfiguration(call: Call): Promise<void> {
  accountOf(call);
  call.exchange.json(200, {
    Label: VERSION,
    MessageRelay: {
      Enabled: false,
      SMTPServer: '',
      ReturnPath: '',
      AllowedRecipients: '',
      BlockedRecipients: '',
      OverrideFrom: '',
      PreserveMessageIDs: false,
      RecipientAllowlist: '',
    },
    SpamAssassin: false,
    ChaosEnabled: false,
    DuplicatesIgnored: false,
    HideDeleteAllButton: false,
  });
}
