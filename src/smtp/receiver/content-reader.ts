import { Content, type ContentRefusal } from './content.ts';
import type { ReceiverOptions } from './effect.ts';
import type { InputBuffer } from './input.ts';
import type { Outbox } from './outbox.ts';
import { formatReply, type SessionReply, START_CONTENT, sessionReply } from './session-reply.ts';

const MALFORMED_END = sessionReply(
  521,
  '5.5.2',
  'Malformed end of data; only CRLF, a dot and CRLF end a message. Closing',
);

/**
 * The result of a read: `more` bytes are needed; commands go `on`; the content is `complete` and valid; the transaction
 * is `over`, and its refusal sent.
 */
export type ReadStep = 'more' | 'on' | 'complete' | 'over';

/** A BDAT chunk being received. */
interface Chunk {
  readonly sizeBytes: number;
  readonly isLast: boolean;
  left: number;
  /** If set, the chunk is dropped and this reply sent. */
  refusal: SessionReply | null;
}

/** Reads the content of one transaction after the other, by DATA or BDAT, and replies to faulty content. */
export class ContentReader {
  readonly #options: ReceiverOptions;
  readonly #outbox: Outbox;
  #content: Content | null = null;
  #framing: 'dots' | 'chunks' = 'dots';
  #chunk: Chunk | null = null;
  #hasFailed = false;

  constructor(options: ReceiverOptions, outbox: Outbox) {
    this.#options = options;
    this.#outbox = outbox;
  }

  /** The input is content. */
  get isReading(): boolean {
    return this.#chunk !== null || (this.#content !== null && this.#framing === 'dots');
  }

  /** The input is content, or the session is between two chunks. */
  get isUnderWay(): boolean {
    return this.isReading || (this.#content !== null && !this.#hasFailed);
  }

  /** A chunk of this transaction has arrived, whatever happened to it. */
  get hasBegun(): boolean {
    return this.#content !== null || this.#hasFailed;
  }

  /** A chunk of this transaction was refused, and so will all that follow. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get sizeBytes(): number {
    return this.#content?.sizeBytes ?? 0;
  }

  get dotStuffing(): boolean {
    return this.#content?.dotStuffing ?? false;
  }

  /** DATA was received; `begin` or `refuseToBegin` follows. */
  expectData(): void {
    this.#framing = 'dots';
  }

  /** BDAT was received. With a refusal the chunk is dropped, and an open transaction has failed. */
  expectChunk(sizeBytes: number, isLast: boolean, refusal: SessionReply | null, isOpen: boolean): void {
    this.#framing = 'chunks';
    this.#chunk = { sizeBytes, isLast, left: sizeBytes, refusal };
    if (refusal !== null && isOpen) this.#hasFailed = true;
  }

  /** Content may come. */
  begin(): void {
    const { content, maxMessageBytes } = this.#options;
    const isData = this.#framing === 'dots';
    this.#content = new Content(content, isData, maxMessageBytes, this.#outbox);
    if (isData) this.#outbox.say(START_CONTENT);
  }

  /** Content may not come. True when the refusal is sent later, after a chunk that is on its way. */
  refuseToBegin(reply: SessionReply): boolean {
    if (this.#chunk === null) return false;
    this.#chunk.refusal = reply;
    this.#hasFailed = true;
    return true;
  }

  /** The message will be refused, whatever follows. */
  refuse(reply: SessionReply): void {
    this.#content?.refuse(reply);
  }

  /** Reads the input. */
  read(input: InputBuffer): ReadStep {
    if (this.#chunk !== null) return this.#readChunk(input, this.#chunk);
    const content = this.#content;
    if (content === null || input.length === 0) return 'more';
    input.readTo(content.read(input.bytes, input.start, input.end));
    if (content.state === 'open') return 'more';
    if (content.state === 'ended') return this.#judge(content);
    this.#outbox.end('malformed_end', MALFORMED_END);
    return 'on';
  }

  /** The transaction is over. */
  clear(): void {
    this.#content = null;
    this.#chunk = null;
    this.#hasFailed = false;
  }

  #readChunk(input: InputBuffer, chunk: Chunk): ReadStep {
    const count = Math.min(chunk.left, input.length);
    if (count > 0) {
      const end = input.start + count;
      if (chunk.refusal === null) this.#content?.read(input.bytes, input.start, end);
      chunk.left -= count;
      input.readTo(end);
    }
    if (chunk.left > 0) return 'more';
    this.#chunk = null;
    const content = this.#content;
    if (chunk.refusal !== null || content === null) return this.#refuseChunk(chunk, chunk.refusal);
    if (chunk.isLast) {
      content.finish();
      return this.#judge(content);
    }
    if (content.refusal !== null) return this.#refuseChunk(chunk, this.#told(content.refusal));
    this.#outbox.say(formatReply(sessionReply(250, '2.0.0', `${chunk.sizeBytes} octets received`)));
    return 'on';
  }

  #refuseChunk({ isLast }: Chunk, refusal: SessionReply | null): ReadStep {
    if (refusal !== null) this.#outbox.refuse(refusal);
    // Without a transaction nothing can fail or end.
    if (this.#content !== null) this.#hasFailed = true;
    return isLast && this.#hasFailed ? 'over' : 'on';
  }

  #judge(content: Content): ReadStep {
    if (content.refusal === null) return 'complete';
    this.#outbox.refuse(this.#told(content.refusal));
    return 'over';
  }

  /** The reply; reports its reason to the owner, unless the owner chose it. */
  #told({ reason, reply }: ContentRefusal): SessionReply {
    if (reason !== null) this.#outbox.tell({ kind: 'refused', reason, reply });
    return reply;
  }
}
