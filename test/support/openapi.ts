/**
 * Holds answers of the ingestion API to its OpenAPI document: the status is one that is described, the header
 * fields and the body are as described, and nothing is there that is not.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describeApi } from '../../src/ingest/http/openapi/document.ts';
import type { Json } from '../../src/ingest/http/openapi/json-schema.ts';

/** An answer, as far as it is held. Names of header fields are in lower case. */
export interface HeldAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/** The document, as it is served. */
export const DOCUMENT: Json = describeApi();

/** Says nothing about the API: HTTP's own, and what a browser is told. */
const PLAIN_HEADERS =
  /^(?:date|connection|keep-alive|content-length|content-type|transfer-encoding|vary|x-content-type-options|access-control-.*)$/;
const ID = 'api';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
ajv.addFormat('date-time', (text) => TIME.test(text) && !Number.isNaN(Date.parse(text)));
ajv.addFormat('binary', true);
ajv.addSchema(closed(DOCUMENT), ID);

/** Throws when the answer to a request is not as the document says, with every place where it differs. */
export function holdAgainst(method: string, target: string, answer: HeldAnswer): void {
  const faults = mismatches(method, target, answer);
  if (faults.length === 0) return;
  const request = `${method} ${target} → ${answer.status}`;
  throw new Error(
    `${request} is not as the OpenAPI document says:\n  ${faults.join('\n  ')}\n${answer.text}`,
  );
}

/** A `fetch` that holds every answer of the ingestion API. */
export async function heldFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const [url, method] = input instanceof Request ? [input.url, input.method] : [input, 'GET'];
  const response = await fetch(input, init);
  const { pathname, search } = new URL(url);
  const text = await response.clone().text();
  const headers = Object.fromEntries(response.headers);
  holdAgainst(init.method ?? method, pathname + search, { status: response.status, headers, text });
  return response;
}

/** What of a document's part does not fit its schema there. */
export function schemaFaults(pointer: readonly string[], value: unknown): string[] {
  const reference = `${ID}#${pointer.map((token) => `/${escapeToken(token)}`).join('')}`;
  const validate: ValidateFunction | undefined = ajv.getSchema(reference);
  if (validate === undefined) return [`there is no schema at ${reference}`];
  if (validate(value)) return [];
  const faults = validate.errors ?? [];
  return faults.map(({ instancePath, message, params }) => {
    return `${instancePath || '/'} ${message} ${JSON.stringify(params)}`;
  });
}

/** A member of the document, references followed; with the place where it really stands. */
export function member(
  pointer: readonly string[],
): { readonly at: readonly string[]; readonly value: Json } | null {
  let at: string[] = [];
  let value: unknown = DOCUMENT;
  for (const token of pointer) {
    value = isJson(value) ? value[token] : undefined;
    at.push(token);
    if (!isJson(value)) return null;
    const { $ref } = value;
    if (typeof $ref !== 'string') continue;
    at = $ref.slice(2).split('/').map(unescapeToken);
    value = at.reduce<unknown>((inner, name) => (isJson(inner) ? inner[name] : undefined), DOCUMENT);
  }
  return isJson(value) ? { at, value } : null;
}

function mismatches(method: string, target: string, answer: HeldAnswer): string[] {
  const place = placeOf(method, target, answer.status);
  const response = member(place);
  if (response === null) return [`${place.join(' ')}: this status is not described`];
  return [...headerFaults(response.value, answer), ...bodyFaults(method, response, answer)];
}

/** Where the response is described: with its operation, or among those for which there is none. */
function placeOf(method: string, target: string, status: number): string[] {
  const [path = ''] = target.split('?', 1);
  const template = Object.keys(paths()).find((one) => matches(one, path));
  const name = (method === 'HEAD' ? 'GET' : method).toLowerCase();
  const stray = (response: string) => ['components', 'responses', response];
  if (template === undefined && status === 404) return stray('UnknownPath');
  if (method === 'OPTIONS' && status === 204) return stray('Options');
  if (status === 405 && template !== undefined && !isJson(paths()[template]?.[name]))
    return stray('UnknownMethod');
  // What every path may answer stands with any; a path or a method that does not exist is refused no differently.
  const known = template !== undefined && isJson(paths()[template]?.[name]);
  const operation = known ? [template, name] : ['/api/v1/openapi.json', 'get'];
  return ['paths', ...operation, 'responses', String(status)];
}

function headerFaults(response: Json, { status, headers }: HeldAnswer): string[] {
  const described = Object.keys(isJson(response['headers']) ? response['headers'] : {});
  const present = Object.keys(headers).filter(
    (name) => headers[name] !== undefined && !PLAIN_HEADERS.test(name),
  );
  const lower = described.map((name) => name.toLowerCase());
  const strange = present
    .filter((name) => !lower.includes(name))
    .map((name) => `header ${name} is not described with this status`);
  const faults = described.flatMap((name) => headerFault(name, headers[name.toLowerCase()]?.toString()));
  const isProblem = String(headers['content-type']).includes('problem');
  if (isProblem && (status === 429 || status === 503) && headers['retry-after'] === undefined)
    faults.push('header Retry-After is missing');
  return [...strange, ...faults];
}

function headerFault(name: string, value: string | undefined): string[] {
  const header = member(['components', 'headers', name])?.value ?? {};
  if (value === undefined) return header['required'] === true ? [`header ${name} is missing`] : [];
  const { schema } = header;
  const isNumber = isJson(schema) && schema['type'] === 'integer';
  const parsed = isNumber && /^\d+$/.test(value) ? Number(value) : value;
  return schemaFaults(['components', 'headers', name, 'schema'], parsed).map(
    (fault) => `header ${name}: ${fault}`,
  );
}

function bodyFaults(
  method: string,
  { at, value }: { readonly at: readonly string[]; readonly value: Json },
  { headers, text }: HeldAnswer,
): string[] {
  const content = isJson(value['content']) ? value['content'] : {};
  const [type = ''] = String(headers['content-type'] ?? '').split(';', 1);
  if (Object.keys(content).length === 0) return text === '' ? [] : ['a body is not described'];
  const described = type in content ? type : '*/*';
  if (!(described in content)) return [`content type ${type} is not described, only ${Object.keys(content)}`];
  if (method === 'HEAD') return text === '' ? [] : ['HEAD has a body'];
  const body: unknown = type.endsWith('json') ? JSON.parse(text) : text;
  return schemaFaults([...at, 'content', described, 'schema'], body);
}

function paths(): Readonly<Record<string, Json>> {
  return DOCUMENT['paths'] as Readonly<Record<string, Json>>;
}

/** A literal path before one with names. */
function matches(template: string, path: string): boolean {
  if (template === path) return true;
  if (path in paths()) return false;
  const pattern = template.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(path);
}

/** The document with every object closed that does not say it is open: what is not described does not fit. */
function closed(value: unknown): Json {
  return close(value) as Json;
}

function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close);
  if (!isJson(value)) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, close(item)]));
  const isOpen = inner['type'] === 'object' && 'properties' in inner && !('additionalProperties' in inner);
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}

function escapeToken(token: string): string {
  return encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function unescapeToken(token: string): string {
  return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Whether a value is an object of JSON. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
