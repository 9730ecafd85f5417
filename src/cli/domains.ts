import { Command } from 'commander';
import type { Finding } from '../control/doctor/finding.ts';
import { keyName, revocation, zoneLine } from '../control/domain-records.ts';
import { type CommandForm, choice, flag, text } from '../operations/command.ts';
import type {
  CheckedDomain,
  DomainDetail,
  DomainKeyView,
  DomainView,
  RecordView,
} from '../operations/domains.ts';
import type { Operations } from '../operations/table.ts';
import type { Context } from './context.ts';
import { findingsText } from './findings-text.ts';
import { fittingTable, foldedTable, foldLine, shortTime } from './fitting.ts';
import { operationCommand } from './operation-command.ts';
import { counted, DEFAULT_COLUMNS } from './terminal.ts';

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

/** All domains: what signs, what waits, what is retired; no wider than the terminal, where `columns` is not null. */
function domainTable(domains: readonly DomainView[], columns: number | null): string {
  if (domains.length === 0)
    return 'No domain is registered: mail goes unsigned. Register one: waybill domains add example.com';
  const rows = domains.map(({ name, since, keys }) => [
    name,
    selectorsOf(keys, 'signing'),
    selectorsOf(keys, 'waiting'),
    selectorsOf(keys, 'retired'),
    shortTime(since, columns),
  ]);
  return fittingTable(['DOMAIN', 'SIGNS WITH', 'WAITS', 'RETIRED', 'SINCE'], rows, columns);
}

/** A domain with its keys and records. Records are to be pasted: they are never folded. */
function detailText(detail: DomainDetail, columns: number | null): string {
  return [
    `${detail.name}, registered ${shortTime(detail.since, columns)}`,
    '',
    domainKeyTable(detail.keys, columns),
    '',
    recordsText(detail, columns),
  ].join('\n');
}

/** A domain that was just registered. */
function addedText(detail: DomainDetail): string {
  return [
    `${detail.name} is registered, and its mail is signed from now on.`,
    'Publish these records in its DNS; until then receivers take its mail for unsigned, as before.',
    '',
    recordsText(detail),
    '',
    `Then see whether all is right: waybill domains check ${detail.name}`,
  ].join('\n');
}

/** A domain that has new keys. */
export function rotatedText(detail: DomainDetail): string {
  const waits = detail.keys.some(({ state }) => state === 'waiting');
  const fresh = { ...detail, records: detail.records.filter((record) => isOf(record, detail.keys, waits)) };
  const next = waits
    ? `They sign once these can be seen; the server looks every hour, and at once with: waybill domains check ${detail.name}`
    : `They sign from now on. Publish these at once. See: waybill domains show ${detail.name}`;
  const old = waits ? [] : replacedText(detail);
  return [`${detail.name} has new keys. ${next}`, '', recordsText(fresh), ...old].join('\n');
}

/** What is to become of the records of the keys that were retired last: lost ones harm nobody, betrayed ones do. */
function replacedText({ name, keys }: DomainDetail): readonly string[] {
  const last = keys.map(({ retiredAt }) => retiredAt ?? '').reduce((a, b) => (a > b ? a : b), '');
  const lines = keys
    .filter(({ retiredAt }) => last !== '' && retiredAt === last)
    .map((key) => zoneLine(keyName(name, key.selector), revocation(key)));
  if (lines.length === 0) return [];
  return [
    '',
    'If the old keys were only lost, leave their records where they are for 35 days: mail that they signed is under way.',
    'If others may have them, put these in the place of their records, so that nobody can sign by them:',
    ...lines,
  ];
}

/** A domain that is gone. */
function removedText({ name, records }: DomainDetail): string {
  const own = records.filter(({ purpose }) => purpose === 'dkim').map((record) => `  ${record.name}`);
  return [
    `${name} is forgotten, and its keys are destroyed: its mail goes unsigned from now on.`,
    'Leave these records in the DNS for 35 days, for mail that was signed and is still under way:',
    ...own,
  ].join('\n');
}

/** What was found of each domain, as the doctor tells it. */
export function checkedText(checked: readonly CheckedDomain[], columns: number): string {
  if (checked.length === 0) return domainTable([], columns);
  const common = checked.length === 1 ? [] : commonOf(checked);
  const texts = checked.map(({ name, findings, switchedTo }) => {
    const switched = switchedTo.length === 0 ? [] : [`Signs with ${switchedTo.join(' and ')} from now on.`];
    const own = findings.filter((finding) => !common.some((one) => isSame(one, finding)));
    return [name, ...switched, findingsText(own, columns)].join('\n');
  });
  const shared = common.length === 0 ? [] : [`Of all of them\n${findingsText(common, columns)}`];
  return [...texts, ...shared].join('\n\n');
}

/** What was found of every domain alike, such as the names of our addresses: told once. */
function commonOf([first, ...others]: readonly CheckedDomain[]): readonly Finding[] {
  return (first?.findings ?? []).filter(({ name, found, cure }) =>
    others.every(({ findings }) => findings.some((one) => isSame(one, { name, found, cure }))),
  );
}

function isSame(a: Omit<Finding, 'status'>, b: Omit<Finding, 'status'>): boolean {
  return a.name === b.name && a.found === b.found && a.cure === b.cure;
}

function domainKeyTable(keys: readonly DomainKeyView[], columns: number | null): string {
  const rows = keys.map((key) => [key.selector, key.algorithm, stateText(key, columns)]);
  return foldedTable(['SELECTOR', 'ALGORITHM', 'STATE'], rows, columns);
}

function stateText(key: DomainKeyView, columns: number | null): string {
  const time = (at: string | null) => shortTime(at ?? '', columns);
  if (key.unreadable) return 'unreadable: secret.key is another';
  switch (key.state) {
    case 'waiting':
      return `made ${time(key.createdAt)}, waits until its record can be seen`;
    case 'signing':
      return `signs since ${time(key.activeSince)}`;
    case 'retired':
      return `retired ${time(key.retiredAt)}, record must stay until ${time(key.recordUntil)}`;
  }
}

function recordsText({ records }: DomainDetail, columns: number | null = null): string {
  const texts = records.map(({ name, type, value, zoneLine, note }) =>
    [foldLine(`${name} ${type}  (${note})`, 2, columns), `  value: ${value}`, `  zone:  ${zoneLine}`].join(
      '\n',
    ),
  );
  return [
    `${counted(records.length, 'record')}, each as a plain value and as the line of a zone file:`,
    ...texts,
  ].join('\n\n');
}

/** Whether a record is of a key that is new: one that waits, or, when none does, one that signs. */
function isOf({ purpose, name }: RecordView, keys: readonly DomainKeyView[], waits: boolean): boolean {
  const fresh = keys.filter(({ state }) => state === (waits ? 'waiting' : 'signing'));
  return purpose === 'dkim' && fresh.some(({ selector }) => name.startsWith(`${selector}.`));
}

function selectorsOf(keys: readonly DomainKeyView[], state: DomainKeyView['state']): string {
  const found = keys.filter((key) => key.state === state);
  return (
    found.map(({ selector, unreadable }) => (unreadable ? `${selector} (unreadable)` : selector)).join(' ') ||
    '-'
  );
}
