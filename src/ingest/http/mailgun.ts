import type { Exchange } from '../../http/exchange.ts';
import type { Problem } from '../../http/problem.ts';
import type { Endpoint } from './call.ts';
import { type SubmitDeps, takeOne } from './hand-over.ts';
import { MAILGUN_READERS } from './read-fields.ts';
import { readSubmission } from './submit.ts';

/**
 * `POST /v3/{domain}/messages`: the same endpoint for clients written for Mailgun (contract §2): Basic
 * authentication, forms only, and answers in the shape those clients read. The domain in the path chooses
 * nothing; who may send as whom is the key's.
 */

const MAX_TOLD = 20;

/** The endpoint. Its answers' `id` is the Message-ID, as Mailgun's is. */
export function mailgunEndpoint(deps: SubmitDeps): Endpoint {
  return {
    scopes: ['messages:send'],
    window: 'send',
    scheme: 'basic',
    handle: async (call) => {
      const outcome = await takeOne(call, deps, (budget) =>
        readSubmission(call, MAILGUN_READERS, deps, budget),
      );
      if (outcome.kind === 'verdict') return call.exchange.json(200, outcome.verdict);
      const { messageId, message, replayed } = outcome.receipt;
      const headers = replayed ? { 'Idempotency-Replayed': 'true' } : {};
      call.exchange.json(200, { id: messageId, message }, headers);
    },
  };
}

/** A refusal in Mailgun's shape: one message, which names the faulty fields. */
export function answerAsMailgun(exchange: Exchange, problem: Problem): void {
  const told = problem.errors.slice(0, MAX_TOLD);
  const faults = told.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`).join(' ');
  exchange.json(problem.status, { message: faults || problem.detail }, problem.headers);
}
