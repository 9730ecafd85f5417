import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { readYaml } from '../config/yaml.ts';
import { readError } from '../lib/error.ts';
import type { Told } from '../operations/command.ts';
import type { ExplanationView, RehearsalView, RouteTableView } from '../operations/routes.ts';
import type { Context } from './context.ts';
import { groupCommand } from './operation-command.ts';
import { counted, Exit, table } from './terminal.ts';

/** `waybill routes …`: which way mail takes. */
export function routesCommand(context: Context): Command {
  return groupCommand(context, {
    name: 'routes',
    title: 'routes, which way mail takes',
    texts: {
      routeTable: tableText,
      explainRoute: explanationText,
      rehearseRoutes: rehearsalText,
      publishRoutes: inForceText,
      rollbackRoutes: inForceText,
    },
    files: { routes: readRules },
  });
}

function inForceText({ version, ruleCount }: RouteTableView, { running }: Told<unknown>): string {
  const when = running ? 'now' : 'at the start';
  return `Version ${version} is in force, with ${counted(ruleCount, 'rule')}. Waiting mail is routed anew ${when}.`;
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
