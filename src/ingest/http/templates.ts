import { z } from 'zod';
import { MAX_TEMPLATE_TEXT } from '../../domain/template.ts';
import { Problem } from '../../http/problem.ts';
import type { Budget } from '../../lib/budget.ts';
import { PUBLISHED_TEMPLATE, SAVED_TEMPLATE, type TemplateOperations } from '../../operations/templates.ts';
import type { AdminDoor } from '../service.ts';
import type { Call } from './call.ts';
import { type ObjectBounds, readObject } from './json-object.ts';
import type { IngestOptions } from './options.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';
import { readNoBody } from './read-fields.ts';

/** `/api/v1/templates`: what messages are made from. The operations do it, as for people. */

/** What the endpoints need. */
export interface TemplateDeps {
  readonly admin: AdminDoor;
  /** Bytes of bodies in memory. */
  readonly budget: Budget;
  readonly options: Pick<IngestOptions, 'keyless'>;
}

const { html, text, basedOn } = SAVED_TEMPLATE;

/** The body of a version to be saved. */
export const templateToSaveSchema = z
  .strictObject({
    ...SAVED_TEMPLATE,
    html: html.default(null),
    text: text.default(null),
    basedOn: basedOn.default(null),
  })
  .describe('A version of a template.');
/** The body of a publication. */
export const templateToPublishSchema = z
  .strictObject(PUBLISHED_TEMPLATE)
  .describe('The version that is sent from now on.');

const version = z.int().min(1);
/** The body of a rendering. */
export const templateToRenderSchema = z
  .strictObject({
    variables: z.record(z.string(), z.unknown()).default({}).describe('The values for the names in it.'),
    version: version.nullable().default(null).describe('Null: the newest.'),
  })
  .describe('Values to render a template with.');

/** Three bytes a character, at most, and what JSON escapes. */
const BOUNDS: ObjectBounds = {
  maxBytes: 4 * 2 * MAX_TEMPLATE_TEXT,
  json: { maxDepth: 32, maxValues: 100_000 },
  advice: 'Shorten the template.',
};

/** The parameters of one template. */
export const TEMPLATE_PARAMETERS = {
  version: {
    schema: z.coerce.number().int().min(1).max(1e9).optional(),
    code: 'out_of_range',
    rule: 'the number of a version',
    meaning: 'The version whose texts are shown (default: the newest).',
    example: '2',
  },
};

/** Answers with all templates, without their texts. */
export async function answerTemplates(call: Call, deps: TemplateDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  call.exchange.json(200, { templates: await ask('templates', call, deps, {}) });
}

/** Answers with a template. */
export async function answerTemplate(call: Call, deps: TemplateDeps): Promise<void> {
  const { version: asked = null } = readParameters(call.exchange.query, TEMPLATE_PARAMETERS);
  call.exchange.json(200, await ask('template', call, deps, { alias: named(call), version: asked }));
}

/** Saves a version. */
export async function answerTemplateSaving(call: Call, deps: TemplateDeps): Promise<void> {
  refuseTestKey(call, deps);
  const request = await readObject(call, templateToSaveSchema, BOUNDS, deps.budget);
  await call.checkKey();
  const saved = await ask('saveTemplate', call, deps, { alias: named(call), ...request });
  call.exchange.json(request.basedOn === null ? 201 : 200, saved);
}

/** Says which version is sent. */
export async function answerTemplatePublication(call: Call, deps: TemplateDeps): Promise<void> {
  refuseTestKey(call, deps);
  const request = await readObject(call, templateToPublishSchema, BOUNDS, deps.budget);
  await call.checkKey();
  call.exchange.json(200, await ask('publishTemplate', call, deps, { alias: named(call), ...request }));
}

/** Answers with what a template says. */
export async function answerTemplateRendering(call: Call, deps: TemplateDeps): Promise<void> {
  const request = await readObject(call, templateToRenderSchema, BOUNDS, deps.budget);
  const { subject, html, text } = await ask('template', call, deps, {
    alias: named(call),
    version: request.version,
  });
  const { variables } = request;
  call.exchange.json(200, await ask('previewTemplate', call, deps, { subject, html, text, variables }));
}

/** Deletes a template. */
export async function answerTemplateRemoval(call: Call, deps: TemplateDeps): Promise<void> {
  refuseTestKey(call, deps);
  const { exchange, caller } = call;
  await readNoBody(exchange, deps.budget.share(caller.key.id));
  readParameters(exchange.query, NO_PARAMETERS);
  await ask('deleteTemplate', call, deps, { alias: named(call) });
  exchange.empty(204);
}

/** Live mail is made from the same templates, and test keys are in many hands; `waybill dev` has no live mail. */
function refuseTestKey({ caller }: Call, { options }: TemplateDeps): void {
  if (caller.key.mode !== 'test' || options.keyless !== null) return;
  const detail =
    'A test key may see and render templates; live mail is made from them, so only a live key changes them.';
  throw new Problem(409, 'test_key', detail);
}

function named({ params }: Call): string {
  return params['template'] ?? '';
}

/** Runs an operation as the calling key, which the activity names. */
async function ask<K extends keyof TemplateOperations>(
  operation: K,
  { caller, sourceAddress }: Call,
  { admin }: Pick<TemplateDeps, 'admin'>,
  request: Parameters<TemplateOperations[K]>[0],
): Promise<Awaited<ReturnType<TemplateOperations[K]>>> {
  const who = { keyName: caller.key.name, sourceAddress };
  // Sound because the operation of this name answers so.
  return (await admin.act(who, operation, request)) as Awaited<ReturnType<TemplateOperations[K]>>;
}
