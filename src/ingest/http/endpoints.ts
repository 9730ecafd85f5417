import { ATTEMPTS_PARAMETERS } from './attempts.ts';
import type { Access } from './call.ts';
import { EVENT_PARAMETERS } from './events.ts';
import { EXPLAIN_PARAMETERS } from './explain.ts';
import { CONTENT_PARAMETERS } from './find-message.ts';
import {
  BOX_PARAMETER,
  CAPTURED_FILTERS,
  CAPTURED_LIST_PARAMETERS,
  CAPTURED_REMOVAL_PARAMETERS,
} from './inbox/filter.ts';
import { INBOX_WAIT_PARAMETERS } from './inbox/wait.ts';
import { LIST_PARAMETERS } from './list.ts';
import { NO_PARAMETERS, type ParameterTable } from './query.ts';
import { QUEUE_PARAMETERS } from './queue.ts';
import { RAW_PARAMETERS } from './raw.ts';
import { STATUS_PARAMETERS } from './record.ts';
import { REQUESTS_PARAMETERS } from './requests.ts';
import { IMPORT_PARAMETERS, REMOVAL_PARAMETERS, SUPPRESSIONS_PARAMETERS } from './suppressions.ts';
import { TEMPLATE_PARAMETERS } from './templates.ts';
import { DELIVERIES_PARAMETERS } from './webhooks.ts';

/**
 * Every endpoint of the ingestion API by its operation id: path, required key access, and query parameters. `routes.ts`
 * has their handlers, `openapi/` their descriptions; the compiler reports what is missing there.
 */

interface OpenEndpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Named segments are in braces. */
  readonly path: string;
  readonly query: ParameterTable;
}

interface Endpoint extends OpenEndpoint {
  readonly access: Access;
}

const SEND: Access = { scheme: 'bearer', scopes: ['messages:send'], window: 'send' };
const READ: Access = { scheme: 'bearer', scopes: ['messages:read', 'messages:read_all'], window: 'read' };
/** To read what is captured: a live key needs `messages:content` in any case. */
const CAPTURED: Access = { ...READ, scopes: [...READ.scopes, 'messages:content'] };
/** To send on what is captured, which in the end needs `admin`. */
const RELEASE: Access = { ...SEND, scopes: ['messages:send', 'admin'] };
const EVENTS: Access = { ...READ, scopes: ['events:read'] };
const SUPPRESSED: Access = { ...READ, scopes: ['suppressions:read', 'admin'] };
const SUPPRESS: Access = { ...SEND, scopes: ['suppressions:write', 'admin'] };
const FEEDBACK: Access = { ...SEND, scopes: ['feedback:write'] };
const WEBHOOKS: Access = { ...READ, scopes: ['webhooks:manage', 'admin'] };
const MANAGE: Access = { ...WEBHOOKS, window: 'send' };
const TEMPLATES: Access = { ...READ, scopes: ['templates:read', 'admin'] };
const EDIT: Access = { ...SEND, scopes: ['templates:write', 'admin'] };
const CONTENT: Access = { ...READ, scopes: ['messages:content'] };
/** For administrators: to view and to act. */
const OVERSEE: Access = { scheme: 'bearer', scopes: ['admin'], window: 'read' };
const OPERATE: Access = { ...OVERSEE, window: 'send' };

const NONE = NO_PARAMETERS;

/** The endpoints that need a key, in the order of the description. */
// biome-ignore format: a table
export const ENDPOINTS = {
  sendMessage:          { method: 'POST', path: '/api/v1/messages',               access: SEND,    query: NONE },
  sendBatch:            { method: 'POST', path: '/api/v1/messages/batch',         access: SEND,    query: NONE },
  sendRaw:              { method: 'POST', path: '/api/v1/messages/raw',           access: SEND,    query: RAW_PARAMETERS },
  checkMessage:         { method: 'POST', path: '/api/v1/preflight',              access: SEND,    query: RAW_PARAMETERS },
  resendMessage:        { method: 'POST', path: '/api/v1/messages/{id}/resend',   access: SEND,    query: NONE },
  listMessages:         { method: 'GET',  path: '/api/v1/messages',               access: READ,    query: LIST_PARAMETERS },
  getMessage:           { method: 'GET',  path: '/api/v1/messages/{id}',          access: READ,    query: STATUS_PARAMETERS },
  listAttempts:         { method: 'GET',  path: '/api/v1/messages/{id}/attempts', access: READ,    query: ATTEMPTS_PARAMETERS },
  getContent:           { method: 'GET',  path: '/api/v1/messages/{id}/content',  access: CONTENT, query: CONTENT_PARAMETERS },
  listFeedback:         { method: 'GET',  path: '/api/v1/messages/{id}/feedback', access: CONTENT, query: NONE },
  getFeedback:          { method: 'GET',  path: '/api/v1/feedback/{feedback}',    access: CONTENT, query: NONE },
  listCaptured:         { method: 'GET',  path: '/api/v1/inbox/messages',         access: CAPTURED, query: CAPTURED_LIST_PARAMETERS },
  getCaptured:          { method: 'GET',  path: '/api/v1/inbox/messages/{id}',    access: CAPTURED, query: CAPTURED_FILTERS },
  getCapturedRaw:       { method: 'GET',  path: '/api/v1/inbox/messages/{id}/raw', access: CAPTURED, query: BOX_PARAMETER },
  getCapturedFile:      { method: 'GET',  path: '/api/v1/inbox/messages/{id}/attachments/{index}', access: CAPTURED, query: BOX_PARAMETER },
  removeCaptured:       { method: 'DELETE', path: '/api/v1/inbox/messages/{id}',  access: SEND,    query: BOX_PARAMETER },
  removeAllCaptured:    { method: 'DELETE', path: '/api/v1/inbox/messages',       access: SEND,    query: CAPTURED_REMOVAL_PARAMETERS },
  releaseCaptured:      { method: 'POST', path: '/api/v1/inbox/messages/{id}/release', access: RELEASE, query: NONE },
  waitForCaptured:      { method: 'GET',  path: '/api/v1/inbox/wait',             access: CAPTURED, query: INBOX_WAIT_PARAMETERS },
  listEvents:           { method: 'GET',  path: '/api/v1/events',                 access: EVENTS,  query: EVENT_PARAMETERS },
  tellFeedback:         { method: 'POST', path: '/api/v1/feedback',               access: FEEDBACK, query: NONE },
  listSuppressions:     { method: 'GET',  path: '/api/v1/suppressions',           access: SUPPRESSED, query: SUPPRESSIONS_PARAMETERS },
  exportSuppressions:   { method: 'GET',  path: '/api/v1/suppressions/export',    access: SUPPRESSED, query: NONE },
  getSuppression:       { method: 'GET',  path: '/api/v1/suppressions/{address}', access: SUPPRESSED, query: NONE },
  addSuppression:       { method: 'POST', path: '/api/v1/suppressions',           access: SUPPRESS, query: NONE },
  importSuppressions:   { method: 'POST', path: '/api/v1/suppressions/import',    access: SUPPRESS, query: IMPORT_PARAMETERS },
  checkSuppressions:    { method: 'POST', path: '/api/v1/suppressions/check',     access: SUPPRESSED, query: NONE },
  removeSuppressions:   { method: 'DELETE', path: '/api/v1/suppressions/{address}', access: SUPPRESS, query: REMOVAL_PARAMETERS },
  listRequests:         { method: 'GET',  path: '/api/v1/requests',               access: READ,    query: REQUESTS_PARAMETERS },
  listTemplates:        { method: 'GET',  path: '/api/v1/templates',              access: TEMPLATES, query: NONE },
  getTemplate:          { method: 'GET',  path: '/api/v1/templates/{template}',   access: TEMPLATES, query: TEMPLATE_PARAMETERS },
  saveTemplate:         { method: 'PUT',  path: '/api/v1/templates/{template}',   access: EDIT,    query: NONE },
  publishTemplate:      { method: 'POST', path: '/api/v1/templates/{template}/publish', access: EDIT, query: NONE },
  renderTemplate:       { method: 'POST', path: '/api/v1/templates/{template}/render', access: TEMPLATES, query: NONE },
  removeTemplate:       { method: 'DELETE', path: '/api/v1/templates/{template}', access: EDIT,    query: NONE },
  listWebhooks:         { method: 'GET',  path: '/api/v1/webhooks',               access: WEBHOOKS, query: NONE },
  addWebhook:           { method: 'POST', path: '/api/v1/webhooks',               access: MANAGE,  query: NONE },
  getWebhook:           { method: 'GET',  path: '/api/v1/webhooks/{webhook}',     access: WEBHOOKS, query: NONE },
  changeWebhook:        { method: 'PATCH', path: '/api/v1/webhooks/{webhook}',    access: MANAGE,  query: NONE },
  removeWebhook:        { method: 'DELETE', path: '/api/v1/webhooks/{webhook}',   access: MANAGE,  query: NONE },
  rotateWebhook:        { method: 'POST', path: '/api/v1/webhooks/{webhook}/rotate', access: MANAGE, query: NONE },
  testWebhook:          { method: 'POST', path: '/api/v1/webhooks/{webhook}/test', access: MANAGE, query: NONE },
  listDeliveries:       { method: 'GET',  path: '/api/v1/webhooks/{webhook}/deliveries', access: WEBHOOKS, query: DELIVERIES_PARAMETERS },
  retryDelivery:        { method: 'POST', path: '/api/v1/webhooks/{webhook}/deliveries/{event}/retry', access: MANAGE, query: NONE },
  replayWebhook:        { method: 'POST', path: '/api/v1/webhooks/{webhook}/replay', access: MANAGE, query: NONE },
  rescheduleMessage:    { method: 'PATCH', path: '/api/v1/messages/{id}',         access: SEND,    query: NONE },
  cancelMessage:        { method: 'POST', path: '/api/v1/messages/{id}/cancel',   access: SEND,    query: NONE },
  retryMessage:         { method: 'POST', path: '/api/v1/messages/{id}/retry',    access: SEND,    query: NONE },
  getQueue:             { method: 'GET',  path: '/api/v1/queue',                  access: OVERSEE, query: QUEUE_PARAMETERS },
  pauseQueue:           { method: 'POST', path: '/api/v1/queue/pause',            access: OPERATE, query: NONE },
  drainQueue:           { method: 'POST', path: '/api/v1/queue/drain',            access: OPERATE, query: NONE },
  resumeQueue:          { method: 'POST', path: '/api/v1/queue/resume',           access: OPERATE, query: NONE },
  retrySelection:       { method: 'POST', path: '/api/v1/queue/retry',            access: OPERATE, query: NONE },
  cancelSelection:      { method: 'POST', path: '/api/v1/queue/cancel',           access: OPERATE, query: NONE },
  rerouteSelection:     { method: 'POST', path: '/api/v1/queue/reroute',          access: OPERATE, query: NONE },
  explainRoute:         { method: 'GET',  path: '/api/v1/routes/explain',         access: OVERSEE, query: EXPLAIN_PARAMETERS },
  callOperation:        { method: 'POST', path: '/api/v1/admin/{operation}',      access: OPERATE, query: NONE },
} as const satisfies Readonly<Record<string, Endpoint>>;

/** The endpoints that need no key. */
// biome-ignore format: a table
export const OPEN_ENDPOINTS = {
  getReady:             { method: 'GET',  path: '/api/v1/ready',                  query: NONE },
  getDescription:       { method: 'GET',  path: '/api/v1/openapi.json',           query: NONE },
} as const satisfies Readonly<Record<string, OpenEndpoint>>;

/** The paths for strangers, which the description leaves out: no program of an operator's calls them. */
// biome-ignore format: a table
export const STRANGER_ENDPOINTS = {
  takeHook:             { method: 'POST', path: '/hooks/{relay}/{token}' },
  showUnsubscribe:      { method: 'GET',  path: '/u/{token}' },
  takeUnsubscribe:      { method: 'POST', path: '/u/{token}' },
} as const satisfies Readonly<Record<string, Pick<OpenEndpoint, 'method' | 'path'>>>;

/** The name of an endpoint, fit to be a method's name in a generated client. */
export type OperationId = keyof typeof ENDPOINTS | keyof typeof OPEN_ENDPOINTS;

/** The ids of the endpoints that need a key. */
export const ENDPOINT_IDS = Object.keys(ENDPOINTS) as (keyof typeof ENDPOINTS)[];

/** The ids of the paths for strangers. */
export const STRANGER_IDS = Object.keys(STRANGER_ENDPOINTS) as (keyof typeof STRANGER_ENDPOINTS)[];

/** The ids of the endpoints that need none. */
export const OPEN_IDS = Object.keys(OPEN_ENDPOINTS) as (keyof typeof OPEN_ENDPOINTS)[];
