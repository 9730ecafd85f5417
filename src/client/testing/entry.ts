/**
 * `waybill/client/testing`: an inbox and matchers for tests. Like the client's own entry it gives on what other files
 * define.
 */

export type { MailAttachment, MailLink } from './captured.ts';
export type { InboxOptions, NoneQuery, WaitForQuery } from './inbox.ts';
export { Inbox, InboxError, inbox } from './inbox.ts';
export type { Mail } from './mail.ts';
export type { AttachmentShape, MailMatchers } from './matchers.ts';
export { matchers } from './matchers.ts';
export type { MailQuery } from './query.ts';
