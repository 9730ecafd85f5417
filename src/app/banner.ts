import { passwordFault } from '../accounts/passwords.ts';
import type { Reception } from '../accounts/reception.ts';
import { linkPath, makeLink } from '../accounts/sign-in.ts';
import type { Fault } from '../config/fault.ts';
import { variable } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { type HealthVerdict, portDetail } from '../domain/health.ts';
import { INBOX } from '../domain/relay.ts';
import type { Clock } from '../lib/clock.ts';
import { COMMAND, dataOption } from '../lib/command.ts';
import { readError } from '../lib/error.ts';
import type { Log } from '../lib/log.ts';
import type { BoundPorts } from './ports.ts';

/** The state of the service: the checks of `/health`, and why no mail is accepted (null if it is). */
export interface Condition extends Pick<HealthVerdict, 'checks'> {
  readonly suspension: string | null;
}

/** The part of the configuration that decides whether mail is sent. */
interface Captures {
  readonly delivery: Pick<Config['delivery'], 'defaultRelay'>;
}

/** The text for people once the service is up: where it listens, and what to paste next (contract §14). */
export function banner(
  version: string,
  dataDir: string,
  { delivery }: Captures,
  ports: BoundPorts,
  condition: Condition,
  setUpPath: string | null,
): string {
  const { clause, details } = troubleOf(condition);
  const running = `Waybill ${version} is running`;
  const lines = [clause === null ? `${running}.` : `${running}, but ${clause}:`];
  lines.push(...details.map((detail) => `  ${detail}`), '');
  const show = (name: string, value: string) => lines.push(`  ${name.padEnd(16)}${value}`);
  if (ports.api !== null) show('Ingestion API', `http://localhost:${ports.api}`);
  if (ports.apiTls !== null) show('', `https://localhost:${ports.apiTls}`);
  if (ports.webui !== null) show('Dashboard', `https://localhost:${ports.webui}${setUpPath ?? '/'}`);
  if (ports.webui !== null) show('Health', `https://localhost:${ports.webui}/health`);
  if (ports.webui !== null) show('Metrics', `https://localhost:${ports.webui}/metrics`);
  const smtp = [
    ...ports.smtp.map((port) => `smtp://localhost:${port}`),
    ...ports.smtpTls.map((port) => `smtps://localhost:${port}`),
  ];
  for (const [index, url] of smtp.entries()) show(index === 0 ? 'SMTP' : '', url);
  show('Data', dataDir);
  const excused = excusedPorts(ports, condition);
  if (excused.length > 0) lines.push('', ...excused.map((detail) => `  ${detail}`));
  if (ports.webui !== null && setUpPath !== null)
    lines.push(
      '',
      '  Open the dashboard with this link, which works once within an hour, and choose a password. Its certificate is',
      '  self-signed unless tls.cert_file says otherwise. From another machine, replace localhost with the name of this one.',
      `  A new link: ${COMMAND} admin setup-link`,
    );
  if (delivery.defaultRelay === INBOX)
    lines.push('', '  Mail is captured in the local inbox; nothing is sent until a relay is added.');
  if (ports.api !== null) lines.push('', ...firstSteps(dataDir, ports.api));
  const [smtpPort] = ports.smtp;
  if (smtpPort !== undefined) lines.push(...(ports.api === null ? [''] : []), ...firstLetter(smtpPort));
  return lines.join('\n');
}

/** Where the service listens and what is wrong, in one line for observers of the process. */
export function statusLine(ports: BoundPorts, condition: Condition): string {
  const { api, apiTls, webui, smtp, smtpTls } = ports;
  const listening = [
    ...(api === null ? [] : [`API ${api}`]),
    ...(apiTls === null ? [] : [`API over TLS ${apiTls}`]),
    ...(smtp.length === 0 ? [] : [`SMTP ${smtp.join(' ')}`]),
    ...(smtpTls.length === 0 ? [] : [`SMTP over TLS ${smtpTls.join(' ')}`]),
    ...(webui === null ? [] : [`dashboard ${webui}`]),
  ].join(', ');
  const { clause, details } = troubleOf(condition);
  const notes = [...details, ...excusedPorts(ports, condition)].join(' ');
  if (clause !== null) return `${listening}, but ${clause}: ${notes} See: ${COMMAND} doctor`;
  return notes === '' ? listening : `${listening}. ${notes}`;
}

/** What is wrong as the end of a sentence, null if nothing is, and each fault in a sentence of its own. */
function troubleOf({ checks, suspension }: Condition): { clause: string | null; details: readonly string[] } {
  const ill = checks.filter(({ status }) => status !== 'healthy');
  const refuses = suspension !== null || ill.some(({ status }) => status === 'critical');
  const details = ill.map(({ detail }) => detail);
  // Checks say what an operator can do; the client's text is used only if no check has any.
  if (suspension !== null && ill.every(({ status }) => status !== 'critical')) details.unshift(suspension);
  return { clause: refuses ? 'refuses mail' : ill.length > 0 ? 'something is wrong' : null, details };
}

/** Missing ports whose absence is not a fault: mentioned all the same. */
function excusedPorts({ faults }: BoundPorts, { checks }: Condition): readonly string[] {
  const isIll = checks.some(({ name, status }) => name === 'ports' && status !== 'healthy');
  return isIll ? [] : faults.map(portDetail);
}

function firstSteps(dataDir: string, port: number): string[] {
  const data = dataOption(dataDir);
  const message = '{"from":"me@example.com","to":["you@example.com"],"subject":"Hello","text":"It works."}';
  // A new name each time it is pasted: names of active keys are unique.
  return [
    'Create a key and send a first message from another terminal:',
    '',
    `  KEY=$(${COMMAND} keys create first-$(date +%s) --quiet${data})`,
    `  curl -s http://localhost:${port}/api/v1/messages -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '${message}'`,
    '',
  ];
}

function firstLetter(port: number): string[] {
  const letter = "printf 'Subject: Hello\\n\\nIt works.\\n'";
  const envelope = '--mail-from me@example.com --mail-rcpt you@example.com';
  return ['Or over SMTP:', '', `  ${letter} | curl -sS smtp://localhost:${port} ${envelope} --crlf -T -`, ''];
}

/** The variable that sets the first password (contract §14), and the user it is for. */
const VARIABLE = 'WAYBILL_ADMIN_PASSWORD';
const FIRST_NAME = 'admin';

/** How to claim the dashboard. */
type FirstRun =
  /** Somebody has a password. */
  | { readonly kind: 'claimed' }
  /** By this path of the dashboard, which contains a token. */
  | { readonly kind: 'link'; readonly path: string }
  /** The environment's password is unfit, or cannot be read. */
  | { readonly kind: 'faulty'; readonly fault: Fault };

/**
 * Lets the person who started the service, and nobody else, claim the dashboard: sets the environment's password if there is
 * one and none is set yet, otherwise makes a link. Rejects with `StoreError`.
 */
export async function prepareFirstRun(
  reception: Reception,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<FirstRun> {
  const { accounts, clock, passwords } = reception;
  const users = await accounts.users(clock.wall());
  if (users.some(({ passwordHash }) => passwordHash !== null)) return { kind: 'claimed' };
  const given = readVariable(environment);
  if (typeof given === 'object') return { kind: 'faulty', fault: given };
  if (given === undefined) return { kind: 'link', path: linkPath(await makeLink(reception, null)) };
  const rule = passwordFault(given, FIRST_NAME);
  if (rule !== null) return { kind: 'faulty', fault: faultOf(rule) };
  await accounts.claimFirst(FIRST_NAME, await passwords.hash(given), clock.wall());
  return { kind: 'claimed' };
}

function readVariable(environment: Readonly<Record<string, string | undefined>>): string | undefined | Fault {
  try {
    return variable(environment, VARIABLE);
  } catch (error) {
    return faultOf(`cannot be read: ${readError(error)}`);
  }
}

/** Never includes the password itself. */
function faultOf(rule: string): Fault {
  return { key: VARIABLE, value: null, rule, source: 'environment' };
}

/** Exit status after a failure of the machine: EX_IOERR of sysexits.h (contract §15). */
export const EXIT_IO = 74;
/** How long health shows the failure before the process ends, in ms. */
const SHOW_MS = 10_000;

/** A failure of the machine ends the service: mail at once, the process a little later. */
export class MachineFailure {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #ended = Promise.withResolvers<number>();
  #failed = false;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether one has happened: nothing may be accepted or delivered any more. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Resolves with the exit status when the process should end after a failure. */
  get ended(): Promise<number> {
    return this.#ended.promise;
  }

  /** Reports a failure, once. */
  report(error: Error & { readonly code: string }, stopWork: () => void): void {
    this.#failed = true;
    stopWork();
    this.#log.error('machine.failed', { code: error.code, message: error.message, exitStatus: EXIT_IO });
    void this.#clock.sleep(SHOW_MS).then(() => this.#ended.resolve(EXIT_IO));
  }
}
