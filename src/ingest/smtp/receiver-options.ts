import type { ContentRules } from '../../smtp/receiver/content-scanner.ts';
import type { ReceiverOptions } from '../../smtp/receiver/options.ts';
import type { SmtpOptions } from './options.ts';

/** Bytes of a line of text with its CRLF (RFC 5321 §4.5.3.1.6). */
const MAX_LINE_BYTES = 1000;
/** What a client may send ahead while it waits for an answer: the chunk at hand, and what the socket still gives. */
const MAX_WAITING_BYTES = 256 * 1024;

/** How receivers are set by the listener's settings. One serves all sessions: everything is read at its use. */
export class LiveReceiverOptions implements ReceiverOptions {
  readonly maxWaitingBytes = MAX_WAITING_BYTES;
  readonly startTls: boolean;
  readonly #options: SmtpOptions;

  /** `startTls`: there is a certificate. */
  constructor(options: SmtpOptions, startTls: boolean) {
    this.#options = options;
    this.startTls = startTls;
  }

  get hostname(): string {
    return this.#options.hostname;
  }

  get requireTls(): boolean {
    return this.#options.settings.requireTls;
  }

  get auth(): ReceiverOptions['auth'] {
    return this.#options.settings.allowInsecureAuth ? 'always' : 'secure';
  }

  get requireAuth(): boolean {
    return this.#options.settings.requireAuth;
  }

  get quotedLocalParts(): boolean {
    return this.#options.settings.quotedLocalParts;
  }

  get content(): ContentRules {
    const { bareNewline } = this.#options.settings;
    return { bareNewline, maxLineBytes: MAX_LINE_BYTES };
  }

  get maxMessageBytes(): number {
    return this.#options.limits.maxMessageBytes;
  }

  get maxRecipients(): number {
    return this.#options.limits.maxRecipients;
  }

  get maxTransactions(): number {
    return this.#options.settings.maxMessagesPerConnection;
  }

  get maxCommandsWithoutMail(): number {
    return this.#options.settings.maxCommandsWithoutMail;
  }

  get softErrors(): number {
    return this.#options.settings.softErrors;
  }

  get hardErrors(): number {
    return this.#options.settings.hardErrors;
  }

  get maxAuthFailures(): number {
    return this.#options.settings.maxAuthFailures;
  }
}
