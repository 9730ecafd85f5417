import type { MessageRecord } from '../../../domain/message.ts';
import { Problem } from '../../../http/problem.ts';
import type { ParsedMessage } from '../../../preview/parsed.ts';

/** Parses a message's text. Throws a `Problem`: 404 when it is no longer kept, 409 when it cannot be read. */
export type ReadWords = (message: MessageRecord) => Promise<ParsedMessage>;

/** What lists say of a message besides its record, and what they search. */
export interface Gist {
  /** The beginning of what it says, on one line. */
  readonly snippet: string;
  /** What it says, in lower case: as much of it as the parser gives. */
  readonly searched: string;
  /** Files to be saved, and files that are shown within the text. */
  readonly attachments: number;
  readonly inline: number;
}

/** Bounds on memory, in bytes; for tests that go past them. */
export interface WordsLimits {
  /** Of all messages and gists together. */
  readonly maxBytes?: number;
  /** Of one message that is kept whole. Of larger ones only the gist is. */
  readonly maxWholeBytes?: number;
}

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_WHOLE_BYTES = 512 * 1024;
const SNIPPET = 200;
/** Of an entry's objects, besides its texts. */
const ENTRY_BYTES = 1024;
/** The gist of a message that cannot be read. */
export const UNREADABLE: Gist = { snippet: '', searched: '', attachments: 0, inline: 0 };

interface Kept<T> {
  readonly what: T;
  readonly bytes: number;
}

/**
 * What captured messages say. Contents never change, so what was read recently is kept, within a bound: gists before whole
 * messages, since searches need the gists of many, again and again. Messages are read one at a time, so that a list, or
 * many lists, leave room for others who read.
 */
export class CapturedWords {
  readonly #readWords: ReadWords;
  readonly #maxBytes: number;
  readonly #maxWholeBytes: number;
  /** By id; the least recently used first. */
  readonly #gists = new Map<string, Kept<Gist>>();
  readonly #whole = new Map<string, Kept<ParsedMessage>>();
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
    return used(this.#whole, message.id) ?? (await this.#read(message));
  }

  /**
   * What lists say of it: nothing for a message that cannot be read. Null for one that is no longer kept. Throws the
   * problem 503 when it cannot be read now.
   */
  async gist(message: MessageRecord): Promise<Gist | null> {
    const known = used(this.#gists, message.id);
    if (known !== null) return known;
    try {
      return gistOf(await this.#read(message));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 404) return null;
      if (error.status !== 409) throw error;
      // It never can be: it need not be tried again.
      this.#keep(message.id, UNREADABLE, null);
      return UNREADABLE;
    }
  }

  /** Forgets messages that were removed. */
  forget(ids: readonly string[]): void {
    for (const id of ids) {
      this.#drop(this.#gists, id);
      this.#drop(this.#whole, id);
    }
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
        this.#keep(id, gistOf(words), words);
      },
      () => void this.#underWay.delete(id),
    );
    return reading;
  }

  #keep(id: string, gist: Gist, words: ParsedMessage | null): void {
    this.forget([id]);
    this.#add(this.#gists, id, {
      what: gist,
      bytes: ENTRY_BYTES + 2 * (gist.snippet.length + gist.searched.length),
    });
    const bytes = words === null ? 0 : ENTRY_BYTES + bytesOf(words);
    if (words !== null && bytes <= this.#maxWholeBytes) this.#add(this.#whole, id, { what: words, bytes });
    for (const entries of [this.#whole, this.#gists])
      for (const oldest of entries.keys()) {
        if (this.#bytes <= this.#maxBytes) return;
        this.#drop(entries, oldest);
      }
  }

  #add<T>(entries: Map<string, Kept<T>>, id: string, kept: Kept<T>): void {
    entries.set(id, kept);
    this.#bytes += kept.bytes;
  }

  #drop(entries: Map<string, Kept<unknown>>, id: string): void {
    this.#bytes -= entries.get(id)?.bytes ?? 0;
    entries.delete(id);
  }
}

/** What is kept of a message, which is now the most recently used; null if nothing is. */
function used<T>(entries: Map<string, Kept<T>>, id: string): T | null {
  const kept = entries.get(id);
  if (kept === undefined) return null;
  entries.delete(id);
  entries.set(id, kept);
  return kept.what;
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
