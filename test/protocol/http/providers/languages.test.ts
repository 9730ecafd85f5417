/**
 * Providers' own SDKs for other languages, unchanged, sending through the APIs of contract-2 §C. PHP's are in
 * `test/e2e/frameworks.test.ts`.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeIf } from '../../../peers/need.ts';
import { ownEnvironment } from '../../../support/package.ts';
import { works } from '../../../support/recipes.ts';
import { World } from '../world.ts';

const run = promisify(execFile);
const SDKS = join(import.meta.dirname, '../../../peers/sdks');
/** Where `.ci/run` unpacks what it needs of Debian's packages of the Go libraries, which are large. */
const GO_PATH = join(import.meta.dirname, '../../../../node_modules/.cache/go-aws');
/** A Go compiler begins with an empty cache. */
const PATIENCE = { timeout: 240_000 };
const MESSAGE_ID = /^msg_[0-9a-z]{26}$/;

let world: World;
let key: string;
const signer = { AWS_ACCESS_KEY_ID: 'WBAAAAAAAAAAAAAAAAAA', AWS_SECRET_ACCESS_KEY: 'secret/1' };

beforeAll(async () => {
  // What a signature says of the time is compared with the clock.
  world = await World.start({ epoch: Date.now() });
  const rights = {
    senderDomains: ['example.com'],
    scopes: ['messages:send', 'messages:read', 'messages:content', 'suppressions:read', 'suppressions:write'],
  } as const;
  key = await world.key({ id: 'key_app', name: 'app', ...rights });
  const client = { id: signer.AWS_ACCESS_KEY_ID, sealed: signer.AWS_SECRET_ACCESS_KEY };
  await world.key({ id: 'key_ses', name: 'ses', ...rights }, undefined, client);
});
afterAll(() => world.close());

/** Runs a program that prints what it saw. */
async function seenBy(program: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const url = `http://127.0.0.1:${world.port}`;
  const env = { ...ownEnvironment(), ...signer, MAIL_URL: url, MAIL_KEY: key, ...more };
  const { stdout } = await run(program, args, { cwd: SDKS, env });
  return JSON.parse(stdout) as unknown;
}

/** The messages that a script had sent, oldest first: to whom, and how they are written. */
async function sentBy<T>(script: () => Promise<T>) {
  const before = world.intake.submissions.length;
  const seen = await script();
  const sent = world.intake.submissions.slice(before).map(({ envelope, content, header, tags }) => ({
    to: envelope.recipients.map(({ address, kind }) => `${kind} ${address}`),
    subject: header.subject,
    tags,
    text: Buffer.concat(content.chunks).toString('latin1'),
  }));
  return { seen, sent };
}

/** All bytes there are, as an attachment has them. */
const DATA = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
  .toString('base64')
  .slice(0, 76);

const python = ['/usr/bin/python3', 'python3'].find((path) => works(path, '-c', 'import boto3'));

describeIf(python !== undefined, 'python3-boto3', 'boto3, for SES', () => {
  test('sends, reads and meets errors as its own', PATIENCE, async () => {
    const { seen, sent } = await sentBy(() => seenBy(python ?? '', ['ses.py']));
    expect(seen).toEqual({
      sent: [expect.stringMatching(MESSAGE_ID), expect.stringMatching(MESSAGE_ID)],
      enabled: true,
      listed: ['eve@example.org', 'BOUNCE', expect.any(Number)],
      errors: {
        'unknown address': ['NotFoundException', 'NotFoundException', 404],
        'another domain': ['MessageRejected', 'MessageRejected', 400],
        'no recipient': ['BadRequestException', 'BadRequestException', 400],
        'wrong secret': ['ClientError', 'SignatureDoesNotMatch', 403],
        'unknown client': ['ClientError', 'UnrecognizedClientException', 403],
      },
    });
    expect(sent).toMatchObject([
      {
        to: ['to bob@example.org', 'to cc@example.org'],
        subject: 'Grüße',
        text: expect.stringContaining(DATA),
      },
      { to: ['to bob@example.org'], subject: 'Grüße', tags: ['kind:receipt'] },
    ]);
  });
});

describeIf(works('ruby', '-rmail', '-rpostmark', '-e', ''), 'ruby-postmark', 'the gem postmark', () => {
  test('sends, reads and meets errors as its own', PATIENCE, async () => {
    const { seen, sent } = await sentBy(() => seenBy('ruby', ['postmark.rb']));
    expect(seen).toEqual({
      sent: [expect.stringMatching(/^[0-9a-f-]{36}$/), expect.any(String)],
      found: [
        'Grüße',
        'Queued',
        ['bob@example.org', 'cc@example.org'],
        'receipt',
        expect.stringMatching(/^Hi\.\s*$/),
      ],
      batch: [0, 300],
      inactive: ['eve@example.org'],
      errors: {
        'wrong key': ['Postmark::InvalidApiKeyError', 401, null],
        'no address': ['Postmark::InvalidEmailAddressError', 422, 300],
        'another domain': ['Postmark::ApiInputError', 422, 400],
        inactive: ['Postmark::InactiveRecipientError', 422, 406],
        'unknown message': ['Postmark::UnexpectedHttpResponseError', 404, null],
      },
    });
    expect(sent).toMatchObject([
      {
        to: ['to bob@example.org', 'cc cc@example.org'],
        subject: 'Grüße',
        tags: ['receipt'],
        text: expect.stringContaining(DATA),
      },
      { to: ['to bob@example.org'], subject: 'Grüße' },
      { to: ['to bob@example.org'], subject: 'Grüße', text: expect.stringContaining('note.txt') },
      { to: ['to bob@example.org', 'to eve@example.org'] },
    ]);
  });
});

const goSdk = existsSync(join(GO_PATH, 'src/github.com/aws/aws-sdk-go-v2')) && works('go', 'version');

describeIf(goSdk, 'go, aws-sdk-go-v2 (unpacked by .ci/run)', 'aws-sdk-go-v2, for SES', () => {
  test('sends, reads and meets errors as its own', PATIENCE, async () => {
    const outside = { GO111MODULE: 'off', GOPATH: GO_PATH, GOFLAGS: '' };
    const { seen, sent } = await sentBy(() => seenBy('go', ['run', 'ses.go'], outside));
    expect(seen).toEqual({
      sent: [expect.stringMatching(MESSAGE_ID), expect.stringMatching(MESSAGE_ID)],
      enabled: true,
      errors: {
        'unknown address': ['NotFoundException', 'NotFoundException'],
        'another domain': ['MessageRejected', 'MessageRejected'],
        'no recipient': ['BadRequestException', 'BadRequestException'],
        'wrong secret': ['APIError', 'SignatureDoesNotMatch'],
      },
    });
    expect(sent).toMatchObject([
      { to: ['to bob@example.org'], subject: 'Grüße' },
      { to: ['to bob@example.org'], subject: 'Hi', text: expect.stringContaining('AAECAwQF') },
    ]);
  });
});
