import { ACTING } from './acting.ts';
import { ADMIN } from './admin.ts';
import {
  ANSWER_HEADERS,
  EVERY_ANSWER,
  RATE_HEADERS,
  REQUEST_HEADERS,
  type RequestHeader,
} from './headers.ts';
import { INBOX } from './inbox.ts';
import { isRequired, type Json, namedSchemas, parameterSchema, schemaRef } from './json-schema.ts';
import type { Media, Operation, RequestBody, Success, Tag } from './operation.ts';
import { PREAMBLE } from './preamble.ts';
import type { ProblemCode } from './problem-codes.ts';
import { problemExamples } from './problem-examples.ts';
import { QUEUE } from './queue.ts';
import { READING } from './reading.ts';
import { headerRefs, problemsOf, refusal, unknownMethod } from './refusals.ts';
import { ROUTING } from './routing.ts';
import { SENDING } from './sending.ts';
import { SENDING_FINISHED } from './sending-finished.ts';
import { SERVICE } from './service.ts';
import { type Responses, SharedResponses } from './shared-responses.ts';

/** Every operation of the ingestion API. */
export const OPERATIONS: readonly Operation[] = [
  ...SENDING,
  ...SENDING_FINISHED,
  ...READING,
  ...INBOX,
  ...ACTING,
  ...QUEUE,
  ...ROUTING,
  ...ADMIN,
  ...SERVICE,
];

const TAGS: Readonly<Record<Tag, string>> = {
  Sending: 'Messages are accepted, and from then on safe.',
  Reading: 'What became of them.',
  Acting: 'Messages that are not where they should be.',
  Routing: 'Which way mail takes.',
  Queue: 'What waits where, for who runs the server: see it, hold it, act on many.',
  Administering: 'Everything that the dashboard does, for scripts.',
  Service: 'The service itself; needs no key.',
  Mailgun: 'The same endpoint for clients written for Mailgun.',
};

const PATH_PARAMETERS: Readonly<Record<string, { readonly description: string; readonly example: string }>> =
  {
    id: {
      description: 'The message’s id, as the 202 gave it, or its Message-ID in angle brackets.',
      example: 'msg_01k9f5y7f0e2c4a8b6d0e2f4g6',
    },
    operation: { description: 'The operation’s name, as docs/administering.md has it.', example: 'hold' },
    domain: { description: 'Chooses nothing: who may send as whom is the key’s.', example: 'example.com' },
  };

/** Of the API, as in its paths. The program's stays untold: anybody may read this document. */
const API_VERSION = 'v1';

/** The API's description (OpenAPI 3.1), generated from what validates and what is served. */
export function describeApi(): Json {
  const responses = OPERATIONS.map(responsesOf);
  const shared = new SharedResponses(responses);
  const described = OPERATIONS.map((operation, place) =>
    describe(operation, shared.refer(responses[place] ?? {}, operation.operationId)),
  );
  return {
    openapi: '3.1.1',
    info: {
      title: 'Waybill',
      version: API_VERSION,
      summary: 'Accepts mail over HTTP, never loses it, delivers it, and tells where it is.',
      description: PREAMBLE,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: '/', description: 'The server that gave this document.' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: paths(described),
    components: {
      schemas: namedSchemas(),
      responses: { ...shared.named, ...strayResponses() },
      examples: problemExamples(ownCodes()),
      parameters: namedParameters(),
      headers: Object.fromEntries(
        Object.entries(ANSWER_HEADERS).map(([name, { description, required, schema, example }]) => [
          name,
          { description, required, schema, example },
        ]),
      ),
      securitySchemes: {
        bearerKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key: `Authorization: Bearer wb_live_…`.',
        },
        basicKey: {
          type: 'http',
          scheme: 'basic',
          description: 'User name `api`, an API key for a password.',
        },
      },
    },
  };
}

function paths(described: readonly Json[]): Json {
  const byPath: Record<string, Record<string, unknown>> = {};
  for (const [place, { path, method }] of OPERATIONS.entries())
    byPath[path] = { ...byPath[path], [method]: described[place] };
  return byPath;
}

function describe(operation: Operation, responses: Responses): Json {
  const { operationId, tag, summary, description, access, body } = operation;
  const scheme = access?.scheme === 'basic' ? 'basicKey' : 'bearerKey';
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    // An empty list of alternatives: no key at all.
    security: access === null ? [] : access.scopes.map((scope) => ({ [scheme]: [scope] })),
    parameters: parametersOf(operation),
    ...(body !== null && { requestBody: describeBody(body) }),
    responses,
  };
}

function parametersOf({ path, query, requestHeaders }: Operation): Json[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    $ref: `#/components/parameters/${name}`,
  }));
  const inQuery = Object.entries(query).map(([name, parameter]) => ({
    name,
    in: 'query',
    description: `${parameter.meaning} Must be ${parameter.rule}.`,
    required: isRequired(parameter),
    ...(parameter.repeatable && { style: 'form', explode: true }),
    schema: parameterSchema(parameter),
    example: exampleOf(parameter.example, parameter.fromText, parameter.repeatable),
  }));
  return [
    ...names,
    ...inQuery,
    ...requestHeaders.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

function exampleOf(text: string, fromText: (text: string) => unknown, repeatable: boolean): unknown {
  return repeatable ? [fromText(text)] : fromText(text);
}

function namedParameters(): Json {
  const inPath = Object.entries(PATH_PARAMETERS).map(([name, { description, example }]) => [
    name,
    { name, in: 'path', description, required: true, schema: { type: 'string' }, example },
  ]);
  const inHeader = (Object.keys(REQUEST_HEADERS) as RequestHeader[]).map((name) => [
    name,
    { name, in: 'header', required: false, ...REQUEST_HEADERS[name] },
  ]);
  return Object.fromEntries([...inPath, ...inHeader]);
}

function describeBody({ required, description, content }: RequestBody): Json {
  return { required, description, content: describeContent(content) };
}

function responsesOf(operation: Operation): Responses {
  const refusals = Object.entries(problemsOf(operation)).map(
    ([status, codes = []]) => [status, refusal(Number(status), codes, operation)] as const,
  );
  const responses: Record<string, Json> = Object.fromEntries(refusals);
  for (const success of operation.answers) {
    const { status } = success;
    const response = describeSuccess(success, operation.access !== null);
    responses[status] =
      responses[status] === undefined ? response : joinResponses(response, responses[status]);
  }
  return responses;
}

/** One status that may mean an answer of the endpoint's own or a refusal: both media types. */
function joinResponses(own: Json, refused: Json): Json {
  return {
    description: `${String(own['description'])}\n\n${String(refused['description'])}`,
    headers: { ...Object(own['headers']), ...Object(refused['headers']) },
    content: { ...Object(own['content']), ...Object(refused['content']) },
  };
}

function describeSuccess({ description, headers, content }: Success, withKey: boolean): Json {
  const names = [...EVERY_ANSWER, ...headers, ...(withKey ? RATE_HEADERS : [])];
  const hasContent = Object.keys(content).length > 0;
  return {
    description,
    headers: headerRefs(names),
    ...(hasContent && { content: describeContent(content) }),
  };
}

function describeContent(content: Readonly<Record<string, Media>>): Json {
  const described = Object.entries(content).map(([type, { schema, encoding, examples }]) => [
    type,
    {
      schema: typeof schema === 'string' ? schemaRef(schema) : schema,
      ...(encoding !== undefined && { encoding }),
      examples,
    },
  ]);
  return Object.fromEntries(described);
}

/** Codes that are told in our own shape, not only in Mailgun's. */
function ownCodes(): ReadonlySet<ProblemCode> {
  const own = OPERATIONS.filter(({ tag }) => tag !== 'Mailgun').map(problemsOf);
  const codes = own.flatMap((problems) => Object.values(problems)).flatMap((list = []) => list);
  return new Set([...codes, 'not_found', 'method_not_allowed']);
}

/** Answers that belong to no operation, because there is none: the path or the method is another. */
function strayResponses(): Json {
  return {
    UnknownPath: refusal(404, ['not_found'], null),
    UnknownMethod: unknownMethod(),
    Options: {
      description: 'What a path takes; the same for every path, with or without a key.',
      headers: headerRefs([...EVERY_ANSWER, 'Allow']),
    },
  };
}
