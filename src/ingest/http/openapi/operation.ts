import type { Scope } from '../../../domain/key.ts';
import type { AuthScheme } from '../auth.ts';
import type { ParameterTable } from '../query.ts';
import type { AnswerHeader, RequestHeader } from './headers.ts';
import type { Json, SchemaName } from './json-schema.ts';
import type { ProblemCode } from './problem-codes.ts';

/** What the document says of one method at one path; the document is put together from a table of these. */
export interface Operation {
  readonly method: 'get' | 'post';
  /** With named segments in braces. */
  readonly path: string;
  /** Fit to be a method's name in a generated client. */
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  /** What it asks of a key; null when it needs none. */
  readonly access: Access | null;
  readonly query: ParameterTable;
  readonly requestHeaders: readonly RequestHeader[];
  readonly body: RequestBody | null;
  readonly answers: readonly Success[];
  /** Codes by the status they come with, besides those that every request may get. */
  readonly problems: ProblemsByStatus;
}

/** Groups of operations. */
export type Tag =
  | 'Sending'
  | 'Reading'
  | 'Acting'
  | 'Routing'
  | 'Queue'
  | 'Administering'
  | 'Service'
  | 'Mailgun';

/** What a key must be able to do. */
export interface Access {
  readonly scheme: AuthScheme;
  /** Any of these will do. */
  readonly scopes: readonly Scope[];
}

/** Codes by status. */
export type ProblemsByStatus = Readonly<Partial<Record<number, readonly ProblemCode[]>>>;

/** A body, in each of the media types that are taken. */
export interface RequestBody {
  readonly required: boolean;
  readonly description: string;
  readonly content: Readonly<Record<string, Media>>;
}

/** A body in one media type. */
export interface Media {
  /** A named schema, or one that is not worth a name. */
  readonly schema: SchemaName | Json;
  /** For forms: how fields are written. */
  readonly encoding?: Json;
  readonly examples: Readonly<Record<string, Example>>;
}

/** A real example. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

/** An answer that is no refusal. */
export interface Success {
  readonly status: number;
  readonly description: string;
  /** Besides those of every answer. */
  readonly headers: readonly AnswerHeader[];
  readonly content: Readonly<Record<string, Media>>;
}

/** Of operations that need nothing said: no body, or an empty object. */
export const EMPTY_BODY: RequestBody = {
  required: false,
  description: 'Nothing, or an empty object.',
  content: {
    'application/json': {
      schema: { type: 'object', additionalProperties: false },
      examples: { empty: { summary: 'Nothing more to say', value: {} } },
    },
  },
};
