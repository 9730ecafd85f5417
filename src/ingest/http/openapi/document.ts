import { titleOf } from '../../../http/problem.ts';
import { ENDPOINT_IDS, ENDPOINTS, OPEN_ENDPOINTS, OPEN_IDS, type OperationId } from '../endpoints.ts';
import type { Parameter } from '../query.ts';
import { ACTING, ADMINISTERING, QUEUE } from './acting.ts';
import { CAPTURED } from './captured.ts';
import { isRequired, type Json, namedSchemas, parameterSchema, schemaRef } from './json-schema.ts';
import type { Description, Media, Operation, RequestBody, Success, Tag } from './operation.ts';
import {
  ANSWER_HEADERS,
  EVERY_ANSWER,
  RATE_HEADERS,
  REQUEST_HEADERS,
  type RequestHeader,
} from './operation.ts';
import type { ProblemCode } from './problem-codes.ts';
import { READING, ROUTING, SERVICE } from './reading.ts';
import { headerRefs, problemExamples, problemsOf, refusal } from './refusals.ts';
import { SENDING } from './sending.ts';
import { SUPPRESSING } from './suppressing.ts';
import { TEMPLATES } from './templates.ts';
import { WEBHOOKS } from './webhooks.ts';

const DESCRIPTIONS: Readonly<Record<OperationId, Description>> = {
  ...SENDING,
  ...READING,
  ...CAPTURED,
  ...ACTING,
  ...SUPPRESSING,
  ...TEMPLATES,
  ...WEBHOOKS,
  ...QUEUE,
  ...ROUTING,
  ...ADMINISTERING,
  ...SERVICE,
};

/** Every operation of the ingestion API. */
export const OPERATIONS: readonly Operation[] = [
  ...ENDPOINT_IDS.map((id) => operationOf(id, ENDPOINTS[id])),
  ...OPEN_IDS.map((id) => operationOf(id, { ...OPEN_ENDPOINTS[id], access: null })),
];

function operationOf(
  operationId: OperationId,
  endpoint: Pick<Operation, 'method' | 'path' | 'access' | 'query'>,
): Operation {
  const unsaid = { requestHeaders: [], body: null, problems: {} };
  return { operationId, ...endpoint, ...unsaid, ...DESCRIPTIONS[operationId] };
}

const TAGS: Readonly<Record<Tag, string>> = {
  Sending: 'Submit messages.',
  Reading: 'Read status, content and attempts of messages.',
  Inbox: 'Captured mail, for tests of other programs.',
  Acting: 'Cancel and retry messages.',
  Suppressions: 'The addresses that get no mail.',
  Templates: 'What messages are made of.',
  Webhooks: 'Endpoints that are told of events.',
  Routing: 'How mail is routed.',
  Queue: 'The queue, for operators: show it, hold it, act on many messages.',
  Administering: 'Everything that the dashboard can do, for scripts.',
  Service: 'The service itself; needs no key.',
};

const PATH_PARAMETERS: Readonly<Record<string, { readonly description: string; readonly example: string }>> =
  {
    id: {
      description: 'The message’s id, as the 202 gave it, or its Message-ID in angle brackets.',
      example: 'msg_01k9f5y7f0e2c4a8b6d0e2f4g6',
    },
    index: { description: 'The `index` of a file in `attachments`.', example: '0' },
    feedback: {
      description: 'The id of what was told, as a list or an event gives it.',
      example: 'fbk_01kaj3v7q8x5m2c9t4r6w0ybzn',
    },
    template: { description: 'The alias or the id of a template.', example: 'welcome' },
    webhook: {
      description: 'The id of an endpoint.',
      example: 'whe_01k9f5y7f0e2c4a8b6d0e2f4g6',
    },
    event: {
      description: 'The id of an event, as `webhook-id` and the list of deliveries have it.',
      example: 'evt_01kaj3v7q80000000000000kqr',
    },
    address: {
      description: 'An address or pattern, percent-encoded, or the id of an entry.',
      example: 'bob@example.org',
    },
    operation: { description: 'The operation’s name, from docs/administering.md.', example: 'hold' },
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
      summary: 'Accepts mail over HTTP, never loses it, delivers it, and tells you where it is.',
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
      examples: problemExamples(toldCodes()),
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
      },
    },
  };
}

function paths(described: readonly Json[]): Json {
  const byPath: Record<string, Record<string, unknown>> = {};
  for (const [place, { path, method }] of OPERATIONS.entries())
    byPath[path] = { ...byPath[path], [method.toLowerCase()]: described[place] };
  return byPath;
}

function describe(operation: Operation, responses: Responses): Json {
  const { operationId, tag, summary, description, access, body } = operation;
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    // An empty list of alternatives: no key at all.
    security: access === null ? [] : access.scopes.map((scope) => ({ bearerKey: [scope] })),
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
    example: exampleOf(parameter),
  }));
  return [
    ...names,
    ...inQuery,
    ...requestHeaders.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

function exampleOf({ example, fromText = (text) => text, repeatable = false }: Parameter<unknown>): unknown {
  return repeatable ? [fromText(example)] : fromText(example);
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

/** Codes that an operation may answer with. */
function toldCodes(): ReadonlySet<ProblemCode> {
  const codes = OPERATIONS.map(problemsOf)
    .flatMap((problems) => Object.values(problems))
    .flatMap((list = []) => list);
  return new Set([...codes, 'not_found', 'method_not_allowed']);
}

/** Answers that belong to no operation, because there is none: the path or the method is another. */
function strayResponses(): Json {
  return {
    UnknownPath: refusal(404, ['not_found'], null),
    UnknownMethod: refusal(405, ['method_not_allowed'], null),
    Options: {
      description: 'The methods of a path; no key is needed.',
      headers: headerRefs([...EVERY_ANSWER, 'Allow']),
    },
  };
}

/** What the document says before anything else. */
const PREAMBLE = `
Every request except those under *Service* needs an API key: \`Authorization: Bearer <API_KEY>\`. Keys have scopes; an
operation's \`security\` names the scopes of which one is needed.

**Form.** JSON is UTF-8 with camelCase names. Times are RFC 3339 in UTC with milliseconds; durations end in \`Ms\`, sizes
in \`Bytes\`. Members that do not apply are absent, unless a schema says that its shape is constant. Members may be added
to answers: ignore those you do not know. Fields and parameters that do not exist are refused by name.

**Stable.** What is described here stays as it is within v1. More may be added: paths, optional fields and parameters, members
of answers, values of a field that names one of several, and codes. docs/stability.md says what else stays, and how
something would go.

**Methods.** HEAD answers as GET does, without the body. OPTIONS answers 204 with \`Allow\` on every path, without a key.
Another method gets 405 with \`Allow\`, and a path that is not described here gets 404.

**Refusals** are \`application/problem+json\` (RFC 9457): distinguish them by \`code\`, and read \`errors\`, which names every
faulty field at once. Checks happen in this order: path 404, source 403, method 405, key 401, scope 403, rate 429,
intake suspended 503, type 415, size 413, content 400, sender 403, idempotency 409. Every answer carries
\`X-Request-Id\`, the request's own if it was 1 to 64 of \`A-Z a-z 0-9 . _ -\`.

**Trying again.** 408, 429, 500, 502, 503, 504 and lost connections may be tried again, after \`Retry-After\` where it is
given. With an \`Idempotency-Key\` no message is accepted twice.

**Limits** in this document are those of the default configuration; the operator may have set others.
`.trim();

// Responses that several operations have in common get a name, so that the document says them once.

/** An operation's responses by status. */
type Responses = Readonly<Record<string, Json>>;

/** Gathers responses; afterwards knows which are shared. */
class SharedResponses {
  /** How often each occurs, by its text. */
  readonly #counts = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly #named: Record<string, Json> = {};

  constructor(all: readonly Responses[]) {
    for (const response of all.flatMap((responses) => Object.values(responses))) {
      const text = JSON.stringify(response);
      this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1);
    }
  }

  /** The responses with references in place of those that others have too. */
  refer(responses: Responses, operationId: string): Responses {
    return Object.fromEntries(
      Object.entries(responses).map(([status, response]) => {
        const text = JSON.stringify(response);
        if ((this.#counts.get(text) ?? 0) < 2) return [status, response];
        const name = this.#names.get(text) ?? this.#newName(Number(status), text, operationId);
        this.#names.set(text, name);
        this.#named[name] = response;
        return [status, { $ref: `#/components/responses/${name}` }];
      }),
    );
  }

  /** The shared responses by name, once all operations have referred to them. */
  get named(): Responses {
    return this.#named;
  }

  /** By its status, or what it gives; a second kind also by the first operation that has it. */
  #newName(status: number, text: string, operationId: string): string {
    const schema = /"#\/components\/schemas\/(\w+)"/.exec(text)?.[1] ?? 'Answer';
    const title = status < 400 ? schema : pascal(titleOf(status));
    return title in this.#named ? `${title}Of${pascal(operationId)}` : title;
  }
}

function pascal(text: string): string {
  return text.replace(/(?:^|[^A-Za-z]+)([A-Za-z])/g, (_, letter: string) => letter.toUpperCase());
}
