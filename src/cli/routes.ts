import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { readYaml } from '../config/yaml.ts';
import { readError } from '../lib/error.ts';
import {
  type ExplanationView,
  MAX_REHEARSED,
  type RehearsalView,
  type RouteTableView,
} from '../operations/routes.ts';
import {
  type CommonOptions,
  type Context,
  collect,
  command,
  needing,
  print,
  wholeNumber,
} from './context.ts';
import { groupCommand } from './operation-command.ts';
import { withOperations } from './session.ts';
import { counted, Exit, table } from './terminal.ts';

interface ExplainOptions extends CommonOptions {
  readonly from: string;
  readonly to: string;
  readonly tag?: readonly string[];
  readonly key?: string;
  readonly source?: string;
  readonly sourceAddress?: string;
  readonly size?: number;
  readonly at?: string;
}

interface TestOptions extends CommonOptions {
  readonly last: number;
}

const USUAL_LAST = 1000;

/** `waybill routes …`: which way mail takes. */
export function routesCommand(context: Context): Command {
  const own = [explainCommand(context), testCommand(context), publishCommand(context)];
  return groupCommand(context, {
    name: 'routes',
    title: 'routes, which way mail takes',
    order: ['list', 'show', ...own],
    texts: {
      routeTable: (one) => tableText(one),
      rollbackRoutes: (one, { running }) => inForceText(one, running),
    },
  });
}

function explainCommand(context: Context): Command {
  return command('explain', 'say where mail would go, and why', [
    'waybill routes explain --from ann@example.com --to bob@example.org --tag news',
    "waybill routes explain --from '<>' --to bob@example.org --source printer --size 20000000",
  ])
    .option('--from <address>', "required: the envelope's sender; <> is the null reverse-path")
    .option('--to <address>', 'required: the recipient')
    .hook('preAction', needing('from', 'to'))
    .option('--tag <tag>', 'a tag of the message; may be repeated', collect)
    .option('--key <name>', 'the API key that submits it')
    .option('--source <name>', 'the device of listener.sources that submits it')
    .option('--source-address <address>', 'the address that it is submitted from')
    .option('--size <bytes>', 'its size (default: 0)', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option('--at <time>', 'when it is to be sent, in RFC 3339 (default: now)')
    .action(async (options: ExplainOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const explanation = await operations.explainRoute({ query: queryOf(options) });
        print(context, options, explanation, () => explanationText(explanation));
      });
    });
}

function testCommand(context: Context): Command {
  return command('test', 'show which recent mail a changed table would route differently', [
    'waybill routes test rules.yaml',
    'waybill routes test rules.yaml --last 10000 --json',
  ])
    .argument('<file>', 'YAML with routes:, or only the list of rules; - for standard input')
    .option('--last <n>', 'number of recent messages to use', wholeNumber(1, MAX_REHEARSED), USUAL_LAST)
    .action(async (file: string, options: TestOptions) => {
      const routes = await readRules(file);
      await withOperations(context, options, {}, async (operations) => {
        const rehearsal = await operations.rehearseRoutes({ routes, last: options.last });
        print(context, options, rehearsal, () => rehearsalText(rehearsal));
      });
    });
}

function publishCommand(context: Context): Command {
  return command('publish', 'publish the rules of a file; waiting mail is routed anew', [
    'waybill routes test rules.yaml && waybill routes publish rules.yaml',
  ])
    .argument('<file>', 'YAML with routes:, or only the list of rules; - for standard input')
    .action(async (file: string, options: CommonOptions) => {
      const routes = await readRules(file);
      // New rules can be the cure of a faulty configuration, so that must not stand in their way.
      await withOperations(context, options, { tolerateFaults: true }, async (operations, running) => {
        const table = await operations.publishRoutes({ routes });
        print(context, options, table, () => inForceText(table, running));
      });
    });
}

function inForceText({ version, ruleCount }: RouteTableView, running: boolean): string {
  const when = running ? 'now' : 'at the start';
  return `Version ${version} is in force, with ${counted(ruleCount, 'rule')}. Waiting mail is routed anew ${when}.`;
}

function queryOf(options: ExplainOptions): [string, string][] {
  const { from, to, tag = [], key, source, sourceAddress, size, at } = options;
  const pairs = Object.entries({ from, to, key, source, sourceAddress, sizeBytes: size, at });
  const given = pairs.flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return [...given, ...tag.map((value): [string, string] => ['tag', value])];
}

/** The table as a file that `publish` takes. */
function tableText({ version, publishedAt, origin, inForce, rules, defaultRelay }: RouteTableView): string {
  const place = origin === 'file' ? 'the configuration file' : 'the database';
  const state = inForce ? ', in force' : '';
  return [
    `# Version ${version}${state}, published ${publishedAt}; its rules are kept in ${place}.`,
    `# Mail that no rule matches goes through ${defaultRelay}, the default relay.`,
    stringify({ routes: rules }, { lineWidth: 0, flowCollectionPadding: true }).trimEnd(),
  ].join('\n');
}

/** Where mail would go, rule by rule and relay by relay. */
function explanationText(explanation: ExplanationView): string {
  const { from, to, at, tableVersion, rules, group, relay } = explanation;
  const parts = [`From ${from || '<>'} to ${to}, at ${at}, by table ${tableVersion}:`];
  if (rules.length > 0)
    parts.push(
      table(
        ['RULE', 'MATCHES', 'NOT MET'],
        rules.map(({ rule, matched, unmet }) => [rule, matched ? 'yes' : 'no', unmet ?? '']),
      ),
    );
  parts.push(decisionText(explanation));
  parts.push(
    table(
      ['RELAY', 'STATE', ''],
      group.map((member) => [
        member.relay,
        member.fitness,
        member.relay === relay ? 'chosen' : whyNot(member.fitness),
      ]),
    ),
  );
  if (relay === null) parts.push('There is no route now: it would wait until there is one.');
  return parts.join('\n\n');
}

function decisionText({ rule, weighted }: ExplanationView): string {
  const order = weighted ? ' The order is drawn by weight; another message may get another.' : '';
  return rule === null
    ? 'No rule matches, so it goes through the default relay.'
    : `Decided by ${rule}: these relays, in this order.${order}`;
}

const REASONS: Readonly<Record<ExplanationView['group'][number]['fitness'], string>> = {
  usable: 'if the one before it did not accept it',
  resting: 'resting after failures',
  spent: 'has used up today’s quota',
  paused: 'paused by an operator',
  disabled: 'disabled',
  draining: 'takes nothing new',
  missing: 'there is no such relay',
};

function whyNot(fitness: ExplanationView['group'][number]['fitness']): string {
  return REASONS[fitness];
}

/** What would go elsewhere. */
function rehearsalText(rehearsal: RehearsalView): string {
  const { messages, recipients, unchanged, otherFallback, moves, blindRules } = rehearsal;
  const parts = [
    `Looked at ${counted(recipients, 'recipient')} of the last ${counted(messages, 'message')}: ${unchanged} as before, ${recipients - unchanged - otherFallback} elsewhere, ${otherFallback} with other relays to fall back on.`,
  ];
  if (moves.length > 0) {
    const rows = moves.flatMap(({ from, to, recipients: count, examples }) =>
      examples.map(({ id, recipient, rule, newRule }, place) => [
        ...(place === 0 ? [from, to, String(count)] : ['', '', '']),
        recipient,
        id,
        `${rule ?? 'default'} → ${newRule ?? 'default'}`,
      ]),
    );
    parts.push(table(['FROM', 'TO', 'RECIPIENTS', 'SUCH AS', 'MESSAGE', 'RULE'], rows));
  }
  if (blindRules.length > 0)
    parts.push(
      `The submitting address of stored messages is not known, so rules with source_cidr matched none: ${blindRules.join(', ')}.`,
    );
  return parts.join('\n\n');
}

/** The file name that means the standard input. */
const STANDARD_INPUT = '-';
/** As much as a configuration file may have. */
const MAX_BYTES = 1024 * 1024;

/** The list of rules of a YAML file: its section `routes`, or all of it. What is in the list is not looked at. */
async function readRules(file: string): Promise<unknown> {
  const read = readYaml(await readText(file));
  if (!read.ok) throw new Exit(2, `${nameOf(file)}: ${read.rules[0] ?? ''}`);
  const { root } = read;
  if (Array.isArray(root)) return root;
  if (typeof root === 'object' && root !== null && 'routes' in root) return root.routes ?? [];
  throw new Exit(2, `${nameOf(file)} has neither a section routes nor a list of rules.`);
}

function nameOf(file: string): string {
  return file === STANDARD_INPUT ? 'Standard input' : file;
}

async function readText(file: string): Promise<string> {
  const stream = file === STANDARD_INPUT ? process.stdin : createReadStream(file);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Exit(1, `${nameOf(file)} cannot be read: ${readError(error)}`);
  }
  if (bytes > MAX_BYTES) throw new Exit(2, `${nameOf(file)} is larger than ${MAX_BYTES} bytes.`);
  return Buffer.concat(chunks).toString();
}
