/** Every recipe of docs/recipes.md over SMTP, run as it stands there but for names of hosts and files. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, type TestContext, test, vi } from 'vitest';
import { unwrap } from '../../src/client/result.ts';
import type { MessageRecord } from '../../src/client/types.ts';
import { SNIPPETS } from '../../web/src/pages/first-steps/snippets.ts';
import { describeIf, describeWith, locate } from '../peers/need.ts';
import { POSTFIX_PROGRAMS, PostfixInstance } from '../peers/postfix-instance.ts';
import { linkPackage, ownEnvironment } from '../support/package.ts';
import { RECIPES, works } from '../support/recipes.ts';
import type { Client } from './service.ts';
import { queuedId, type SmtpService, startSmtpService } from './smtp-service.ts';

/** How a recipe is run. */
interface Kitchen {
  readonly name: string;
  readonly command: readonly string[];
  readonly file: string;
  /** Other recipes that are files of the user's, by path in the home directory. */
  readonly settings: Readonly<Record<string, string>>;
  readonly needs: string;
  readonly ready: boolean;
  /** Where the reply can be read; null where it cannot. */
  readonly reply: 'output' | '.msmtp.log' | null;
}

const shell = { command: ['sh', '-eu'], file: 'recipe.sh', settings: {} };
const msmtp = { '.msmtprc': 'smtp_msmtprc' };
const has = (program: string) => locate(program) !== null;
const KITCHENS: readonly Kitchen[] = [
  {
    ...shell,
    name: 'smtp_nodemailer',
    command: [process.execPath],
    file: 'recipe.mjs',
    needs: 'node',
    ready: true,
    reply: 'output',
  },
  {
    ...shell,
    name: 'smtp_python',
    command: ['python3'],
    file: 'recipe.py',
    needs: 'python3',
    ready: has('python3'),
    reply: null,
  },
  {
    ...shell,
    name: 'smtp_swaks',
    needs: 'swaks, libnet-ssleay-perl',
    ready: has('swaks') && works('perl', '-MNet::SSLeay', '-e', ''),
    reply: 'output',
  },
  {
    ...shell,
    name: 'smtp_curl',
    needs: 'curl with SMTP',
    ready: works('sh', '-c', 'curl --version | grep -qw smtp'),
    reply: null,
  },
  {
    ...shell,
    name: 'smtp_msmtp',
    settings: msmtp,
    needs: 'msmtp',
    ready: has('msmtp'),
    reply: '.msmtp.log',
  },
  {
    ...shell,
    name: 'smtp_php',
    command: ['php', '-c', 'php.ini'],
    file: 'recipe.php',
    settings: { ...msmtp, 'php.ini': 'smtp_phpini' },
    needs: 'php, msmtp',
    ready: has('php') && has('msmtp'),
    reply: '.msmtp.log',
  },
  {
    ...shell,
    name: 'smtp_snail',
    settings: { '.mailrc': 'smtp_mailrc' },
    needs: 's-nail',
    ready: has('s-nail'),
    reply: null,
  },
];

let service: SmtpService;
beforeAll(async () => {
  service = await startSmtpService('allowed_cidrs: ["192.0.2.1/32"]');
}, 60_000);
afterAll(() => service.stop());

test('every recipe that is marked is run', () => {
  const files = KITCHENS.flatMap(({ name, settings }) => [name, ...Object.values(settings)]);
  const all = new Set([...files, 'smtp_postfix', 'smtp_postfix_password']);
  const marked = [...RECIPES.keys()].filter((name) => name.startsWith('smtp_'));
  expect(marked.sort()).toEqual([...all].sort());
});

test('what the dashboard shows is run here, or with those over HTTP', () => {
  const shown = SNIPPETS.filter(({ over }) => over === 'smtp').map(({ recipe }) => recipe);
  expect(KITCHENS.map(({ name }) => name)).toEqual(expect.arrayContaining(shown));
});

for (const kitchen of KITCHENS)
  describeIf(kitchen.ready, kitchen.needs, kitchen.name, () => {
    test('sends once, however often it runs, and leads to the status', async (context) => {
      const client = await service.createClient(kitchen.name);
      const home = makeHome(context, client.key);
      const replies: string[] = [];
      for (const _ of ['first', 'again']) replies.push(await cook(kitchen, home, client.key));
      const [message, ...others] = await sentBy(client);
      expect(others).toEqual([]);
      expect(message).toMatchObject({ subject: 'Your order', source: 'smtp' });
      if (kitchen.reply !== null)
        expect(replies.map(queuedId)).toEqual(Array.from(replies, () => message?.id));
    });
  });

// At once, for each failure of a source waits longer than the one before.
describe.concurrent('with a wrong key', { timeout: 180_000 }, () => {
  for (const kitchen of KITCHENS)
    describeIf(kitchen.ready, kitchen.needs, kitchen.name, () => {
      test('ends with an error', async (context) => {
        const wrong = `wb_live_${'0'.repeat(49)}`;
        const cooked = cook(kitchen, makeHome(context, wrong), wrong);
        await expect(cooked).rejects.toThrow(/\b535\b|not accepted|not sent/);
      });
    });
});

describeWith(POSTFIX_PROGRAMS, 'smtp_postfix', () => {
  test('relays to Waybill what it is given', { timeout: 180_000 }, async (context) => {
    const client = await service.createClient('smtp_postfix');
    const directory = makeHome(context, client.key);
    writeFileSync(join(directory, 'password'), adapted('smtp_postfix_password', directory, client.key));
    const settings = adapted('smtp_postfix', directory, client.key);
    const postfix = await PostfixInstance.start(directory, `smtp_host_lookup = native\n${settings}`);
    context.onTestFinished(() => postfix.stop());
    await createTransport({ port: postfix.port, ignoreTLS: true }).sendMail({
      from: 'Shop <shop@example.com>',
      to: 'you@example.com',
      subject: 'Your order',
      text: 'Thank you.',
    });
    const messages = await vi.waitFor(
      async () => {
        const sent = await sentBy(client);
        expect(sent, postfix.log()).not.toEqual([]);
        return sent;
      },
      { timeout: 60_000, interval: 100 },
    );
    expect(messages).toMatchObject([{ subject: 'Your order', to: ['you@example.com'], source: 'smtp' }]);
  });
});

/** A home directory that goes with the test. */
function makeHome({ onTestFinished }: TestContext, key: string): string {
  const home = mkdtempSync(join(tmpdir(), 'waybill-recipes-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writePrivate(join(home, 'key'), key);
  return home;
}

/** A recipe, with our names in the place of those it makes up. */
function adapted(name: string, home: string, key: string): string {
  const names = {
    'mail.example.net': 'localhost',
    '587': String(service.port),
    '/etc/ssl/certs/ca-certificates.crt': service.ca,
    '/etc/waybill.key': join(home, 'key'),
    '/etc/postfix/waybill': join(home, 'password'),
    wb_live_your_key: key,
  };
  let recipe = RECIPES.get(name) ?? '';
  for (const [theirs, ours] of Object.entries(names)) recipe = recipe.replaceAll(theirs, ours);
  return recipe;
}

function writePrivate(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o600);
}

/** Runs a recipe; where the reply can be read, or all that it printed. Throws what it printed if it ends with an error. */
function cook({ name, command, file, settings, reply }: Kitchen, home: string, key: string): Promise<string> {
  for (const [path, recipe] of Object.entries(settings))
    writePrivate(join(home, path), adapted(recipe, home, key));
  writeFileSync(join(home, file), RECIPES.get(name) ?? '');
  if (name === 'smtp_nodemailer' && !existsSync(join(home, 'node_modules'))) linkPackage('nodemailer', home);
  const [program = '', ...args] = [...command, file];
  const server = { MAIL_HOST: 'localhost', MAIL_PORT: String(service.port), MAIL_KEY: key };
  // Where the machine has one of these, curl looks there instead of at SSL_CERT_FILE.
  const untold = { CURL_CA_BUNDLE: undefined, SSL_CERT_DIR: undefined };
  const trust = { ...untold, SSL_CERT_FILE: service.ca, NODE_EXTRA_CA_CERTS: service.ca };
  const env = {
    ...ownEnvironment(),
    HOME: home,
    MAILRC: join(home, '.mailrc'),
    DEAD: '/dev/null',
    ...server,
    ...trust,
  };
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd: home, env }, (error, stdout, stderr) => {
      if (error !== null) reject(new Error(`${stdout}${stderr}`));
      else resolve(reply === '.msmtp.log' ? lastLine(join(home, reply)) : stdout);
    });
  });
}

function lastLine(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '';
}

/** What is there of a key's messages. */
async function sentBy(client: Client): Promise<readonly MessageRecord[]> {
  return unwrap(await client.api.listPage()).messages;
}
