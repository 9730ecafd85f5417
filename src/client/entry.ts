/**
 * `waybill/client`: everything a program that uses Waybill needs, and nothing else. This and `testing/entry.ts` are the
 * only files of the tree that give on what other files define, because they are the package's doors.
 */

export type { ListFilter, PageRequest } from './filter.ts';
export type { Attachment, Message, NamedTexts, RawContent, RawEnvelope } from './message.ts';
export type { CallOptions, ContentOptions, SendOptions, WaitOptions, WaybillOptions } from './options.ts';
export type {
  AbortedError,
  ClientError,
  InputError,
  NetworkError,
  ProblemError,
  ProtocolError,
  Result,
  Sent,
  TimeoutError,
} from './result.ts';
export { unwrap, WaybillError } from './result.ts';
export type {
  Alignment,
  Attempt,
  AttemptResult,
  AttemptStep,
  AttemptTimings,
  BatchAccepted,
  BatchChecked,
  BatchItem,
  BatchReceipt,
  BatchRefused,
  DnsLookup,
  Event,
  EventBounce,
  EventData,
  EventEntry,
  EventMessage,
  EventRecipient,
  EventReply,
  EventsPage,
  EventType,
  FieldFault,
  Finding,
  ItemProblem,
  LastError,
  MessageOutcome,
  MessageRecord,
  MessageStatus,
  MessagesPage,
  Priority,
  Receipt,
  RecipientOutcome,
  RecipientRecord,
  RecipientType,
  StatusRecord,
  Template,
  TemplateSummary,
  TemplateToSave,
  TemplateVersion,
  TransportSecurity,
  Verdict,
  VerdictRecipient,
  WaitingFor,
} from './types.ts';
export { Waybill } from './waybill.ts';
