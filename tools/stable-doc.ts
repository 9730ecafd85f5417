/**
 * Writes docs/stable.txt: what programs and operators rely on, as docs/stability.md promises it: `node tools/stable-doc.ts`.
 * It adds what is new and never removes a fact: what is gone has to be taken out by hand, by whoever means it. Nor does it add
 * what a known request demands that it did not demand before: that breaks those who send it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { program } from '../src/cli/run.ts';
import { processTerminal } from '../src/cli/terminal.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { PROVIDER_NAMES } from '../src/domain/drop-in.ts';
import { EVENT_TYPES } from '../src/domain/event.ts';
import { SCOPES } from '../src/domain/key.ts';
import { describeApi, OPERATIONS as ENDPOINTS } from '../src/ingest/http/openapi/document.ts';
import { FIELD_CODES } from '../src/ingest/http/openapi/fault-codes.ts';
import { PROBLEMS } from '../src/ingest/http/openapi/problem-codes.ts';
import { providerRoutes } from '../src/ingest/http/providers/providers.ts';
import { systemClock } from '../src/lib/clock.ts';
import { systemRandom } from '../src/lib/random.ts';
import { METRICS } from '../src/observe/metric-table.ts';
import { OPERATION_NAMES, OPERATIONS } from '../src/operations/table.ts';
import { requestOf, resultOf, type Schema } from './operations-doc.ts';

/** Where it lies. */
export const STABLE = new URL('../docs/stable.txt', import.meta.url);

const HEAD = `# What stays as it is within a major version (docs/stability.md). Written by: node tools/stable-doc.ts
# A line is a thing and its facts. name? may be left out, name! must be given or is always there, name:type, name="value".
`;

/** Everything that is stable now, a fact each: the thing, then what is so of it. */
export function stableFacts(): ReadonlySet<string> {
  const facts = new Set<string>();
  for (const [thing, tokens] of things())
    for (const token of tokens.length === 0 ? ['is'] : tokens) facts.add(`${thing} ${token}`);
  return facts;
}

/** The facts of a document. */
export function factsIn(text: string): ReadonlySet<string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Set(
    lines.flatMap((line) => {
      const [thing = '', told = ''] = line.split(' => ');
      return told.split(' ').map((token) => `${thing} ${token}`);
    }),
  );
}

/** What requests and commands of a document demand now, and did not. Of a part that is new, such as an optional list, nothing. */
export function demandsSince(before: string, now: ReadonlySet<string> = stableFacts()): readonly string[] {
  const known = factsIn(before);
  const things = new Set([...known].map(thingOf));
  const parts = new Set([...known].map((fact) => fact.replace(/[?!:=].*$/, '')));
  return [...now].filter((fact) => {
    if (known.has(fact) || !things.has(thingOf(fact)) || !DEMAND.test(fact)) return false;
    const [, whole] = /^(.*?)(?:\[\])*\.[^.]+!$/.exec(fact) ?? [];
    return whole === undefined || parts.has(whole);
  });
}

/** A fact that asks something of those who send requests, or type commands. */
const DEMAND = /^(?:takes |operation \S+ takes |waybill).*!$/;

function thingOf(fact: string): string {
  return fact.slice(0, fact.lastIndexOf(' '));
}

/** The document with all that it has, and what is new but no demand. */
export function stableDoc(before: string): string {
  const told = new Map<string, string[]>();
  const now = stableFacts();
  const demands = new Set(demandsSince(before, now));
  const facts = [...factsIn(before), ...[...now].filter((fact) => !demands.has(fact))];
  for (const fact of [...new Set(facts)].sort()) {
    const thing = thingOf(fact);
    told.set(thing, [...(told.get(thing) ?? []), fact.slice(thing.length + 1)]);
  }
  return HEAD + [...told].map(([thing, tokens]) => `${thing} => ${tokens.join(' ')}\n`).join('');
}

type Thing = readonly [thing: string, tokens: readonly string[]];

function things(): readonly Thing[] {
  return [
    ...endpoints(),
    ...schemas(),
    ...OPERATION_NAMES.flatMap((name): Thing[] => [
      [`operation ${name} takes`, taken(requestOf(name))],
      [`operation ${name} gives`, given(resultOf(name))],
      [`operation ${name}`, [`by=${OPERATIONS[name].access.role}`]],
    ]),
    ...PROVIDER_NAMES.map((name): Thing => [`provider ${name}`, routesOf(name)]),
    ...commandsOf(program({ terminal: processTerminal, clock: systemClock, random: systemRandom }, false)),
    [
      'refusals',
      Object.entries(PROBLEMS).flatMap(([code, { statuses }]) => statuses.map((one) => `${code}=${one}`)),
    ],
    ['faults of fields', FIELD_CODES],
    ['events', Object.keys(EVENT_TYPES)],
    ['scopes', SCOPES],
    ['settings', Object.keys(SETTINGS)],
    ...Object.entries(METRICS).map(
      ([name, { type, labels }]): Thing => [
        `metric ${name}`,
        [type, ...Object.keys(labels).map((label) => `{${label}}`)],
      ],
    ),
  ];
}

function endpoints(): readonly Thing[] {
  return ENDPOINTS.map(({ method, path, access, query, requestHeaders, body, answers }) => [
    `${method} ${path}`,
    [
      ...(access?.scopes ?? []).map((scope) => `by=${scope}`),
      ...Object.keys(query).map((name) => `?${name}`),
      ...requestHeaders.map((name) => `header=${name}`),
      ...Object.keys(body?.content ?? {}).map((type) => `takes=${type}`),
      ...answers.flatMap(({ status, content }) => Object.keys(content).map((type) => `${status}=${type}`)),
      ...answers.map(({ status }) => String(status)),
    ],
  ]);
}

/** The schemas of the API's description, by whether they are in requests or in answers. */
function schemas(): readonly Thing[] {
  // Sound because the document is made of JSON Schema.
  const { paths, components } = describeApi() as unknown as Description;
  const reach = (from: unknown) => {
    const found = new Set<string>();
    const look = (value: unknown): void => {
      for (const [, room = '', name = ''] of JSON.stringify(value).matchAll(
        /"#\/components\/(\w+)\/([^"]+)"/g,
      )) {
        const next = components[room]?.[name];
        if (next === undefined || found.has(`${room}/${name}`)) continue;
        found.add(`${room}/${name}`);
        look(next);
      }
    };
    look(from);
    return Object.entries(components['schemas'] ?? {}).filter(([name]) => found.has(`schemas/${name}`));
  };
  const all = Object.values(paths).flatMap((path) => Object.values(path));
  return [
    ...reach(all.map(({ requestBody = null }) => requestBody)).map(
      ([name, schema]): Thing => [`takes ${name}`, taken(schema)],
    ),
    ...reach(all.map(({ responses }) => responses)).map(
      ([name, schema]): Thing => [`gives ${name}`, given(schema)],
    ),
  ];
}

interface Description {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { requestBody?: unknown; responses: unknown }>>>
  >;
  readonly components: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
}

/** What a request may hold: each field, which of them may be left out, and every type and value that it takes. */
function taken(schema: Schema, path = ''): string[] {
  const own = path === '' ? [] : typesOf(schema).map((type) => `${path}:${type}`);
  return [
    ...own,
    ...fieldsOf(schema).flatMap(([name, field, isNeeded]) => {
      return [`${under(path, name)}${isNeeded ? '!' : '?'}`, ...taken(field, under(path, name))];
    }),
    ...within(schema, path, taken),
  ];
}

/** What an answer holds: each field, which of them are always there, its types, and values that it may have. */
function given(schema: Schema, path = ''): string[] {
  const types = typesOf(schema);
  const isValue = (type: string) => /^["\d]/.test(type);
  const kinds = types.filter((type) => !isValue(type)).sort();
  const own = [
    ...types.filter(isValue).map((value) => `${path}=${value}`),
    ...(kinds.length > 0 ? [`${path}:${kinds.join('|')}`] : []),
  ];
  return [
    ...(path === '' ? [] : own),
    ...fieldsOf(schema).flatMap(([name, field, isNeeded]) => {
      const inner = given(field, under(path, name));
      return isNeeded ? [`${under(path, name)}!`, ...inner] : inner;
    }),
    ...within(schema, path, given),
  ];
}

function under(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function fieldsOf({ properties = {}, required = [], title }: Schema): (readonly [string, Schema, boolean])[] {
  if (title !== undefined) return [];
  return Object.entries(properties).map(([name, field]) => [name, field, required.includes(name)]);
}

/** Fields of the items of a list, and of each of several shapes. */
function within(schema: Schema, path: string, read: (schema: Schema, path: string) => string[]): string[] {
  const { title, anyOf = [], oneOf = [], allOf = [], items } = schema;
  if (title !== undefined) return [];
  const shapes = [...anyOf, ...oneOf, ...allOf].flatMap((shape) => read(shape, path));
  const ofItems = items === undefined ? [] : read(items, `${path}[]`);
  const isInner = (token: string, from: string) => /^[.[]/.test(token.slice(from.length));
  return [
    ...shapes.filter((token) => path === '' || isInner(token, path)),
    ...ofItems.filter((token) => isInner(token, `${path}[]`)),
  ];
}

/** The types of a value, and its values where these are listed, without a blank. */
function typesOf(schema: Schema): string[] {
  if (schema.title !== undefined) return [`<${schema.title}>`];
  if (schema.$ref !== undefined) return [`<${schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)}>`];
  const shapes = schema.anyOf ?? schema.oneOf;
  if (shapes !== undefined) return [...new Set(shapes.flatMap(typesOf))];
  if (schema.allOf !== undefined) return [...new Set(schema.allOf.flatMap(typesOf))];
  const values = schema.const !== undefined ? [schema.const] : schema.enum;
  if (values !== undefined) return values.map((value) => JSON.stringify(value).replaceAll(' ', '_'));
  if (schema.type === 'array') return typesOf(schema.items ?? {}).map((type) => `${type}[]`);
  return [schema.type ?? 'any'].flat().map((type) => (type === 'integer' ? 'number' : type));
}

/** The calls of a provider's API, with a comma for the blank. */
function routesOf(name: (typeof PROVIDER_NAMES)[number]): string[] {
  const own = providerRoutes([name]).filter(({ path }) => !path.startsWith(`/${name}/`));
  return own.map(({ method, path }) => `${method},${path}`);
}

function demanded(name: string, isNeeded: boolean): readonly string[] {
  return isNeeded ? [name, `${name}!`] : [name];
}

function commandsOf(command: Command, parents = ''): readonly Thing[] {
  const name = `${parents}${command.name()}`;
  const tokens = [
    ...command.registeredArguments.flatMap((argument) => demanded(`<${argument.name()}>`, argument.required)),
    ...command.options.flatMap(({ long, short, mandatory }) => demanded(long ?? short ?? '', mandatory)),
  ];
  return [[name, tokens], ...command.commands.flatMap((child) => commandsOf(child, `${name} `))];
}

if (import.meta.main) writeFileSync(STABLE, stableDoc(existing()));

/** The document as it is; empty where there is none. */
function existing(): string {
  try {
    return readFileSync(STABLE, 'utf8');
  } catch {
    return '';
  }
}
