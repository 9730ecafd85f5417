import type { Command } from 'commander';
import { keyName, revocation, zoneLine } from '../control/domain-records.ts';
import {
  type CheckedDomain,
  DOMAIN_TABLE,
  type DomainDetail,
  type DomainKeyView,
  type RecordView,
} from '../operations/domains.ts';
import type { Finding } from '../operations/system.ts';
import type { Context } from './context.ts';
import { findingsText } from './findings-text.ts';
import { foldedTable, foldLine, shortTime } from './fitting.ts';
import { groupCommand, tableText } from './operation-command.ts';
import { counted, DEFAULT_COLUMNS } from './terminal.ts';

/** `waybill domains …`: the domains that mail is sent from, and the keys that sign it. */
export function domainsCommand(context: Context): Command {
  return groupCommand(context, {
    name: 'domains',
    title: 'domains that mail is sent from, and their DKIM keys',
    texts: {
      addDomain: (detail) => addedText(detail),
      domain: (detail, { columns }) => detailText(detail, columns),
      checkDomains: (checked, { columns }) => checkedText(checked, columns ?? DEFAULT_COLUMNS),
      updateDomain: (detail) => updatedText(detail),
      rotateDomain: (detail) => rotatedText(detail),
      removeDomain: (detail) => removedText(detail),
    },
  });
}

/** A domain with its keys and records. Records are to be pasted: they are never folded. */
function detailText(detail: DomainDetail, columns: number | null): string {
  return [
    `${detail.name}, registered ${shortTime(detail.since, columns)}`,
    '',
    domainKeyTable(detail.keys, columns),
    '',
    ...returnPathText(detail),
    recordsText(detail, columns),
  ].join('\n');
}

const RETURN_PATH_STATES = {
  waiting: 'once a check has seen its records',
  used: 'which a check has seen',
  failing: 'but the last check did not find its records: bounces.domain is used',
} as const;

function returnPathText({ returnPath }: DomainDetail): readonly string[] {
  if (returnPath === null) return [];
  return [`Bounces come back to ${returnPath.domain}, ${RETURN_PATH_STATES[returnPath.state]}.`, ''];
}

/** A domain that was just registered. */
function addedText(detail: DomainDetail): string {
  return [
    `${detail.name} is registered, and its mail is signed from now on.`,
    'Publish these records in its DNS; until then receivers treat its mail as unsigned, as before.',
    '',
    recordsText(detail),
    '',
    `Then check them: waybill domains check ${detail.name}`,
  ].join('\n');
}

/** A domain whose return paths were changed. */
function updatedText(detail: DomainDetail): string {
  const { name, returnPath, records } = detail;
  if (returnPath === null) return `Bounces of mail from ${name} come back to bounces.domain, if it is set.`;
  const own = records.filter(({ purpose }) => purpose.startsWith('return_path'));
  return [
    `Bounces of mail from ${name} are to come back to ${returnPath.domain}, as soon as a check has seen these records:`,
    '',
    recordsText({ ...detail, records: own }),
    '',
    `Publish them, then: waybill domains check ${name}`,
  ].join('\n');
}

/** A domain that has new keys. */
export function rotatedText(detail: DomainDetail): string {
  const waits = detail.keys.some(({ state }) => state === 'waiting');
  const fresh = { ...detail, records: detail.records.filter((record) => isOf(record, detail.keys, waits)) };
  const next = waits
    ? `They sign once these records are visible; the server checks every hour, or at once with: waybill domains check ${detail.name}`
    : `They sign from now on. Publish these records at once. See: waybill domains show ${detail.name}`;
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
    'If the old keys were only lost, leave their records in place for 35 days: mail that they signed is still in transit.',
    'If others may have them, replace their records by these, so that nobody can sign with them:',
    ...lines,
  ];
}

/** A domain that is gone. */
function removedText({ name, records }: DomainDetail): string {
  const own = records.filter(({ purpose }) => purpose === 'dkim').map((record) => `  ${record.name}`);
  return [
    `${name} is forgotten, and its keys are destroyed: its mail is no longer signed.`,
    'Leave these records in the DNS for 35 days, for signed mail that is still in transit:',
    ...own,
  ].join('\n');
}

/** What was found of each domain, as the doctor tells it. */
export function checkedText(checked: readonly CheckedDomain[], columns: number): string {
  if (checked.length === 0) return tableText(DOMAIN_TABLE, [], columns);
  const common = checked.length === 1 ? [] : commonOf(checked);
  const texts = checked.map(({ name, findings, switchedTo }) => {
    const switched = switchedTo.length === 0 ? [] : [`Signs with ${switchedTo.join(' and ')} from now on.`];
    const own = findings.filter((finding) => !common.some((one) => isSame(one, finding)));
    return [name, ...switched, findingsText(own, columns)].join('\n');
  });
  const shared = common.length === 0 ? [] : [`For all domains\n${findingsText(common, columns)}`];
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
  if (key.unreadable) return 'unreadable: secret.key is a different one';
  switch (key.state) {
    case 'waiting':
      return `made ${time(key.createdAt)}, waits until its record is visible`;
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
