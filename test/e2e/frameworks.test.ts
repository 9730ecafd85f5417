/** The settings of docs/frameworks.md, each run in as much of its framework as is there, but for the server's name. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unwrap } from '../../src/client/result.ts';
import { Waybill } from '../../src/client/waybill.ts';
import { describeIf } from '../peers/need.ts';
import { linkPackage, ownEnvironment } from '../support/package.ts';
import { recipesIn, works } from '../support/recipes.ts';
import { type SmtpService, startSmtpService } from './smtp-service.ts';

const run = promisify(execFile);
const PROGRAMS = join(import.meta.dirname, '../peers/frameworks');
/** Those of the document, and other ways of Symfony's to say the same to two providers. */
const SETTINGS = new Map([
  ...recipesIn('frameworks.md'),
  ['frameworks_symfony_mailgun_form', 'MAILER_DSN=mailgun+api://$MAIL_KEY:example.com@mail.example.net:8026'],
  [
    'frameworks_symfony_ses_parts',
    'MAILER_DSN=ses+api://$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY@mail.example.net:8026',
  ],
]);

/** What takes settings of some names, and sends with them. */
interface Framework {
  readonly command: (ca: string) => readonly string[];
  /** The file that the settings are in. */
  readonly file: string;
  readonly needs: string;
  readonly ready: boolean;
  /** Its settings, and the class of what the application meets when it may not send. */
  readonly settings: Readonly<Record<string, string>>;
}

const program = (name: string) => join(PROGRAMS, name);
const python = ['/usr/bin/python3', 'python3'].find((path) => works(path, '-c', 'import anymail, django'));
const php = (ca: string) => ['php', '-d', `openssl.cafile=${ca}`, '-d', `curl.cainfo=${ca}`];
const requires = (...files: readonly string[]) =>
  works('php', '-r', files.map((file) => `require '${file}/autoload.php';`).join(' '));
const HTTP = 'Symfony\\Component\\Mailer\\Exception\\HttpTransportException';
const FRAMEWORKS: readonly Framework[] = [
  {
    command: () => [process.execPath, program('nodemailer_app.mjs')],
    file: 'settings.mjs',
    needs: 'node',
    ready: true,
    settings: { nodemailer: 'EENVELOPE' },
  },
  {
    command: () => [python ?? '', program('django_app.py')],
    file: 'settings.py',
    needs: 'python3-django-anymail',
    ready: python !== undefined,
    settings: {
      django: 'SMTPSenderRefused',
      anymail_postmark: 'AnymailRequestsAPIError',
      anymail_sendgrid: 'AnymailRequestsAPIError',
      anymail_mailgun: 'AnymailRequestsAPIError',
    },
  },
  {
    command: () => ['ruby', program('rails_app.rb')],
    file: 'production.rb',
    needs: 'ruby-actionmailer, ruby-postmark',
    ready: works('ruby', '-raction_mailer', '-rpostmark', '-e', ''),
    settings: { rails: 'Net::SMTPFatalError', rails_postmark: 'Postmark::ApiInputError' },
  },
  {
    command: (ca) => [...php(ca), program('symfony_app.php')],
    file: '.env',
    needs: 'php-symfony-…-mailer, php-symfony-http-client',
    ready: requires(
      'AsyncAws/Ses',
      ...['Amazon', 'Mailgun', 'Postmark', 'Sendgrid'].map(
        (name) => `Symfony/Component/Mailer/Bridge/${name}`,
      ),
    ),
    settings: {
      symfony_smtp: 'Symfony\\Component\\Mailer\\Exception\\TransportException',
      symfony_sendgrid: HTTP,
      symfony_postmark: HTTP,
      symfony_mailgun: HTTP,
      symfony_ses: HTTP,
      laravel_smtp: 'Symfony\\Component\\Mailer\\Exception\\TransportException',
      laravel_mailgun: HTTP,
      symfony_mailgun_form: HTTP,
      symfony_ses_parts: HTTP,
    },
  },
  {
    command: (ca) => [...php(ca), program('wordpress.php')],
    file: 'waybill.php',
    needs: 'libphp-phpmailer',
    ready: requires('libphp-phpmailer'),
    settings: { wordpress: 'PHPMailer\\PHPMailer\\Exception' },
  },
];

let service: SmtpService;
let folder: string;
beforeAll(async () => {
  service = await startSmtpService('allowed_cidrs: ["192.0.2.1/32"]');
  folder = mkdtempSync(join(tmpdir(), 'waybill-frameworks-'));
  linkPackage('nodemailer', folder);
}, 60_000);
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

test('every block that is marked is run', () => {
  const all = FRAMEWORKS.flatMap(({ settings }) => Object.keys(settings).map((name) => `frameworks_${name}`));
  expect([...SETTINGS.keys()].sort()).toEqual(all.sort());
});

for (const framework of FRAMEWORKS)
  describeIf(framework.ready, framework.needs, framework.file, () => {
    test.each(Object.entries(framework.settings))('%s', { timeout: 180_000 }, async (name, refusal) => {
      const { keys, api } = await application(name);
      const { stdout } = await runWith(framework, name, keys);
      expect(stdout).toBe(`${refusal}\n`);
      const { messages } = unwrap(await api.listPage());
      expect(messages).toMatchObject([{ subject: 'Grüße', to: expect.arrayContaining(['you@example.com']) }]);
      const [message] = messages;
      expect(message?.from).toMatch(/^Shop <shop@example\.com>$/);
      const content = (await service.content(message?.id ?? '')).toString('latin1');
      for (const part of ['Thank you.', 'AAECAwQFBgcICQ', 'data.bin', 'Cc: cc@example.com'])
        expect(content).toContain(part);
      expect(content).not.toContain('bcc@');
    });
  });

/** A key that may send from one domain, what clients of SES sign with, and what is there of its messages. */
async function application(name: string) {
  const args = ['keys', 'create', name, '--ses', '--sender-domain', 'example.com'];
  const { stdout } = await service.installation.run(...args);
  const find = (pattern: RegExp) => pattern.exec(stdout)?.[1] ?? '';
  const key = find(/(wb_live_\w+)/);
  const keys = {
    MAIL_KEY: key,
    AWS_ACCESS_KEY_ID: find(/AWS_ACCESS_KEY_ID=(\S+)/),
    AWS_SECRET_ACCESS_KEY: find(/AWS_SECRET_ACCESS_KEY=(\S+)/),
  };
  return { keys, api: new Waybill({ url: service.server.api, key, maxRetries: 0 }) };
}

async function runWith({ command, file }: Framework, name: string, keys: NodeJS.ProcessEnv) {
  const { ca, port, server } = service;
  const place = mkdtempSync(join(folder, 'app-'));
  const written = (SETTINGS.get(`frameworks_${name}`) ?? '')
    .replaceAll('mail.example.net', 'localhost')
    .replaceAll('wb_live_your_key', keys['MAIL_KEY'] ?? '')
    .replaceAll('587', String(port))
    .replaceAll('8026', String(server.runtime.apiTls));
  writeFileSync(join(place, file), written);
  const trust = {
    SSL_CERT_FILE: ca,
    REQUESTS_CA_BUNDLE: ca,
    NODE_EXTRA_CA_CERTS: ca,
    SSL_CERT_DIR: undefined,
  };
  const [interpreter = '', ...args] = command(ca);
  const env = { ...ownEnvironment(), ...keys, ...trust };
  return await run(interpreter, [...args, join(place, file)], { cwd: place, env });
}
