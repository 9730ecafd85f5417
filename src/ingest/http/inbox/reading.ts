import type { MessageRecord } from '../../../domain/message.ts';
import { attachmentHeader } from '../../../http/disposition.ts';
import { Problem } from '../../../http/problem.ts';
import type { Spool } from '../../../spool/spool.ts';
import type { Outlook } from '../../service.ts';
import type { Call } from '../call.ts';
import { openContent } from '../find-message.ts';
import { digestOf, formatCursor, nextLink, nextPage, startOf } from '../list.ts';
import { readParameters } from '../query.ts';
import type { CapturedFilter, CapturedMail } from './captured-mail.ts';
import type { CapturedWords } from './captured-words.ts';
import {
  BOX_PARAMETER,
  CAPTURED_FILTERS,
  CAPTURED_LIST_PARAMETERS,
  capturedFilter,
  requireContent,
} from './filter.ts';
import { capturedItemJson, capturedJson } from './shown.ts';

/** `GET /api/v1/inbox/messages` and below: captured mail, as a list and one by one (contract-2 §G1). */

/** What the endpoints need. */
export interface CapturedReadDeps {
  readonly captured: CapturedMail;
  readonly capturedWords: CapturedWords;
  readonly spool: Pick<Spool, 'read'>;
  readonly outlook: Outlook;
}

/** Answers with a page. */
export async function answerCapturedList({ exchange, caller }: Call, deps: CapturedReadDeps): Promise<void> {
  const { limit, cursor, ...rest } = readParameters(exchange.query, CAPTURED_LIST_PARAMETERS);
  requireContent(caller.key);
  const keyId = caller.key.id;
  const filter = capturedFilter(rest);
  const digest = digestOf({ keyId, ...filter });
  const page = await deps.captured.page({ keyId, filter, before: startOf(cursor, digest), limit });
  const next = page.next === null ? undefined : formatCursor({ last: page.next, filter: digest });
  const lanes = await deps.outlook(page.entries.map(({ message }) => message));
  const messages = page.entries.map((entry) => capturedItemJson(entry, lanes));
  exchange.json(200, { messages, ...nextPage(next) }, nextLink(exchange.path, exchange.query, next));
}

/** Answers with a message and all that it says. */
export async function answerCaptured(call: Call, deps: CapturedReadDeps): Promise<void> {
  const filters = readParameters(call.exchange.query, CAPTURED_FILTERS);
  const message = await named(call, deps.captured, capturedFilter(filters));
  const words = await deps.capturedWords.words(message);
  call.exchange.json(200, capturedJson(message, words, await deps.outlook([message])));
}

/** Answers with the bytes of a message. */
export async function answerCapturedRaw(call: Call, deps: CapturedReadDeps): Promise<void> {
  const message = await named(call, deps.captured, readBox(call));
  const content = await openContent(message, deps.spool, 404);
  await call.exchange.stream(200, 'message/rfc822', content, {
    ...FOREIGN,
    'Content-Disposition': `attachment; filename="${message.id}.eml"`,
  });
}

/** Answers with the bytes of a file in a message. */
export async function answerCapturedAttachment(call: Call, deps: CapturedReadDeps): Promise<void> {
  const message = await named(call, deps.captured, readBox(call));
  const { attachments } = await deps.capturedWords.words(message);
  const index = call.params['index'] ?? '';
  const file = INDEX.test(index) ? attachments[Number(index)] : undefined;
  if (file === undefined) throw new Problem(404, 'attachment_not_found', 'The message has no such file.');
  call.exchange.send(200, servedType(file.contentType), file.content, {
    ...FOREIGN,
    'Content-Disposition': attachmentHeader(file.filename, `file-${Number(index) + 1}`),
  });
}

/** What comes from strangers, of whatever type: no browser shows or runs it as ours. */
const FOREIGN = { 'Content-Security-Policy': 'sandbox' };
const INDEX = /^(?:0|[1-9]\d{0,3})$/;
/** A type and a subtype (RFC 6838 §4.2). */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/;

/** The type under which a file is served: the one that it has, if that is a type at all. */
export function servedType(contentType: string): string {
  return MEDIA_TYPE.test(contentType) ? contentType : 'application/octet-stream';
}

/** The message that the path names: of the calling key, and in the box that is asked for. Throws 403, 404. */
export async function named(
  { caller, params, exchange }: Call,
  captured: CapturedMail,
  filter: CapturedFilter,
): Promise<MessageRecord> {
  requireContent(caller.key);
  return await captured.find(params['id'] ?? '', { keyId: caller.key.id, filter }, exchange.signal);
}

/** The box that a query asks for. */
export function readBox({ exchange }: Call): CapturedFilter {
  return capturedFilter(readParameters(exchange.query, BOX_PARAMETER));
}
