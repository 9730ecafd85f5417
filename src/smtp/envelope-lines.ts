/** The lines that carry an envelope, with the parameters that the peer's extensions allow and the message needs. */
import type { Envelope } from '../domain/envelope.ts';
import type { BodyFlags } from '../domain/message.ts';
import type { Capabilities } from './capabilities.ts';
import { type MailParameters, mailCommand, type RcptParameters, rcptCommand } from './command.ts';
import { asciiOrcpt, isEnvid, isNotify, isOrcpt, orcptOf } from './dsn.ts';

const NON_ASCII = /[^\u0000-\u007f]/;

/** Whether an envelope can only be sent with SMTPUTF8 (RFC 6531 §3.2). Domains are A-labels: it is for local parts. */
export function hasUtf8Address({ reversePath, recipients }: Envelope): boolean {
  return NON_ASCII.test(reversePath) || recipients.some(({ address }) => NON_ASCII.test(address));
}

/** Writes the MAIL and the RCPTs of one message. */
export class EnvelopeLines {
  /** It takes SMTPUTF8 to send this. */
  readonly needsUtf8: boolean;
  readonly #envelope: Envelope;
  readonly #parameters: MailParameters;
  readonly #capabilities: Capabilities;

  constructor(envelope: Envelope, sizeBytes: number, flags: BodyFlags, capabilities: Capabilities) {
    this.needsUtf8 = flags.utf8 || hasUtf8Address(envelope);
    this.#envelope = envelope;
    this.#capabilities = capabilities;
    const { ret, envid } = envelope;
    this.#parameters = {
      ...(capabilities.size ? { sizeBytes } : {}),
      eightBit: flags.eightBit,
      utf8: this.needsUtf8,
      ...(capabilities.dsn && ret !== null ? { ret } : {}),
      ...(capabilities.dsn && envid !== null && isEnvid(envid) ? { envid } : {}),
    };
  }

  /** Throws RangeError for a reverse-path that cannot be written. */
  mail(): string {
    return mailCommand(this.#envelope.reversePath, this.#parameters);
  }

  /** Throws RangeError for a recipient that is not there, or cannot be written. */
  rcpt(index: number): string {
    const recipient = this.#envelope.recipients[index];
    if (!recipient) throw new RangeError('no such recipient');
    const { address, notify, orcpt } = recipient;
    return rcptCommand(address, this.#capabilities.dsn ? this.#reporting(address, notify, orcpt) : {});
  }

  /**
   * As stored; what was stored by other rules and cannot be written is left out. Where reports are asked for, and
   * nobody said for whom, the address goes along: behind an alias it would be lost (RFC 3461 §5.2.1).
   */
  #reporting(address: string, notify: string | null, orcpt: string | null): RcptParameters {
    const wanted = notify !== null && isNotify(notify) ? notify : null;
    const original = orcpt === null ? this.#originalOf(address, wanted) : this.#writable(orcpt);
    return {
      ...(wanted === null ? {} : { notify: wanted }),
      ...(original === null ? {} : { orcpt: original }),
    };
  }

  #originalOf(address: string, notify: string | null): string | null {
    return notify === null || notify === 'NEVER' ? null : orcptOf(address, this.needsUtf8);
  }

  #writable(orcpt: string): string | null {
    const written = this.needsUtf8 ? orcpt : asciiOrcpt(orcpt);
    return isOrcpt(orcpt) && isOrcpt(written) ? written : null;
  }
}
