import { z } from 'zod';
import type { Verdict } from '../client/types.ts';
import { MESSAGE_STATUSES } from '../domain/delivery.ts';
import { type ApiKey, SCOPES } from '../domain/key.ts';
import type { FieldFault } from '../http/problem.ts';
import type { attemptsJson } from '../ingest/http/attempts.ts';
import type { MessageJson, StatusJson } from '../ingest/http/record.ts';
import { QUEUE_REQUESTS, type QueueOperations } from '../ingest/queue-door.ts';
import { faultLines, requestFaults } from '../ingest/request-faults.ts';
import { isEnvid, isNotify } from '../smtp/command.ts';
import { ACCOUNT_REQUESTS, type AccountOperations } from './account-operations.ts';
import type { Finding } from './doctor/finding.ts';
import { DOMAIN_REQUESTS, type DomainOperations } from './domain-operations.ts';
import { INBOX_REQUESTS, type InboxOperations } from './inbox-operations.ts';
import { type Progress, UNWATCHED } from './progress.ts';
import { RELAY_REQUESTS, type RelayOperations } from './relay-operations.ts';
import { ROUTE_REQUESTS, type RouteOperations } from './route-operations.ts';
import { type RecipientWay, SEARCH_REQUESTS, type SearchOperations } from './search-operations.ts';
import { SETTINGS_REQUESTS, type SettingsOperations } from './settings-operations.ts';
import { SYSTEM_REQUESTS, type SystemOperations } from './system-operations.ts';

/**
 * Everything the command line can ask of an installation. Each operation takes one request and gives one
 * result, both plain JSON, so that the same call works in this process and through the control socket. One that takes a
 * while may tell of its steps by a {@link Progress}. Errors are {@link OperationError}.
 */
export interface Operations
  extends QueueOperations,
    RouteOperations,
    RelayOperations,
    DomainOperations,
    AccountOperations,
    SettingsOperations,
    SearchOperations,
    InboxOperations,
    SystemOperations {
  /** Makes an API key. Its secret is in the result and nowhere else. */
  createKey(request: CreateKeyRequest): Promise<CreatedKey>;
  /** Every key, newest first, revoked ones too. */
  listKeys(request: NoRequest): Promise<readonly KeyView[]>;
  /** Revokes a key; what it has queued goes on, or is cancelled. */
  revokeKey(request: RevokeKeyRequest): Promise<RevokedKey>;
  /** Changes what a key may do; what is null stays as it is. */
  updateKey(request: UpdateKeyRequest): Promise<KeyView>;
  /** Gives a key a second secret; the old one works for another 24 hours. */
  rotateKey(request: KeyRequest): Promise<RotatedKey>;
  /** Accepts a message, in the form of the API's JSON. */
  submit(request: SubmitRequest): Promise<Submitted>;
  /** Accepts a finished message as it is, as over SMTP from this machine (sendmail). */
  submitRaw(request: SubmitRawRequest): Promise<Submitted>;
  /** Checks a message as if it were submitted; stores and sends nothing. */
  checkMessage(request: SubmitRequest): Promise<Verdict>;
  /** A message's status record. */
  message(request: MessageRequest): Promise<StatusRecord>;
  /** The way of each recipient's copy, and what it waits for. Empty where the server is far away. */
  ways(request: MessageRequest): Promise<readonly RecipientWay[]>;
  /** Messages of every key, newest first. */
  messages(request: MessagesRequest): Promise<MessagesPage>;
  /** A page of the tries to hand a message on, oldest first. */
  attempts(request: AttemptsRequest): Promise<Attempts>;
  /** A message as it is sent, while it is kept. */
  messageContent(request: MessageRequest): Promise<KeptContent>;
  /** Cancels what of a message is not final. Gives the record as it is then. */
  cancelMessage(request: MessageRequest): Promise<StatusRecord>;
  /** Tries a message's failed and retrying recipients again, now. Gives the record as it is then. */
  retryMessage(request: MessageRequest): Promise<StatusRecord>;
  /** The settings in force, and every relay's fields after them; secrets masked. */
  configuration(request: NoRequest): Promise<readonly SettingView[]>;
  /** What could keep mail from coming in or going out. Takes a few seconds. */
  doctor(request: NoRequest): Promise<readonly Finding[]>;
}

/** Those of them that take messages. */
export type SubmitOperations = Pick<Operations, 'submit' | 'checkMessage'>;

/** Those on messages that are there: what the owner of a single key can ask of a server far away, too. */
export type MessageOperations = Pick<
  Operations,
  'message' | 'ways' | 'messages' | 'attempts' | 'messageContent' | 'cancelMessage' | 'retryMessage'
>;

/** The name of an operation. */
export type OperationName = keyof Operations;

const keyName = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\p{C}]+$/u, 'must be printable');

/** The most source ranges, and the most sender domains, that one key may be bound to. */
const MAX_RESTRICTIONS = 100;

/** More than api.max_recipients can be. */
const MAX_RAW_RECIPIENTS = 100_000;

/** Days that contents are kept after the final status; null means `retention.content_days`, 0 not at all. */
const contentDays = z.int().min(0).max(3650).nullable();

/** Names a message. */
const messageRequest = z.strictObject({ id: z.string() });

/** A message, in the form of the API's JSON. */
const submitRequest = z.strictObject({ message: z.unknown() });

/** The shape of every operation's request. */
export const REQUESTS = {
  createKey: z.strictObject({
    name: keyName,
    test: z.boolean(),
    scopes: z.array(z.enum(SCOPES)).min(1),
    /** Requests a minute; null means the configured default, 0 no limit. */
    rateLimit: z.int().min(0).nullable(),
    /** From when on it is refused, in RFC 3339; null means never. */
    expiresAt: z.string().nullable(),
    /** Source ranges it may be used from; empty means anywhere. */
    cidrs: z.array(z.string()).max(MAX_RESTRICTIONS),
    /** Domains it may send from; empty means any. */
    senderDomains: z.array(z.string()).max(MAX_RESTRICTIONS),
    contentDays: contentDays.default(null),
  }),
  listKeys: z.strictObject({}),
  revokeKey: z.strictObject({
    key: z.string(),
    /** Cancels what it has queued, too. */
    cancelQueued: z.boolean().default(false),
  }),
  updateKey: z.strictObject({
    key: z.string(),
    name: keyName.optional(),
    scopes: z.array(z.enum(SCOPES)).min(1).optional(),
    rateLimit: z.int().min(0).nullable().optional(),
    expiresAt: z.string().nullable().optional(),
    cidrs: z.array(z.string()).max(MAX_RESTRICTIONS).optional(),
    senderDomains: z.array(z.string()).max(MAX_RESTRICTIONS).optional(),
    contentDays: contentDays.optional(),
  }),
  rotateKey: z.strictObject({ key: z.string() }),
  submit: submitRequest,
  submitRaw: z.strictObject({
    /** The reverse-path; empty for the null one. */
    from: z.string(),
    to: z.array(z.string()).min(1).max(MAX_RAW_RECIPIENTS),
    /** CRLF lines, the last one ended, in base64. */
    content: z.base64(),
    notify: z.string().refine(isNotify, 'must be as NOTIFY of RFC 3461').nullable(),
    ret: z.enum(['FULL', 'HDRS']).nullable(),
    envid: z.string().refine(isEnvid, 'must be as ENVID of RFC 3461').nullable(),
  }),
  checkMessage: submitRequest,
  message: messageRequest,
  ways: messageRequest,
  messages: z.strictObject({
    statuses: z.array(z.enum(MESSAGE_STATUSES)),
    /** Further parameters of the API's list, by name, as text: `tag`, `to`, `from`, `subject`, `since`, `until`. */
    filter: z.record(z.string(), z.string()),
    limit: z.int().min(1).max(200),
    /** The `next` of an earlier page; null starts at the newest. */
    before: z.string().nullable(),
  }),
  attempts: z.strictObject({
    id: z.string(),
    /** The `nextCursor` of an earlier page; null starts at the first. */
    cursor: z
      .string()
      .regex(/^[1-9]\d{0,14}$/)
      .nullable(),
  }),
  messageContent: messageRequest,
  cancelMessage: messageRequest,
  retryMessage: messageRequest,
  configuration: z.strictObject({}),
  doctor: z.strictObject({}),
  ...QUEUE_REQUESTS,
  ...ROUTE_REQUESTS,
  ...DOMAIN_REQUESTS,
  ...RELAY_REQUESTS,
  ...ACCOUNT_REQUESTS,
  ...SETTINGS_REQUESTS,
  ...SEARCH_REQUESTS,
  ...INBOX_REQUESTS,
  ...SYSTEM_REQUESTS,
} satisfies Record<OperationName, z.ZodType>;

/** Every operation's name. */
export const OPERATION_NAMES = Object.keys(REQUESTS) as OperationName[];

type NoRequest = z.infer<typeof REQUESTS.listKeys>;
/** See {@link Operations.createKey}. */
export type CreateKeyRequest = z.input<typeof REQUESTS.createKey>;
/** See {@link Operations.updateKey}. */
export type UpdateKeyRequest = z.infer<typeof REQUESTS.updateKey>;
/** Names a key by its name or id. */
export type KeyRequest = z.infer<typeof REQUESTS.rotateKey>;
/** See {@link Operations.revokeKey}. */
export type RevokeKeyRequest = z.input<typeof REQUESTS.revokeKey>;
/** See {@link Operations.submit}. */
export type SubmitRequest = z.infer<typeof submitRequest>;
/** See {@link Operations.submitRaw}. */
export type SubmitRawRequest = z.infer<typeof REQUESTS.submitRaw>;
/** Names a message by its id, or by its Message-ID in angle brackets: the newest with that is meant. */
export type MessageRequest = z.infer<typeof messageRequest>;
/** See {@link Operations.attempts}. */
export type AttemptsRequest = z.infer<typeof REQUESTS.attempts>;
/** See {@link Operations.messages}. */
export type MessagesRequest = z.infer<typeof REQUESTS.messages>;
/** A key as it is shown: its times as text. */
export interface KeyView extends Omit<ApiKey, 'createdAt' | 'lastUsedAt' | 'expiresAt' | 'revokedAt'> {
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

/** A key that was revoked. */
export interface RevokedKey extends KeyView {
  /** Messages that were cancelled. */
  readonly cancelled: number;
}

/** A key with a new secret. */
export interface CreatedKey {
  readonly key: KeyView;
  readonly secret: string;
}

/** A key with a second secret. */
export interface RotatedKey extends CreatedKey {
  /** Until when the secret of before works, RFC 3339. */
  readonly oldSecretUntil: string;
}

/** What became of a submission. */
export interface Submitted {
  readonly id: string;
  readonly message: string;
}

/** A message as the API shows it. */
export type StatusRecord = StatusJson;

/** A page of a message's attempts as the API shows them. */
export type Attempts = ReturnType<typeof attemptsJson>;

/** The bytes of a message. */
export interface KeptContent {
  readonly id: string;
  readonly sizeBytes: number;
  /** In base64. */
  readonly content: string;
}

/** A page of messages as the API shows them. */
export interface MessagesPage {
  readonly messages: readonly MessageJson[];
  /** `before` of the next page; null when there is none. */
  readonly next: string | null;
}

/** A setting in force, or a relay's field, such as `relays.out.host`. */
export interface SettingView {
  readonly key: string;
  readonly value: unknown;
  readonly source: string;
  readonly applies: 'live' | 'restart';
  /** What the value will be after a restart; only where that differs. */
  readonly afterRestart?: unknown;
}

/** An operation that was not done. The message says why, and what to do next. */
export class OperationError extends Error {
  /**
   * - `invalid`: the request is wrong in itself.
   * - `not_found`: it names what does not exist.
   * - `refused`: it cannot be done in the present state.
   * - `unavailable`: it could not be done now.
   * - `forbidden`: who asks may not.
   */
  readonly code: OperationErrorCode;
  /** The fields that are at fault, of a request whose shape is wrong; the message names them as well. */
  readonly faults: readonly FieldFault[];
  constructor(
    code: OperationErrorCode,
    message: string,
    { faults = [], ...options }: ErrorOptions & { readonly faults?: readonly FieldFault[] } = {},
  ) {
    super(message, options);
    this.name = 'OperationError';
    this.code = code;
    this.faults = faults;
  }
}

const ERROR_CODES = ['invalid', 'not_found', 'refused', 'unavailable', 'forbidden'] as const;

/** See {@link OperationError.code}. */
export type OperationErrorCode = (typeof ERROR_CODES)[number];

/** Of a request with more faults, these are told. */
const MAX_FAULTS = 20;

/** An error as it travels through the socket. */
export const errorSchema = z.object({ code: z.enum(ERROR_CODES), message: z.string() });

/** Calls an operation by name with a request whose shape is not yet known to be right. */
export async function callByName(
  operations: Operations,
  name: string,
  request: unknown,
  progress: Progress<unknown> = UNWATCHED,
): Promise<unknown> {
  const operation = OPERATION_NAMES.find((known) => known === name);
  if (operation === undefined)
    throw new OperationError(
      'invalid',
      `The running server does not know the operation ${name}; restart it.`,
    );
  const parsed = REQUESTS[operation].safeParse(request, { reportInput: true });
  if (!parsed.success) throw faultyRequest(requestFaults(parsed.error.issues.slice(0, MAX_FAULTS)));
  // Sound because the request has just been parsed by this very operation's schema.
  const call = operations[operation] as (request: unknown, progress: Progress<unknown>) => Promise<unknown>;
  return await call(parsed.data, progress);
}

function faultyRequest(faults: readonly FieldFault[]): OperationError {
  return new OperationError('invalid', faultLines(faults), { faults });
}
