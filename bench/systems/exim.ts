import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { EXIM_PROGRAM, EXIM_PROGRAMS } from '../../test/peers/exim.ts';
import { freePort } from '../../test/peers/free-port.ts';
import { locate } from '../../test/peers/need.ts';
import { countFlushes, traced } from '../measure/flushes.ts';
import { usageOf } from '../measure/process-tree.ts';
import { startChild } from './child.ts';
import type { Taker, TakerOptions } from './system.ts';
import { untilListening } from './wait.ts';

/** Exim leaves deliveries to processes that outlive their parents: in a PID namespace the daemon inherits them, and their CPU. */
const UNSHARE = ['unshare', '--pid', '--fork', '--kill-child'];

/** Why Exim cannot be measured here; null when it can. */
export function eximMissing(): string | null {
  const missing = [...EXIM_PROGRAMS, 'unshare'].find((program) => locate(program) === null);
  return missing === undefined ? null : `it needs ${missing}`;
}

/** Starts an Exim of its own, on loopback only, that relays everything to `relayPort`. */
export async function startExim({ directory, relayPort, trace, holds }: TakerOptions): Promise<Taker> {
  const port = await freePort();
  const traceFile = path.join(directory, 'flushes.trace');
  await chmod(directory, 0o755);
  for (const folder of ['spool', 'log']) {
    await mkdir(path.join(directory, folder));
    await chmod(path.join(directory, folder), 0o777);
  }
  // Deliveries start the program anew, from where Exim's user may not be let in.
  const program = path.join(directory, 'exim4');
  await copyFile(EXIM_PROGRAM, program);
  await chmod(program, 0o4755);
  const file = path.join(directory, 'exim.conf');
  await writeFile(file, configuration(directory, port, relayPort, holds ?? false));
  // What is deferred all the same is tried again soon.
  const command = [...UNSHARE, program, '-C', file, '-bdf', ...(holds ? [] : ['-q5s'])];
  const child = await startChild(trace ? traced(command, traceFile) : command, {
    log: path.join(directory, 'exim.log'),
  });
  await untilListening(port);
  return {
    smtpPort: port,
    usage: () => usageOf(child.pid),
    flushes: () => (trace ? countFlushes(traceFile) : Number.NaN),
    stop: () => child.kill(),
  };
}

/** What an operator would set who wants a fast relay: it delivers at once, and counts no connections. */
function configuration(directory: string, port: number, relayPort: number, queueOnly: boolean): string {
  return `exim_path = ${directory}/exim4
spool_directory = ${directory}/spool
log_file_path = ${directory}/log/%slog
pid_file_path = ${directory}/spool/pid
primary_hostname = bench.example.com
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
disable_ipv6 = true
host_lookup =
tls_advertise_hosts =
keep_environment =
acl_smtp_rcpt = take
queue_only = ${queueOnly}
split_spool_directory = true
message_logs = false
smtp_accept_max = 0
smtp_accept_queue_per_connection = 0
queue_run_max = 5
begin acl
take:
  accept
begin routers
up:
  driver = manualroute
  transport = up
  route_list = * 127.0.0.1::${relayPort} byname
  self = send
begin transports
up:
  driver = smtp
  hosts_avoid_tls = *
begin retry
* * F,1h,1s
`;
}
