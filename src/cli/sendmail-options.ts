/** The command line of sendmail(8), as far as programs that hand in mail use it. */
import { Exit } from './terminal.ts';

/** What sendmail was told. */
export interface SendmailOptions {
  /** `-t`: the recipients of the header count as well. */
  readonly fromHeader: boolean;
  /** `-i`: a line with a lone dot does not end the message. */
  readonly ignoreDots: boolean;
  /** `-f`, `-r`: the sender; empty for the null reverse-path. */
  readonly sender: string | null;
  /** `-F`: the sender's name. */
  readonly fullName: string | null;
  /** `-N` as NOTIFY of RFC 3461. */
  readonly notify: string | null;
  /** `-R` as RET of RFC 3461. */
  readonly ret: 'FULL' | 'HDRS' | null;
  /** `-V` as ENVID of RFC 3461, in xtext. */
  readonly envid: string | null;
  readonly recipients: readonly string[];
  /** Options of ours: where the installation is, or the server far away. */
  readonly data?: string;
  readonly config?: string;
  readonly url?: string;
  readonly keyFile?: string;
  readonly json?: true;
  /** REQUIRETLS (RFC 8689). */
  readonly requireTls?: true;
}

/** Command line usage error (sysexits.h). */
const EX_USAGE = 64;

/** What has no value, and what has one, behind it or in the next word. */
const FLAGS = 'GUimntv';
const VALUED = 'ABCDFLNORVXbfhopr';
/** Those whose value may only stand right behind them. */
const ATTACHED = 'deq';
const OURS = {
  data: 'data',
  config: 'config',
  url: 'url',
  'key-file': 'keyFile',
  json: 'json',
  'require-tls': 'requireTls',
} as const;
/** Of ours, those without a value. */
const OUR_FLAGS: ReadonlySet<string> = new Set(['json', 'requireTls']);
/** What `-b` may ask for instead of taking a message. */
const MODES: Readonly<Record<string, string>> = {
  s: 'SMTP on standard input is not supported: connect to a port of the listener, or omit -bs.',
  p: 'To see the queue: waybill queue',
  i: 'There are no aliases to rebuild.',
  d: 'To start the server: waybill serve',
  D: 'To start the server: waybill serve',
  v: 'Addresses are not verified; to see the route of one: waybill routes explain',
};
const NOTIFY = /^(?:never|(?:success|failure|delay)(?:,(?:success|failure|delay)){0,2})$/i;
/** RFC 3461 §4.4, before it is encoded. */
const MAX_ENVID = 100;

/** Reads the words behind `sendmail`. Throws `Exit` with status 64. */
export function readSendmailOptions(words: readonly string[]): SendmailOptions {
  const given = new Map<string, string>();
  const recipients: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') recipients.push(...rest.splice(0));
    else if (word.startsWith('--')) readOurs(word, rest, given);
    else if (word.startsWith('-') && word.length > 1) readCluster(word, rest, given);
    else recipients.push(word);
  }
  return optionsOf(given, recipients);
}

function readOurs(word: string, rest: string[], given: Map<string, string>): void {
  const [, name = '', attached] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(word) ?? [];
  const known = Object.entries(OURS).find(([option]) => option === name);
  if (known === undefined) throw usage(`There is no option --${name}.`);
  const value = attached ?? (OUR_FLAGS.has(known[1]) ? '' : rest.shift());
  if (value === undefined) throw usage(`--${name} needs a value.`);
  given.set(known[1], value);
}

/** One word of options, such as `-i`, `-ti`, `-fjane@example.com` or `-oem`. */
function readCluster(word: string, rest: string[], given: Map<string, string>): void {
  for (let place = 1; place < word.length; place++) {
    const letter = word.charAt(place);
    const behind = word.slice(place + 1);
    if (FLAGS.includes(letter)) {
      given.set(letter, '');
      continue;
    }
    if (ATTACHED.includes(letter)) {
      given.set(letter, behind);
      return;
    }
    if (!VALUED.includes(letter)) throw usage(`There is no option -${letter}.`);
    const value = behind === '' ? rest.shift() : behind;
    if (value === undefined) throw usage(`-${letter} needs a value.`);
    // Of all that -o can set, dots are what matters here.
    if (letter === 'o' && value === 'i') given.set('i', '');
    if (letter === 'b') refuseMode(value);
    given.set(letter, value);
    return;
  }
}

function refuseMode(mode: string): void {
  if (mode !== 'm')
    throw usage(`-b${mode} is not supported. ${MODES[mode] ?? 'Only messages are accepted (-bm).'}`);
}

function optionsOf(given: ReadonlyMap<string, string>, recipients: readonly string[]): SendmailOptions {
  const sender = given.get('f') ?? given.get('r') ?? null;
  const ours = Object.values(OURS).flatMap((name) => {
    const value = given.get(name);
    return value === undefined ? [] : [[name, OUR_FLAGS.has(name) ? true : value] as const];
  });
  return {
    fromHeader: given.has('t'),
    ignoreDots: given.has('i'),
    sender: sender === null ? null : sender.replace(/^\s*<([\s\S]*)>\s*$/, '$1').trim(),
    fullName: given.get('F') ?? null,
    notify: notifyOf(given.get('N')),
    ret: retOf(given.get('R')),
    envid: envidOf(given.get('V')),
    recipients,
    ...Object.fromEntries(ours),
  };
}

function notifyOf(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (NOTIFY.test(value)) return value.toUpperCase();
  throw usage(`-N must be never, or success, failure and delay separated by commas; not ${value}.`);
}

function retOf(value: string | undefined): 'FULL' | 'HDRS' | null {
  if (value === undefined) return null;
  const ret = value.toUpperCase();
  if (ret === 'FULL' || ret === 'HDRS') return ret;
  throw usage(`-R must be full or hdrs, not ${value}.`);
}

function envidOf(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (value.length > 0 && value.length <= MAX_ENVID && /^[\x20-\x7e]+$/.test(value))
    return value.replace(/[ +=]/g, (character) => `+${character.charCodeAt(0).toString(16).toUpperCase()}`);
  throw usage(`-V must be 1 to ${MAX_ENVID} printable ASCII characters.`);
}

function usage(message: string): Exit {
  return new Exit(EX_USAGE, `sendmail: ${message} See: waybill sendmail --help`);
}
