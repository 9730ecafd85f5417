import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Waybill } from '../client/waybill.ts';
import { ALIAS, ALIAS_RULE, type TemplateTexts, type TemplateValues } from '../domain/template.ts';
import { atOnce } from '../lib/clock.ts';
import { readError } from '../lib/error.ts';
import { OperationError } from '../operations/call.ts';
import type { TemplateOperations, TemplateView } from '../operations/templates.ts';
import { compileTemplate } from '../templates/compile.ts';
import { renderTemplate } from '../templates/render.ts';
import { type Context, print } from './context.ts';
import { groupCommand } from './operation-command.ts';
import { connect, type RemoteOptions, remoteCommand, taken } from './remote.ts';
import { withOperations } from './session.ts';
import { type FolderTemplate, objectIn, readFolder, writeFolder } from './template-folder.ts';
import { Exit } from './terminal.ts';

/** `waybill templates …`: what messages are made from. A folder of them can live in a repository. */
export function templatesCommand(context: Context): Command {
  const pull = pullCommand(context);
  const push = pushCommand(context);
  return groupCommand(context, {
    name: 'templates',
    title: 'what mail says',
    order: [
      'list',
      'show',
      saveCommand(context),
      publishCommand(context),
      renderCommand(context),
      pull,
      push,
      'delete',
    ],
  });
}

/** What is asked of templates, here or far away. */
type Templates = Pick<TemplateOperations, 'templates' | 'template' | 'saveTemplate' | 'publishTemplate'>;

async function withTemplates(
  context: Context,
  options: RemoteOptions,
  use: (templates: Templates) => Promise<void>,
): Promise<void> {
  const client = await connect(options);
  if (client !== null) return await use(farTemplates(client));
  await withOperations(context, options, {}, use);
}

function farTemplates(client: Waybill): Templates {
  return {
    templates: async () => taken(await client.templates()),
    // Sound because it is the API's own JSON.
    template: async ({ alias, version = null }) =>
      taken(await client.template(alias, version)) as TemplateView,
    saveTemplate: async ({ alias, ...version }) =>
      taken(await client.saveTemplate(alias, version)) as TemplateView,
    publishTemplate: async ({ alias, version }) =>
      taken(await client.publishTemplate(alias, version)) as TemplateView,
  };
}

interface SaveOptions extends RemoteOptions {
  readonly name?: string;
  readonly subject?: string;
  readonly html?: string;
  readonly text?: string;
  readonly sample?: string;
  readonly note?: string;
}

function saveCommand(context: Context): Command {
  return remoteCommand('save', 'save a version of one template; what is not given stays as it is', [
    "waybill templates save welcome --subject 'Welcome, {{name}}' --html welcome.html",
    'waybill templates save welcome --text welcome.txt --note "Another greeting"',
  ])
    .argument('<alias>', 'what requests call it: 1 to 64 of a-z 0-9 . _ -, a letter or digit first')
    .option('--name <name>', 'for people (default: the alias)')
    .option('--subject <text>', 'the template of the subject')
    .option('--html <file>', 'the template of the HTML')
    .option('--text <file>', 'the template of the text (default: made from the HTML)')
    .option('--sample <file>', 'values to show it with, as a JSON object')
    .option('--note <text>', 'what this version changes')
    .addHelpText('after', '\nIt is sent once it is published: waybill templates publish.')
    .action(
      async (alias: string, { name, subject, html, text, sample, note = '', ...options }: SaveOptions) => {
        const given = {
          ...(name !== undefined && { name }),
          ...(subject !== undefined && { subject }),
          ...(html !== undefined && { html: await readText(html) }),
          ...(text !== undefined && { text: await readText(text) }),
          ...(sample !== undefined && { sample: objectIn(await readText(sample), sample) }),
        };
        await withTemplates(context, options, async (templates) => {
          const newest = await newestOf(alias, templates);
          const { version: basedOn = null, ...former } = newest ?? { ...EMPTY, name: alias };
          const whole = { ...former, ...given };
          const saved = await templates.saveTemplate({
            alias,
            name: whole.name,
            subject: whole.subject,
            html: whole.html,
            text: whole.text,
            sample: { ...whole.sample },
            note,
            basedOn,
          });
          print(context, options, saved, () =>
            saved.version === basedOn
              ? `${alias}: unchanged`
              : `${alias}: saved as version ${saved.version}${basedOn === null ? ', new' : ''}`,
          );
        });
      },
    );
}

const EMPTY = { version: null, subject: '', html: null, text: null, sample: {} };

/** The newest version of a template; null: there is none. */
async function newestOf(alias: string, templates: Templates): Promise<TemplateView | null> {
  return await templates.template({ alias }).catch((error: unknown) => {
    if (error instanceof OperationError && error.code === 'not_found') return null;
    throw error;
  });
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Exit(1, `${file} cannot be read: ${readError(error)}`);
  }
}

interface PublishOptions extends RemoteOptions {
  readonly none?: true;
}

function publishCommand(context: Context): Command {
  return remoteCommand('publish', 'say which version of a template is sent', [
    'waybill templates publish welcome',
    'waybill templates publish welcome 3',
    'waybill templates publish welcome --none',
  ])
    .argument('<alias>', 'from: waybill templates list')
    .argument('[version]', 'its number (default: the newest)')
    .option('--none', 'send none: messages with the template are refused')
    .action(async (alias: string, given: string | undefined, options: PublishOptions) => {
      if (given !== undefined && !/^[1-9]\d{0,8}$/.test(given))
        throw new Exit(2, `${given} is not a version number.`);
      await withTemplates(context, options, async (templates) => {
        const newest = async () => given ?? (await templates.template({ alias })).version;
        const version = options.none === true ? null : Number(await newest());
        const published = await templates.publishTemplate({ alias, version });
        print(context, options, published, () =>
          version === null ? `${alias} is not sent.` : `${alias} is sent in version ${version}.`,
        );
      });
    });
}

interface RenderOptions extends RemoteOptions {
  readonly variables?: string;
  readonly dir?: string;
}

function renderCommand(context: Context): Command {
  return remoteCommand('render', 'show what a template says with some values', [
    'waybill templates render welcome',
    'waybill templates render welcome --variables values.json',
    'waybill templates render welcome --dir templates',
  ])
    .argument('<alias>', 'from: waybill templates list')
    .option('--variables <file>', 'the values, as a JSON object (default: its sample)')
    .option('--dir <dir>', 'render the template of this folder; no server is asked')
    .addHelpText('after', '\nExit status: 1 where something is wrong, or a name has no value.')
    .action(async (alias: string, options: RenderOptions) => {
      const { variables } = options;
      const given = variables === undefined ? null : objectIn(await readText(variables), variables);
      const show = (template: TemplateTexts & { readonly sample: TemplateValues }) =>
        showRendered(context, options, template, given ?? template.sample);
      if (options.dir === undefined)
        return await withTemplates(context, options, async (templates) =>
          show(await templates.template({ alias })),
        );
      const found = (await readFolder(options.dir)).find((one) => one.alias === alias);
      if (found === undefined) throw new Exit(1, `${options.dir} has no template ${alias}.`);
      show(found);
    });
}

function showRendered(
  context: Context,
  options: RenderOptions,
  texts: TemplateTexts,
  values: TemplateValues,
): void {
  const { template, faults } = compileTemplate(texts);
  const rendered = atOnce(renderTemplate(template, values));
  const wrong = [
    ...[...faults, ...rendered.faults].map(({ field, line, detail }) => `${field}, line ${line}: ${detail}`),
    ...rendered.missing.map(({ field, line, name }) => `${field}, line ${line}: "${name}" has no value.`),
  ];
  const { subject, html, text } = rendered.texts;
  print(context, options, { subject, html, text, wrong }, () =>
    [
      `Subject: ${subject ?? ''}`,
      ...[html, text].flatMap((one) => (one === null ? [] : ['', one.trimEnd()])),
    ].join('\n'),
  );
  if (wrong.length > 0) throw new Exit(1, wrong.join('\n'));
}

function pullCommand(context: Context): Command {
  return remoteCommand('pull', 'write every template into a folder of its own', [
    'waybill templates pull templates',
    'waybill templates pull templates --url https://mail.example.net:8026 --key-file key.txt',
  ])
    .argument('<dir>', 'the folder with all of them')
    .addHelpText('after', '\nWhat was changed in the folder is overwritten: commit it before.')
    .action(async (dir: string, options: RemoteOptions) => {
      await withTemplates(context, options, async (templates) => {
        const pulled: { readonly alias: string; readonly version: number }[] = [];
        for (const { alias } of await templates.templates({})) {
          // The server is not trusted with where files are written.
          if (!ALIAS.test(alias))
            throw new Exit(1, `${JSON.stringify(alias)} is not an alias; nothing more is written.`);
          const template = { ...(await templates.template({ alias })), alias };
          await writeFolder(dir, template);
          pulled.push({ alias, version: template.version });
        }
        print(context, options, { pulled }, () =>
          pulled.length === 0
            ? 'There is no template.'
            : pulled.map(({ alias, version }) => `${alias}: version ${version}`).join('\n'),
        );
      });
    });
}

interface PushOptions extends RemoteOptions {
  readonly dryRun?: true;
  readonly force?: true;
  readonly publish?: true;
  readonly note?: string;
}

/** A template of the folder, and what a push does with it. */
interface Change {
  readonly template: FolderTemplate;
  /** The newest version on the server; null: it has none. */
  readonly newest: TemplateView | null;
  readonly action: 'new' | 'changed' | 'same' | 'newer';
}

function pushCommand(context: Context): Command {
  return remoteCommand('push', 'save what was changed in a folder of templates', [
    'waybill templates push templates --dry-run',
    'waybill templates push templates --publish --note "Release 4"',
    'waybill templates push templates --force --url https://mail.example.net:8026 --key-file key.txt',
  ])
    .argument('<dir>', 'the folder with all of them, from: waybill templates pull')
    .option('--dry-run', 'say what would be saved, and save nothing')
    .option('--force', 'also save over versions that are newer than those that were pulled')
    .option('--publish', 'publish what is in the folder')
    .option('--note <text>', 'what the new versions change')
    .addHelpText('after', '\nA template whose folder is gone stays: waybill templates delete.')
    .action(async (dir: string, options: PushOptions) => {
      const found = await readFolder(dir);
      await withTemplates(context, options, async (templates) => {
        const changes: Change[] = [];
        for (const template of found) changes.push(await changeOf(template, templates));
        refuseNewer(changes, options);
        const pushed: object[] = [];
        for (const change of changes) pushed.push(await pushOne(dir, change, templates, options));
        print(context, options, { dryRun: options.dryRun === true, pushed }, () =>
          changes.map((change) => changeText(change, options)).join('\n'),
        );
      });
    });
}

async function changeOf(template: FolderTemplate, templates: Templates): Promise<Change> {
  const { alias, version } = template;
  if (!ALIAS.test(alias))
    throw new Exit(1, `${alias}: the name of the folder is not an alias: it ${ALIAS_RULE}.`);
  const newest = await newestOf(alias, templates);
  if (newest === null) return { template, newest, action: 'new' };
  if (isSame(template, newest)) return { template, newest, action: 'same' };
  return { template, newest, action: version === newest.version ? 'changed' : 'newer' };
}

function isSame(template: FolderTemplate, newest: TemplateView): boolean {
  const textsOf = ({ name, subject, html, text, sample }: FolderTemplate | TemplateView) =>
    JSON.stringify([name, subject, html, text, sample]);
  return textsOf(template) === textsOf(newest);
}

/** Throws `Exit`: nothing is saved then. */
function refuseNewer(changes: readonly Change[], { force }: PushOptions): void {
  const newer = changes.filter(({ action }) => action === 'newer');
  if (force === true || newer.length === 0) return;
  const lines = newer.map(
    ({ template: { alias, version }, newest }) =>
      `${alias}: based on ${version === null ? 'no version' : `version ${version}`}, but the server has version ${newest?.version}.`,
  );
  throw new Exit(1, [...lines, 'Nothing was saved: pull first, or save over them with --force.'].join('\n'));
}

async function pushOne(
  dir: string,
  { template, newest, action }: Change,
  templates: Templates,
  { dryRun, publish, note = '' }: PushOptions,
): Promise<object> {
  const { alias, name, subject, html, text, sample } = template;
  if (dryRun === true) return { alias, action };
  const saved =
    newest !== null && action === 'same'
      ? newest
      : await templates.saveTemplate({
          alias,
          name,
          subject,
          html,
          text,
          sample,
          note,
          basedOn: newest?.version ?? null,
        });
  if (saved.version !== template.version) await writeFolder(dir, { ...saved, alias });
  if (publish === true && saved.publishedVersion !== saved.version)
    await templates.publishTemplate({ alias, version: saved.version });
  return { alias, action, version: saved.version };
}

function changeText({ template: { alias }, newest, action }: Change, { dryRun }: PushOptions): string {
  if (action === 'same') return `${alias}: unchanged`;
  const next = (newest?.version ?? 0) + 1;
  return `${alias}: ${dryRun === true ? 'would be saved' : 'saved'} as version ${next}${action === 'new' ? ', new' : ''}`;
}
