import type { Suspension } from '../../engine/contract.ts';
import { type SessionReply, sessionReply } from '../../smtp/receiver/session-reply.ts';
import type { Origin } from './origin.ts';

/** What a client is told, and why, by a code that an operator can search the log for. */
export interface Refusal {
  readonly reply: SessionReply;
  /** Why, of what it is not allowed: that is counted as denied. Null for what nobody was denied. */
  readonly denied: string | null;
  /** Why, of what anybody would be refused, such as a message that finds no room. Null for what was denied. */
  readonly refused: string | null;
  /** The key that was shown, where it is known and not yet the session's. */
  readonly keyId?: string;
}

/** Domains that a refusal names; of more, the configuration tells. */
const MAX_NAMED_DOMAINS = 5;

/** Refuses somebody what they may not do. */
export function deny(reason: string, code: number, enhanced: string, text: string): Refusal {
  return { reply: sessionReply(code, enhanced, text), denied: reason, refused: null };
}

/** Refuses what anybody would be refused. */
export function decline(reason: string, code: number, enhanced: string, text: string): Refusal {
  return { reply: sessionReply(code, enhanced, text), denied: null, refused: reason };
}

/** What nobody can send for now (contract §15): the queue or the disk is full, the store away, the service stopping. */
export function suspended({ code, detail }: Suspension): Refusal {
  const text = detail.replace(/\.$/, '');
  switch (code) {
    case 'queue_limit':
      // It tells its cure, which may not be to wait.
      return decline(code, 452, '4.3.1', text);
    case 'disk_full':
      return decline(code, 452, '4.3.1', `${text}; try again later`);
    case 'store_unavailable':
      return decline(code, 421, '4.3.0', `${text}; try again later`);
    case 'shutting_down':
      return decline(code, 421, '4.3.2', `${text}; try again later`);
  }
}

/** A sender domain that is not open to a client for whom only some are. */
export function senderNotAllowed({ key, source }: Origin, domain: string): Refusal {
  const who = key === null ? `The source ${source?.name ?? ''}` : 'This key';
  const all = (key ?? source)?.senderDomains ?? [];
  const named = all.slice(0, MAX_NAMED_DOMAINS).join(', ');
  const more = all.length > MAX_NAMED_DOMAINS ? ' and others' : '';
  const cure =
    key === null
      ? 'add it to sender_domains in listener.sources'
      : 'create a key with waybill keys create --sender-domain';
  return deny(
    'sender_not_allowed',
    550,
    '5.7.1',
    `${who} may not send as ${domain}, only as ${named}${more}; ${cure}`,
  );
}
