import { isFinal } from '../../domain/delivery.ts';
import type { Clock } from '../../lib/clock.ts';
import { isMessageId } from '../../lib/id.ts';
import type { Views } from '../../store/views.ts';
import type { Call, Endpoint } from './call.ts';
import { findReadable } from './find-message.ts';
import { parameterFault, parameterFaults, refuseQuery } from './query.ts';
import { statusJson } from './record.ts';
import type { Watchers } from './watchers.ts';

/** `GET /api/v1/messages/{id}`: what has become of a message, now or, with `?wait=`, when it is final. */

const MAX_WAIT_SECONDS = 60;
/** Not every end is an attempt's (a message may expire), and only attempts are told: so readers also look. */
const REREAD_MS = 1000;
const PARAMETERS = { single: ['wait'], repeatable: [] };

/** What the endpoint needs. */
export interface StatusDeps {
  readonly views: Pick<Views, 'message'>;
  readonly watchers: Watchers;
  readonly clock: Clock;
}

/** The endpoint (contract §3.1). */
export function statusEndpoint(deps: StatusDeps): Endpoint {
  return {
    scopes: ['messages:read', 'messages:read_all'],
    window: 'read',
    scheme: 'bearer',
    handle: (call) => answerStatus(call, deps),
  };
}

async function answerStatus({ exchange, caller, params }: Call, deps: StatusDeps): Promise<void> {
  const waitMs = readWait(exchange.query);
  const id = params['id'] ?? '';
  const watch = waitMs > 0 && isMessageId(id) ? deps.watchers.watch(id) : null;
  if (watch !== null) exchange.onEnd(() => watch.stop());
  const deadline = deps.clock.mono() + waitMs;
  for (;;) {
    const detail = await findReadable(id, caller.key, deps.views);
    const leftMs = deadline - deps.clock.mono();
    if (watch === null || watch.stopped || leftMs <= 0 || isFinal(detail.message.status)) {
      watch?.stop();
      // The client may have gone while we waited; nobody reads this then, and that is well.
      return exchange.json(200, statusJson(detail));
    }
    await watch.wake.wait(deps.clock, Math.min(leftMs, REREAD_MS));
  }
}

/** Milliseconds to wait at most; 0 without the parameter. */
function readWait(parameters: URLSearchParams): number {
  const faults = parameterFaults(parameters, PARAMETERS);
  const text = parameters.get('wait');
  const seconds = text === null || /^\d{1,2}$/.test(text) ? Number(text ?? 0) : -1;
  if (text !== null && (seconds < 1 || seconds > MAX_WAIT_SECONDS))
    faults.push(parameterFault('wait', 'out_of_range', `Must be an integer from 1 to ${MAX_WAIT_SECONDS}.`));
  refuseQuery(faults);
  return seconds * 1000;
}
