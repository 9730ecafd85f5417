import { decodeJson } from '../../lib/decode.ts';
/** What SES says of our account (GetAccount): whether it may send, to whom, and how much. */
import { memberOf } from './json-answer.ts';
import type { CheckFinding, HttpAnswer } from './provider.ts';
import { readSesAnswer } from './ses-answers.ts';

/** What the answer to GetAccount finds; null where it is none of SES's. */
export function readAccount(answer: HttpAnswer): CheckFinding | null {
  if (answer.status !== 200)
    return readSesAnswer(answer).code === 'AccessDeniedException' ? MAY_NOT_ASK : null;
  const account = decodeJson(answer.body);
  const enabled = memberOf(account, 'SendingEnabled');
  if (typeof enabled !== 'boolean') return null;
  const quota = quotaOf(memberOf(account, 'SendQuota'));
  const words = [
    enabled ? 'sending is enabled for the account' : 'sending is paused for the account',
    memberOf(account, 'EnforcementStatus') === 'PROBATION' ? 'it is under review' : null,
    memberOf(account, 'ProductionAccessEnabled') === false
      ? 'it is in the sandbox: only verified recipients are sent to'
      : null,
    quota?.text ?? null,
  ];
  const text = words.filter((word) => word !== null).join('; ');
  return { good: enabled && quota?.isUsedUp !== true, text };
}

const MAY_NOT_ASK: CheckFinding = {
  good: true,
  text: 'the access key is known; it may not ask about the account, so that nothing more is known',
};

/** How much of the last 24 hours is used; null where SES does not say. */
function quotaOf(quota: unknown): { readonly text: string; readonly isUsedUp: boolean } | null {
  const max = memberOf(quota, 'Max24HourSend');
  const sent = memberOf(quota, 'SentLast24Hours');
  if (typeof max !== 'number' || typeof sent !== 'number') return null;
  // SES's way to say that there is no limit.
  if (max < 0) return { text: `${sent} sent in the last 24 hours, without a limit`, isUsedUp: false };
  const isUsedUp = sent >= max;
  const end = isUsedUp ? ': the quota is used up' : '';
  return { text: `${sent} of ${max} sent in the last 24 hours${end}`, isUsedUp };
}
