import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { isRecord } from '../config/kinds.ts';
import { SECTION_NAMES, type SectionName } from '../domain/declared.ts';
import { decodeJson } from '../lib/decode.ts';
import { readError } from '../lib/error.ts';
import type { RequestOf, StepOf } from '../operations/table.ts';
import { appliedText, exportText, planText } from './configuring-text.ts';
import { type Context, collectFrom, print } from './context.ts';
import { type DeclaredFile, readDeclared, STANDARD_INPUT } from './declared-file.ts';
import { type RemoteOptions, remoteCommand, withConfiguring } from './remote.ts';
import { stepTeller } from './step-teller.ts';
import { counted, Exit } from './terminal.ts';

/** `waybill plan`, `apply` and `export`: the configuration as a file (docs/configuration-as-code.md). */

interface FileOptions extends RemoteOptions {
  readonly prune?: true;
}

/** The status with which `--exit-code` tells that something would change. */
const WOULD_CHANGE = 3;

/** `waybill plan FILE`. */
export function planCommand(context: Context): Command {
  return remoteCommand('plan', 'show what a configuration file would change', [
    'waybill plan mail.yaml',
    'waybill plan mail.yaml --prune --json > plan.json',
    'waybill plan mail.yaml --url https://mail.example.net:8026 --key-file admin.key',
  ])
    .argument('<file>', 'YAML; - for standard input')
    .option('--prune', 'also remove what the sections of the file do not have')
    .option('--exit-code', `exit with ${WOULD_CHANGE} if something would change, 0 if nothing would`)
    .addHelpText('after', FILES)
    .action(async (file: string, _, shell: Command) => {
      const options = shell.opts<FileOptions & { readonly exitCode?: true }>();
      const declared = await readFileOf(file, options, context);
      await withConfiguring(context, options, async ({ planConfiguration }) => {
        const prune = options.prune === true;
        const plan = await declared.told(() => planConfiguration({ ...declared.request, prune }));
        const { missing } = declared;
        print(context, options, plan, () =>
          planText(plan, { file, options, missing, now: context.clock.wall() }),
        );
        if (options.exitCode && plan.changes.length > 0) throw new Exit(WOULD_CHANGE);
      });
    });
}

/** `waybill apply FILE`. */
export function applyCommand(context: Context): Command {
  return remoteCommand('apply', 'change everything to match a configuration file, in one transaction', [
    'waybill apply mail.yaml --plan 5f1d0c7f2f4f4a0e9b0c8f2d1e6a7b3c',
    'waybill apply mail.yaml --prune --plan plan.json',
  ])
    .argument('<file>', 'YAML; - for standard input')
    .option('--prune', 'also remove what the sections of the file do not have')
    .option('--plan <plan>', 'the hash that waybill plan printed, or the file that its --json filled')
    .addHelpText(
      'after',
      '\nIt does what the plan says, or nothing. It prints the secrets that it makes only this once: keep them.',
    )
    .addHelpText('after', FILES)
    .action(async (file: string, _, shell: Command) => {
      const options = shell.opts<FileOptions & { readonly plan?: string }>();
      if (options.plan === undefined)
        throw new Exit(2, `--plan is needed, the hash that this prints: waybill plan ${file}`);
      const declared = await readFileOf(file, options, context);
      const request = {
        ...declared.request,
        prune: options.prune === true,
        ...(await readPlan(options.plan)),
      };
      await withConfiguring(context, options, async ({ applyConfiguration }) => {
        const progress = stepTeller<StepOf<'applyConfiguration'>>(context, options, applyStepText);
        const applied = await declared.told(() => applyConfiguration(request, progress));
        print(context, options, applied, () => appliedText(applied));
        if (applied.faults.length > 0)
          throw new Exit(
            1,
            `All of it is stored, but not in force, because the configuration is faulty now:\n${applied.faults.join('\n')}`,
          );
      });
    });
}

function applyStepText({ done, total }: StepOf<'applyConfiguration'>) {
  return { title: 'Making keys', share: `${done} of ${counted(total, 'domain')}` };
}

/** `waybill export`. */
export function exportCommand(context: Context): Command {
  return remoteCommand('export', 'print the configuration that was made at run time as a file', [
    'waybill export > mail.yaml',
    'waybill export --only relays --only routes',
  ])
    .addHelpText(
      'after',
      '\nSecrets are not in it: fields such as password_file name files, which are yours to write.',
    )
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

const FILES =
  '\nFields such as password_file name files relative to FILE, on this machine. If one is missing, the secret that is there stays.';

/** Reads FILE. Throws `Exit`. */
async function readFileOf(file: string, { keyFile }: RemoteOptions, context: Context): Promise<DeclaredFile> {
  if (file === STANDARD_INPUT && keyFile === STANDARD_INPUT)
    throw new Exit(2, 'The file and the key cannot both be read from standard input.');
  return await readDeclared(file, context.terminal);
}

/** What of a plan makes its refusal say what differs has no more characters: others are refused by their hash alone. */
const MAX_PLANNED = 4 * 1024 * 1024;

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
    planned: text.length > MAX_PLANNED ? null : (read['changes'] as Planned['planned']),
    basis: read['basis'] as Planned['basis'],
  };
}
