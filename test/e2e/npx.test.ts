/**
 * What a person does who has nothing but the tarball: installs it in an empty folder, as an ordinary user, on the oldest
 * Node.js that may be there, and starts it. npm is the real one; it asks a registry of this machine.
 */
import { execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeIf } from '../peers/need.ts';
import { keptPackages, type Registry, serveRegistry } from '../peers/registry.ts';
import { RunningServer, type Runtime } from '../peers/server.ts';
import { packageJson, packTree } from '../support/package.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
/** `npm ci --prefix test/peers/node18` brings it, with an npm that runs on it. */
const NODE18 = join(ROOT, 'test/peers/node18/node_modules');
const PACKAGES = keptPackages(['package-lock.json', 'tools/node/package-lock.json']);
/** Root becomes somebody who may do nothing; everybody else is ordinary already. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

describeIf(
  PACKAGES !== null && existsSync(join(NODE18, '.bin/npx')),
  "npm's cache and Node.js 18",
  'from the tarball',
  () => {
    let folder: string;
    let app: string;
    let environment: NodeJS.ProcessEnv;
    let registry: Registry;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'waybill-npx-'));
      chmodSync(folder, 0o777);
      app = join(folder, 'app');
      for (const place of [app, join(folder, 'home')]) {
        mkdirSync(place);
        chmodSync(place, 0o777);
      }
      // Where this tree lies, others may not be let in.
      cpSync(NODE18, join(folder, 'node18'), { recursive: true, verbatimSymlinks: true });
      await packTree(folder);
      registry = await serveRegistry(PACKAGES ?? new Map());
      environment = {
        HOME: join(folder, 'home'),
        PATH: `${join(folder, 'node18/.bin')}:/usr/bin:/bin`,
        npm_config_registry: registry.url,
        npm_config_audit: 'false',
        npm_config_update_notifier: 'false',
        WAYBILL_API__PORT: '0',
        WAYBILL_WEBUI__PORT: '0',
        WAYBILL_LISTENER__PORTS: '0',
      };
    }, 300_000);
    afterAll(() => {
      registry.close();
      rmSync(folder, { recursive: true });
    });

    const command = (program: string, ...args: readonly string[]) =>
      run(program, args, { cwd: app, env: environment, ...USER });

    test('npx waybill serve runs on Node.js 18, with a Node.js of its own, and mail goes through', async () => {
      expect((await command('node', '--version')).stdout).toMatch(/^v18\./);
      await command('npm', 'install', join(folder, `waybill-${packageJson().version}.tgz`));

      const child = spawn('npx', ['waybill', 'serve'], {
        cwd: app,
        env: environment,
        detached: true,
        ...USER,
      });
      const server = new RunningServer(child, join(app, 'data'));
      try {
        await server.printed(/^ {2}KEY=\$\(waybill keys create /m);
        expect(server.output).toContain('Installing Node.js 24 (once; a minute or so)');
        const { api, pid } = JSON.parse(readFileSync(join(app, 'data/runtime.json'), 'utf8')) as Runtime;
        const key = (await command('npx', 'waybill', 'keys', 'create', 'first', '--quiet')).stdout.trim();
        const sent = await fetch(`http://localhost:${api}/api/v1/messages`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ from: 'shop@example.com', to: ['you@example.com'], text: 'It works.' }),
        });
        expect(sent.status).toBe(202);
        const letter = ['--from', 'shop@example.com', '--to', 'you@example.com', '--text', 'It works, too.'];
        const shown = await command('npx', 'waybill', 'send', ...letter, '--wait', '--json');
        expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'delivered', outcome: 'captured' });
        expect(statSync(join(app, 'data')).uid).toBe(USER.uid ?? process.getuid?.());
        process.kill(pid, 'SIGTERM');
        expect(await server.exited).toBe(0);
      } finally {
        killGroup(child.pid);
      }
    }, 300_000);
  },
);

/** Ends npx, its shell and the server, where they have not ended. */
function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch {
    // All have ended.
  }
}
