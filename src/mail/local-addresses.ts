/**
 * Addresses as programs on this machine write them, where a user's name alone is an address: `root`, `root (Cron Daemon)`,
 * `Jane <jane>`. What RFC 5322 calls an address list is read, comments and groups included; nothing is refused here.
 */

/** A field's value with whole addresses, and those addresses. */
export interface WholeAddresses {
  readonly text: string;
  /** Without names and comments, as they stand; a route before one (RFC 5322 §4.4) is left out. */
  readonly addresses: readonly string[];
}

/** A quoted string, a comment that may hold one more, a blank, a special character, or anything else. */
const TOKEN =
  /"(?:[^"\\]|\\[\s\S])*"|\((?:[^()\\]|\\[\s\S]|\((?:[^()\\]|\\[\s\S])*\))*\)|\s+|[<>,:;]|[^"(\s<>,:;]+|[\s\S]/g;

/** Gives each address without a domain this one. Linear in the length of the text. */
export function wholeAddresses(value: string, domain: string): WholeAddresses {
  const reading = new Reading(domain);
  for (const [token] of value.matchAll(TOKEN)) reading.take(token);
  reading.end();
  return { text: reading.text, addresses: reading.addresses };
}

class Reading {
  text = '';
  readonly addresses: string[] = [];
  readonly #domain: string;
  /** The words of the entry so far that may be its address. */
  #words: string[] = [];
  /** Where the last of them ends in the text. */
  #wordsEnd = 0;
  #inAngles = false;
  /** The entry's address stood between angle brackets, and is known. */
  #isClosed = false;

  constructor(domain: string) {
    this.#domain = domain;
  }

  take(token: string): void {
    if (token === '<') this.#open();
    else if (token === '>') this.#close();
    else if (token === ',' || token === ';') this.end();
    // The name of a group, or a route within the brackets.
    else if (token === ':') this.#words = [];
    else if (!/^[\s(]/.test(token) && !this.#isClosed) {
      this.#words.push(token);
      this.text += token;
      this.#wordsEnd = this.text.length;
      return;
    }
    this.text += token;
  }

  /** An entry ends. */
  end(): void {
    if (!this.#isClosed) this.#found();
    this.#words = [];
    this.#isClosed = false;
    this.#inAngles = false;
  }

  #open(): void {
    // What stood before was a name.
    this.#words = [];
    this.#inAngles = true;
  }

  #close(): void {
    if (this.#inAngles) this.#found();
    this.#inAngles = false;
    this.#isClosed = true;
  }

  #found(): void {
    if (this.#words.length === 0) return;
    const address = this.#words.join('');
    const isLocal = this.#words.length === 1 && (address.startsWith('"') || !address.includes('@'));
    if (isLocal) {
      const at = this.#wordsEnd;
      this.text = `${this.text.slice(0, at)}@${this.#domain}${this.text.slice(at)}`;
    }
    this.addresses.push(isLocal ? `${address}@${this.#domain}` : address);
    this.#words = [];
  }
}
