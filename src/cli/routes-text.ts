import type { ExplanationView, RehearsalView, RouteTableSummary } from '../operations/routes.ts';
import { counted, table } from './terminal.ts';

/** Routes as text for people. */

/** Where the rules of a table are kept: a file has them all, or whoever publishes them does so here. */
const RULES_FROM: Readonly<Record<RouteTableSummary['origin'], string>> = {
  file: 'the file',
  stored: 'the database',
};

/** Published tables, one a line. */
export function tablesText(tables: readonly RouteTableSummary[]): string {
  if (tables.length === 0) return 'No table was published yet; one is when the server starts.';
  const rows = tables.map(({ version, inForce, publishedAt, origin, ruleCount, defaultRelay }) => [
    inForce ? `${version} (in force)` : String(version),
    publishedAt,
    RULES_FROM[origin],
    String(ruleCount),
    defaultRelay,
  ]);
  return table(['VERSION', 'PUBLISHED', 'RULES KEPT IN', 'RULES', 'DEFAULT'], rows);
}

/** Where mail would go, rule by rule and relay by relay. */
export function explanationText(explanation: ExplanationView): string {
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
  if (relay === null) parts.push('There is no way now: it would wait until there is one.');
  return parts.join('\n\n');
}

function decisionText({ rule, weighted }: ExplanationView): string {
  const order = weighted ? ' The order is drawn by weight; another message may get another.' : '';
  return rule === null
    ? 'No rule matches, so it goes by the default relay.'
    : `Decided by ${rule}: these relays, in this order.${order}`;
}

const REASONS: Readonly<Record<ExplanationView['group'][number]['fitness'], string>> = {
  usable: 'if one before it did not take it',
  resting: 'rests after failures',
  spent: 'has had what it may have today',
  paused: 'paused by an operator',
  disabled: 'disabled',
  draining: 'takes nothing new',
  missing: 'there is no such relay',
};

function whyNot(fitness: ExplanationView['group'][number]['fitness']): string {
  return REASONS[fitness];
}

/** What would go elsewhere. */
export function rehearsalText(rehearsal: RehearsalView): string {
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
      `Where messages came from is not known any more, so rules with source_cidr matched none: ${blindRules.join(', ')}.`,
    );
  return parts.join('\n\n');
}
