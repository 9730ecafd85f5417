import { z } from 'zod';
import { isFinal } from '../../domain/delivery.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Outlook } from '../outlook.ts';
import type { Call, Endpoint } from './call.ts';
import { type Findable, findReadable, readableId } from './find-message.ts';
import { asInteger, readParameters } from './query.ts';
import { statusJson } from './record.ts';
import type { Watchers } from './watchers.ts';

/** `GET /api/v1/messages/{id}`: what has become of a message, now or, with `?wait=`, when it is final. */

const MAX_WAIT_SECONDS = 60;
/** Not every end is told: a message may expire, or be settled by another node. So readers also look. */
const REREAD_MS = 1000;

/** The endpoint's parameters. */
export const STATUS_PARAMETERS = {
  wait: {
    schema: z.int().min(0).max(MAX_WAIT_SECONDS).optional(),
    fromText: asInteger,
    repeatable: false,
    code: 'out_of_range',
    rule: `an integer from 0 to ${MAX_WAIT_SECONDS}`,
    meaning:
      'Answers once the status is final (delivered or failed), or after that many seconds with the record as it is then.',
    example: '30',
  },
};

/** What the endpoint needs. */
export interface StatusDeps {
  readonly views: Findable;
  readonly watchers: Watchers;
  readonly clock: Clock;
  readonly outlook: Outlook;
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
  const { wait = 0 } = readParameters(exchange.query, STATUS_PARAMETERS);
  const waitMs = wait * 1000;
  const id = await readableId(params['id'] ?? '', caller.key, deps.views);
  const watch = waitMs > 0 ? deps.watchers.watch(id) : null;
  if (watch !== null) exchange.onEnd(() => watch.stop());
  const deadline = deps.clock.mono() + waitMs;
  for (;;) {
    const detail = await findReadable(id, caller.key, deps.views);
    const leftMs = deadline - deps.clock.mono();
    if (watch === null || watch.stopped || leftMs <= 0 || isFinal(detail.message.status)) {
      watch?.stop();
      // The client may have gone while we waited; nobody reads this then, and that is well.
      return exchange.json(200, await statusJson(detail, deps.outlook));
    }
    await watch.wake.wait(deps.clock, Math.min(leftMs, REREAD_MS));
  }
}
