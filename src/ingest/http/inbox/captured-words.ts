import type { MessageRecord } from '../../../domain/message.ts';
import { Problem } from '../../../http/problem.ts';
import type { ParsedMessage } from '../../../preview/parsed.ts';

/** Parses a message's text. Throws a `Problem`: 404 when it is no longer kept, 409 when it cannot be read. */
export type ReadWords = (message: MessageRecord) => Promise<ParsedMessage>;

/** What lists say of a message besides its record, and what they search. */
export interface Gist {
  /** The beginning of what it says, on one line. */
  readonly snippet: string;
  /** What it says, in lower case; the beginning of it. */
  readonly searched: string;
  /** Files to be saved, and files that are shown within the text. */
  readonly attachments: number;
  readonly inline: number;
}

/** Bounds on memory, in bytes; for tests that go past them. */
export interface WordsLimits {
  /** Of all messages together. */
  readonly maxBytes?: number;
  /** Of one message that is kept whole. Of larger ones only the gist is. */
  readonly maxWholeBytes?: number;
}

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_WHOLE_BYTES = 512 * 1024;
const SNIPPET = 200;
/** Of an entry's objects, besides its texts. */
const ENTRY_BYTES = 1024;
const UNREADABLE: Gist = { snippet: '', searched: '', attachments: 0, inline: 0 };

interface Entry {
  readonly gist: Gist;
  /** Null: too large to keep. */
  readonly words: ParsedMessage | null;
  readonly bytes: number;
}

/**
 * What captured messages say. Contents never change, so what was read recently is kept, within a bound. Messages are
 * read one at a time, so that a list, or many lists, leave room for others who read.
 */
export class CapturedWords {
  readonly #readWords: ReadWords;
  readonly #maxBytes: number;
  readonly #maxWholeBytes: number;
  /** By id; the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #underWay = new Map<string, Promise<ParsedMessage>>();
  #bytes = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(readWords: ReadWords, { maxBytes, maxWholeBytes }: WordsLimits = {}) {
    this.#readWords = readWords;
    this.#maxBytes = maxBytes ?? MAX_BYTES;
    this.#maxWholeBytes = maxWholeBytes ?? MAX_WHOLE_BYTES;
  }

  /** Bytes that are kept, roughly. */
  get bytes(): number {
    return this.#bytes;
  }

  /** All that it says. Throws as {@link ReadWords}. */
  async words(message: MessageRecord): Promise<ParsedMessage> {
    return this.#used(message.id)?.words ?? (await this.#read(message));
  }

  /**
   * What lists say of it: nothing for a message that cannot be read. Null for one that is no longer kept.
   */
  async gist(message: MessageRecord): Promise<Gist | null> {
    const known = this.#used(message.id);
    if (known !== null) return known.gist;
    try {
      return gistOf(await this.#read(message));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 404) return null;
      // It never can be: it need not be tried again.
      if (error.status === 409) this.#keep(message.id, { gist: UNREADABLE, words: null, bytes: ENTRY_BYTES });
      return UNREADABLE;
    }
  }

  /** Forgets messages that were removed. */
  forget(ids: readonly string[]): void {
    for (const id of ids) {
      this.#bytes -= this.#entries.get(id)?.bytes ?? 0;
      this.#entries.delete(id);
    }
  }

  #used(id: string): Entry | null {
    const entry = this.#entries.get(id);
    if (entry === undefined) return null;
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry;
  }

  /** Whoever asks for the same meanwhile gets the same. */
  #read(message: MessageRecord): Promise<ParsedMessage> {
    const { id } = message;
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined) return underWay;
    const reading = this.#last.then(() => this.#readWords(message));
    this.#underWay.set(id, reading);
    this.#last = reading.then(
      (words) => {
        this.#underWay.delete(id);
        this.#keep(id, this.#entryOf(words));
      },
      () => void this.#underWay.delete(id),
    );
    return reading;
  }

  #entryOf(words: ParsedMessage): Entry {
    const gist = gistOf(words);
    const bytes = ENTRY_BYTES + 2 * (gist.snippet.length + gist.searched.length);
    const whole = bytes + bytesOf(words);
    return whole <= this.#maxWholeBytes ? { gist, words, bytes: whole } : { gist, words: null, bytes };
  }

  #keep(id: string, entry: Entry): void {
    this.forget([id]);
    this.#entries.set(id, entry);
    this.#bytes += entry.bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.forget([oldest]);
    }
  }
}

function gistOf({ plain, attachments }: ParsedMessage): Gist {
  const inline = attachments.filter((file) => file.inline).length;
  return {
    snippet: plain
      .slice(0, 4 * SNIPPET)
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, SNIPPET)
      .toWellFormed(),
    searched: plain.toLowerCase(),
    attachments: attachments.length - inline,
    inline,
  };
}

/** Roughly what a parsed message takes. */
function bytesOf({ html, text, plain, headers, links, attachments }: ParsedMessage): number {
  const texts = [
    html ?? '',
    text ?? '',
    plain,
    ...headers.map(({ value }) => value),
    ...links.map(({ url }) => url),
  ];
  const files = attachments.reduce((sum, { content }) => sum + content.length, 0);
  return files + texts.reduce((sum, text_) => sum + 2 * text_.length + 100, 0);
}
