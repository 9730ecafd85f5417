import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import type { MailServer } from './mail-server.ts';
import { locate } from './need.ts';
import { writePostfixFiles } from './postfix-files.ts';
import { untilFound } from './watch.ts';

/** The programs it needs. Only root can start Postfix: its daemons take on other users' names. */
export const POSTFIX_PROGRAMS = process.getuid?.() === 0 ? ['postfix'] : ['postfix (to be started by root)'];

/** The user `nobody` of Debian: Postfix stores mail for a user that is not root. */
const MAILBOX_OWNER = 65_534;

/** Starts a Postfix that takes mail for example.net and stores it; resolves when it accepts connections. */
export async function startPostfix(): Promise<MailServer> {
  const directory = mkdtempSync(join(tmpdir(), 'waybill-postfix-'));
  const inbox = makeMaildir(directory);
  const port = await freePort();
  const configuration = await writePostfixFiles({ directory, port, settings: mailboxSettings(directory) });
  const child = spawn(locate('postfix') ?? '', ['-c', configuration, 'start-fg'], { stdio: 'ignore' });
  await untilStarted(child, directory);
  return new Postfix(child, directory, inbox, port);
}

class Postfix implements MailServer {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #inbox: string;
  /** All its daemons are in the process group of the first. */
  readonly #group: number;

  constructor(child: ChildProcess, directory: string, inbox: string, port: number) {
    this.port = port;
    this.#child = child;
    this.#directory = directory;
    this.#inbox = inbox;
    this.#group = -Number(readFileSync(join(directory, 'queue/pid/master.pid'), 'utf8'));
  }

  mailFor(recipient: string): Promise<Buffer> {
    return untilFound(this.#inbox, () => this.#find(recipient));
  }

  freeze(): void {
    process.kill(this.#group, 'SIGSTOP');
  }

  thaw(): void {
    process.kill(this.#group, 'SIGCONT');
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    process.kill(this.#group, 'SIGKILL');
    await ended;
    rmSync(this.#directory, { recursive: true });
  }

  /** Every recipient gets a file of its own that begins with what Postfix adds. */
  #find(recipient: string): Buffer | undefined {
    return readdirSync(this.#inbox)
      .map((name) => readFileSync(join(this.#inbox, name)))
      .find((mail) => mail.includes(`\nDelivered-To: ${recipient}\n`));
  }
}

/** The mailbox of all recipients. Returns the folder in which their mail appears. */
function makeMaildir(directory: string): string {
  const mailbox = join(directory, 'mail');
  for (const folder of ['', 'tmp', 'new', 'cur']) {
    mkdirSync(join(mailbox, folder));
    chownSync(join(mailbox, folder), MAILBOX_OWNER, MAILBOX_OWNER);
  }
  return join(mailbox, 'new');
}

function mailboxSettings(directory: string): string {
  return `maillog_file_prefixes = ${directory}
maillog_file = ${directory}/log
myhostname = mx.example.net
virtual_mailbox_domains = example.net
virtual_mailbox_base = ${directory}
virtual_mailbox_maps = static:mail/
virtual_uid_maps = static:${MAILBOX_OWNER}
virtual_gid_maps = static:${MAILBOX_OWNER}
`;
}

/** Resolves when Postfix logs that it listens. */
async function untilStarted(child: ChildProcess, directory: string): Promise<void> {
  const file = join(directory, 'log');
  const log = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const ended = new AbortController();
  child.once('exit', (code) => ended.abort(new Error(`Postfix ended with ${code}:\n${log()}`)));
  await untilFound(directory, () => log().includes('daemon started') || null, ended.signal);
}
