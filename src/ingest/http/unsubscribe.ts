import { NO_FACTS, NO_MESSAGE } from '../../domain/feedback.ts';
import type { FeedbackDesk } from '../../engine/contract.ts';
import { readWholeBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import { type FormField, parseForm } from '../../http/form.ts';
import { boundaryOf, fieldText, MultipartParser } from '../../http/multipart.ts';
import { Problem } from '../../http/problem.ts';
import type { Budget, Share } from '../../lib/budget.ts';
import type { TokenSubject } from '../../lib/recipient-token.ts';
import type { Views } from '../../store/views.ts';
import type { UnsubscribeTerms } from '../unsubscribing.ts';
import { requireType } from './read-fields.ts';
import { MAX_STRANGER_BYTES, type Visit } from './strangers.ts';
import { askingPage, PAGE_HEADERS, type Subscription, unknownPage } from './unsubscribe-page.ts';

/**
 * `/u/TOKEN` (RFC 8058; contract-2 §A7): a mail program or a person unsubscribes a recipient. GET only asks, because
 * programs open every link that they find; POST does it, and answers once it is durable.
 */

/** What the endpoints need. */
export interface UnsubscribeDeps {
  readonly unsubscribing: () => UnsubscribeTerms;
  readonly views: Pick<Views, 'message' | 'unsubscribeLink'>;
  readonly desk: Pick<FeedbackDesk, 'tell'>;
  readonly budget: Budget;
}

const URLENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';
/** The form has one field; mail programs may add some. */
const MAX_FIELDS = 100;
const MAX_FIELD_BYTES = 16 * 1024;

/** A recipient who may unsubscribe. */
interface Subscriber extends Subscription {
  readonly token: TokenSubject;
}

/** Shows what the link would do. */
export async function showUnsubscribe({ exchange, params }: Visit, deps: UnsubscribeDeps): Promise<void> {
  const found = await subscriberOf(params['token'] ?? '', deps);
  const page = found === null ? unknownPage() : askingPage(found);
  exchange.send(found === null ? 404 : 200, 'text/html; charset=utf-8', page, PAGE_HEADERS);
}

/** Unsubscribes the recipient. Throws a `Problem`: 404, 415, 413, 400. */
export async function takeUnsubscribe({ exchange, params }: Visit, deps: UnsubscribeDeps): Promise<void> {
  const found = await subscriberOf(params['token'] ?? '', deps);
  if (found === null) throw unknownLink();
  const form = await readForm(exchange, deps.budget.share('unsubscribe'));
  if (!form.some(([name, value]) => name === 'List-Unsubscribe' && value.trim() === 'One-Click'))
    throw new Problem(
      400,
      'invalid_request',
      'The form must say List-Unsubscribe=One-Click (RFC 8058 §3.2).',
    );
  const { token, stream, from } = found;
  const source = 'one_click';
  const feedback = {
    kind: 'unsubscribe',
    source,
    message: { ...NO_MESSAGE, token },
    recipient: null,
    bounce: NO_FACTS,
    at: null,
  } as const;
  const items = [{ feedback, onceId: null }];
  const { matched } = await deps.desk.tell({ source, items, evidence: null, mayBeEarly: false });
  // What is known of it may have gone since.
  if (!matched) throw unknownLink();
  exchange.text(200, `You have unsubscribed. You will get no more of ${stream} from ${from}.\n`, {
    'Cache-Control': 'no-store',
  });
}

/** Null for a token that we did not make, and for one of which nothing is known any more. */
async function subscriberOf(
  token: string,
  { unsubscribing, views }: UnsubscribeDeps,
): Promise<Subscriber | null> {
  const about = unsubscribing().tokens?.read(token) ?? null;
  if (about === null || about.recipient === null) return null;
  const detail = await views.message(about.id);
  if (detail === null) {
    const link = await views.unsubscribeLink(about.id, about.recipient);
    return link === null ? null : { token: about, stream: link.stream, from: link.from };
  }
  const { stream } = detail.origin;
  if (stream === null || about.recipient >= detail.recipients.length) return null;
  return { token: about, stream, from: detail.message.header.from };
}

/** The fields of a form of either type. Throws a `Problem`: 415, 413, 400. */
async function readForm(exchange: Exchange, budget: Share): Promise<readonly FormField[]> {
  const mediaType = requireType(exchange, [URLENCODED, MULTIPART]);
  const body = await readWholeBody(exchange, { maxBytes: MAX_STRANGER_BYTES, budget });
  if (mediaType.type === URLENCODED) return parseForm(body, { maxFields: MAX_FIELDS });
  const parser = new MultipartParser(boundaryOf(mediaType), {
    maxParts: MAX_FIELDS,
    maxHeaderBytes: MAX_FIELD_BYTES,
    maxHeaderLines: MAX_FIELDS,
    maxFieldBytes: MAX_FIELD_BYTES,
  });
  parser.push(body);
  return parser.finish().map((part): FormField => [part.name, fieldText(part)]);
}

function unknownLink(): Problem {
  return new Problem(404, 'not_found', 'There is nothing to unsubscribe from here.');
}
