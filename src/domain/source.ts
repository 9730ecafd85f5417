/** A device or network that sends without a key and has a name all the same (`listener.sources`). */
export interface NamedSource {
  /** `a-z 0-9 - _`, at most 64 characters. */
  readonly name: string;
  readonly cidr: string;
  /** Domains it may send from, lower case; empty means any. */
  readonly senderDomains: readonly string[];
  /** Messages a minute; 0 means no limit of its own. */
  readonly ratePerMinute: number;
  /** Put on every message of it. */
  readonly tags: readonly string[];
}

/**
 * Who owns the messages of a source, in the place of a key's id: they are counted, listed and told apart by it. No
 * key has such an id.
 */
export function ownerOf({ name }: Pick<NamedSource, 'name'>): string {
  return `source:${name}`;
}
