/** Smarthosts that are signed in to with access tokens, from the command that adds one to the message that arrives. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../peers/certificate.ts';
import { entraError, GMAIL_CHALLENGE, GMAIL_REFUSED, googleToken } from '../peers/oauth-documents.ts';
import { type ApiAct, type ApiRequest, answerJson, ProviderApi } from '../peers/provider-api.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { startService } from './service.ts';

const SECRET = 'client-secret-7c31f0';
const REFRESH = '1//refresh-token-99ab04';
const TOKEN = 'ya29.access-token-5d20c7';
const USER = 'sender@contoso.example';
const LETTER = { from: USER, to: ['b@example.net'], subject: 'Hello', text: 'It works.' };
const CLIENT = '11111111-2222-3333-4444-555555555555';

/** Gives tokens to who has the refresh token; the client secret of Microsoft's application has expired. */
function tokenServer({ path, body }: ApiRequest): ApiAct {
  if (path === '/microsoft')
    return answerJson(401, entraError(7000222, 'invalid_client', `The keys for ${SECRET} are expired.`));
  const isKnown = new URLSearchParams(body.toString()).get('refresh_token') === REFRESH;
  return isKnown ? answerJson(200, googleToken(TOKEN)) : answerJson(400, { error: 'invalid_grant' });
}

test('mail waits while there is no token, goes by a relay that has one, and no secret is shown', async () => {
  const tokens = await ProviderApi.start({ answer: tokenServer });
  const sink = await startSmtpSink({
    tls: 'starttls',
    certificate: createCertificate({ hosts: ['127.0.0.1'] }),
    bearer: {
      takes: (user, token) => user === USER && token === TOKEN,
      challenge: GMAIL_CHALLENGE,
      refusal: GMAIL_REFUSED,
    },
  });
  onTestFinished(() => sink.close());
  const smarthost = `type: smtp, host: 127.0.0.1, port: ${sink.port}, verify: false, username: ${USER}, auth: xoauth2`;
  const service = await startService(`
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: null }
listener: { ports: [] }
delivery: { default_relay: m365, retry_first_seconds: 1, private_relays: [gmail] }
relays:
  - { name: m365, ${smarthost}, preset: microsoft, client_id: ${CLIENT}, secret: ${SECRET}, allow_private: true, token_url: "${tokens.url}/microsoft" }
`);
  onTestFinished(() => service.stop());
  const { installation } = service;

  const id = await service.client.send(LETTER);
  const waits = async () => JSON.stringify(await (await service.client.get(`/${id}/attempts`)).json());
  await expect.poll(waits, { timeout: 60_000 }).toContain('AADSTS7000222');
  const failed = await installation.run('relays', 'test', 'm365');
  for (const told of [await waits(), failed.stdout]) {
    expect(told).toContain('AADSTS7000222');
    expect(told).toContain('make a new one');
  }
  expect(failed.code).toBe(1);
  const waiting = await installation.run('messages', 'show', id);
  expect(waiting.stdout).toContain('retrying');
  expect(sink.connections).toBe(0);

  const files = { secret: SECRET, refresh: REFRESH };
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(installation.dataDir, name), `${text}\n`);
  const described = [
    '--type',
    'smtp',
    '--host',
    '127.0.0.1',
    '--port',
    String(sink.port),
    '--no-verify',
    '--username',
    USER,
    '--auth',
    'xoauth2',
    '--preset',
    'google',
    '--client-id',
    'client',
    '--token-url',
    `${tokens.url}/google`,
    '--secret-file',
    join(installation.dataDir, 'secret'),
  ];
  const half = await installation.run('relays', 'add', 'gmail', ...described);
  expect([half.code, half.stderr]).toEqual([
    2,
    expect.stringContaining('--refresh-token-file: must be given'),
  ]);
  const refresh = ['--refresh-token-file', join(installation.dataDir, 'refresh')];
  const added = await installation.run('relays', 'add', 'gmail', ...described, ...refresh);
  expect(added).toMatchObject({ code: 0, stderr: '' });
  await service.server.end('SIGTERM');
  await service.restart();

  const tried = await installation.run('relays', 'test', 'gmail', '--json');
  const steps = tried.stdout.split('\n').flatMap((line) => {
    const step = line === '' ? {} : JSON.parse(line);
    return 'name' in step ? [step.name] : [];
  });
  expect([tried.code, steps]).toEqual([
    0,
    ['TOKEN', 'TOKEN', 'CONNECT', 'GREETING', 'EHLO', 'STARTTLS', 'TLS', 'EHLO', 'AUTH', 'READY'],
  ]);
  const moved = await installation.run('queue', 'reroute', '--relay', 'm365', '--to-relay', 'gmail');
  expect(moved).toMatchObject({ code: 0 });
  expect(await service.client.end(id)).toMatchObject({ status: 'delivered' });
  expect(sink.messages).toMatchObject([{ user: USER, tls: true }]);

  const told = [
    failed,
    waiting,
    half,
    added,
    tried,
    { stdout: await waits(), stderr: service.server.output },
  ];
  for (const command of [['relays', 'show', 'gmail'], ['relays', 'show', 'm365'], ['config'], ['doctor']])
    told.push(await installation.run(...command));
  for (const { stdout, stderr } of told)
    for (const secret of [SECRET, REFRESH, TOKEN]) expect(stdout + stderr).not.toContain(secret);
});
