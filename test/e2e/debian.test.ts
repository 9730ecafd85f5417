/**
 * The Debian package on a machine of its own under systemd: built from the tarball, installed, upgraded while mail waits,
 * removed, installed again, and purged.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { BootedMachine, CAN_BOOT } from '../peers/booted-machine.ts';
import { describeIf, locate } from '../peers/need.ts';
import { keptPackages, serveRegistry } from '../peers/registry.ts';
import { ownEnvironment, packageJson, packTree } from '../support/package.ts';
import { tell } from '../support/proof.ts';

const run = promisify(execFile);
const PACKAGES = keptPackages(['package-lock.json', 'tools/node/package-lock.json']);
const canBuild = locate('dpkg-deb') !== null && PACKAGES !== null;
const OLD = packageJson().version;
const NEW = '99.0.0';
const PATIENCE = { timeout: 60_000, interval: 250 };

/** Where mail goes once it may. */
const CONFIGURATION = `
server: { hostname: mail.example.org }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: 2599, tls: none }]
delivery: { default_relay: out }
`;

describeIf(CAN_BOOT && canBuild, 'a machine that boots systemd', 'the Debian package', () => {
  let folder: string;
  let machine: BootedMachine;
  /** The id of a message that waits from the first test to the third. */
  let waiting: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'waybill-debian-'));
    const registry = await serveRegistry(PACKAGES ?? new Map());
    const script = join(import.meta.dirname, '../../deploy/debian/build');
    // What is packed only here need not be small.
    const env = {
      ...ownEnvironment(),
      npm_config_registry: registry.url,
      npm_config_update_notifier: 'false',
      DPKG_DEB_COMPRESSOR_TYPE: 'none',
    };
    const tarball = await packTree(folder);
    const { stdout } = await run(script, [tarball, folder], { env });
    registry.close();
    machine = await BootedMachine.boot();
    // Nobody cuts its power: dpkg need not wait for the disk after each of some thousand files.
    writeFileSync(machine.path('/etc/dpkg/dpkg.cfg.d/unsafe-io'), 'force-unsafe-io\n');
    copyFileSync(stdout.trim(), machine.path('/tmp/old.deb'));
    await makeNewer(stdout.trim(), machine.path('/tmp/new.deb'));
  }, 400_000);
  afterAll(async () => {
    await machine.end();
    rmSync(folder, { recursive: true });
  });

  /** What a command prints that must not fail. */
  const said = async (line: string) => {
    const end = await machine.run(line);
    if (end.code !== 0) throw new Error(`${line}: ${end.code}\n${end.stdout}${end.stderr}`);
    return end.stdout.trim();
  };
  const shown = async (id: string) => JSON.parse(await said(`waybill messages show ${id} --json`));
  const mainPid = () => said('systemctl show --property MainPID --value waybill');

  test('it asks for the libraries that its programs were built with', async () => {
    const depends = await said('dpkg-deb -f /tmp/old.deb Depends');
    await said('dpkg-deb -x /tmp/old.deb /tmp/files');
    const programs = await said("find /tmp/files -name '*.node' -o -path '*/bin/node'");
    const newest = (path: string, symbol: RegExp) =>
      Math.max(...Array.from(readFileSync(path, 'latin1').matchAll(symbol), ([, minor]) => Number(minor)));
    expect(programs.split('\n').length).toBeGreaterThan(1);
    for (const program of programs.split('\n')) {
      const path = machine.path(program);
      expect(newest(path, /GLIBC_2\.(\d+)/g)).toBeLessThanOrEqual(
        Number(/libc6 \(>= 2\.(\d+)\)/.exec(depends)?.[1]),
      );
      // GCC 11 brought GLIBCXX_3.4.29.
      expect(depends).toContain('libstdc++6 (>= 11)');
      expect(newest(path, /GLIBCXX_3\.4\.(\d+)/g)).toBeLessThanOrEqual(29);
    }
    await said('rm -r /tmp/files');
  }, 240_000);

  test('installed, it runs as a user of its own, and takes mail', async () => {
    // A machine without a Node.js.
    await said('rm -f /usr/bin/node /usr/local/bin/node /usr/bin/npm');
    const { stderr } = await machine.run('dpkg -i /tmp/old.deb');
    expect(stderr).toContain('waybill admin setup-link');
    expect(await said('systemctl is-active waybill && systemctl is-enabled waybill')).toBe('active\nenabled');
    expect(await said('systemd-analyze verify /usr/lib/systemd/system/waybill.service 2>&1')).toBe('');
    expect(await said('stat -c "%U %G %a" /var/lib/waybill /etc/waybill /etc/waybill/waybill.yaml')).toBe(
      'waybill waybill 700\nroot waybill 750\nroot waybill 640',
    );
    expect(await said('ps -o user= -p $(systemctl show -p MainPID --value waybill)')).toBe('waybill');
    expect(await said('waybill --version')).toBe(OLD);
    expect(await said('journalctl -u waybill -o cat')).toContain(
      'KEY=$(waybill keys create first-$(date +%s) --quiet)',
    );
    expect(await said('waybill admin setup-link')).toContain('https://localhost:8420/setup#');

    writeFileSync(machine.path('/etc/waybill/waybill.yaml'), CONFIGURATION);
    await said('systemctl reload waybill');
    await vi.waitFor(async () => expect(await said('waybill relays list')).toContain('2599'), PATIENCE);
    expect(await said('waybill relays list --data /var/lib/waybill/')).toContain('2599');
    // Another directory has settings of its own.
    await said('mkdir /tmp/mine && waybill keys create mine --data /tmp/mine');
    expect(await said('waybill relays list --data /tmp/mine')).not.toContain('2599');
    await said('waybill queue pause out');
    const letter = '--from shop@example.com --to you@example.com --subject Hello --text "It waits."';
    waiting = JSON.parse(await said(`waybill send ${letter} --json`)).id;
    expect(await shown(waiting)).toMatchObject({ status: 'queued' });

    await said('ln -sf /usr/bin/waybill /usr/sbin/sendmail');
    await said(
      `printf 'Subject: By name\n\nIt waits, too.\n' | sendmail -f shop@example.com you@example.com`,
    );
    expect(await said('waybill messages list')).toContain('By name');
  }, 240_000);

  test('upgraded while mail waits, it runs anew and still has the mail and its settings', async () => {
    const before = await mainPid();
    // Whoever disabled it wants no start at boot; it runs all the same.
    await said('systemctl disable waybill');
    await said('dpkg -i /tmp/new.deb');
    expect((await machine.run('systemctl is-enabled waybill')).stdout).toBe('disabled\n');
    await said('systemctl enable waybill');
    expect(await said('waybill --version')).toBe(NEW);
    expect(await said('systemctl is-active waybill')).toBe('active');
    expect(await mainPid()).not.toBe(before);
    expect(readFileSync(machine.path('/etc/waybill/waybill.yaml'), 'utf8')).toBe(CONFIGURATION);
    expect(await said('stat -c "%U %G %a" /etc/waybill/waybill.yaml')).toBe('root waybill 640');
    expect(await shown(waiting)).toMatchObject({ status: 'queued' });
  }, 240_000);

  test('upgraded while it is about to start, or has failed, it is started', async () => {
    const unit = '/etc/systemd/system/waybill.service.d';
    await said(`mkdir ${unit} && printf '[Service]\nExecStartPre=/bin/sleep 600\n' >${unit}/slow.conf`);
    await said('systemctl daemon-reload && systemctl restart --no-block waybill');
    const state = () => said('systemctl show --property ActiveState --value waybill');
    await vi.waitFor(async () => expect(await state()).toBe('activating'), PATIENCE);
    await said(`rm -r ${unit} && systemctl daemon-reload && dpkg -i /tmp/old.deb`);
    expect(await state()).toBe('active');

    await said(`mkdir ${unit} && printf '[Service]\nRestart=no\n' >${unit}/once.conf`);
    await said('systemctl daemon-reload && systemctl kill --signal KILL waybill');
    await vi.waitFor(async () => expect(await state()).toBe('failed'), PATIENCE);
    await said(`rm -r ${unit} && systemctl daemon-reload && dpkg -i /tmp/new.deb`);
    expect(await state()).toBe('active');
    expect(await shown(waiting)).toMatchObject({ status: 'queued' });
  }, 240_000);

  test('stopped by its administrator, it stays so through an upgrade', async () => {
    await said('systemctl stop waybill && dpkg -i /tmp/old.deb');
    expect((await machine.run('systemctl is-active waybill')).stdout).toBe('inactive\n');
    // Commands of root while it is stopped leave nothing that it could not use.
    expect(await shown(waiting)).toMatchObject({ status: 'queued' });
    expect(await said('find /var/lib/waybill ! -user waybill')).toBe('');
    await said('systemctl start waybill');
  }, 240_000);

  test('removed, it leaves mail and settings; installed again, it sends that mail', async () => {
    await said('dpkg -r waybill');
    expect((await machine.run('systemctl is-active waybill')).stdout).not.toBe('active\n');
    const there = 'ls -d /usr/lib/waybill /usr/bin/waybill /var/lib/waybill/spool /etc/waybill/waybill.yaml';
    expect((await machine.run(there)).stdout).toBe('/etc/waybill/waybill.yaml\n/var/lib/waybill/spool\n');

    await said('python3 -m aiosmtpd -n -l 127.0.0.1:2599 -c aiosmtpd.handlers.Sink >/dev/null 2>&1 &');
    await said('dpkg -i /tmp/new.deb && systemctl is-active waybill && waybill queue resume out');
    await vi.waitFor(async () => expect((await shown(waiting)).status).toBe('delivered'), PATIENCE);
  }, 240_000);

  test('purged, it keeps mail unless it is told to remove it', async () => {
    const kept = await machine.run('dpkg -P waybill');
    expect([kept.code, kept.stderr]).toEqual([0, expect.stringContaining('kept in /var/lib/waybill')]);
    expect(
      await said(
        'ls -d /etc/waybill /var/lib/waybill 2>/dev/null || id waybill >/dev/null; stat -c %U /var/lib/waybill',
      ),
    ).toBe('/var/lib/waybill\nwaybill');
    await said('dpkg -i /tmp/new.deb');
    expect(await shown(waiting)).toMatchObject({ status: 'delivered' });
    // The data directory may be a file system of its own.
    await said('systemctl stop waybill && mkdir /tmp/volume && cp -a /var/lib/waybill/. /tmp/volume');
    await said('mount --bind /tmp/volume /var/lib/waybill && chown waybill: /var/lib/waybill');
    await said('systemctl start waybill');
    await said('echo waybill waybill/purge-data boolean true | debconf-set-selections && dpkg -P waybill');
    const left = 'ls -d /etc/waybill /usr/lib/waybill /etc/systemd/system/*/waybill.service';
    expect((await machine.run(left)).stdout).toBe('');
    expect(await said('ls -A /var/lib/waybill && umount /var/lib/waybill')).toBe('');
    expect((await machine.run('id waybill')).code).not.toBe(0);
    tell('Debian packages', { machines: 1 });
  }, 240_000);

  /** The same package as the next version of it. */
  async function makeNewer(old: string, made: string): Promise<void> {
    const tree = join(folder, basename(made));
    await run('dpkg-deb', ['-R', old, tree]);
    for (const file of ['DEBIAN/control', 'usr/lib/waybill/node_modules/waybill/package.json']) {
      const place = join(tree, file);
      writeFileSync(place, readFileSync(place, 'utf8').replace(OLD, NEW));
    }
    await run('dpkg-deb', ['-Znone', '--root-owner-group', '-b', tree, made]);
  }
});
