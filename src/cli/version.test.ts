import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { describeWith, locate } from '../../test/peers/need.ts';
import { Installation } from '../../test/support/installation.ts';
import { version } from '../lib/command.ts';

/** An installation whose `runtime.json` tells of a server. */
function installationWith(server: { readonly pid: number; readonly version: string } | null): Installation {
  const here = new Installation();
  onTestFinished(() => here.remove());
  const ports = { api: null, apiTls: null, webui: null, smtp: [], smtpTls: [] };
  if (server !== null)
    writeFileSync(join(here.dataDir, 'runtime.json'), JSON.stringify({ ...server, ...ports }));
  return here;
}

test('without --check it is the version alone', async () => {
  const here = installationWith(null);
  expect(await here.waybill(['version'])).toMatchObject({ status: 0, out: `${version()}\n` });
  expect(await here.json(['version'])).toEqual({ version: version() });
});

test('a server of the same version is well; one of another must be restarted', async () => {
  const same = installationWith({ pid: process.pid, version: version() });
  expect((await same.waybill(['version', '--check'])).out).toContain(
    `Server   ${version()}, process ${process.pid}, on ${same.dataDir}`,
  );
  const other = installationWith({ pid: process.pid, version: '0.0.9' });
  expect(await other.waybill(['version', '--check'])).toMatchObject({
    status: 1,
    err: expect.stringContaining(`The running server is of version 0.0.9: restart it to use ${version()}.`),
  });
});

test('a server that was killed left its file behind: none runs', async () => {
  // No process has a number above pid_max.
  const here = installationWith({ pid: 2 ** 22 + 1, version: '0.0.9' });
  expect(await here.json(['version', '--check'])).toMatchObject({ server: null });
});

describeWith(['strace'], 'version --check', () => {
  test('connects to nobody', () => {
    const here = installationWith(null);
    const calls = join(here.dataDir, 'calls');
    const main = join(import.meta.dirname, '../main.ts');
    const traced = ['-f', '-e', 'trace=execve,connect,sendto,sendmsg', '-o', calls, process.execPath, main];
    const args = [...traced, 'version', '--check', '--data', here.dataDir];
    expect(execFileSync(locate('strace') ?? '', args, { encoding: 'utf8' })).toContain('Nobody was asked');
    const seen = readFileSync(calls, 'utf8');
    expect(seen).toContain('execve(');
    expect(seen).not.toMatch(/(connect|sendto|sendmsg)\(/);
  });
});
