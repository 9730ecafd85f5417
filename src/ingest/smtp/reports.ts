import type { CloseReason } from '../../smtp/receiver/effect.ts';
import type { SessionReply } from '../../smtp/receiver/session-reply.ts';
import type { Answer, Answering } from './answering.ts';
import type { Denials } from './denials.ts';

/** Ends of a session in which the client was refused, as they are counted and logged. */
const DENIED_ENDS: ReadonlySet<CloseReason> = new Set<CloseReason>([
  'early_talk',
  'http_after_greeting',
  'malformed_end',
  'too_many_errors',
  'too_many_commands',
]);

/** Who knows whose messages those of the session are now. */
type Owner = Pick<Answering, 'ownerId'>;

/** What one session refused its client, told to those who count and log it. */
export class Reports {
  readonly #denials: Denials;
  readonly #from: { readonly sourceAddress: string; readonly requestId: string };
  readonly #owner: Owner;

  constructor(denials: Denials, sourceAddress: string, requestId: string, owner: Owner) {
    this.#denials = denials;
    this.#from = { sourceAddress, requestId };
    this.#owner = owner;
  }

  /** A question was answered: tells of a no. */
  count(answer: Answer): void {
    if ('yes' in answer) return;
    const { denied, refused, reply, keyId } = answer;
    if (denied !== null) this.denied(denied, keyId);
    if (refused !== null) this.refused(refused, reply);
  }

  /** The client may not do what it asked. */
  denied(reason: string, keyId = this.#owner.ownerId): void {
    this.#denials.tell({ type: 'denied', reason, keyId, ...this.#from });
  }

  /** The session has ended. */
  ended(reason: CloseReason): void {
    if (DENIED_ENDS.has(reason)) this.denied(reason);
  }

  /** A message of it was not taken. */
  refused(reason: string, { code, enhanced }: SessionReply): void {
    const reply = `${code} ${enhanced}`;
    this.#denials.tell({ type: 'refused', reason, reply, keyId: this.#owner.ownerId, ...this.#from });
  }
}
