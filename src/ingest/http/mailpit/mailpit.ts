import type { Route } from '../../../http/router.ts';
import type { Access, Call } from '../call.ts';
import { showConfiguration, showInfo } from './info.ts';
import type { MailpitDeps } from './mailbox.ts';
import {
  deleteFound,
  deleteMessages,
  deleteTag,
  listTags,
  renameTag,
  setReadMarks,
  setTags,
} from './marking.ts';
import {
  listMessages,
  searchMessages,
  showHeaders,
  showMessage,
  showPart,
  showRaw,
  showView,
} from './reading.ts';
import { refusing } from './refusals.ts';
import { sendMail } from './sending.ts';
import { Summaries } from './summaries.ts';

/** Mailpit's API at `/mailpit`, for test suites that already speak it (contract-2 §G2). */

const ROOT = '/mailpit';

/** Whether a path belongs to it. */
export function isMailpitPath(path: string): boolean {
  return path === ROOT || path.startsWith(`${ROOT}/`);
}

/** One call of it. */
interface MailpitEndpoint {
  readonly method: Route<unknown>['method'];
  /** As Mailpit has it; named segments are in braces. */
  readonly path: string;
  readonly access: Access;
  /** Answers, or throws a `Problem`. */
  readonly handle: (call: Call, deps: MailpitDeps) => Promise<void>;
}

const READ: Access = { scheme: 'mailpit', scopes: ['messages:read', 'messages:read_all'], window: 'read' };
/** A key that only reads deletes nothing. */
const REMOVE: Access = { ...READ, scopes: ['messages:send'] };
const SEND: Access = { scheme: 'mailpit', scopes: ['messages:send'], window: 'send' };
const MESSAGE = '/api/v1/message/{id}';

// biome-ignore format: a table
const ENDPOINTS: readonly MailpitEndpoint[] = [
  { method: 'GET',    path: '/api/v1/messages',             access: READ, handle: listMessages },
  { method: 'PUT',    path: '/api/v1/messages',             access: READ, handle: setReadMarks },
  { method: 'DELETE', path: '/api/v1/messages',             access: REMOVE, handle: deleteMessages },
  { method: 'GET',    path: '/api/v1/search',               access: READ, handle: searchMessages },
  { method: 'DELETE', path: '/api/v1/search',               access: REMOVE, handle: deleteFound },
  { method: 'GET',    path: MESSAGE,                        access: READ, handle: showMessage },
  { method: 'GET',    path: `${MESSAGE}/headers`,           access: READ, handle: showHeaders },
  { method: 'GET',    path: `${MESSAGE}/raw`,               access: READ, handle: showRaw },
  { method: 'GET',    path: `${MESSAGE}/part/{part}`,       access: READ, handle: showPart },
  { method: 'GET',    path: '/view/{file}',                 access: READ, handle: showView },
  // As cypress-mailpit writes it.
  { method: 'GET',    path: '//view/{file}',                access: READ, handle: showView },
  { method: 'POST',   path: '/api/v1/send',                 access: SEND, handle: sendMail },
  { method: 'GET',    path: '/api/v1/tags',                 access: READ, handle: listTags },
  { method: 'PUT',    path: '/api/v1/tags',                 access: READ, handle: setTags },
  { method: 'PUT',    path: '/api/v1/tags/{tag}',           access: READ, handle: renameTag },
  { method: 'DELETE', path: '/api/v1/tags/{tag}',           access: READ, handle: deleteTag },
  { method: 'GET',    path: '/api/v1/info',                 access: READ, handle: showInfo },
  { method: 'GET',    path: '/api/v1/webui',                access: READ, handle: showConfiguration },
  { method: 'POST',   path: `${MESSAGE}/release`,           access: READ, handle: refusing('release') },
  { method: 'GET',    path: `${MESSAGE}/html-check`,        access: READ, handle: refusing('html-check') },
  { method: 'GET',    path: `${MESSAGE}/link-check`,        access: READ, handle: refusing('link-check') },
  { method: 'GET',    path: `${MESSAGE}/sa-check`,          access: READ, handle: refusing('sa-check') },
  { method: 'GET',    path: `${MESSAGE}/part/{part}/thumb`, access: READ, handle: refusing('thumb') },
  { method: 'GET',    path: '/api/v1/chaos',                access: READ, handle: refusing('chaos') },
  { method: 'PUT',    path: '/api/v1/chaos',                access: READ, handle: refusing('chaos') },
  { method: 'GET',    path: '/api/events',                  access: READ, handle: refusing('events') },
];

/** Its calls, below `/mailpit`. */
export function mailpitRoutes(
  parts: Omit<MailpitDeps, 'summaries'>,
): Route<{ readonly access: Access; readonly handle: (call: Call) => Promise<void>; readonly door: null }>[] {
  const deps = { ...parts, summaries: new Summaries(parts.capturedWords) };
  return ENDPOINTS.map(({ method, path, access, handle }) => ({
    method,
    path: ROOT + path,
    target: { access, handle: (call: Call) => handle(call, deps), door: null },
  }));
}
