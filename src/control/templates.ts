import {
  MAX_TEMPLATE_SAMPLE,
  MAX_TEMPLATE_VERSIONS,
  MAX_TEMPLATES,
  type TemplateSummary,
  type TemplateTexts,
  type TemplateValues,
} from '../domain/template.ts';
import { type FieldFault, Problem } from '../http/problem.ts';
import { formatTimestamp, inSlices } from '../lib/clock.ts';
import { createIdSource, isId } from '../lib/id.ts';
import { OperationError } from '../operations/call.ts';
import type { RequestOf } from '../operations/table.ts';
import type {
  RenderedTemplateView,
  TemplateOperations,
  TemplateSummaryView,
  TemplateView,
} from '../operations/templates.ts';
import type { StoredTemplate } from '../store/templates.ts';
import { compileTemplate } from '../templates/compile.ts';
import { renderTemplate } from '../templates/render.ts';
import type { LocalDeps } from './deps.ts';
import { ASKING } from './door.ts';
import { asRefusal, faulty } from './suppression-view.ts';

/** The operations on templates. */

type TemplateDeps = Pick<LocalDeps, 'templates' | 'clock' | 'random'>;

/** Most templates, and versions of one. */
export const TEMPLATE_BOUNDS = { templates: MAX_TEMPLATES, versions: MAX_TEMPLATE_VERSIONS };

/** See {@link TemplateOperations}. */
export function templateOperations(deps: TemplateDeps): TemplateOperations {
  const nextId = createIdSource(deps.clock, deps.random, 'tpl_');
  return {
    templates: async () => (await deps.templates.templates()).map(summaryView),
    template: async ({ alias, version = null }) => templateView(await find(alias, version, deps)),
    saveTemplate: (request) => saveTemplate(request, nextId(), deps),
    publishTemplate: async ({ alias, version }) => {
      const published = await deps.templates.publishTemplate(alias, version, deps.clock.wall());
      if (published === 'no_template') throw noTemplate(alias);
      if (published === 'no_version') throw noVersion(alias, version);
      return templateView(await find(alias, null, deps));
    },
    deleteTemplate: async ({ alias }) => {
      if (!(await deps.templates.removeTemplate(alias))) throw noTemplate(alias);
      return { deleted: alias };
    },
    previewTemplate: async (request) => preview(request),
  };
}

async function saveTemplate(
  request: RequestOf<'saveTemplate'>,
  id: string,
  deps: TemplateDeps,
): Promise<TemplateView> {
  const { alias, name, subject, html, text, sample = {}, note = '', basedOn } = request;
  const faults = templateFaults(request);
  const [first] = faults;
  if (first !== undefined) {
    const problem = new Problem(400, 'invalid_request', `${first.pointer.slice(1)}: ${first.detail}`, {
      errors: faults,
    });
    const lines = faults.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
    throw new OperationError('invalid', lines.join('\n'), { faults, cause: problem });
  }
  if (isId(alias, 'tpl_')) throw faulty('/alias', 'template_alias', 'Must not look like an id.');
  const by = ASKING.getStore()?.name ?? '';
  const saved = { id, alias, name, subject, html, text, sample, at: deps.clock.wall(), by, note };
  switch (await deps.templates.saveTemplate(saved, basedOn, TEMPLATE_BOUNDS)) {
    case 'not_newest':
      throw await notNewest(alias, basedOn, deps);
    case 'too_many':
      throw refusal(409, 'templates_full', `There may be ${MAX_TEMPLATES} templates; delete one.`);
    default:
      return templateView(await find(alias, null, deps));
  }
}

/** What is wrong with what is to be saved. */
export function templateFaults({
  subject,
  html,
  text,
  sample = {},
}: TemplateTexts & { readonly sample?: TemplateValues | undefined }): FieldFault[] {
  const faults: FieldFault[] = compileTemplate({ subject, html, text }).faults.map(
    ({ field, line, code, detail }) => ({ pointer: `/${field}`, code, detail: `Line ${line}: ${detail}` }),
  );
  if ((html ?? '') === '' && (text ?? '') === '')
    faults.push({ pointer: '/text', code: 'required', detail: 'A template needs HTML or text, or both.' });
  else if (text === '')
    faults.push({
      pointer: '/text',
      code: 'required',
      detail: 'It is empty; leave it out (null), and it is made from the HTML.',
    });
  if (/[\r\n]/.test(subject))
    faults.push({ pointer: '/subject', code: 'subject_value', detail: 'Must be one line.' });
  for (const [field, source] of Object.entries({ subject, html, text } satisfies TemplateTexts))
    if (source?.includes('\0') || source?.isWellFormed() === false)
      faults.push({ pointer: `/${field}`, code: 'type', detail: 'Must be text, without NUL.' });
  if (JSON.stringify(sample).length > MAX_TEMPLATE_SAMPLE)
    faults.push({
      pointer: '/sample',
      code: 'too_long',
      detail: `Must have at most ${MAX_TEMPLATE_SAMPLE} characters as JSON.`,
    });
  return faults;
}

/** What a template would say, for those who edit it. */
async function preview({ variables, ...texts }: RequestOf<'previewTemplate'>): Promise<RenderedTemplateView> {
  const { template, faults } = compileTemplate(texts);
  const rendered = await inSlices(renderTemplate(template, variables));
  const all = [...faults, ...rendered.faults];
  return {
    ...rendered.texts,
    faults: all.map(({ field, line, code, detail }) => ({ field, line, code, detail })),
    missing: [...new Set(rendered.missing.map(({ name }) => name))],
  };
}

async function find(
  which: string,
  version: number | null,
  { templates }: TemplateDeps,
): Promise<StoredTemplate> {
  const found = await templates.template(which, version);
  if (found !== null) return found;
  if (version !== null && (await templates.publishedTemplate(which)) !== null)
    throw noVersion(which, version);
  throw noTemplate(which);
}

function summaryView({ createdAt, updatedAt, ...rest }: TemplateSummary): TemplateSummaryView {
  return { ...rest, createdAt: formatTimestamp(createdAt), updatedAt: formatTimestamp(updatedAt) };
}

function templateView({ createdAt, updatedAt, versions, ...rest }: StoredTemplate): TemplateView {
  return {
    ...rest,
    createdAt: formatTimestamp(createdAt),
    updatedAt: formatTimestamp(updatedAt),
    versions: versions.map(({ at, ...version }) => ({ ...version, at: formatTimestamp(at) })),
  };
}

function noTemplate(which: string): OperationError {
  const detail = `There is no template ${which}.`;
  return asRefusal(
    'not_found',
    new Problem(404, 'template_not_found', detail),
    `${detail} See: waybill templates list`,
  );
}

function noVersion(which: string, version: number | null): OperationError {
  const detail = `The template ${which} has no version ${version}, or no longer.`;
  return asRefusal('not_found', new Problem(404, 'template_not_found', detail));
}

async function notNewest(
  alias: string,
  basedOn: number | null,
  { templates }: TemplateDeps,
): Promise<OperationError> {
  const newest = await templates.template(alias, null);
  if (newest === null)
    return refusal(409, 'template_changed', `There is no template ${alias} any more; save it as new.`);
  const { version } = newest;
  const detail =
    basedOn === null
      ? `There is a template ${alias} already, in version ${version}.`
      : `This was based on version ${basedOn} of ${alias}, but version ${version} is the newest.`;
  return refusal(409, 'template_changed', detail);
}

function refusal(status: number, code: string, detail: string): OperationError {
  return asRefusal('refused', new Problem(status, code, detail));
}
