import type { Suspension } from '../../engine/intake.ts';
import { type SessionReply, sessionReply } from '../../smtp/receiver/session-reply.ts';
import type { Origin } from './origin.ts';

/** What a client is told, and, where it is not allowed what it asks, why: that is counted as denied and logged. */
export interface Refusal {
  readonly reply: SessionReply;
  /** A code that an operator can search for; null for what nobody was denied, such as a full disk. */
  readonly denied: string | null;
}

/** Domains that a refusal names; of more, the configuration tells. */
const MAX_NAMED_DOMAINS = 5;

/** Refuses somebody what they may not do. */
export function deny(reason: string, code: number, enhanced: string, text: string): Refusal {
  return { reply: sessionReply(code, enhanced, text), denied: reason };
}

/** Refuses what anybody would be refused. */
export function decline(code: number, enhanced: string, text: string): Refusal {
  return { reply: sessionReply(code, enhanced, text), denied: null };
}

/** What nobody can send for now (contract §15): the queue or the disk is full, the store away, the service stopping. */
export function suspended({ code, detail }: Suspension): Refusal {
  switch (code) {
    case 'disk_full':
    case 'queue_limit':
      return decline(452, '4.3.1', detail);
    case 'store_unavailable':
      return decline(421, '4.3.0', detail);
    case 'shutting_down':
      return decline(421, '4.3.2', detail);
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
