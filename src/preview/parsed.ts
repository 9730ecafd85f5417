/** A message as it was read. All of it is text of strangers. */
export interface ParsedMessage {
  readonly subject: string;
  /** The author as one text. */
  readonly from: string;
  /** Header fields, unfolded, encoded words decoded, in order; a bounded number. */
  readonly headers: readonly ParsedField[];
  readonly html: string | null;
  readonly text: string | null;
  readonly attachments: readonly ParsedAttachment[];
  /** Web addresses in it. */
  readonly links: readonly FoundLink[];
  /** What looks like a code to be typed in, such as one of six digits. */
  readonly codes: readonly string[];
  /** What was left out, or could not be read. */
  readonly notes: readonly string[];
}

/** A link as it stands in a message. */
export interface FoundLink {
  readonly url: string;
  /** What a reader would see of it; empty where that is the address itself. */
  readonly text: string;
}

/** A field of the header. */
export interface ParsedField {
  readonly name: string;
  readonly value: string;
}

/** A file in a message. */
export interface ParsedAttachment {
  readonly filename: string;
  /** Lower case, without parameters. */
  readonly contentType: string;
  readonly inline: boolean;
  /** Without angle brackets. */
  readonly contentId: string | null;
  readonly content: Uint8Array;
}

/** A message that cannot be read: not what is called MIME, or too much of it. The text says so to people. */
export class PreviewError extends Error {
  /**
   * - `unreadable`: the message cannot be read.
   * - `too_large`: larger than what is read for a preview.
   * - `too_slow`: reading it took longer than it may.
   * - `busy`: too many are being read; try again.
   */
  readonly code: 'unreadable' | 'too_large' | 'too_slow' | 'busy';
  constructor(code: PreviewError['code'], message: string) {
    super(message);
    this.name = 'PreviewError';
    this.code = code;
  }
}
