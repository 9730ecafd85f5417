import type { Call } from '../../call.ts';
import { type Outcome, takeOne } from '../../hand-over.ts';
import { readForm } from '../../read-fields.ts';
import { readSubmission } from '../../submit.ts';
import type { ProviderDeps } from '../provider.ts';
import { fieldsOf } from './form.ts';

/** `POST /v3/{domain}/messages`: a message as a form. A file of its own: what takes messages is
 * apart from the table of calls. */

/** Takes a message, and answers. */
export async function send(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange } = call;
  const { limits } = deps.options;
  const outcome = await takeOne(call, deps, async (budget) => {
    const form = await readForm(exchange, { limits, budget });
    return await readSubmission(call, fieldsOf(exchange, form), deps);
  });
  answerAsMailgun(call, outcome);
}

/** Answers with the Message-ID as `id`, as Mailgun does; a dry run with its verdict. */
function answerAsMailgun({ exchange }: Call, outcome: Outcome): void {
  if (outcome.kind === 'verdict') {
    exchange.json(200, outcome.verdict);
    return;
  }
  const { messageId, message, replayed } = outcome.receipt;
  const headers = replayed ? { 'Idempotency-Replayed': 'true' } : {};
  exchange.json(200, { id: messageId, message }, headers);
}
