import type { z } from 'zod';
import type { Role } from '../domain/account.ts';
import type * as answers from '../ingest/http/answers.ts';
import type * as attemptAnswers from '../ingest/http/attempt-answers.ts';
import type * as eventAnswers from '../ingest/http/event-answers.ts';
import type * as operatorAnswers from '../ingest/http/operator-answers.ts';
import type * as requestAnswers from '../ingest/http/request-answers.ts';
import type * as suppressionAnswers from '../ingest/http/suppression-answers.ts';
import type * as templateAnswers from '../ingest/http/template-answers.ts';
import type * as webhookAnswers from '../ingest/http/webhook-answers.ts';
import type { CommandForm } from './command.ts';

/** What an operation is made of: each stands in one record of this folder, of which all else is derived. */

/** An operation that people and programs can ask for. Request and result are plain JSON. */
export interface Operation<
  Request extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
  Step extends z.ZodType = z.ZodType,
> {
  /** What it does, in one or two sentences, for docs/administering.md. */
  readonly meaning: string;
  readonly access: Access;
  /** The shape of its request, which every request is held to. */
  readonly request: Request;
  /** There is a whole message in its request, which may be as large. */
  readonly takesMessage?: true;
  /** The shape of its result: built only for the documentation and for tests, which check answers against it. */
  readonly result: (api: Answers) => Result;
  /** The shape of the steps that it tells of on the way; nothing, where it tells of none. */
  readonly step?: () => Step;
  /** How it is asked for on the command line. */
  readonly commands?: readonly CommandForm<z.input<Request>, Shown<Result>>[];
}

/** A record, each part of which knows the types of the others. */
export function operation<
  Request extends z.ZodType,
  Result extends z.ZodType,
  Step extends z.ZodType = z.ZodNever,
>(record: Operation<Request, Result, Step>): Operation<Request, Result, Step> {
  return record;
}

/** The shapes of the API's answers. Who builds results has loaded them; a record knows their types, and loads nothing. */
export type Answers = typeof answers &
  typeof attemptAnswers &
  typeof eventAnswers &
  typeof operatorAnswers &
  typeof requestAnswers &
  typeof suppressionAnswers &
  typeof templateAnswers &
  typeof webhookAnswers;

/** Records by the names of their operations. */
type Records = Readonly<Record<string, Pick<Operation, 'request' | 'result' | 'step'>>>;
/** The request of one of the records. */
export type RequestIn<R extends Records, K extends keyof R> = z.input<R[K]['request']>;
/** Its result. */
export type ResultIn<R extends Records, K extends keyof R> = Shown<R[K]['result']>;
/** What it tells of on the way; never, where it tells nothing. */
export type StepIn<R extends Records, K extends keyof R> = Shown<NonNullable<R[K]['step']>>;

/** What a schema describes, as those have it who write or read it. */
export type Shown<Schema extends z.ZodType | ((api: Answers) => z.ZodType)> = Schema extends (
  api: Answers,
) => infer Made
  ? ReadOnly<z.output<Made>>
  : ReadOnly<z.output<Schema>>;

type ReadOnly<T> = T extends readonly (infer Item)[]
  ? readonly ReadOnly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadOnly<T[Key]> }
    : T;

/** Those who carry out the operations of some records. Errors are `OperationError`. */
export type OperationsOf<R extends Records> = {
  readonly [K in keyof R]: (
    request: RequestIn<R, K>,
    progress?: Progress<StepIn<R, K>>,
  ) => Promise<ResultIn<R, K>>;
};

/** How an operation that takes a while tells of its steps, and learns that nobody waits for it any more. */
export interface Progress<Step> {
  /** Tells of a step, plain JSON, as it happens. */
  tell(step: Step): void;
  /** Aborts when the caller has gone away. */
  readonly signal: AbortSignal;
}

/** For a caller to whom the result is enough. */
export const UNWATCHED: Progress<unknown> = { tell() {}, signal: new AbortController().signal };

/** Who may ask for an operation, and what of it is written down. */
export interface Access {
  /** Open from this role on. */
  readonly role: Role;
  /** Written into the activity, with what it was done to; null for reads. */
  readonly audit: Audit | null;
}

/** What the pages of the dashboard show: each asks again for what it shows of a topic that may have changed. */
// biome-ignore format: a table
const TOPICS = [
  'messages', 'queue', 'inbox', 'relays', 'routes', 'domains',
  'suppressions', 'templates', 'webhooks', 'reports', 'alerts', 'keys', 'settings', 'users', 'activity', 'health',
  'denials', 'views',
] as const;

/** See {@link TOPICS}. */
export type Topic = (typeof TOPICS)[number];

/** Whether it is a topic that pages know; another version may have more of them. */
export function isTopic(text: string): text is Topic {
  return TOPICS.some((topic) => topic === text);
}

/** Of what is done to messages. */
export const MAIL_TOPICS: readonly Topic[] = ['messages', 'queue', 'inbox'];

/** How an operation is written down. */
export interface Audit {
  /** What was done, as the activity says it, such as `Added a relay`. */
  readonly words: string;
  /** The field of the request that says what it is done to, such as `definition.name`; null where the operation's name says it all. */
  readonly subject: string | null;
  /** How that thing is seen: kept as it was before and after. Without, and without `told`, the request is kept. */
  readonly look?: Look;
  /** What of the result is kept, as it was before and after, where no look shows it. See {@link told}. */
  readonly told?: (result: unknown) => Told;
  /** Fields of the request that are never kept. */
  readonly hide?: readonly string[];
  /** What may look different afterwards; the activity does in every case. */
  readonly touches: readonly Topic[];
}

/** Changes nothing, and connects to nothing. */
export const READ: Access = unrecorded('viewer');
/** What a viewer need not know: keys, users, what others did. */
export const CONFIDENTIAL: Access = unrecorded('admin');

/** Open from a role on, and left out of the activity, for a reason that stands beside it. */
export function unrecorded(role: Role): Access {
  return { role, audit: null };
}

/** For operators: acts on mail that is there. */
export function acts(audit: Audit): Access {
  return { role: 'operator', audit };
}

/** For administrators: changes how the installation works. */
export function changes(audit: Audit): Access {
  return { role: 'admin', audit };
}

/** What an operation was asked for, before its shape is known to be right. */
export type Asked = Readonly<Record<string, unknown>>;

/** How the thing that an operation is done to is seen, before and after it. */
export interface Look {
  /** The operation that shows it, which is a read. */
  readonly operation: string;
  /** Its request. */
  readonly request: (asked: Asked) => unknown;
  /** What of the answer is kept; undefined where the thing is not there. */
  readonly show: (answer: unknown, asked: Asked) => unknown;
}

/** What is kept of something, as it was before and after. */
type Told = readonly [before: unknown, after: unknown];

/** What is kept of a result of the type `Result`. */
export function told<Result>(of: (result: Result) => Told): NonNullable<Audit['told']> {
  // Sound because the result is always that of the operation whose audit this is.
  return of as NonNullable<Audit['told']>;
}

/** A look by the operation of that name, whose result is of the type `Result`. */
export function look<Result>(
  operation: string,
  request: (asked: Asked) => unknown,
  show: (answer: Result, asked: Asked) => unknown,
): Look {
  // Sound because the answer is always that of the operation named beside it.
  return { operation, request, show: show as Look['show'] };
}
