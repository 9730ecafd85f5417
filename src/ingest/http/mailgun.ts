import type { Exchange } from '../../http/exchange.ts';
import type { Problem } from '../../http/problem.ts';
import type { Share } from '../../lib/budget.ts';
import type { Call } from './call.ts';
import { type SubmitDeps, takeOne } from './hand-over.ts';
import { MAILGUN_READERS } from './read-fields.ts';
import { readSubmission } from './submit.ts';

/**
 * `POST /v3/{domain}/messages`: the same endpoint for clients written for Mailgun (contract §2), with Basic
 * authentication, forms only, and Mailgun's shape of answers. The domain in the path selects nothing; the key decides
 * which senders it may use.
 */

const MAX_TOLD = 20;

/** Takes a message, and answers with the Message-ID as `id`, as Mailgun does. */
export async function answerMailgun(call: Call, deps: SubmitDeps): Promise<void> {
  const read = (budget: Share) => readSubmission(call, MAILGUN_READERS, deps, budget);
  const outcome = await takeOne(call, deps, read);
  if (outcome.kind === 'verdict') return call.exchange.json(200, outcome.verdict);
  const { messageId, message, replayed } = outcome.receipt;
  const headers = replayed ? { 'Idempotency-Replayed': 'true' } : {};
  call.exchange.json(200, { id: messageId, message }, headers);
}

/** A refusal in Mailgun's shape: one message that names the faulty fields. */
export function answerAsMailgun(exchange: Exchange, problem: Problem): void {
  const told = problem.errors.slice(0, MAX_TOLD);
  const faults = told.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`).join(' ');
  exchange.json(problem.status, { message: faults || problem.detail }, problem.headers);
}
