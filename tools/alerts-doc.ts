/** Writes docs/alerts.md and deploy/prometheus/alerts.yaml from the rules of alerts: `node tools/alerts-doc.ts`. */
import { writeFileSync } from 'node:fs';
import {
  ALERT_RULE_NAMES,
  type AlertRuleDeclaration,
  alertRule,
  ruleInForce,
  secondsText,
  whenText,
} from '../src/domain/alert-rules.ts';

/** Where the document lies. */
export const ALERTS_DOC = new URL('../docs/alerts.md', import.meta.url);
/** Where the rules for Prometheus lie. */
export const PROMETHEUS_RULES = new URL('../deploy/prometheus/alerts.yaml', import.meta.url);

const HEAD = `# Alerts

The server watches itself and tells operators what is wrong with it: by mail, a signed webhook, Slack, Discord, Microsoft
Teams, ntfy or PagerDuty. All rules below are on from the start; what is missing is whom to tell. Add a channel on the page
*Alerts*, or:

\`\`\`sh
./waybill alerts add ops mail --to ops@example.com
./waybill alerts test ops
\`\`\`

A mail channel needs a relay that sends; the inbox does not count. \`--relay NAME\` chooses one.

## Channels

| Kind | What it needs |
|---|---|
| \`mail\` | \`--to\`, several times if you like; \`--from\` (default: the postmaster of this server); \`--relay\` |
| \`webhook\` | \`--url\`; its secret is made and shown once, or given |
| \`slack\` | the URL of an [incoming webhook](https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/) as its secret; this works for Mattermost and Rocket.Chat as well |
| \`discord\` | the URL of a channel's webhook as its secret (channel settings, Integrations) |
| \`teams\` | the URL of a workflow as its secret (the template *Send webhook alerts to a channel*) |
| \`ntfy\` | \`--url\` of the topic, such as \`https://ntfy.sh/our-topic\`; an access token as its secret, where the topic needs one. Without one the URL is as good as a password; administrators see it, also in the activity |
| \`pagerduty\` | the integration key of a service (Events API v2) as its secret; \`--url https://events.eu.pagerduty.com/v2/enqueue\` in the EU. A test opens an incident and resolves it at once |

- Secrets are read from a file (\`--secret-file\`, \`-\` for standard input), sealed with \`secret.key\`, and never shown.
- \`--severity\` sets the lowest severity that is sent to the channel (default \`warning\`); \`--rule\` limits it to certain
  rules.
- Mail goes by the relay that you choose. If that relay rests, is disabled, or is what the alert is about when the mail is
  written, the first other relay that works is used. Mail has the null reverse-path, so that no bounce comes back. A test
  of a mail channel says only that the message was queued: see \`waybill messages list\`.
- A webhook is signed as [those of events](webhooks.md#for-programs) are, by Standard Webhooks. Its body has \`type\`
  (\`alert.fired\`, \`alert.resolved\`, \`alert.test\`), \`timestamp\`, and as \`data\` \`id\`, \`server\`, \`rule\`, \`title\`,
  \`subject\`, \`severity\`, \`text\`, \`advice\`, \`since\`, \`firedAt\` and \`resolvedAt\`.
- URLs must be https and lead to public addresses, unless \`webhooks.private_urls\` lists them.
- A channel that does not answer with 2xx is tried six times over three hours; the page shows why it failed.

## How an alert begins and ends

1. One node at a time looks every 15 seconds. What a rule finds is *pending* until it has been true for the rule's time, then
   the alert *fires* and its channels are told.
2. A channel is told once: when the alert fires, when it becomes as urgent as the channel wants, or when the channel is
   added or enabled. The most urgent comes first.
3. Once it has not been true for a minute, the alert is over (*resolved*), and whoever was told hears that, too.
4. If the same alert fires again within an hour (the rule's cool-down), channels are told only if it is still firing when
   the hour is over.

![An alert that fired and is over, and who was told of both](images/alert.png)

If something cannot be measured, its alert neither fires nor ends: a trend just after a start, a relay that has had no mail
since the start or is just being tried, the disk of a node that is gone, what the doctor could not look at. After a day, it
is dropped. So the alert about a missing node lasts until a node of that name is back, or for a day.

Alerts survive restarts, and another node goes on with them: a channel is told at least once, and hardly ever twice. If the
database does not answer, the node says so from memory, though not by mail, which is stored there. A clock that is set makes
nothing fire early or late. The history is kept as long as the activity (\`retention.activity_days\`).

During maintenance, silence what you expect; it is watched all the same, and told afterwards if it still fires:

\`\`\`sh
./waybill alerts silence --minutes 120 --note "Moving the database"
./waybill alerts silence relay_resting --subject relay:out --minutes 60
\`\`\`

\`waybill alerts list\`, \`channels\` and \`silences\` show what there is; \`waybill alerts unsilence ID\` ends a silence.

## Rules

\`waybill alerts rules\` shows what is in force; \`waybill alerts set RULE\` changes it: \`--threshold\`, \`--for\`,
\`--cool-down\`, \`--severity\`, \`--on\`, \`--off\`, \`--reset\`. \`--for\` and \`--cool-down\` are in seconds. A threshold is in the
unit of its rule: percent, days, a number or, for \`mail_late\`, seconds. Rules about rates need at least 100 recipients and 3
events.

| Rule | Severity | It fires when | For |
|---|---|---|---|
`;

const TAIL = `
The doctor examines one node only: the one that watches, which is the first that delivers. What is wrong with another one
alone, such as its way to the DNS or to a next hop, \`waybill doctor\` says there. Disk, database, ports, configuration and
certificate are watched on every node.

Rates by recipient domain are made of the newest 10,000 events of a day, and need \`events.keep: all\`; those by relay come from
counters.

## With Prometheus

\`deploy/prometheus/alerts.yaml\` has the same rules for Prometheus, where its series say the same. It also notices that the
last node is gone, which Waybill itself cannot notice: let one of the two watch from outside.

This file is generated by \`node tools/alerts-doc.ts\`; the rules are \`src/domain/alert-rules.ts\`.
`;

/** The document as it should be. */
export function alertsDoc(): string {
  const rows = ALERT_RULE_NAMES.map((name) => {
    const { severity, forSeconds } = alertRule(name);
    const when = whenText(ruleInForce(name, {}));
    return `| \`${name}\` | ${severity} | ${when} | ${forSeconds === 0 ? 'at once' : secondsText(forSeconds)} |\n`;
  });
  return HEAD + rows.join('') + TAIL;
}

const RULES_HEAD = `# Alert rules, generated by tools/alerts-doc.ts. Scrape /metrics of every node: https, port 8420,
# \`insecure_skip_verify: true\` until you set a certificate. With several nodes over PostgreSQL the figures of messages, the
# spool and relays are the cluster's: rules take their maximum, not their sum.
groups:
  - name: waybill
    rules:
`;

/** The rules for Prometheus as they should be. */
export function prometheusRules(): string {
  return RULES_HEAD + ALERT_RULE_NAMES.flatMap((name) => ruleOf(alertRule(name))).join('\n');
}

function ruleOf({ prometheus, severity, threshold, forSeconds, advice }: AlertRuleDeclaration): string[] {
  if (prometheus === null) return [];
  const expr = prometheus.expr(threshold?.default ?? 0);
  const description = advice.replace('NAME', '{{ $labels.relay }}');
  return [
    `      - alert: ${prometheus.alert}
        expr: ${expr.includes('\n') ? `|\n${indented(expr)}` : expr}
${forSeconds === 0 ? '' : `        for: ${forSeconds / 60}m\n`}        labels: { severity: ${severity} }
        annotations:
          summary: ${quoted(prometheus.summary)}
          description: ${quoted(description)}
`,
  ];
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `          ${line}`)
    .join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

if (import.meta.main) {
  writeFileSync(ALERTS_DOC, alertsDoc());
  writeFileSync(PROMETHEUS_RULES, prometheusRules());
}
