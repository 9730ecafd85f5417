/** Prints the ingestion API's description as text: `node tools/openapi-summary.ts`. */
import { describeApi, OPERATIONS } from '../src/ingest/http/openapi/document.ts';
import type { Json } from '../src/ingest/http/openapi/json-schema.ts';
import type { Operation, ProblemsByStatus } from '../src/ingest/http/openapi/operation.ts';
import { problemsOf, UNREADABLE } from '../src/ingest/http/openapi/refusals.ts';

const WIDTH = 118;

/** The whole summary. */
function summary(): string {
  const common = ['Every request may also get', ...refusalLines(UNREADABLE)].join('\n');
  return [...OPERATIONS.map(operationText), common, ...schemaTexts()].join('\n\n');
}

function operationText(operation: Operation): string {
  const { method, path, operationId, access, query, requestHeaders, body, answers } = operation;
  const parameters = [...Object.keys(query), ...requestHeaders];
  const key = access === null ? 'no key' : `${access.scheme} key with ${access.scopes.join(' or ')}`;
  const own = answers.map(({ status, content }) => `  ${status}  ${mediaText(content)}`);
  return [
    `${method.padEnd(4)} ${path}  ${operationId}  (${key})`,
    ...(parameters.length > 0 ? [wrapped('  takes  ', parameters.join(' '))] : []),
    ...(body === null ? [] : [wrapped('  body  ', mediaText(body.content))]),
    ...own,
    ...refusalLines(ownProblems(operation)),
  ].join('\n');
}

/** The codes of an operation without those of every request. */
function ownProblems(operation: Operation): ProblemsByStatus {
  const entries = Object.entries(problemsOf(operation)).map(([status, codes = []]) => {
    const common = UNREADABLE[Number(status)] ?? [];
    return [status, codes.filter((code) => !common.includes(code))] as const;
  });
  return Object.fromEntries(entries.filter(([, codes]) => codes.length > 0));
}

function refusalLines(problems: ProblemsByStatus): string[] {
  return Object.entries(problems).map(([status, codes = []]) => wrapped(`  ${status}  `, codes.join(' ')));
}

function mediaText(content: Operation['answers'][number]['content']): string {
  const texts = Object.entries(content).map(
    ([type, { schema }]) => `${type} ${typeof schema === 'string' ? schema : typeText(schema)}`,
  );
  return texts.join(', ') || 'no body';
}

function schemaTexts(): string[] {
  const components = member(describeApi(), 'components');
  return Object.entries(member(components, 'schemas')).map(([name, schema]) =>
    schemaText(name, asJson(schema)),
  );
}

function schemaText(name: string, schema: Json): string {
  const properties = Object.entries(member(schema, 'properties'));
  if (properties.length === 0) return `${name}  ${typeText(schema)}`;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const lines = properties.map(([property, inner]) => {
    const json = asJson(inner);
    const mark = required.includes(property) ? '!' : ' ';
    const meaning = String(json['description'] ?? '').split(/(?<=\.) /, 1)[0] ?? '';
    return `  ${`${property}${mark}`.padEnd(20)} ${typeText(json).padEnd(24)} ${meaning}`
      .trimEnd()
      .slice(0, WIDTH);
  });
  return [`${name}  (! required)`, ...lines].join('\n');
}

function typeText(schema: Json): string {
  const { $ref, type, anyOf, items } = schema;
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? '';
  if (Array.isArray(anyOf)) return anyOf.map((branch) => typeText(asJson(branch))).join('|');
  if (Array.isArray(schema['enum']) && schema['enum'].length <= 9) return schema['enum'].join('|');
  if ('const' in schema) return JSON.stringify(schema['const']);
  const types = Array.isArray(type) ? type : [type];
  const text = types.map((one) => (one === 'array' ? `${typeText(asJson(items))}[]` : String(one))).join('|');
  return schema['format'] === undefined ? text : `${text} ${String(schema['format'])}`;
}

function wrapped(start: string, text: string): string {
  const indent = ' '.repeat(start.length);
  let line = start;
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    if (line.length + word.length > WIDTH) {
      lines.push(line.trimEnd());
      line = indent;
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()].join('\n');
}

function member(value: Json, name: string): Json {
  return asJson(value[name]);
}

function asJson(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

if (import.meta.main) process.stdout.write(`${summary()}\n`);
