import { parseMailbox } from '../../../domain/mailbox.ts';
import type { MessageRecord } from '../../../domain/message.ts';
import { Problem } from '../../../http/problem.ts';
import type { ParsedMailbox, ParsedMessage } from '../../../preview/parsed.ts';
import type { CapturedWords } from '../inbox/captured-words.ts';
import { type SaidFacts, searchable } from './search.ts';

/**
 * What lists and searches tell of messages' contents, kept for a while: contents never change. It is a small part of them,
 * so that a search through a whole mailbox reads each message once.
 */

/** What a message says, as far as lists show it and searches look for it. */
export interface Said extends SaidFacts {
  readonly mailboxes: Mailboxes;
  readonly snippet: string;
}

/** Who a message is from and to, with names as far as they are known. */
export type Mailboxes = Readonly<Record<'from' | 'to' | 'cc' | 'bcc' | 'replyTo', readonly ParsedMailbox[]>>;

/** Characters of a message that are searched; and that are kept, of all messages together. */
const MAX_SEARCHED = 64 * 1024;
const MAX_KEPT = 8 * 1024 * 1024;
/** Characters of a snippet. */
const MAX_SNIPPET = 200;
/** What keeping one costs besides its texts. */
const OVERHEAD = 500;

/** Reads what messages say, and keeps what was read last. */
export class Summaries {
  readonly #contents: Pick<CapturedWords, 'words'>;
  readonly #kept = new Map<string, { readonly said: Said; readonly characters: number }>();
  #characters = 0;

  constructor(contents: Pick<CapturedWords, 'words'>) {
    this.#contents = contents;
  }

  /** How many are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * What a message says. One that cannot be parsed says what its record knows. Throws the problem 503 when it cannot be
   * read now.
   */
  async of(message: MessageRecord): Promise<Said> {
    const kept = this.#kept.get(message.id);
    if (kept !== undefined) {
      this.#forget(message.id);
      this.#keep(message.id, kept.said, kept.characters);
      return kept.said;
    }
    const said = saidBy(message, await this.#words(message));
    this.#keep(message.id, said, charactersOf(said));
    return said;
  }

  async #words(message: MessageRecord): Promise<ParsedMessage | null> {
    try {
      return await this.#contents.words(message);
    } catch (error) {
      if (error instanceof Problem && error.status !== 503) return null;
      throw error;
    }
  }

  #keep(id: string, said: Said, characters: number): void {
    this.#kept.set(id, { said, characters });
    this.#characters += characters;
    for (const oldest of this.#kept.keys()) {
      if (this.#characters <= MAX_KEPT) break;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    this.#characters -= this.#kept.get(id)?.characters ?? 0;
    this.#kept.delete(id);
  }
}

function charactersOf({ text, snippet, mailboxes }: Said): number {
  // Each mailbox is kept twice: as it is shown, and as it is searched.
  const addresses = Object.values(mailboxes).flat();
  return addresses.reduce(
    (sum, { name, address }) => sum + 2 * (name.length + address.length) + 100,
    OVERHEAD + text.length + snippet.length,
  );
}

/** The tags of a message in the inbox. */
export function tagsOf({ inboxTags, tags }: Pick<MessageRecord, 'inboxTags' | 'tags'>): readonly string[] {
  return inboxTags ?? tags;
}

function saidBy(message: MessageRecord, words: ParsedMessage | null): Said {
  const mailboxes = mailboxesOf(message, words);
  const plain = words?.plain ?? '';
  const addresses = (name: keyof Mailboxes) =>
    mailboxes[name].map((mailbox) => searchable(`${mailbox.name} ${mailbox.address}`));
  const addressed = {
    from: addresses('from'),
    to: addresses('to'),
    cc: addresses('cc'),
    bcc: addresses('bcc'),
    replyTo: addresses('replyTo'),
  };
  const files = words?.attachments.map(({ filename }) => filename) ?? [];
  const all = [
    ...Object.values(addressed).flat(),
    message.envelopeFrom,
    message.header.subject,
    ...files,
    plain,
  ];
  const inline = words?.attachments.filter((file) => file.inline).length ?? 0;
  return {
    mailboxes,
    addresses: addressed,
    text: searchable(all.join(' ').slice(0, MAX_SEARCHED)),
    attachments: files.length - inline,
    inline,
    snippet: snippetOf(plain),
  };
}

function snippetOf(plain: string): string {
  const line = plain.replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_SNIPPET ? `${line.slice(0, MAX_SNIPPET).toWellFormed()}...` : line;
}

/**
 * Who a message is from and to. Those whom it does not name got it blindly; they, and all of one that cannot be parsed,
 * have no names.
 */
export function mailboxesOf(
  { header, to, cc, bcc }: MessageRecord,
  words: Pick<ParsedMessage, 'mailboxes'> | null,
): Mailboxes {
  const nameless = (addresses: readonly string[]) => addresses.map((address) => ({ name: '', address }));
  if (words === null)
    return {
      from: authorOf(header.from),
      to: nameless(to),
      cc: nameless(cc),
      bcc: nameless(bcc),
      replyTo: [],
    };
  return { ...words.mailboxes, bcc: nameless(bcc) };
}

function authorOf(from: string): ParsedMailbox[] {
  const parsed = parseMailbox(from);
  if (!parsed.ok) return [{ name: from, address: '' }];
  return [{ name: parsed.value.name ?? '', address: parsed.value.address }];
}
