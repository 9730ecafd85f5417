import { Command } from 'commander';
import { stringify } from 'yaml';
import { type CommandForm, integer } from '../operations/command.ts';
import { MAX_REHEARSED, type RouteTableView } from '../operations/routes.ts';
import type { Operations } from '../operations/table.ts';
import {
  type CommonOptions,
  type Context,
  collect,
  command,
  needing,
  print,
  wholeNumber,
} from './context.ts';
import { operationCommand } from './operation-command.ts';
import { explanationText, rehearsalText, tablesText } from './routes-text.ts';
import { readRules } from './rules-file.ts';
import { withOperations } from './session.ts';
import { counted } from './terminal.ts';

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

type Form<K extends keyof Operations> = CommandForm<Parameters<Operations[K]>[0]>;

const VERSIONS = [1, Number.MAX_SAFE_INTEGER] as const;

const LIST: Form<'routeTables'> = {
  words: 'routes list',
  summary: 'show the routing tables that were published last',
  examples: ['waybill routes list'],
  takes: { limit: integer('--limit <n>', 'at most so many', [1, 1000], { absent: 20 }) },
  cures: true,
};

const SHOW: Form<'routeTable'> = {
  words: 'routes show',
  summary: 'show the rules of a table as they stand in a file',
  examples: ['waybill routes show', 'waybill routes show 7 > rules.yaml'],
  takes: {
    version: integer('[version]', 'its version (default: the one in force)', VERSIONS, { absent: null }),
  },
  cures: true,
};

const ROLLBACK: Form<'rollbackRoutes'> = {
  words: 'routes rollback',
  summary: 'put the rules of an earlier version into force again, as a new version',
  examples: ['waybill routes rollback 7'],
  takes: { version: integer('<version>', 'the version; see: waybill routes list', VERSIONS) },
  cures: true,
};

const USUAL_LAST = 1000;

/** `waybill routes …`: which way mail takes. */
export function routesCommand(context: Context): Command {
  return new Command('routes')
    .description('routes, which way mail takes: list, show, explain, test, publish, rollback')
    .addCommand(operationCommand(context, 'routeTables', LIST, { says: tablesText }))
    .addCommand(operationCommand(context, 'routeTable', SHOW, { says: tableText }))
    .addCommand(explainCommand(context))
    .addCommand(testCommand(context))
    .addCommand(publishCommand(context))
    .addCommand(
      operationCommand(context, 'rollbackRoutes', ROLLBACK, {
        says: (table, { running }) => inForceText(table, running),
      }),
    );
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
  return command('test', 'say what of the mail stored last a changed table would send elsewhere', [
    'waybill routes test rules.yaml',
    'waybill routes test rules.yaml --last 10000 --json',
  ])
    .argument('<file>', 'YAML with routes:, or the list of rules alone; - for the standard input')
    .option('--last <n>', 'look at so many messages', wholeNumber(1, MAX_REHEARSED), USUAL_LAST)
    .action(async (file: string, options: TestOptions) => {
      const routes = await readRules(file);
      await withOperations(context, options, {}, async (operations) => {
        const rehearsal = await operations.rehearseRoutes({ routes, last: options.last });
        print(context, options, rehearsal, () => rehearsalText(rehearsal));
      });
    });
}

function publishCommand(context: Context): Command {
  return command('publish', 'put the rules of a file into force; mail that waits is routed anew', [
    'waybill routes test rules.yaml && waybill routes publish rules.yaml',
  ])
    .argument('<file>', 'YAML with routes:, or the list of rules alone; - for the standard input')
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
  return `Version ${version} is in force, with ${counted(ruleCount, 'rule')}. Mail that waits is routed anew ${when}.`;
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
    `# What no rule matches goes by ${defaultRelay}, the default relay.`,
    stringify({ routes: rules }, { lineWidth: 0, flowCollectionPadding: true }).trimEnd(),
  ].join('\n');
}
