/** Every recipe of docs/recipes.md over HTTP, run as it stands there. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Waybill } from '../../src/client/waybill.ts';
import { SNIPPETS } from '../../web/src/pages/first-steps/snippets.ts';
import { FaultyApi, json, problem } from '../peers/faulty-api.ts';
import { describeIf, locate } from '../peers/need.ts';
import type { CommandEnd } from '../peers/server.ts';
import { installPackage, linkPackage, ownEnvironment } from '../support/package.ts';
import { RECIPES, works } from '../support/recipes.ts';
import { createKey, type Service, startService } from './service.ts';

/** No relay: mail is captured. */
const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [] }
`;

/** How a recipe is run: its file, the command, and what must be installed for it. */
interface Kitchen {
  readonly name: string;
  readonly file: string;
  readonly command: readonly string[];
  readonly needs: string;
  readonly ready: boolean;
}

const node = { command: [process.execPath], needs: 'node', ready: true };
const KITCHENS: readonly Kitchen[] = [
  { name: 'curl', file: 'recipe.sh', command: ['sh', '-eu'], needs: 'curl', ready: locate('curl') !== null },
  { name: 'node', ...node, file: 'recipe.mjs' },
  {
    name: 'python',
    file: 'recipe.py',
    command: [...pythonWithRequests()],
    needs: 'python3-requests',
    ready: pythonWithRequests().length > 0,
  },
  {
    name: 'php',
    file: 'recipe.php',
    command: ['php'],
    needs: 'php-curl',
    ready: works('php', '-r', 'curl_init();'),
  },
  {
    name: 'ruby',
    file: 'recipe.rb',
    command: ['ruby'],
    needs: 'ruby',
    ready: works('ruby', '-rnet/http', '-e', ''),
  },
  { name: 'go', file: 'recipe.go', command: ['go', 'run'], needs: 'go', ready: works('go', 'version') },
  { name: 'java', file: 'Send.java', command: ['java'], needs: 'java', ready: works('javac', '--version') },
  { name: 'mailgun', ...node, file: 'recipe.mjs' },
  { name: 'shell', file: 'recipe.sh', command: ['sh'], needs: 'curl', ready: locate('curl') !== null },
];

test('every recipe that is marked can be run, and every other way to run one has a recipe', () => {
  const overHttp = [...RECIPES.keys()].filter((name) => !name.startsWith('smtp_'));
  expect(overHttp.sort()).toEqual(KITCHENS.map(({ name }) => name).sort());
});

test('what the dashboard shows is run here, or with those over SMTP', () => {
  const shown = SNIPPETS.filter(({ over }) => over === 'http').map(({ recipe }) => recipe);
  expect(KITCHENS.map(({ name }) => name)).toEqual(expect.arrayContaining(shown));
});

let service: Service;
let folder: string;
beforeAll(async () => {
  service = await startService(CONFIGURATION);
  folder = mkdtempSync(join(tmpdir(), 'waybill-recipes-'));
  await installPackage(folder);
  linkPackage('mailgun.js', folder);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});

for (const kitchen of KITCHENS)
  describeIf(kitchen.ready, kitchen.needs, kitchen.name, () => {
    test('sends once, however often it runs, and tells the status', { timeout: 180_000 }, async () => {
      const key = await createKey(service.installation, kitchen.name);
      for (const _ of ['first', 'again']) {
        const { code, stdout, stderr } = await cook(kitchen, key);
        expect([code, stderr]).toEqual([0, '']);
        expect(stdout).toMatch(/msg_[0-9a-z]{26}/);
        expect(stdout).toMatch(/delivered|queued|processing/);
      }
      const page = await new Waybill({ url: service.server.api, key }).listPage();
      expect(page).toMatchObject({ ok: true, value: { hasMore: false } });
      expect(page.ok && page.value.messages).toHaveLength(1);
    });

    test('ends with an error when it is refused', { timeout: 180_000 }, async () => {
      const reader = await createKey(
        service.installation,
        `${kitchen.name}-reader`,
        '--scope',
        'messages:read',
      );
      const { code, stdout, stderr } = await cook(kitchen, reader);
      expect(code).not.toBe(0);
      expect(stdout + stderr).toMatch(/scope/);
    });
  });

describeIf(locate('curl') !== null, 'curl', 'shell, while another run of it is at work', () => {
  test('waits for that one', async () => {
    const api = await FaultyApi.start();
    api.faults = [problem(409, 'idempotency_in_progress')];
    api.answers.set('GET /api/v1/messages/msg_1?wait=30', json(200, { status: 'delivered' }));
    const shell = KITCHENS.find(({ name }) => name === 'shell');
    if (shell === undefined) throw new Error('there is no such recipe');
    const { code, stdout, stderr } = await cook(shell, 'key', api.url);
    expect([code, stdout, stderr]).toEqual([0, 'msg_1 delivered\n', '']);
  });
});

/** Runs a recipe as it stands, on a machine whose disk is never twice the same. */
function cook({ name, file, command }: Kitchen, key: string, url = service.server.api): Promise<CommandEnd> {
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'df'), '#!/bin/sh\ncat /proc/sys/kernel/random/uuid\n');
  chmodSync(join(place, 'df'), 0o755);
  writeFileSync(join(place, file), RECIPES.get(name) ?? '');
  const [program = '', ...args] = [...command, file];
  const environment = ownEnvironment();
  const PATH = `${place}${delimiter}${environment['PATH']}`;
  const its = { PATH, GO111MODULE: 'off', MAIL_URL: url, MAIL_KEY: key, REPORTS: join(place, 'reports') };
  const env = { ...environment, ...its };
  return new Promise((resolve) => {
    execFile(program, args, { cwd: place, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** The first Python that knows requests; empty when there is none. */
function pythonWithRequests(): string[] {
  return ['python3', '/usr/bin/python3']
    .filter((python) => works(python, '-c', 'import requests'))
    .slice(0, 1);
}
