import { Command } from 'commander';
import { type CommandForm, choice, flag, text } from '../operations/command.ts';
import type { Operations } from '../operations/table.ts';
import type { Context } from './context.ts';
import { addedText, checkedText, detailText, domainTable, removedText, rotatedText } from './domains-text.ts';
import { operationCommand } from './operation-command.ts';
import { DEFAULT_COLUMNS } from './terminal.ts';

type Form<K extends keyof Operations> = CommandForm<Parameters<Operations[K]>[0]>;

const DOMAIN = text('<domain>', 'the domain, such as example.com; in any script');
const ALGORITHMS = ['rsa', 'ed25519', 'both'] as const;
const SELECTOR = text(
  '--selector <name>',
  "the keys' selector; with two algorithms the beginning, and r or e follows (default: made of the day)",
  { absent: null },
);

const ADD: Form<'addDomain'> = {
  words: 'domains add',
  summary: 'register a domain, make its keys, and print the DNS records to publish',
  examples: [
    'waybill domains add example.com',
    'waybill domains add example.com --algorithm rsa --selector news',
  ],
  takes: {
    name: DOMAIN,
    algorithm: choice('--algorithm <name>', 'what to sign with', ALGORITHMS, { absent: 'both' }),
    selector: SELECTOR,
  },
};

const LIST: Form<'domains'> = {
  words: 'domains list',
  summary: 'show all domains and what signs for them',
  examples: ['waybill domains list'],
  takes: {},
};

const SHOW: Form<'domain'> = {
  words: 'domains show',
  summary: "show a domain's keys, and the DNS records that it needs",
  examples: [
    'waybill domains show example.com',
    "waybill domains show example.com --json | jq -r '.records[].zoneLine'",
  ],
  takes: { name: DOMAIN },
};

const ROTATE: Form<'rotateDomain'> = {
  words: 'domains rotate',
  summary: 'make new keys, which sign once their records can be seen in the DNS',
  examples: ['waybill domains rotate example.com', 'waybill domains rotate example.com --now'],
  takes: {
    name: DOMAIN,
    algorithm: choice('--algorithm <name>', 'what to sign with (default: as now)', ALGORITHMS, {
      absent: null,
    }),
    selector: SELECTOR,
    now: flag('--now', 'sign with them at once: the old ones were lost or betrayed'),
  },
};

const REMOVE: Form<'removeDomain'> = {
  words: 'domains remove',
  summary: 'forget a domain and destroy its keys; its mail goes unsigned from then on',
  examples: ['waybill domains remove example.com'],
  takes: { name: DOMAIN },
};

const CHECK: Form<'checkDomains'> = {
  words: 'domains check',
  summary:
    'look at what the DNS says of domains: DKIM, SPF, DMARC, MX, PTR, MTA-STS, TLS-RPT; new keys that can be seen sign from then on',
  examples: ['waybill domains check', 'waybill domains check example.com --json'],
  notes: 'Exit status: 1 if anything fails, 0 if there are at most warnings.',
  takes: { name: text('[domain]', 'the domain (default: all, at most 50)', { absent: null }) },
};

/** `waybill domains …`: the domains that mail is sent from, and the keys that sign it. */
export function domainsCommand(context: Context): Command {
  return new Command('domains')
    .description(
      'domains that mail is sent from, and their DKIM keys: add, list, show, check, rotate, remove',
    )
    .addCommand(operationCommand(context, 'addDomain', ADD, { says: addedText }))
    .addCommand(
      operationCommand(context, 'domains', LIST, { says: (all, { columns }) => domainTable(all, columns) }),
    )
    .addCommand(
      operationCommand(context, 'domain', SHOW, { says: (one, { columns }) => detailText(one, columns) }),
    )
    .addCommand(
      operationCommand(context, 'checkDomains', CHECK, {
        says: (checked, { columns }) => checkedText(checked, columns ?? DEFAULT_COLUMNS),
        json: (domains) => ({ domains }),
        isBad: (checked) => checked.some(({ findings }) => findings.some(({ status }) => status === 'fail')),
      }),
    )
    .addCommand(operationCommand(context, 'rotateDomain', ROTATE, { says: rotatedText }))
    .addCommand(operationCommand(context, 'removeDomain', REMOVE, { says: removedText }));
}
