import type { Actor } from '../control/door.ts';
import type { Role } from '../domain/account.ts';
import { attachmentHeader } from '../http/disposition.ts';
import type { Exchange } from '../http/exchange.ts';
import { Problem } from '../http/problem.ts';
import type { StreamedBody } from '../http/stream.ts';
import { requireRole } from './calls.ts';
import { BARE_POLICY } from './guard.ts';

/** The forms of an export. */
export const EXPORT_FORMATS = ['csv', 'json'] as const;

/** See {@link EXPORT_FORMATS}. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A file of a message. Its name and type come from a stranger. */
export interface DownloadedPart {
  readonly filename: string;
  readonly bytes: Uint8Array;
}

/** How a message's document is shown. */
interface DocumentLook {
  /** As in dark mode. */
  readonly isDark: boolean;
  /** The reader's browser fetches pictures from where the message says. */
  readonly hasRemotePictures: boolean;
}

/** The available downloads, as used by the dashboard's routes. Refusals are `OperationError` or `Problem`. */
export interface Downloads {
  /** A message as it is sent. */
  source(id: string): Promise<StreamedBody>;
  /** A file of a message, by its number in the preview. */
  part(id: string, number: number): Promise<DownloadedPart>;
  /** An inert document that shows a message's text, and the policy for it. */
  document(id: string, look: DocumentLook): Promise<{ readonly html: string; readonly policy: string }>;
  /** The result of a query, piece by piece; records who exported it. */
  export(
    actor: Actor,
    request: { readonly query: string; readonly format: ExportFormat },
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>;
  /** A backup from the data directory's own folder, by its name; records who took it. */
  backup(actor: Actor, name: string): Promise<StreamedBody>;
}

/** What downloading needs. */
export interface DownloadDeps {
  readonly downloads: Downloads;
}

/** A request for a download. */
interface DownloadVisit {
  readonly exchange: Exchange;
  readonly content: DownloadDeps;
  /** Named segments of the path. */
  readonly params: Readonly<Record<string, string>>;
}

/** A path, and its handler for a signed-in user. */
interface DownloadRoute {
  readonly path: string;
  readonly answer: (visit: DownloadVisit, actor: Actor) => Promise<void>;
}

/** A file's type is a stranger's claim: this one makes browsers only save the file. */
const UNKNOWN_TYPE = 'application/octet-stream';

const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json; charset=utf-8',
};

/** All downloads, and previews. */
export const DOWNLOADS: readonly DownloadRoute[] = [
  open('/api/messages/{id}/source', 'viewer', answerSource),
  open('/api/messages/{id}/parts/{number}', 'viewer', answerPart),
  open('/preview/{id}', 'viewer', answerPreview),
  open('/api/export', 'operator', answerExport),
  open('/api/backups/{name}', 'admin', answerBackup),
];

function open(path: string, from: Role, answer: DownloadRoute['answer']): DownloadRoute {
  return {
    path,
    answer: async (visit, actor) => {
      requireRole(actor, from);
      await answer(visit, actor);
    },
  };
}

async function answerSource({ exchange, content, params }: DownloadVisit): Promise<void> {
  const id = params['id'] ?? '';
  const body = await content.downloads.source(id);
  await exchange.stream(200, 'message/rfc822', body, asAttachment(`${id}.eml`, 'message.eml'));
}

async function answerPart({ exchange, content, params }: DownloadVisit): Promise<void> {
  const { filename, bytes } = await content.downloads.part(
    params['id'] ?? '',
    numberIn(params['number'] ?? ''),
  );
  exchange.send(200, UNKNOWN_TYPE, bytes, asAttachment(filename, 'attachment'));
}

async function answerPreview({ exchange, content, params }: DownloadVisit): Promise<void> {
  if (exchange.query.get('view') !== 'html')
    throw new Problem(400, 'invalid', 'Ask for view=html; the text is in messagePreview.');
  const look = {
    isDark: exchange.query.get('scheme') === 'dark',
    hasRemotePictures: exchange.query.get('pictures') === 'remote',
  };
  sendDocument(
    exchange,
    await content.downloads.document(params['id'] ?? '', look),
    // What is fetched from elsewhere is fetched without cookies.
    look.hasRemotePictures ? { 'Cross-Origin-Embedder-Policy': 'credentialless' } : {},
  );
}

/** Answers with the document that shows a message's text, for a frame of a page of ours. */
export function sendDocument(
  exchange: Exchange,
  { html, policy }: Awaited<ReturnType<Downloads['document']>>,
  headers: Readonly<Record<string, string>> = {},
): void {
  exchange.send(200, 'text/html; charset=utf-8', html, {
    'Content-Security-Policy': policy,
    'X-Frame-Options': 'SAMEORIGIN',
    ...headers,
  });
}

async function answerExport({ exchange, content }: DownloadVisit, actor: Actor): Promise<void> {
  const asked = exchange.query.get('format');
  const format = EXPORT_FORMATS.find((known) => known === asked);
  if (format === undefined) throw new Problem(400, 'invalid', 'format must be csv or json.');
  if (exchange.method === 'HEAD') return exchange.send(200, EXPORT_TYPES[format], '');
  const request = { query: exchange.query.get('query') ?? '', format };
  const pieces = await content.downloads.export(actor, request, exchange.signal);
  const name = `messages-${dayOf(exchange)}.${format}`;
  const flow = exchange.flow(200, EXPORT_TYPES[format], asAttachment(name, name));
  if (flow === null) return;
  try {
    for await (const piece of pieces) if (!(await flow.pass(piece))) return;
    flow.end();
  } catch (error) {
    // A part must not pass for the whole.
    flow.cut();
    throw error;
  }
}

async function answerBackup({ exchange, content, params }: DownloadVisit, actor: Actor): Promise<void> {
  const name = params['name'] ?? '';
  const body = await content.downloads.backup(actor, name);
  await exchange.stream(200, UNKNOWN_TYPE, body, asAttachment(name, 'backup'));
}

function asAttachment(name: string, fallback: string): Record<string, string> {
  return { 'Content-Disposition': attachmentHeader(name, fallback), 'Content-Security-Policy': BARE_POLICY };
}

function numberIn(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new Problem(404, 'not_found', 'The message has no such file.');
  return Number(text);
}

/** Today in UTC, for a file's name. */
function dayOf({ clock }: Exchange): string {
  return new Date(clock.wall()).toISOString().slice(0, 10);
}
