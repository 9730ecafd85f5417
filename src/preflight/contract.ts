import type { Alignment } from '../domain/alignment.ts';
import type { RelayType } from '../domain/lane.ts';

/** What is asked before mail is sent, and what the answer is. */

/** How bad something is: `error`: it will fail, or reach people broken; `warning`: it will for many; `hint`: it may. */
export const SEVERITIES = ['error', 'warning', 'hint'] as const;

/** See {@link SEVERITIES}. */
export type Severity = (typeof SEVERITIES)[number];

/** Something that a message should not have, or lacks. Its text may quote the message: hostile, like all content. */
export interface Finding {
  /** The name of its page: `docs/preflight/<code>.md`. */
  readonly code: string;
  readonly severity: Severity;
  /**
   * What it is about: a JSON pointer of the request (`/subject`, `/attachments/0`), a field of the header
   * (`header:Reply-To`), or empty for the whole message; with a line where that helps (`/html#L12`).
   */
  readonly where: string;
  /** What was found, in a sentence. */
  readonly detail: string;
  /** What to do about it, in a sentence. */
  readonly fix: string;
}

/** What is known of the way of a message. */
export interface Way {
  /** The relays that would be tried first, each once; empty where nothing would be sent, or nothing is known. */
  readonly hops: readonly Hop[];
  /** Its sender says that it goes to many: priority `bulk`. */
  readonly isBulk: boolean;
  /** An address of the envelope whose local part is not ASCII; null: none is. */
  readonly utf8Address: string | null;
  /** Its next hop must promise TLS for the rest of the way (REQUIRETLS). */
  readonly requiresTls: boolean;
}

/** A relay on the way. */
export interface Hop {
  readonly relay: string;
  readonly type: RelayType;
  /** The smarthost's name; null for other types. */
  readonly host: string | null;
  /** Most bytes that it takes; null: no limit is known. */
  readonly maxBytes: number | null;
  readonly alignment: Alignment;
  /** What to do so that a key of ours signs, as the end of a sentence; null if one does, or the provider signs. */
  readonly signingCure: string | null;
}

/** Nothing is known of the way. */
export const NO_WAY: Way = { hops: [], isBulk: false, utf8Address: null, requiresTls: false };

/** The asker of all who check messages by an operation. */
export const OPERATORS = 'operators';

/** A message that is not made yet. */
export interface MailDraft {
  /** As the header has it; empty where it is not known yet. */
  readonly from: string;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Checks messages. Nothing is fetched, looked up or changed. A message that cannot be checked is itself a finding. */
export interface Preflight {
  /**
   * Checks a message of this size, whose bytes are loaded when its turn has come: what waits is not in memory. Rejects
   * with what loading throws. `asker`: a key's id, or {@link OPERATORS}; askers take turns, and each may have a few wait.
   */
  message(
    sizeBytes: number,
    load: () => Uint8Array | Promise<Uint8Array>,
    way: Way,
    asker: string,
  ): Promise<readonly Finding[]>;
  draft(draft: MailDraft): Promise<readonly Finding[]>;
}
