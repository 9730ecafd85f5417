import type { Spool } from '../../spool/spool.ts';
import type { Views } from '../../store/views.ts';
import type { Call, Endpoint } from './call.ts';
import { contentExpired, findReadable } from './find-message.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';

/** `GET /api/v1/messages/{id}/content`: the message's bytes as they are sent (contract §3.1). */

/** What the endpoint needs. */
export interface ContentDeps {
  readonly views: Pick<Views, 'message'>;
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
  if (message.content === null) throw contentExpired(404);
  const content = await deps.spool.read(message.content);
  await exchange.stream(200, 'message/rfc822', content, {
    'Content-Disposition': `attachment; filename="${message.id}.eml"`,
    // A stranger wrote it: nothing may take it for a page.
    'X-Content-Type-Options': 'nosniff',
  });
}
