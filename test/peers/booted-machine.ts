/**
 * A machine within this one: the same files under a layer that is thrown away, processes, users' names, network and cgroups
 * of its own, and systemd as its first process. So packages are installed, run and removed as on a server, and this machine
 * has nothing of it. Needs root, and cgroups of version 2.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import type { CommandEnd } from './server.ts';

const run = promisify(execFile);
const SYSTEMD = '/lib/systemd/systemd';
/** Where cgroups of version 2 are: beside those of version 1, or alone. */
const CGROUPS = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'].find((place) =>
  existsSync(join(place, 'cgroup.controllers')),
);

/** Whether this machine can have such a one. */
export const CAN_BOOT = process.getuid?.() === 0 && existsSync(SYSTEMD) && CGROUPS !== undefined;

/** Becomes the first process of the machine that lies in the folder $1. */
const BOOT = `
set -eu
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
cd "$1"
mkdir changed work root
mount -t overlay overlay -o lowerdir=/,upperdir=changed,workdir=work root
mount -t proc proc root/proc
mount -t sysfs sysfs root/sys
mount -t cgroup2 cgroup2 root/sys/fs/cgroup
mount -t tmpfs tmpfs root/dev
for node in null zero full random urandom tty; do
  touch root/dev/$node
  mount --bind /dev/$node root/dev/$node
done
mkdir root/dev/shm root/dev/pts
mount -t devpts -o newinstance,ptmxmode=0666 devpts root/dev/pts
ln -s pts/ptmx root/dev/ptmx
ln -s /proc/self/fd root/dev/fd
mount -t tmpfs tmpfs root/run
mount -t tmpfs tmpfs root/tmp
ip link set lo up
# Nothing of this machine's starts in it but what a package starts.
rm -f root/usr/sbin/policy-rc.d
cd root
pivot_root . mnt
exec env -i container=waybill-test PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . \\
  sh -c 'umount -l /mnt && exec ${SYSTEMD} --system --unit=basic.target --log-target=journal'
`;

/** See this file's comment. */
export class BootedMachine {
  readonly #folder: string;
  readonly #pid: number;

  private constructor(folder: string, pid: number) {
    this.#folder = folder;
    this.#pid = pid;
  }

  /** Starts one; resolves once systemd takes commands. */
  static async boot(): Promise<BootedMachine> {
    const folder = mkdtempSync(join(tmpdir(), 'waybill-machine-'));
    const group = join(CGROUPS ?? '', basename(folder));
    // It does not outlive the tests.
    const enter = `mkdir "$3" && echo $$ >"$3/cgroup.procs" && exec setpriv --pdeathsig KILL unshare --kill-child -m -p -f -i -u -n -C sh -c "$1" boot "$2"`;
    const child = spawn('sh', ['-c', enter, 'enter', BOOT, folder, group], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaints += chunk.toString();
    });
    const machine = await vi.waitFor(
      async () => {
        if (child.exitCode !== null) return null;
        const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
        const found = new BootedMachine(folder, Number.parseInt(children, 10));
        const { stdout } = await found.run('systemctl is-active basic.target');
        if (stdout !== 'active\n') throw new Error('It has not come up.');
        return found;
      },
      { timeout: 60_000, interval: 200 },
    );
    if (machine === null) throw new Error(`There is no such machine to be had here: ${complaints}`);
    return machine;
  }

  /** The path, seen from outside, of one of its own. */
  path(inside: string): string {
    return join(`/proc/${this.#pid}/root`, inside);
  }

  /** Runs a line of shell as its root. */
  async run(line: string): Promise<CommandEnd> {
    const inside = ['-t', String(this.#pid), '-m', '-p', '-i', '-u', '-n', '-C', '-r', '-w'];
    const environment = ['env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', 'LANG=C.UTF-8'];
    const quiet = 'DEBIAN_FRONTEND=noninteractive';
    try {
      const { stdout, stderr } = await run('nsenter', [...inside, ...environment, quiet, 'sh', '-c', line]);
      return { code: 0, stdout, stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
      return { code: typeof code === 'number' ? code : -1, stdout, stderr };
    }
  }

  /** Ends it, with all that runs in it. */
  async end(): Promise<void> {
    process.kill(this.#pid, 'SIGKILL');
    const group = join(CGROUPS ?? '', basename(this.#folder));
    await vi.waitFor(() => removeGroup(group), { timeout: 20_000 });
    rmSync(this.#folder, { recursive: true });
  }
}

/** Removes a cgroup, the ones in it first; throws while a process is in one. */
async function removeGroup(place: string): Promise<void> {
  const entries = await readdir(place, { withFileTypes: true });
  for (const entry of entries) if (entry.isDirectory()) await removeGroup(join(place, entry.name));
  rmdirSync(place);
}
