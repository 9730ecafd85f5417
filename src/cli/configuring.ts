import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { stringify } from 'yaml';
import { isRecord } from '../config/kinds.ts';
import { readYaml } from '../config/yaml.ts';
import { type Change, SECTION_NAMES, type SectionName } from '../domain/declared.ts';
import { decodeJson } from '../lib/decode.ts';
import { readError } from '../lib/error.ts';
import type { AppliedView, ExportedView, PlanView } from '../operations/configuring.ts';
import type { RequestOf } from '../operations/table.ts';
import { type Context, collectFrom, print } from './context.ts';
import { type RemoteOptions, remoteCommand, withConfiguring } from './remote.ts';
import { counted, Exit, readSecretFile } from './terminal.ts';

/** `waybill plan`, `apply` and `export`: the configuration as a file (docs/configuration-as-code.md). */

interface FileOptions extends RemoteOptions {
  readonly prune?: true;
}

/** `waybill plan FILE`. */
export function planCommand(context: Context): Command {
  return remoteCommand('plan', 'show what a configuration file would change', [
    'waybill plan mail.yaml',
    'waybill plan mail.yaml --prune --json > plan.json',
    'waybill plan mail.yaml --url https://mail.example.net:8026 --key-file admin.key',
  ])
    .argument('<file>', 'YAML; - for standard input')
    .option('--prune', 'also remove what the sections of the file do not have')
    .action(async (file: string, _, shell: Command) => {
      const options = shell.opts<FileOptions>();
      const request = await readRequest(file, options);
      await withConfiguring(context, options, async ({ planConfiguration }) => {
        const plan = await planConfiguration(request);
        print(context, options, plan, () => planText(plan, file, options, context.clock.wall()));
      });
    });
}

/** `waybill apply FILE`. */
export function applyCommand(context: Context): Command {
  return remoteCommand('apply', 'make everything as a configuration file has it, in one transaction', [
    'waybill apply mail.yaml --plan 5f1d0c7f2f4f4a0e9b0c8f2d1e6a7b3c',
    'waybill apply mail.yaml --prune --plan plan.json',
  ])
    .argument('<file>', 'YAML; - for standard input')
    .option('--prune', 'also remove what the sections of the file do not have')
    .option('--plan <plan>', 'the hash that waybill plan printed, or the file that its --json filled')
    .addHelpText(
      'after',
      '\nIt does what the plan says, or nothing. Secrets that it makes are printed this once.',
    )
    .action(async (file: string, _, shell: Command) => {
      const options = shell.opts<FileOptions & { readonly plan?: string }>();
      if (options.plan === undefined)
        throw new Exit(2, `--plan is needed, the hash that this prints: waybill plan ${file}`);
      const request = { ...(await readRequest(file, options)), ...(await readPlan(options.plan)) };
      await withConfiguring(context, options, async ({ applyConfiguration }) => {
        const applied = await applyConfiguration(request);
        print(context, options, applied, () => appliedText(applied));
        if (applied.faults.length > 0)
          throw new Exit(
            1,
            `All of it is stored, but not in force, because the configuration is faulty now:\n${applied.faults.join('\n')}`,
          );
      });
    });
}

/** `waybill export`. */
export function exportCommand(context: Context): Command {
  return remoteCommand('export', 'print relays, routes, domains, keys, webhooks and templates as a file', [
    'waybill export > mail.yaml',
    'waybill export --only relays --only routes',
  ])
    .addOption(
      new Option(
        '--only <section>',
        `one of ${SECTION_NAMES.join(', ')}; may be given several times`,
      ).argParser(collectFrom(SECTION_NAMES)),
    )
    .action(async (_, shell: Command) => {
      const options = shell.opts<RemoteOptions & { readonly only?: SectionName[] }>();
      await withConfiguring(context, options, async ({ exportConfiguration }) => {
        const exported = await exportConfiguration({ sections: options.only ?? null });
        print(context, options, exported, () => exportText(exported));
      });
    });
}

// Files.

const STANDARD_INPUT = '-';
/** As much as an export may have. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The request of a file, with the secrets that it names. Throws `Exit`. */
async function readRequest(file: string, { prune }: FileOptions): Promise<RequestOf<'planConfiguration'>> {
  const read = readYaml(await readText(file));
  const name = file === STANDARD_INPUT ? 'Standard input' : file;
  if (!read.ok) throw new Exit(2, read.rules.map((rule) => `${name}: ${rule}`).join('\n'));
  const configuration = read.root ?? {};
  if (!isRecord(configuration)) throw new Exit(2, `${name} must be a map of sections.`);
  const folder = file === STANDARD_INPUT ? '.' : dirname(file);
  return { configuration, prune: prune === true, secrets: await readSecrets(configuration, folder) };
}

async function readText(file: string): Promise<string> {
  const stream = file === STANDARD_INPUT ? process.stdin : createReadStream(file);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Exit(1, `${file} cannot be read: ${readError(error)}`);
  }
  return Buffer.concat(chunks).toString();
}

/** Sections whose members name the files of their secrets. */
const WITH_SECRETS: readonly SectionName[] = ['relays', 'webhooks'];

/** What the files hold that `_file` fields name, beside the file itself; those that are not there are left out. */
async function readSecrets(
  configuration: Record<string, unknown>,
  folder: string,
): Promise<Record<string, string>> {
  const members = WITH_SECRETS.flatMap((section): unknown[] => [configuration[section]].flat());
  const names = members
    .filter(isRecord)
    .flatMap((member) =>
      Object.entries(member).flatMap(([field, value]) =>
        field.endsWith('_file') && typeof value === 'string' ? [value] : [],
      ),
    );
  const secrets: Record<string, string> = {};
  for (const name of new Set(names)) {
    const path = resolve(folder, name);
    if (existsSync(path)) secrets[name] = await readSecretFile(path, 'secret', true);
  }
  return secrets;
}

/** The plan that is to be carried out. */
type Planned = Pick<RequestOf<'applyConfiguration'>, 'plan' | 'planned' | 'basis'>;

/** The hash of a plan, alone or in the file of a plan. Throws `Exit`. */
async function readPlan(plan: string): Promise<Planned> {
  if (/^[0-9a-f]{32}$/.test(plan)) return { plan, planned: null };
  const text = await readFile(plan, 'utf8').catch((error: unknown) => {
    throw new Exit(2, `${plan} is neither the hash of a plan nor the file of one: ${readError(error)}`);
  });
  const read = decodeJson(text);
  if (!isRecord(read) || typeof read['hash'] !== 'string' || !Array.isArray(read['changes']))
    throw new Exit(2, `${plan} holds no plan; make one: waybill plan FILE --json > ${plan}`);
  // Sound because the operation holds them to their shape.
  return {
    plan: read['hash'],
    planned: read['changes'] as Planned['planned'],
    basis: read['basis'] as Planned['basis'],
  };
}

// Texts.

function planText(
  { hash, changes, left }: PlanView,
  file: string,
  { prune }: FileOptions,
  now: number,
): string {
  const stays = left.map(({ section, name }) => `  ${section} ${name}`);
  const kept =
    stays.length === 0 ? [] : [`Not in the file, and kept, as --prune is not given:\n${stays.join('\n')}`];
  if (changes.length === 0) return ['Nothing would change.', ...kept].join('\n\n');
  const over = changes.filter((change) => isExpired(change, now)).map(({ name }) => `  keys ${name}`);
  const expired =
    over.length === 0 ? [] : [`Expired by now, so that they will not work:\n${over.join('\n')}`];
  const command = `waybill apply ${file}${prune ? ' --prune' : ''} --plan ${hash}`;
  return [
    ...changes.map(changeText),
    ...expired,
    ...kept,
    `${countText(changes)}. To do it: ${command}`,
  ].join('\n\n');
}

function isExpired({ section, action, fields }: Change, now: number): boolean {
  if (section !== 'keys' || action !== 'add') return false;
  return fields.some(({ field, after }) => field === 'expires_at' && Date.parse(String(after)) <= now);
}

function appliedText({ changes, made }: AppliedView): string {
  const secrets = made.flatMap(({ section, name, secret, signing }) => [
    `${section === 'keys' ? 'Key' : 'Webhook'} ${name}: ${secret}`,
    ...(signing === null
      ? []
      : [`  AWS_ACCESS_KEY_ID=${signing.accessKeyId}`, `  AWS_SECRET_ACCESS_KEY=${signing.secretAccessKey}`]),
  ]);
  const told =
    secrets.length === 0 ? [] : [`Their secrets, which are not shown again:\n${secrets.join('\n')}`];
  const done = changes.length === 0 ? 'Nothing had to change.' : `Done: ${countText(changes)}.`;
  return [...changes.map(changeText), done, ...told].join('\n\n');
}

const MARKS: Readonly<Record<Change['action'], string>> = { add: '+', change: '~', remove: '-' };

function countText(changes: readonly Change[]): string {
  const count = (action: Change['action']) => changes.filter((one) => one.action === action).length;
  return `${count('add')} to add, ${count('change')} to change, ${count('remove')} to remove`;
}

function changeText({ section, name, action, fields }: Change): string {
  const lines = action === 'remove' ? [] : fields.flatMap((field) => fieldLines(field, action));
  return [`${MARKS[action]} ${section} ${name}`, ...lines.map((line) => `    ${line}`)].join('\n');
}

function fieldLines({ field, before, after }: Change['fields'][number], action: Change['action']): string[] {
  if (action === 'add' && !isLong(after)) return [`${field}: ${valueText(after)}`];
  if (!isLong(before) && !isLong(after)) return [`${field}: ${valueText(before)} → ${valueText(after)}`];
  return [`${field}:`, ...lineDifference(linesOf(before), linesOf(after)).map((line) => `  ${line}`)];
}

function isLong(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\n');
}

function linesOf(value: unknown): readonly string[] {
  if (value === null) return [];
  return (typeof value === 'string' ? value : JSON.stringify(value)).split('\n');
}

function valueText(value: unknown): string {
  return typeof value === 'string' && /^[\w.@:/ +-]+$/.test(value) ? value : JSON.stringify(value);
}

/** Lines shown of a long text. */
const MAX_LINES = 40;

/** What differs between texts, from the first line that does to the last. */
function lineDifference(before: readonly string[], after: readonly string[]): string[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const lines = [
    ...(start > 0 ? [`  (${counted(start, 'line')} as before)`] : []),
    ...before.slice(start, before.length - end).map((line) => `- ${line}`),
    ...after.slice(start, after.length - end).map((line) => `+ ${line}`),
    ...(end > 0 ? [`  (${counted(end, 'line')} as before)`] : []),
  ];
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `  (${counted(more, 'more line')})`] : lines;
}

function exportText({ configuration, files }: ExportedView): string {
  const text = stringify(configuration, { lineWidth: 0, flowCollectionPadding: true }).trimEnd();
  const secrets =
    files.length === 0
      ? []
      : [
          '# Secrets are not in here. To give this to another server, write them into the files that _file fields name;',
          '# where such a file is missing, what is there already stays.',
        ];
  return ['# The configuration, for: waybill plan FILE', ...secrets, text].join('\n');
}
