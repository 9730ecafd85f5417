/** Writes src/client/types.ts from the schemas of the API's bodies: `node tools/client-types.ts`. */
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import * as answers from '../src/ingest/http/answers.ts';
import { NAMED } from '../src/ingest/http/openapi/json-schema.ts';

/** Where the types lie. */
export const CLIENT_TYPES = new URL('../src/client/types.ts', import.meta.url);

const HEAD = `// biome-ignore-all format: it is generated
/**
 * What the API takes and gives: made by \`node tools/client-types.ts\` from the server's schemas. Times are RFC 3339 in
 * UTC. What does not apply is absent from an answer, or \`null\`; in what is sent, \`null\` equals absent.
 */
`;

/** What the client's calls send. */
const SENT = ['Submission', 'TemplateToSave'] as const;
/** What they are answered. */
// biome-ignore format: a table
const ANSWERED = ['Receipt', 'Verdict', 'BatchReceipt', 'StatusRecord', 'MessagesPage', 'AttemptsPage', 'EventsPage', 'Templates', 'Template', 'Problem'] as const;

/** Words of a list that have a name for programs, and in the description stand where they are used. */
const WORDS = {
  MessageOutcome: answers.messageOutcomeSchema,
  WaitingFor: answers.waitingForSchema,
  Priority: answers.prioritySchema,
  RecipientType: answers.recipientTypeSchema,
};

const SCHEMAS: ReadonlyMap<string, z.core.$ZodType> = new Map(Object.entries({ ...WORDS, ...NAMED }));
const NAMES = new Map([...SCHEMAS].map(([name, schema]) => [schema, name]));
/** Of comments, in characters. */
const WIDTH = 120;

/** The file as it should be. */
export function clientTypes(): string {
  const sent = withInner(SENT, 'sent');
  const names = new Set([...sent, ...withInner(ANSWERED, 'answered')]);
  const declared = [...SCHEMAS].filter(([name]) => names.has(name));
  return (
    HEAD +
    declared.map(([name, schema]) => declaration(name, schema, sent.has(name) ? 'sent' : 'answered')).join('')
  );
}

/** Which way a type goes. */
type Way = 'sent' | 'answered';

/** Names, and all those that their types name. */
function withInner(names: readonly string[], way: Way): Set<string> {
  const found = new Set<string>();
  const visit = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    const schema = SCHEMAS.get(name);
    const text = schema === undefined ? '' : declaration(name, schema, way);
    // Without comments: they name things that are no types.
    for (const [word] of text.replaceAll(/\/\*\*.*?\*\//gs, '').matchAll(/\b[A-Z]\w+/g))
      if (SCHEMAS.has(word)) visit(word);
  };
  for (const name of names) visit(name);
  return found;
}

function declaration(name: string, schema: z.core.$ZodType, way: Way): string {
  const head = `\n${comment(meaningOf(schema), '')}export `;
  const { def } = typed(schema);
  if (def.type !== 'object') return `${head}type ${name} = ${definitionOf(schema, way)};\n`;
  const base = baseOf(schema);
  const inherited = base === null ? {} : shapeOf(base);
  const own = Object.entries(def.shape).filter(([member]) => !(member in inherited));
  const extending = base === null ? '' : `extends ${NAMES.get(base)} `;
  const lines = own.map(([member, inner]) => memberText(member, inner, way));
  return `${head}interface ${name} ${extending}{\n${lines.join('')}}\n`;
}

/** A named schema of which this one has every member, and more; of several the largest. */
function baseOf(schema: z.core.$ZodType): z.core.$ZodType | null {
  const members = shapeOf(schema);
  const size = (one: z.core.$ZodType) => Object.keys(shapeOf(one)).length;
  const isBase = (one: z.core.$ZodType) =>
    size(one) > 0 &&
    size(one) < size(schema) &&
    Object.entries(shapeOf(one)).every(([member, inner]) => members[member] === inner);
  return [...SCHEMAS.values()].filter(isBase).sort((a, b) => size(b) - size(a))[0] ?? null;
}

function memberText(name: string, schema: z.core.$ZodType, way: Way): string {
  const type = typeOf(schema, way);
  const isOptional =
    ['optional', 'default'].includes(typed(schema).def.type) || (way === 'sent' && / \| null$/.test(type));
  const text = isOptional && way === 'sent' ? `${type} | undefined` : type;
  return `${comment(memberMeaning(schema), '  ')}  readonly ${name}${isOptional ? '?' : ''}: ${text};\n`;
}

/** A schema's type by its name, if it or its words have one. */
function typeOf(schema: z.core.$ZodType, way: Way): string {
  const name = NAMES.get(schema);
  if (name !== undefined) return name;
  const text = definitionOf(schema, way);
  const words = Object.entries(WORDS).find(([, named]) => definitionOf(named, way) === text);
  return words?.[0] ?? text;
}

function definitionOf(schema: z.core.$ZodType, way: Way): string {
  const { def } = typed(schema);
  switch (def.type) {
    case 'optional':
    case 'default':
      return typeOf(def.innerType, way);
    case 'nullable':
      return `${typeOf(def.innerType, way)} | null`;
    case 'array': {
      const item = typeOf(def.element, way);
      return `readonly ${item.includes(' | ') ? `(${item})` : item}[]`;
    }
    case 'record':
      return `Readonly<Record<string, ${typeOf(def.valueType, way)}>>`;
    case 'union':
      return def.options.map((option) => typeOf(option, way)).join(' | ');
    case 'enum':
      return words(Object.values(def.entries));
    case 'literal':
      return words(def.values);
    case 'string': {
      // What answers may say of such a list grows.
      const known = z.globalRegistry.get(schema)?.['enum'];
      return way === 'sent' && Array.isArray(known) ? words(known) : 'string';
    }
    case 'unknown':
    case 'number':
    case 'boolean':
    case 'null':
      return def.type;
    default:
      throw new Error(`There is no type for a schema of type ${def.type}.`);
  }
}

function words(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(' | ');
}

/** What there is to say of a member; '' where its type has a name, and says it there. */
function memberMeaning(schema: z.core.$ZodType): string {
  return NAMES.has(schema) ? '' : meaningOf(schema);
}

/** What a schema says of itself. */
function meaningOf(schema: z.core.$ZodType): string {
  const own = z.globalRegistry.get(schema)?.description;
  const { def } = typed(schema);
  if (own !== undefined || (def.type !== 'optional' && def.type !== 'nullable')) return own ?? '';
  return memberMeaning(def.innerType);
}

function shapeOf(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> {
  const { def } = typed(schema);
  return def.type === 'object' ? def.shape : {};
}

/** Every schema of zod's is one of these. */
function typed(schema: z.core.$ZodType) {
  return (schema as z.core.$ZodTypes)._zod;
}

function comment(text: string, indent: string): string {
  if (text === '') return '';
  const line = `${indent}/** ${text} */\n`;
  return line.length <= WIDTH ? line : `${indent}/**\n${wrapped(text, `${indent} * `)}${indent} */\n`;
}

function wrapped(text: string, start: string): string {
  const lines = [start];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length > WIDTH) lines.push(`${start}${word} `);
    else lines[lines.length - 1] = `${last}${word} `;
  }
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

if (import.meta.main) writeFileSync(CLIENT_TYPES, clientTypes());
