import { type ContentFault, type ContentRules, ContentScanner } from './content-scanner.ts';
import type { ContentReason } from './effect.ts';
import type { Outbox } from './outbox.ts';
import { type SessionReply, sessionReply } from './session-reply.ts';

/** Smaller pieces are gathered: a peer that sends byte by byte must not cost a buffer for each byte. */
const SMALL_PIECE = 1024;
const GATHERED = 4096;

/** Why a message cannot be accepted: by a rule of the content or, with the reason null, by the owner's decision. */
export interface ContentRefusal {
  readonly reason: ContentReason | null;
  readonly reply: SessionReply;
}

const NUL = sessionReply(550, '5.6.11', 'The message has a NUL byte; encode binary content as base64', 'nul');
const BARE_NEWLINE = sessionReply(
  550,
  '5.6.11',
  'The message has a lone CR or LF; end every line in CRLF (RFC 5321 section 2.3.8)',
  'bare_newline',
);

/** The content of one message while it arrives: scanned, measured, passed on in pieces or, once refused, dropped. */
export class Content {
  readonly #rules: ContentRules;
  readonly #scanner: ContentScanner;
  readonly #maxBytes: number;
  readonly #outbox: Outbox;
  #sizeBytes = 0;
  #refusal: ContentRefusal | null = null;
  #gathered: Buffer | null = null;
  #gatheredBytes = 0;

  /** `dots`: framed as after DATA; otherwise by the counts of BDAT. */
  constructor(rules: ContentRules, dots: boolean, maxBytes: number, outbox: Outbox) {
    this.#rules = rules;
    this.#scanner = new ContentScanner(rules, dots);
    this.#maxBytes = maxBytes;
    this.#outbox = outbox;
  }

  get state(): 'open' | 'ended' | 'malformed' {
    return this.#scanner.state;
  }

  /** Why the message cannot be accepted; null while it can. */
  get refusal(): ContentRefusal | null {
    const { fault } = this.#scanner;
    return this.#refusal ?? (fault === null ? null : { reason: fault, reply: replyTo(fault, this.#rules) });
  }

  /** Bytes of its plain form. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get dotStuffing(): boolean {
    return this.#scanner.dotStuffing;
  }

  /** Reads bytes up to their end or the content's. Returns the position reached. */
  read(bytes: Buffer, start: number, end: number): number {
    const hadRefusal = this.refusal !== null;
    const stop = this.#scanner.read(bytes, start, end);
    this.#pass(hadRefusal);
    return stop;
  }

  /** Content in chunks is complete. */
  finish(): void {
    const hadRefusal = this.refusal !== null;
    this.#scanner.finish();
    this.#pass(hadRefusal);
  }

  /** Refuses the message, whatever follows. */
  refuse(reply: SessionReply): void {
    if (this.refusal === null) this.#discard();
    this.#refusal ??= { reason: null, reply };
  }

  #pass(hadRefusal: boolean): void {
    const piece = this.#scanner.takePiece();
    this.#sizeBytes += piece.length;
    if (this.#sizeBytes > this.#maxBytes) this.#refusal ??= tooLarge(this.#maxBytes);
    if (hadRefusal) return;
    if (this.refusal !== null || this.state === 'malformed') this.#discard();
    else this.#passOn(piece);
  }

  #passOn(piece: Buffer): void {
    if (this.#gatheredBytes + piece.length > GATHERED || piece.length >= SMALL_PIECE) this.#flush();
    if (piece.length >= SMALL_PIECE) this.#outbox.tell({ kind: 'content', bytes: piece });
    else if (piece.length > 0) this.#gather(piece);
    if (this.state === 'ended') this.#flush();
  }

  #gather(piece: Buffer): void {
    // Content that arrives in one piece, as most does, is not copied.
    if (this.#gathered === null && this.state === 'ended') {
      this.#outbox.tell({ kind: 'content', bytes: piece });
      return;
    }
    this.#gathered ??= Buffer.allocUnsafe(GATHERED);
    this.#gatheredBytes += piece.copy(this.#gathered, this.#gatheredBytes);
  }

  #flush(): void {
    if (this.#gathered === null) return;
    this.#outbox.tell({ kind: 'content', bytes: this.#gathered.subarray(0, this.#gatheredBytes) });
    this.#gathered = null;
    this.#gatheredBytes = 0;
  }

  #discard(): void {
    this.#gathered = null;
    this.#gatheredBytes = 0;
    this.#outbox.discard();
  }
}

/** The refusal of a message with more than `maxBytes`. */
export function tooLarge(maxBytes: number) {
  const text = `The message is too large; at most ${maxBytes} bytes are accepted`;
  return {
    reason: 'message_too_large',
    reply: sessionReply(552, '5.3.4', text, 'message_too_large'),
  } as const;
}

function replyTo(fault: ContentFault, { maxLineBytes }: ContentRules): SessionReply {
  if (fault === 'nul') return NUL;
  if (fault === 'bare_newline') return BARE_NEWLINE;
  const most = maxLineBytes - 2;
  const text = `The message has a line of more than ${most} bytes; encode it as quoted-printable or base64`;
  return sessionReply(550, '5.6.0', text, 'line_too_long');
}
