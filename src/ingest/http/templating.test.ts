import { expect, test } from 'vitest';
import type { StoredTemplate } from '../../store/templates.ts';
import { RenderableTemplates, type TemplateSource, valuesIn } from './templating.ts';

/** Templates that say this text; counts how often one is read. */
function sourceOf(text: string) {
  const published = new Map<string, number>();
  const source = {
    read: 0,
    publishedTemplate: async (which: string) => {
      const version = published.get(which) ?? 1;
      return which === 'none' ? null : { id: `id of ${which}`, version: which === 'draft' ? null : version };
    },
    template: async (which: string, version: number | null) => {
      source.read++;
      // Of a template nothing else is read.
      return { id: which, version, subject: `v${version}`, html: null, text } as StoredTemplate;
    },
  } satisfies TemplateSource & { read: number };
  return { source, published };
}

test('a published version is read once, and another one when it is published', async () => {
  const { source, published } = sourceOf('x');
  const templates = new RenderableTemplates(source);
  const first = await templates.published('a');
  expect(await templates.published('a')).toBe(first);
  expect(source.read).toBe(1);
  published.set('a', 2);
  expect(await templates.published('a')).not.toBe(first);
  expect(source.read).toBe(2);
});

test('what is not there, or not published, is told', async () => {
  const templates = new RenderableTemplates(sourceOf('x').source);
  expect(await templates.published('none')).toBe('template_not_found');
  expect(await templates.published('draft')).toBe('template_not_published');
  expect(templates.cached.templates).toBe(0);
});

test('no more are kept than 500, nor of more characters than 16 MiB', async () => {
  const many = new RenderableTemplates(sourceOf('x').source);
  for (let i = 0; i < 600; i++) await many.published(`t${i}`);
  expect(many.cached.templates).toBe(500);
  const parts = new RenderableTemplates(sourceOf('{{a}}'.repeat(10_000)).source);
  for (let i = 0; i < 20; i++) await parts.published(`t${i}`);
  expect(parts.cached.templates).toBe(12);
  const large = new RenderableTemplates(sourceOf('x'.repeat(512 * 1024)).source);
  for (let i = 0; i < 40; i++) await large.published(`t${i}`);
  expect(large.cached.templates).toBe(31);
  expect(large.cached.characters).toBeLessThanOrEqual(16 * 1024 * 1024);
});

test('a version that another one replaces while it is read is asked for again', async () => {
  const { source, published } = sourceOf('x');
  const read = source.template;
  source.template = async (which, version) => {
    if (version === 2) return await read(which, version);
    published.set('a', 2);
    return await read('gone', version).then(() => null as never);
  };
  expect(await new RenderableTemplates(source).published('a')).toMatchObject({ textOfHtml: false });
});

test('values in a text are one JSON object, not too deep', () => {
  expect(valuesIn('{"a": [1]}')).toEqual({ values: { a: [1] } });
  for (const text of [
    '',
    '[]',
    'null',
    '{',
    '"a"',
    '{"a": 1, "a": 2}',
    '{"__proto__": 1}',
    `{"a": ${'['.repeat(40)}`,
  ])
    expect(valuesIn(text), text).not.toHaveProperty('values');
});
