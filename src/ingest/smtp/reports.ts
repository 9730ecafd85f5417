import type { CloseReason } from '../../smtp/receiver/effect.ts';
import type { SessionReply } from '../../smtp/receiver/session-reply.ts';
import type { Answer, Answering } from './answering.ts';
import type { Denials } from './denials.ts';

/** What a session tells the log and the metrics. A file of its own: the session's has the socket. */

/** Session ends that count and are logged as denials. */
const DENIED_ENDS: ReadonlySet<CloseReason> = new Set<CloseReason>([
  'early_talk',
  'http_after_greeting',
  'malformed_end',
  'too_many_errors',
  'too_many_commands',
]);

/** Knows the owner of the session's messages. */
type Owner = Pick<Answering, 'ownerId'>;

/** Reports what one session refused its client, for metrics and log. */
export class Reports {
  readonly #denials: Denials;
  readonly #from: { readonly sourceAddress: string; readonly requestId: string };
  readonly #owner: Owner;
  #namedKey: string | null = null;

  constructor(denials: Denials, sourceAddress: string, requestId: string, owner: Owner) {
    this.#denials = denials;
    this.#from = { sourceAddress, requestId };
    this.#owner = owner;
  }

  /** The key that a refused AUTH presented, if there is one; null: none. */
  get namedKey(): string | null {
    return this.#namedKey;
  }

  /** Reports a refused question. */
  count(answer: Answer): void {
    if ('yes' in answer) return;
    const { denied, refused, reply, keyId } = answer;
    this.#namedKey = keyId ?? this.#namedKey;
    if (denied !== null) this.denied(denied, keyId);
    if (refused !== null) this.refused(refused, reply);
  }

  /** Reports that the client may not do what it asked. */
  denied(reason: string, keyId = this.#owner.ownerId): void {
    this.#denials.tell({ type: 'denied', reason, keyId, ...this.#from });
  }

  /** Reports the session's end. */
  ended(reason: CloseReason): void {
    if (DENIED_ENDS.has(reason)) this.denied(reason);
  }

  /** Reports that a message was not accepted. */
  refused(reason: string, { code, enhanced }: SessionReply): void {
    const reply = `${code} ${enhanced}`;
    this.#denials.tell({ type: 'refused', reason, reply, keyId: this.#owner.ownerId, ...this.#from });
  }
}
