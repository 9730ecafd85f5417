/** The OpenAPI document by itself: its shape, its references, its examples, its figures. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../../../src/config/settings.ts';
import { OPERATIONS } from '../../../src/ingest/http/openapi/document.ts';
import { PROBLEMS } from '../../../src/ingest/http/openapi/problem-codes.ts';
import { problemsOf } from '../../../src/ingest/http/openapi/refusals.ts';
import { DOCUMENT, isJson, member, schemaFaults } from '../../support/openapi.ts';
import { references, shapeFaults } from '../../support/openapi-shape.ts';

const COMPONENTS = member(['components'])?.value ?? {};
/** Components for requests that no operation is found for. */
const STRAYS = ['UnknownPath', 'UnknownMethod', 'Options'];

function namesOf(kind: string): string[] {
  const section = COMPONENTS[kind];
  return isJson(section) ? Object.keys(section) : [];
}

describe('the shape', () => {
  test('is OpenAPI 3.1’s', () => {
    expect(shapeFaults(DOCUMENT)).toEqual([]);
    expect(DOCUMENT['openapi']).toBe('3.1.1');
  });
  test('a document that lacks or adds something is found out', () => {
    expect(
      shapeFaults({ openapi: '3.1.1', info: { title: 'x', extra: 1 }, paths: { '/x': { get: {} } } }),
    ).toEqual([
      '/info lacks version',
      '/info has extra',
      '/paths//x/get lacks operationId',
      '/paths//x/get lacks responses',
    ]);
  });
  test('the page that is named for the operations of administering lists them', () => {
    const { description, example } = member(['components', 'parameters', 'operation'])?.value ?? {};
    const [page = ''] = /docs\/\w+\.md/.exec(String(description)) ?? [];
    expect(readFileSync(page, 'utf8')).toContain(`| \`${String(example)}\` |`);
  });
  test('every reference leads somewhere', () => {
    const broken = [...references(DOCUMENT)].filter(
      (reference) => member(reference.slice(2).split('/')) === null,
    );
    expect(broken).toEqual([]);
  });
  test('every component is used', () => {
    const used = references(DOCUMENT);
    const unused = Object.keys(COMPONENTS)
      .filter((kind) => kind !== 'securitySchemes')
      .flatMap((kind) => namesOf(kind).map((name) => `#/components/${kind}/${name}`))
      .filter((reference) => !used.has(reference) && !STRAYS.some((stray) => reference.endsWith(stray)));
    expect(unused).toEqual([]);
  });
  test('every schema is one of JSON Schema 2020-12', () => {
    const ajv = new Ajv2020({ strict: false });
    const schemas = isJson(COMPONENTS['schemas']) ? COMPONENTS['schemas'] : {};
    for (const [name, schema] of Object.entries(schemas))
      expect([name, ajv.validateSchema(isJson(schema) ? schema : {}), ajv.errorsText()]).toEqual([
        name,
        true,
        'No errors',
      ]);
  });
});

describe('the operations', () => {
  test('have names that are theirs alone, and fit for methods', () => {
    const names = OPERATIONS.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z]+(?:[A-Z][a-z]+)+$/);
  });
  test('stand each at a place of its own', () => {
    const places = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });
  test('describe the parameters of their paths', () => {
    for (const { path } of OPERATIONS)
      for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) expect(namesOf('parameters')).toContain(name);
  });
  test('give each code with a status that it has', () => {
    const wrong = OPERATIONS.flatMap((operation) =>
      Object.entries(problemsOf(operation)).flatMap(([status, codes = []]) =>
        codes
          .filter((code) => !PROBLEMS[code].statuses.some((one) => one === Number(status)))
          .map((code) => `${operation.operationId} ${status} ${code}`),
      ),
    );
    expect(wrong).toEqual([]);
  });
  test('between them have every code but those for which there is no operation', () => {
    const given = OPERATIONS.flatMap((operation) => Object.values(problemsOf(operation)).flat());
    const nowhere = Object.keys(PROBLEMS).filter((code) => !given.some((one) => one === code));
    // Those of urlencoded forms, which only Mailgun's API takes, stand in the log.
    expect(nowhere).toEqual(['malformed_form', 'too_many_fields', 'method_not_allowed']);
  });
});

describe('the examples', () => {
  test('of requests and answers fit their schemas', () => {
    const faults = mediaPlaces(DOCUMENT, []).flatMap((at) => exampleFaults(at));
    expect(faults).toEqual([]);
  });
  test('of parameters and header fields fit theirs', () => {
    const faults = ['parameters', 'headers'].flatMap((kind) =>
      namesOf(kind).flatMap((name) => {
        const at = ['components', kind, name];
        return schemaFaults([...at, 'schema'], member(at)?.value['example']);
      }),
    );
    expect(faults).toEqual([]);
  });
  test('are in every body', () => {
    const bare = mediaPlaces(DOCUMENT, []).filter(
      (at) => Object.keys(member([...at, 'examples'])?.value ?? {}).length === 0,
    );
    expect(bare).toEqual([]);
  });
});

test('a figure that is told of a setting is its default', () => {
  const told = [...JSON.stringify(DOCUMENT).matchAll(/`([a-z]+\.[a-z_]+)` \(default (\d+)\)/g)];
  expect(told.length).toBeGreaterThan(8);
  for (const [, key = '', figure] of told) {
    expect(Object.keys(SETTINGS)).toContain(key);
    const setting = Object.entries(SETTINGS).find(([name]) => name === key)?.[1];
    expect([key, Number(figure)]).toEqual([key, setting?.fallback]);
  }
});

test('a setting that is named exists', () => {
  const named = [...JSON.stringify(DOCUMENT).matchAll(/`((?:api|limits|retention)\.[a-z_]+)`/g)].map(
    ([, key]) => key,
  );
  expect(named.filter((key) => !Object.keys(SETTINGS).some((known) => known === key))).toEqual([]);
});

/** Every place of a body, in one media type. */
function mediaPlaces(value: unknown, at: readonly string[]): string[][] {
  if (!isJson(value)) return [];
  const inner = Object.entries(value).flatMap(([name, item]) => mediaPlaces(item, [...at, name]));
  const { content } = value;
  const here =
    at[1] !== 'schemas' && isJson(content)
      ? Object.keys(content).map((type) => [...at, 'content', type])
      : [];
  return [...here, ...inner];
}

function exampleFaults(at: readonly string[]): string[] {
  const examples = Object.keys(member([...at, 'examples'])?.value ?? {});
  return examples.flatMap((name) => {
    const value = member([...at, 'examples', name])?.value['value'];
    return schemaFaults([...at, 'schema'], value).map((fault) => `${at.join(' ')} ${name}: ${fault}`);
  });
}
