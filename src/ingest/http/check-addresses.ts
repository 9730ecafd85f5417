import type { Parsed } from '../../domain/address-entry.ts';
import type { Recipient, RecipientKind } from '../../domain/envelope.ts';
import {
  addressKey,
  formatMailbox,
  listTooLong,
  type Mailbox,
  maxListLength,
  parseAddressList,
  parseMailbox,
} from '../../domain/mailbox.ts';
import { withDecodedName } from '../../mail/field-values.ts';
import type { Faults } from './faults.ts';
import type { Fields } from './fields.ts';

/** Who sends, and to whom: as the header names them, and as the envelope carries them. */
export interface Addresses {
  /** Null only when a fault was reported. */
  readonly from: Mailbox | null;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly bcc: readonly Mailbox[];
  /** Each address once, in the order of first mention. */
  readonly recipients: readonly Recipient[];
}

const FROM_REQUIRED = 'Is required, such as "Jane Doe <jane@example.com>".';
const AROUND = /^[ \t]|[ \t]$/;
const IN_BRACKETS = /<[ \t][^<]*>$|[ \t]>$/;
const KINDS: readonly RecipientKind[] = ['to', 'cc', 'bcc'];

/** Parses every address of a submission; each is parsed only here, once. */
export function checkAddresses(fields: Fields, maxRecipients: number, faults: Faults): Addresses {
  const from = checkFrom(fields.from, faults);
  const [to = [], cc = [], bcc = []] = KINDS.map((kind) => checkList(fields, kind, maxRecipients, faults));
  const recipients = envelopeOf({ to, cc, bcc });
  if (recipients.length > maxRecipients) faults.add(tooManyRecipients(maxRecipients), 'to');
  if (recipients.length === 0 && !faults.has(...KINDS))
    faults.add({ code: 'required', detail: 'At least one recipient is needed, in to, cc or bcc.' }, 'to');
  return { from, to, cc, bcc, recipients };
}

function checkFrom(text: string | null, faults: Faults): Mailbox | null {
  if (text === null) {
    if (!faults.has('from')) faults.add({ code: 'required', detail: FROM_REQUIRED }, 'from');
    return null;
  }
  const parsed = parseOne(text);
  if (parsed.ok) return withDecodedName(parsed.value);
  faults.add(parsed, 'from');
  return null;
}

/** One mailbox. The blanks that a list has around its commas would hide a mistake here. */
function parseOne(text: string): Parsed<Mailbox> {
  const parsed = parseMailbox(text);
  if (!parsed.ok || !(AROUND.test(text) || IN_BRACKETS.test(text))) return parsed;
  const detail = `There are blanks before or after the address; remove them: ${formatMailbox(parsed.value)}`;
  return { ok: false, code: 'address_syntax', detail };
}

/** As many mailboxes as there may be recipients are read of a field, repeated ones too, and not one more. */
function checkList(fields: Fields, kind: RecipientKind, maxRecipients: number, faults: Faults): Mailbox[] {
  const { texts, lists } = fields[kind];
  const mailboxes: Mailbox[] = [];
  if (texts.length > maxRecipients) {
    faults.add(tooManyRecipients(maxRecipients), kind);
    return mailboxes;
  }
  const maxLength = maxListLength(maxRecipients);
  if (!lists && texts.reduce((sum, text) => sum + text.length, 0) > maxLength) {
    faults.add(listTooLong(maxLength), kind);
    return mailboxes;
  }
  for (const [place, text] of texts.entries()) {
    const parsed = lists ? parseAddressList(text, maxRecipients - mailboxes.length) : parseOne(text);
    if (!parsed.ok && lists && parsed.code === 'address_count') {
      faults.add(tooManyRecipients(maxRecipients), kind);
      return mailboxes;
    }
    if (!parsed.ok) faults.add(parsed, kind, lists && texts.length === 1 ? undefined : place);
    else if (Array.isArray(parsed.value))
      for (const mailbox of parsed.value) mailboxes.push(withDecodedName(mailbox));
    else mailboxes.push(withDecodedName(parsed.value));
  }
  return mailboxes;
}

/** The first mention of an address decides how it counts: To before Cc before Bcc. */
function envelopeOf(lists: Readonly<Record<RecipientKind, readonly Mailbox[]>>): Recipient[] {
  const recipients = new Map<string, Recipient>();
  for (const kind of KINDS)
    for (const { address } of lists[kind]) {
      const key = addressKey(address);
      if (!recipients.has(key)) recipients.set(key, { address, kind, notify: null, orcpt: null });
    }
  return [...recipients.values()];
}

function tooManyRecipients(maxRecipients: number) {
  const detail = `There may be at most ${maxRecipients} recipients. Send to the others in another message, or have api.max_recipients raised.`;
  return { code: 'too_many_recipients', detail };
}
