/** AUTH: only encrypted, only to whom it is meant for, and never in a record. */
import { setDefaultCACertificates } from 'node:tls';
import { beforeAll, expect, test } from 'vitest';
import { createAuthority, createCertificate } from '../../peers/certificate.ts';
import { BASIC_DISABLED, BASIC_REFUSED } from '../../peers/oauth-documents.ts';
import type { SmtpSinkOptions } from '../../peers/smtp-sink-script.ts';
import { only, startRig } from './rig.ts';

const authority = createAuthority();
const certificate = createCertificate({ hosts: ['127.0.0.1'], issuer: authority });
const account = { username: 'relay-user', password: 'pässword one' };
const users = { [account.username]: account.password };
const secure: SmtpSinkOptions = { tls: 'starttls', certificate, users };

beforeAll(() => setDefaultCACertificates([authority.cert]));

test('AUTH PLAIN in one line', async () => {
  const rig = await startRig({ sink: secure, smtp: { tls: 'required', ...account } });
  expect(only(await rig.deliver()).kind).toBe('delivered');
  expect(rig.sink.messages).toMatchObject([{ user: account.username, tls: true }]);
});

test('a password that would make AUTH PLAIN longer than a command may be waits for the 334', async () => {
  const long = { username: 'relay-user', password: 'p'.repeat(1024) };
  const rig = await startRig({
    sink: { ...secure, users: { [long.username]: long.password } },
    smtp: { tls: 'required', ...long },
  });
  expect(only(await rig.deliver()).kind).toBe('delivered');
  const lines = rig.sink.commands.map(({ line }) => line);
  expect(lines).toContain('AUTH PLAIN');
  expect(rig.sink.messages).toMatchObject([{ user: long.username }]);
});

test('AUTH LOGIN where PLAIN is not offered', async () => {
  const EHLO = ({ session }: { session: { tls: boolean } }) =>
    session.tls ? '250-sink.example\r\n250 AUTH LOGIN' : undefined;
  const rig = await startRig({
    sink: { ...secure, script: { EHLO } },
    smtp: { tls: 'required', ...account },
  });
  expect(only(await rig.deliver()).kind).toBe('delivered');
  expect(rig.sink.messages).toMatchObject([{ user: account.username }]);
});

test('the old form AUTH=LOGIN is understood', async () => {
  const EHLO = ({ session }: { session: { tls: boolean } }) =>
    session.tls ? '250-sink.example\r\n250 AUTH=LOGIN' : undefined;
  const rig = await startRig({
    sink: { ...secure, script: { EHLO } },
    smtp: { tls: 'required', ...account },
  });
  expect(only(await rig.deliver()).kind).toBe('delivered');
});

test.each(['required', 'opportunistic'] as const)(
  '%s: a wrong password is the hop, not the message',
  async (tls) => {
    const rig = await startRig({ sink: secure, smtp: { tls, ...account, password: 'wrong' } });
    const result = await rig.deliver();
    expect(result.evidence.security).toMatchObject({ verdict: 'verified' });
    expect(only(result)).toMatchObject({
      kind: 'deferred',
      cause: 'auth_failed',
      code: 535,
      enhanced: '5.7.8',
      hopFailed: true,
    });
  },
);

test.each(['none', 'opportunistic'] as const)(
  '%s: no password goes over a connection in clear',
  async (tls) => {
    const rig = await startRig({ sink: { users }, smtp: { tls, ...account } });
    expect(only(await rig.deliver())).toMatchObject({
      kind: 'deferred',
      cause: 'auth_failed',
      hopFailed: true,
    });
    expect(rig.sink.commands.map(({ line }) => line)).toEqual(['EHLO client.example']);
  },
);

test('opportunistic: no password goes to a peer whose certificate is bad', async () => {
  const selfSigned = createCertificate({ hosts: ['127.0.0.1'] });
  const rig = await startRig({
    sink: { ...secure, certificate: selfSigned },
    smtp: { tls: 'opportunistic', ...account },
  });
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'tls_failed', hopFailed: true });
  expect(rig.sink.commands.some(({ line }) => line.startsWith('AUTH'))).toBe(false);
});

test('a server that offers no mechanism we know is auth_failed', async () => {
  const EHLO = ({ session }: { session: { tls: boolean } }) =>
    session.tls ? '250-sink.example\r\n250 AUTH GSSAPI' : undefined;
  const rig = await startRig({
    sink: { ...secure, script: { EHLO } },
    smtp: { tls: 'required', ...account },
  });
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'auth_failed' });
});

test('a server that asks on and on is auth_failed', async () => {
  const rig = await startRig({
    sink: { ...secure, script: { AUTH: '334 more' } },
    smtp: { tls: 'required', ...account },
  });
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'auth_failed' });
});

/** What a server may make of what it was sent. */
const ECHOES: [string, (response: string) => string][] = [
  ['as it was', (response) => `535 5.7.8 you said ${response}`],
  ['in small letters', (response) => `535 5.7.8 ${response.toLowerCase()} is bad`],
  ['in capitals', (response) => `535 5.7.8 ${response.toUpperCase()} IS BAD`],
  [
    'over two lines',
    (response) => `535-5.7.8 you said ${response.slice(0, 20)}\r\n535 5.7.8 ${response.slice(20)}`,
  ],
  ['with blanks', (response) => `535 5.7.8 ${[...response].join(' ')}`],
  ['beginning with it', (response) => `535 ${response.slice(4)}`],
  ['without its padding', (response) => `535 5.7.8 ${response.replaceAll('=', '')}`],
  ['decoded', () => `535 5.7.8 not ${account.password}`],
  ['decoded in capitals', () => `535 5.7.8 not ${account.password.toUpperCase()}`],
  ['its password encoded', () => `535 5.7.8 not ${Buffer.from(account.password).toString('base64')}`],
];

test.each(ECHOES)('what was sent is in no record, even if the server echoes it %s', async (_how, echo) => {
  const AUTH = ({ argument }: { argument: string }) => echo(argument.split(' ')[1] ?? '');
  const rig = await startRig({
    sink: { ...secure, script: { AUTH } },
    smtp: { tls: 'required', ...account },
  });
  const result = await rig.deliver();
  expect(only(result)).toMatchObject({ cause: 'auth_failed', code: 535, hopFailed: true });
  expect(only(result).text).toContain('(left out: it repeats the password)');
  expect(result.evidence.steps.at(-1)).toMatchObject({
    verb: 'AUTH',
    reply: expect.stringMatching(/^535( 5\.7\.8)? \(left out: it repeats the password\)$/),
  });
});

const REPEATED = `you are ann by ${account.password} ${Buffer.from(`\0${account.username}\0${account.password}`).toString('base64')}`;

test.each(['CONNECT', 'EHLO', 'MAIL', 'RCPT', 'DOT'] as const)(
  'what was sent is in no record either when the refusal of %s repeats it',
  async (verb) => {
    const rig = await startRig({
      sink: { ...secure, script: { [verb]: `554 5.7.1 ${REPEATED}` } },
      smtp: { tls: 'required', ...account },
    });
    const { evidence, outcomes } = await rig.deliver();
    const kept = JSON.stringify([evidence, outcomes]);
    expect(kept).toContain('(left out: it repeats the password)');
    expect(kept).not.toContain(account.password);
    expect(kept).not.toContain(Buffer.from(account.password).toString('base64').slice(0, 8));
  },
);

test('a short password hides no answer but those to AUTH', async () => {
  const rig = await startRig({
    sink: { ...secure, users: { ann: 'user' }, script: { RCPT: '550 5.1.1 No such user' } },
    smtp: { tls: 'required', username: 'ann', password: 'user' },
  });
  expect(only(await rig.deliver()).text).toContain('No such user');
});

test('an answer to AUTH that repeats no secret is kept', async () => {
  const rig = await startRig({ sink: secure, smtp: { tls: 'required', ...account, password: 'other' } });
  expect(only(await rig.deliver()).text).toContain('wrong name or password');
});

test.each(['MAIL', 'AUTH'] as const)(
  '550 5.7.30 to %s names the cure, and is no fault of the message',
  async (verb) => {
    const rig = await startRig({
      sink: {
        tls: 'starttls',
        certificate,
        users: { [account.username]: account.password },
        script: { [verb]: BASIC_REFUSED },
      },
      smtp: { tls: 'required', ...account },
    });
    const end = only(await rig.deliver());
    expect(end).toMatchObject({ kind: 'deferred', cause: 'auth_failed', code: 550, hopFailed: true });
    expect(end.text).toMatch(
      /Basic authentication is not supported for Client Submission\. What to do: .*auth: xoauth2 with preset: microsoft/,
    );
  },
);

test('535 5.7.139 from Microsoft to a password names that cure, too', async () => {
  const rig = await startRig({
    sink: { ...secure, script: { AUTH: BASIC_DISABLED } },
    smtp: { tls: 'required', ...account },
  });
  expect(only(await rig.deliver()).text).toContain('give the relay auth: xoauth2 with preset: microsoft');
});

test.each([
  ['plain', /^AUTH PLAIN /],
  ['login', /^AUTH LOGIN$/],
] as const)('auth: %s is that and no other', async (auth, line) => {
  const smtp = { tls: 'required', ...account, auth } as const;
  const rig = await startRig({
    sink: { tls: 'starttls', certificate, users: { [account.username]: account.password } },
    smtp,
  });
  expect(only(await rig.deliver()).kind).toBe('delivered');
  expect(rig.sink.commands.find(({ line: heard }) => heard.startsWith('AUTH'))?.line).toMatch(line);
});
