import type { ResultOf } from '../../../../src/operations/table.ts';
import type { RowTarget } from '../../parts/table-row.tsx';

type Health = ResultOf<'health'>;

/** Where something can be done about what health or the doctor found: the words of the button, and the page. */
export interface Cure {
  readonly label: string;
  readonly target: RowTarget;
}

const relay = (name: string): Cure => ({
  label: `Relay ${name}`,
  target: { to: '/relays/$name', params: { name } },
});
const section = (label: string, name: string): Cure => ({
  label,
  target: { to: '/settings/$section', params: { section: name } },
});
const ADD_RELAY: Cure = { label: 'Add a relay', target: { to: '/relays', search: { add: 'choose' } } };
const RELAYS: Cure = { label: 'Relays', target: { to: '/relays' } };
const ROUTES: Cure = { label: 'Routes', target: { to: '/routes' } };
/** Where keys are made, changed and revoked. */
export const API_KEYS = section('API keys', 'api-keys');
/** Where all that the doctor finds is. */
export const DOCTOR: Cure = { label: 'Doctor', target: { to: '/system', search: { tab: 'doctor' } } };

/** The first entry that matches counts. */
type Table = readonly (readonly [pattern: RegExp, cure: (thing: string) => Cure])[];

/** By the name of the check or the finding. */
const CURES: Table = [
  [/^captured|^default relay$/, () => ADD_RELAY],
  [/^(?:relay|quota of|warm-up of|hook of) (.+)$/, relay],
  [
    /^domain (.+)$/,
    (name) => ({ label: `Domain ${name}`, target: { to: '/domains/$name', params: { name } } }),
  ],
  [/^hold (.+)$/, () => ({ label: 'Queue', target: { to: '/queue' } })],
  [/^webhook/, () => ({ label: 'Webhooks', target: { to: '/webhooks' } })],
  [/access key/, () => API_KEYS],
  [/^open relay$|^sources$/, () => section('SMTP listener', 'smtp')],
  [/^relays$|breaker|^quotas$/, () => RELAYS],
  [/route/, () => ROUTES],
  [/queue|oldest|late|spool/, () => ({ label: 'Queue', target: { to: '/queue' } })],
  [/^certificate/, () => section('Certificate', 'certificate')],
  [/^tls reports$/, () => ({ label: 'Domains', target: { to: '/domains' } })],
  [/denied|denial/, () => ({ label: 'Settings', target: { to: '/settings' } })],
  [
    /^disk$|storage|database/,
    () => ({ label: 'Storage', target: { to: '/system', search: { tab: 'storage' } } }),
  ],
];

/** By the command line that would do it. */
const PAGES: Table = [
  [
    /^waybill queue \w+ ([^/\s]+)/,
    (name) => ({ label: 'Queue', target: { to: '/queue', search: { relay: name } } }),
  ],
  [/^waybill relays enable (\S+)/, relay],
  [/^waybill relays /, () => RELAYS],
  [/^waybill routes /, () => ROUTES],
  [/^waybill doctor/, () => DOCTOR],
  [/^waybill keys /, () => API_KEYS],
  [/^waybill suppressions /, () => ({ label: 'Suppressions', target: { to: '/suppressions' } })],
  [/^waybill domains /, () => ({ label: 'Domains', target: { to: '/domains' } })],
  [/^waybill queue\b/, () => ({ label: 'Queue', target: { to: '/queue' } })],
];

/** Where something can be done about what was found, by its name; null where no page can. */
export function cureFor(name: string): Cure | null {
  return cureIn(CURES, name);
}

/** Where the same can be done as by a command line; null where no page can. */
export function pageFor(command: string): Cure | null {
  return cureIn(PAGES, command);
}

function cureIn(table: Table, text: string): Cure | null {
  for (const [pattern, cure] of table) {
    const found = pattern.exec(text);
    if (found !== null) return cure(found[1] ?? '');
  }
  return null;
}

/** What is a line for a shell or a configuration file, and no advice. */
const COMMAND = /^(?:or )?(?:(?:waybill|openssl|chmod|sudo) |relays: |\w+: [{[]|show the whole conversation)/;
/** Such a line behind advice. */
const ITS_COMMAND = /,?(?: (?:then|or))?: (?:waybill |\w+: [{[]).*$/;

/** What health or the doctor found, without the command line in it: there is a button. */
export function wordsOf(found: string): string {
  return found.replace(/(?:,? then)?: waybill [\w -]+(?=[.;])/g, '');
}

/** The same of what was found of one thing; whole where there is no button. */
export function saidOf(name: string, found: string): string {
  return cureFor(name) === null ? found : wordsOf(found);
}

/** What the doctor advises, without its command line: for those who have a button instead. Null where nothing is left. */
export function adviceOf(cure: string): string | null {
  const words = cure
    .split('; ')
    .filter((part) => !COMMAND.test(part))
    .map((part) => part.replace(ITS_COMMAND, ''))
    .filter((part) => part !== '')
    .join('; ')
    .replace(/^or /, '');
  return words === '' ? null : words;
}

/** What health says of all that is ill, in a line. */
export function summaryOf({ message, checks }: Pick<Health, 'message' | 'checks'>): string {
  const ill = checks.filter(({ status }) => status !== 'healthy');
  return ill.length === 0 ? message : ill.map(({ name, detail }) => saidOf(name, detail)).join(' ');
}
