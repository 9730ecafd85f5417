import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeIf } from '../../test/peers/need.ts';
import { Installation } from '../../test/support/installation.ts';

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

const RELAY = ['relays', 'add', 'out', '--type', 'smtp', '--host', '127.0.0.1', '--default'];

test.each([
  [['keys', 'create', 'shop']],
  [['keys', 'list']],
  [['send', '--from', 'a@example.org', '--to', 'b@example.net', '--text', 'hi']],
  [RELAY],
  [[...RELAY, '--username', 'u', '--password-file', '/dev/null']],
  [['domains', 'add', 'example.org']],
  [['queue', 'pause', 'out']],
  [['admin', 'setup-link']],
  [['admin', 'reset-password', '--stdin']],
  [['config']],
  [['doctor']],
  [['migrate', '--to', 'postgres://localhost/waybill']],
])('%s makes no data directory: one that is not there is a name mistyped', async (args) => {
  const mistyped = join(here.folder, 'dtaa');
  const { status, out, err } = await here.waybill([...args, '--data', mistyped]);
  expect([status, out]).toEqual([1, '']);
  expect(err).toContain(`There is no data directory ${mistyped}. Name the right one with --data`);
  expect(err).toContain(`waybill serve --data ${mistyped}`);
  expect(existsSync(mistyped)).toBe(false);
});

test('an empty directory that somebody made is one to begin with', async () => {
  const made = join(here.folder, 'made');
  mkdirSync(made);
  expect((await here.waybill(['keys', 'create', 'shop', '--data', made])).status).toBe(0);
  expect(readdirSync(made)).toContain('waybill.db');
});

test.each([[['serve']], [['keys', 'list']], [['doctor']], [['restore', 'none.tar']]])(
  '%s says that its data directory is a file, or lies in one',
  async (args) => {
    const file = join(here.folder, 'mail.txt');
    writeFileSync(file, '');
    for (const [dataDir, which] of [
      [file, 'it'],
      [join(file, 'data'), join(file, 'data')],
    ] as const) {
      const { status, err } = await here.waybill([...args, '--data', dataDir]);
      const told = `${file} is a file, not a directory, so ${which} cannot be the data directory. Name a directory with --data.`;
      expect([status, err]).toEqual([1, `${told}\n`]);
    }
  },
);

/** Runs a command as the user nobody: its modules are loaded before, for that user may not read them. */
const AS_NOBODY = `
  const { run } = await import(process.argv[1]);
  const { systemClock } = await import(process.argv[1].replace('cli/run', 'lib/clock'));
  process.setgroups([]);
  process.setgid(65534);
  process.setuid(65534);
  const { WAYBILL_DATA } = process.env;
  const terminal = { out() {}, err: console.error, environment: { WAYBILL_DATA }, columns: () => null };
  process.exit(await run(process.argv.slice(2), { terminal, clock: systemClock, random: null }));`;

async function asNobody(args: readonly string[], dataDir: string): Promise<string> {
  const program = ['--input-type=module', '-e', AS_NOBODY, new URL('run.ts', import.meta.url).href, ...args];
  const ended = promisify(execFile)(process.execPath, program, { env: { WAYBILL_DATA: dataDir } });
  const { stderr } = await ended.catch((error: { stderr: string }) => error);
  return stderr;
}

describeIf(process.getuid?.() === 0, 'root', 'as another user', () => {
  beforeEach(() => chmodSync(here.folder, 0o755));

  test("a data directory of another user's is told with its owner, and how to run the command", async () => {
    for (const args of [['keys', 'list'], ['serve']]) {
      const err = await asNobody(args, here.dataDir);
      expect(err).toContain(`${here.dataDir} belongs to root (uid 0), not to nobody (uid 65534)`);
      expect(err).toMatch(
        /Run the command as its owner: sudo .*waybill … --data .*or name another directory/,
      );
    }
  });

  test('one that cannot be made is told with the directory that is in the way, and how to make it', async () => {
    const dataDir = join(here.folder, 'deep/data');
    const err = await asNobody(['serve'], dataDir);
    expect(err).toContain(`${dataDir} cannot be created: ${here.folder} belongs to root (uid 0)`);
    expect(err).toContain(`sudo install -d -o nobody -m 700 ${dataDir}`);
  });

  test("a server of another user's is told by its control socket", async () => {
    const server = await here.startServer();
    chmodSync(here.dataDir, 0o777);
    try {
      const err = await asNobody(['keys', 'list'], here.dataDir);
      expect(err).toContain(
        `belongs to root (uid 0), and only that user may use ${here.dataDir}/control.sock`,
      );
      expect(err).toMatch(/this command runs as nobody \(uid 65534\)\. Run it as that user: sudo /);
    } finally {
      await server.close();
    }
  });
});
