import type { Spool } from '../../spool/spool.ts';
import type { Call, Endpoint } from './call.ts';
import { type Findable, findReadable } from './find-message.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';
import { openContent } from './stored-content.ts';

/** `GET /api/v1/messages/{id}/content`: the message's bytes as they are sent (contract §3.1). */

/** What the endpoint needs. */
export interface ContentDeps {
  readonly views: Findable;
  readonly spool: Pick<Spool, 'read'>;
}

/** The endpoint. */
export function contentEndpoint(deps: ContentDeps): Endpoint {
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
