/** A Postfix instance of its own, as files: nothing of the machine's own configuration or queue is touched. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What differs from one instance to the next. */
export interface PostfixSetup {
  /** A directory of the instance's own. Everybody will be able to enter it: Postfix's daemons run as other users. */
  readonly directory: string;
  /** Port of 127.0.0.1. */
  readonly port: number;
  /** Lines of `main.cf`: what is done with the mail. */
  readonly settings: string;
}

/** Writes an instance's files. Returns its configuration directory, for `postfix -c`. */
export async function writePostfixFiles(setup: PostfixSetup): Promise<string> {
  const configuration = join(setup.directory, 'postfix');
  await chmod(setup.directory, 0o755);
  await mkdir(configuration);
  await mkdir(join(setup.directory, 'queue'));
  await writeFile(join(configuration, 'main.cf'), mainCf(setup));
  await writeFile(join(configuration, 'master.cf'), masterCf(setup.port));
  return configuration;
}

function mainCf({ directory, settings }: PostfixSetup): string {
  return `compatibility_level = 3.6
queue_directory = ${directory}/queue
data_directory = ${directory}/state
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
mydestination =
alias_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
disable_dns_lookups = yes
smtpd_peername_lookup = no
smtpd_recipient_restrictions = permit_mynetworks, reject
${settings}`;
}

/** The services of Debian's master.cf that such an instance uses, none of them chrooted. */
function masterCf(port: number): string {
  const services = [
    [`127.0.0.1:${port}`, 'inet', 'n', '-', 'smtpd'],
    ['pickup', 'unix', 'n', '1', 'pickup'],
    ['cleanup', 'unix', 'n', '0', 'cleanup'],
    ['qmgr', 'unix', 'n', '1', 'qmgr'],
    ['rewrite', 'unix', '-', '-', 'trivial-rewrite'],
    ['bounce', 'unix', '-', '0', 'bounce'],
    ['defer', 'unix', '-', '0', 'bounce'],
    ['trace', 'unix', '-', '0', 'bounce'],
    ['verify', 'unix', '-', '1', 'verify'],
    ['flush', 'unix', 'n', '0', 'flush'],
    ['proxymap', 'unix', '-', '-', 'proxymap'],
    ['proxywrite', 'unix', '-', '1', 'proxymap'],
    ['smtp', 'unix', '-', '-', 'smtp'],
    ['relay', 'unix', '-', '-', 'smtp'],
    // Writes files as the owner of the mailbox, so it begins with the right to become anyone.
    ['virtual', 'unix', '-', '-', 'virtual', 'n'],
    ['error', 'unix', '-', '-', 'error'],
    ['retry', 'unix', '-', '-', 'error'],
    ['anvil', 'unix', '-', '1', 'anvil'],
    ['scache', 'unix', '-', '1', 'scache'],
    ['tlsmgr', 'unix', '-', '1', 'tlsmgr'],
    ['postlog', 'unix-dgram', 'n', '1', 'postlogd'],
  ];
  return services
    .map(
      ([name, type, isPrivate, limit, program, isUnprivileged = '-']) =>
        `${name} ${type} ${isPrivate} ${isUnprivileged} n - ${limit} ${program}\n`,
    )
    .join('');
}
