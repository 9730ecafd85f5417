/** What OpenAPI 3.1 asks of a document's shape, as far as this API's document uses it. */
import { isJson } from './openapi.ts';

/** Members that an object of a kind may have, and must have (with `!`), and of which kind their values are. */
type Kind = Readonly<Record<string, string>>;

/** Kinds by name. `*` is a map of any names; a value's kind is `any` where it is not looked into. */
const KINDS: Readonly<Record<string, Kind>> = {
  document: {
    'openapi!': 'text',
    'info!': 'info',
    jsonSchemaDialect: 'text',
    servers: '[server',
    tags: '[tag',
    'paths!': '*path',
    components: 'components',
  },
  info: { 'title!': 'text', 'version!': 'text', summary: 'text', description: 'text', license: 'license' },
  license: { 'name!': 'text', identifier: 'text' },
  server: { 'url!': 'text', description: 'text' },
  tag: { 'name!': 'text', description: 'text' },
  path: { get: 'operation', put: 'operation', post: 'operation', patch: 'operation', delete: 'operation' },
  operation: {
    'operationId!': 'text',
    tags: '[text',
    summary: 'text',
    description: 'text',
    security: '[any',
    parameters: '[parameter',
    requestBody: 'body',
    'responses!': '*response',
  },
  parameter: {
    'name!': 'text',
    'in!': 'text',
    description: 'text',
    'required!': 'any',
    style: 'text',
    explode: 'any',
    'schema!': 'any',
    example: 'any',
  },
  body: { description: 'text', 'content!': '*media', required: 'any' },
  response: { 'description!': 'text', headers: '*header', content: '*media' },
  media: { 'schema!': 'any', encoding: '*encoding', 'examples!': '*example' },
  encoding: { contentType: 'text' },
  header: { description: 'text', required: 'any', 'schema!': 'any', example: 'any' },
  example: { summary: 'text', 'value!': 'any' },
  components: {
    schemas: '*any',
    responses: '*response',
    parameters: '*parameter',
    headers: '*header',
    examples: '*example',
    securitySchemes: '*security',
  },
  security: { 'type!': 'text', scheme: 'text', description: 'text' },
};

/** Every place where a document is not of OpenAPI's shape. */
export function shapeFaults(document: unknown): string[] {
  return faultsIn(document, 'document', '');
}

function faultsIn(value: unknown, kind: string, at: string): string[] {
  if (kind === 'any') return [];
  if (kind === 'text') return typeof value === 'string' && value !== '' ? [] : [`${at} is no text`];
  if (kind.startsWith('['))
    return Array.isArray(value)
      ? value.flatMap((item, place) => faultsIn(item, kind.slice(1), `${at}/${place}`))
      : [`${at} is no list`];
  if (!isJson(value)) return [`${at} is no object`];
  if (kind.startsWith('*'))
    return Object.entries(value).flatMap(([name, item]) => faultsIn(item, kind.slice(1), `${at}/${name}`));
  if ('$ref' in value) return Object.keys(value).length === 1 ? [] : [`${at} has more than its $ref`];
  return memberFaults(value, KINDS[kind] ?? {}, at);
}

function memberFaults(value: Readonly<Record<string, unknown>>, kind: Kind, at: string): string[] {
  const allowed = new Map(Object.entries(kind).map(([name, inner]) => [name.replace('!', ''), inner]));
  const missing = Object.keys(kind)
    .filter((name) => name.endsWith('!') && !(name.slice(0, -1) in value))
    .map((name) => `${at} lacks ${name.slice(0, -1)}`);
  const found = Object.entries(value).flatMap(([name, item]) => {
    const inner = allowed.get(name);
    return inner === undefined ? [`${at} has ${name}`] : faultsIn(item, inner, `${at}/${name}`);
  });
  return [...missing, ...found];
}

/** Every reference in a document, each once. */
export function references(value: unknown): Set<string> {
  const found = new Set<string>();
  const walk = (part: unknown): void => {
    if (Array.isArray(part)) for (const item of part) walk(item);
    if (!isJson(part)) return;
    if (typeof part['$ref'] === 'string') found.add(part['$ref']);
    for (const item of Object.values(part)) walk(item);
  };
  walk(value);
  return found;
}
