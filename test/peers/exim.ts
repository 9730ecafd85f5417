import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { locate } from './need.ts';
import type { Upstream, UpstreamOptions } from './upstream.ts';
import { untilFound } from './watch.ts';

/** Where `.ci/run` unpacks Debian's package, which cannot be installed beside Postfix's. */
const UNPACKED = join(import.meta.dirname, '../../node_modules/.cache/exim/usr/sbin/exim4');
/** Where Exim is, if it is anywhere. */
export const EXIM_PROGRAM = locate('exim4') ?? UNPACKED;

/** The programs it needs. Only root can start Exim: it takes on the name of a user of its own. */
export const EXIM_PROGRAMS = canRun() ? [] : ['exim4 (unpacked by .ci/run, to be started by root)'];

/**
 * Starts an Exim that holds what it takes until it is told to send it on; resolves when it accepts connections. It
 * keeps to one connection as long as there is more to send, and uses BDAT and pipelining where it can.
 */
export async function startExim(options: UpstreamOptions): Promise<Upstream> {
  const directory = mkdtempSync(join(tmpdir(), 'waybill-exim-'));
  const port = await freePort();
  makeFolders(directory);
  // Where the repository lies Exim's user may not be let in, and deliveries start the program anew.
  const program = join(directory, 'exim4');
  copyFileSync(EXIM_PROGRAM, program);
  chmodSync(program, 0o4755);
  copyFileSync(options.ca, join(directory, 'ca.pem'));
  writeFileSync(join(directory, 'exim.conf'), configuration(options, directory, port));
  const args = ['-C', join(directory, 'exim.conf'), '-bdf'];
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  await untilStarted(child, directory);
  return new Exim(child, directory, port);
}

class Exim implements Upstream {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #directory: string;

  constructor(child: ChildProcess, directory: string, port: number) {
    this.port = port;
    this.#child = child;
    this.#directory = directory;
  }

  async flush(): Promise<void> {
    const args = ['-C', join(this.#directory, 'exim.conf'), '-qqf'];
    await promisify(execFile)(join(this.#directory, 'exim4'), args);
  }

  log(): string {
    return logOf(this.#directory);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    // The whole group: each connection has a process of its own.
    process.kill(-(this.#child.pid ?? 0), 'SIGKILL');
    await ended;
    rmSync(this.#directory, { recursive: true });
  }
}

/** Exim's user makes and removes files there. */
function makeFolders(directory: string): void {
  chmodSync(directory, 0o755);
  for (const folder of ['spool', 'log']) {
    mkdirSync(join(directory, folder));
    chmodSync(join(directory, folder), 0o777);
  }
}

function configuration({ nextHop, password }: UpstreamOptions, directory: string, port: number): string {
  const authenticator = `begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  client_send = ^exim^${password}
`;
  return `exim_path = ${directory}/exim4
spool_directory = ${directory}/spool
log_file_path = ${directory}/log/%slog
pid_file_path = ${directory}/spool/pid
primary_hostname = exim.example.com
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
disable_ipv6 = true
host_lookup =
tls_advertise_hosts =
keep_environment =
acl_smtp_rcpt = take
queue_only = true
log_selector = +smtp_confirmation +tls_certificate_verified +pipelining
begin acl
take:
  accept
begin routers
up:
  driver = manualroute
  transport = up
  route_list = * localhost::${nextHop} byname
  self = send
begin transports
up:
  driver = smtp
  hosts_require_tls = *
  tls_verify_certificates = ${directory}/ca.pem
  tls_verify_hosts = *
  tls_verify_cert_hostnames = *
  hosts_pipe_connect = *
  hosts_require_auth = ${password === null ? '' : '*'}
begin retry
* * F,1h,1s
${password === null ? '' : authenticator}`;
}

/** Resolves when Exim logs that it listens. */
async function untilStarted(child: ChildProcess, directory: string): Promise<void> {
  const ended = new AbortController();
  child.once('exit', (code) => ended.abort(new Error(`Exim ended with ${code}:\n${logOf(directory)}`)));
  const listens = () => logOf(directory).includes('listening for SMTP') || null;
  await untilFound(join(directory, 'log'), listens, ended.signal);
}

function logOf(directory: string): string {
  const file = join(directory, 'log/mainlog');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** It runs only where its user is known. */
function canRun(): boolean {
  if (process.getuid?.() !== 0 || !existsSync(EXIM_PROGRAM)) return false;
  try {
    execFileSync(EXIM_PROGRAM, ['-C', '/dev/null', '-bV'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
