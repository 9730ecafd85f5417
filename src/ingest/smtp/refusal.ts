import type { Suspension } from '../../engine/contract.ts';
import { type SessionReply, sessionReply } from '../../smtp/receiver/session-reply.ts';
import type { Origin } from './origin.ts';

/** A reply to the client, with a reason code that an operator can search the log for. */
export interface Refusal {
  readonly reply: SessionReply;
  /** The reason, where this client is not allowed something; counted as denied. Null otherwise. */
  readonly denied: string | null;
  /** The reason, where any client would be refused, as when there is no room. Null otherwise. */
  readonly refused: string | null;
  /** The presented key, where it is known and not yet the session's. */
  readonly keyId?: string;
}

/** Domains that a refusal names; the configuration has the rest. */
const MAX_NAMED_DOMAINS = 5;

/** Refuses what this client may not do. */
export function deny(reason: string, code: number, enhanced: string, text: string): Refusal {
  return { reply: sessionReply(code, enhanced, text, reason), denied: reason, refused: null };
}

/** Refuses what any client would be refused. */
export function decline(reason: string, code: number, enhanced: string, text: string): Refusal {
  return { reply: sessionReply(code, enhanced, text, reason), denied: null, refused: reason };
}

/** The refusal while nobody can send (contract §15): queue or disk full, store unavailable, or service stopping. */
export function suspended({ code, detail }: Suspension): Refusal {
  const text = detail.replace(/\.$/, '');
  switch (code) {
    case 'queue_limit':
      // Its text has its own cure, which may not be to wait.
      return decline(code, 452, '4.3.1', text);
    case 'disk_full':
      return decline(code, 452, '4.3.1', `${text}; try again later`);
    case 'store_unavailable':
      return decline(code, 421, '4.3.0', `${text}; try again later`);
    case 'shutting_down':
      return decline(code, 421, '4.3.2', `${text}; try again later`);
  }
}

/** The refusal of a sender domain to a client that is limited to others. */
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
