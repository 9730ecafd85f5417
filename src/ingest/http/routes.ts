import type { Exchange } from '../../http/exchange.ts';
import type { Route } from '../../http/router.ts';
import { createTokenSource } from '../../lib/id.ts';
import type { Spool } from '../../spool/spool.ts';
import { actEndpoint } from './acts.ts';
import { adminEndpoint } from './admin.ts';
import { attemptsEndpoint } from './attempts.ts';
import { batchEndpoint } from './batch.ts';
import type { Call, Endpoint } from './call.ts';
import { explainEndpoint } from './explain.ts';
import { type Findable, findReadable, openContent } from './find-message.ts';
import { InProgress } from './idempotency.ts';
import { inboxEndpoint } from './inbox.ts';
import { listEndpoint } from './list.ts';
import { mailgunEndpoint } from './mailgun.ts';
import { descriptionEndpoint } from './openapi/endpoint.ts';
import type { IngestDeps, IngestOptions } from './options.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';
import { holdEndpoint, queueActEndpoint, queueEndpoint } from './queue.ts';
import { rawEndpoint } from './raw.ts';
import { statusEndpoint } from './record.ts';
import { resendEndpoint } from './resend.ts';
import { submitEndpoint } from './submit.ts';
import { Watchers } from './watchers.ts';

/** The table of what lies where on the ingestion ports. */

/** A path that needs no key. */
export interface Open {
  readonly open: (exchange: Exchange) => void | Promise<void>;
}

/** What lies at a path. */
export type Target = Endpoint | Open;

/** Idempotency keys in use at once that are told apart; each is one request, or one batch, being accepted. */
const MAX_KEYS_IN_PROGRESS = 10_000;

/** Every path of the API. */
export function routes(deps: IngestDeps, options: IngestOptions): Route<Target>[] {
  const { intake, sending, acts, spool, views, outlook, readWords, clock, random, events, signal } = deps;
  const { budget, limiter } = deps.shared;
  const watchers = new Watchers(events, { max: options.maxWaitingReaders, signal });
  const nextToken = createTokenSource(clock, random);
  const inProgress = new InProgress({ max: MAX_KEYS_IN_PROGRESS });
  const submitDeps = { intake, sending, views, clock, random, budget, inProgress, nextToken, options };
  const actDeps = { acts, views, outlook, admin: deps.admin, budget };
  const queueDeps = { admin: deps.admin, budget };
  const adminDeps = { admin: deps.admin, budget, limits: () => options.limits };
  return [
    { method: 'POST', path: '/api/v1/messages', target: submitEndpoint(submitDeps) },
    { method: 'GET', path: '/api/v1/messages', target: listEndpoint({ views, outlook }) },
    { method: 'POST', path: '/api/v1/messages/batch', target: batchEndpoint({ ...submitDeps, limiter }) },
    { method: 'POST', path: '/api/v1/messages/raw', target: rawEndpoint(submitDeps) },
    {
      method: 'GET',
      path: '/api/v1/messages/:id',
      target: statusEndpoint({ views, watchers, clock, outlook }),
    },
    { method: 'GET', path: '/api/v1/messages/:id/attempts', target: attemptsEndpoint(views) },
    { method: 'GET', path: '/api/v1/messages/:id/content', target: contentEndpoint({ views, spool }) },
    { method: 'POST', path: '/api/v1/messages/:id/cancel', target: actEndpoint('cancelMessage', actDeps) },
    { method: 'POST', path: '/api/v1/messages/:id/retry', target: actEndpoint('retryMessage', actDeps) },
    { method: 'POST', path: '/api/v1/messages/:id/resend', target: resendEndpoint({ ...submitDeps, spool }) },
    {
      method: 'GET',
      path: '/api/v1/inbox/wait',
      target: inboxEndpoint({ views, watchers, clock, outlook, readWords }),
    },
    { method: 'GET', path: '/api/v1/routes/explain', target: explainEndpoint({ intake, clock }) },
    { method: 'GET', path: '/api/v1/queue', target: queueEndpoint(queueDeps) },
    { method: 'POST', path: '/api/v1/queue/pause', target: holdEndpoint('pause', queueDeps) },
    { method: 'POST', path: '/api/v1/queue/drain', target: holdEndpoint('drain', queueDeps) },
    { method: 'POST', path: '/api/v1/queue/resume', target: holdEndpoint(null, queueDeps) },
    { method: 'POST', path: '/api/v1/queue/retry', target: queueActEndpoint('retry', queueDeps) },
    { method: 'POST', path: '/api/v1/queue/cancel', target: queueActEndpoint('cancel', queueDeps) },
    { method: 'POST', path: '/api/v1/queue/reroute', target: queueActEndpoint('reroute', queueDeps) },
    { method: 'POST', path: '/api/v1/admin/:operation', target: adminEndpoint(adminDeps) },
    { method: 'POST', path: '/v3/:domain/messages', target: mailgunEndpoint(submitDeps) },
    { method: 'GET', path: '/api/v1/openapi.json', target: { open: descriptionEndpoint() } },
    { method: 'GET', path: '/api/v1/ready', target: { open: (exchange) => ready(exchange, deps.ready()) } },
  ];
}

/** For a balancer before us: whether a message would be taken now. No key, no details. */
function ready(exchange: Exchange, isReady: boolean): void {
  exchange.text(isReady ? 200 : 503, isReady ? 'ready\n' : 'not ready\n');
}

/** `GET /api/v1/messages/{id}/content`: the message's bytes as they are sent (contract §3.1). */

/** What the endpoint needs. */
interface ContentDeps {
  readonly views: Findable;
  readonly spool: Pick<Spool, 'read'>;
}

/** The endpoint. */
function contentEndpoint(deps: ContentDeps): Endpoint {
  return {
    scopes: ['messages:content'],
    window: 'read',
    scheme: 'bearer',
    handle: (call) => answerContent(call, deps),
  };
}

async function answerContent({ exchange, caller, params }: Call, deps: ContentDeps): Promise<void> {
  readParameters(exchange.query, NO_PARAMETERS);
  const { message } = await findReadable(params['id'] ?? '', caller.key, deps.views);
  const content = await openContent(message, deps.spool, 404);
  await exchange.stream(200, 'message/rfc822', content, {
    'Content-Disposition': `attachment; filename="${message.id}.eml"`,
  });
}
