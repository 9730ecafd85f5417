import { type Mailbox, quotePhrase } from '../domain/mailbox.ts';
import { encodedWords, isPlain } from './encoded-word.ts';
import { foldableWords } from './field.ts';

/** A longer word of a name is encoded, so that it can be folded. */
const MAX_ATOM = 70;

/** The words of an address list for `writeField` (RFC 5322 §3.4): only display names are ever encoded. */
export function addressWords(mailboxes: readonly Mailbox[]): string[] {
  return mailboxes.flatMap((mailbox, index) => {
    const comma = index < mailboxes.length - 1 ? ',' : '';
    if (mailbox.name === null) return [mailbox.address + comma];
    return [...phraseWords(mailbox.name), `<${mailbox.address}>${comma}`];
  });
}

/** The words of a display name (RFC 5322 §3.2.5): atoms, a quoted string, or encoded words. */
function phraseWords(name: string): string[] {
  const words = foldableWords(quotePhrase(name));
  return isPlain(name) && words.every((word) => word.length <= MAX_ATOM) ? words : encodedWords(name);
}
