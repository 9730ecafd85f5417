/** Smarthosts that are signed in to with access tokens: against what Microsoft and Google document. */
import { verify } from 'node:crypto';
import { setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import type { OAuthSettings } from '../../../src/domain/relay.ts';
import { smarthostTokens } from '../../../src/transport/providers/tokens.ts';
import { probeSmarthost } from '../../../src/transport/smtp/probe.ts';
import type { ProbeStep } from '../../../src/transport/transport.ts';
import {
  EXCHANGE_USER,
  entraToken,
  GMAIL_CHALLENGE,
  GMAIL_CHALLENGE_SENT,
  GMAIL_REFUSED,
  googleToken,
  RFC7628_CHALLENGE,
} from '../../peers/oauth-documents.ts';
import { answerJson } from '../../peers/provider-api.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  aadsts,
  account,
  authority,
  formOf,
  GOOGLE,
  MICROSOFT,
  REFRESH,
  SECRET,
  SERVICE,
  start,
  USER,
  type World,
} from './oauth-rig.ts';
import { only, relayTo } from './rig.ts';

beforeAll(() => setDefaultCACertificates([authority.cert]));

/** Everything that the smarthost heard of AUTH. */
function authLines({ sink }: World): string[] {
  const lines = sink.commands.map(({ line }) => line);
  return lines.filter((line, index) => /^AUTH/.test(line) || /^AUTH/.test(lines[index - 1] ?? ''));
}

describe('on the wire', () => {
  test('XOAUTH2 is sent as Microsoft documents it, byte for byte', async () => {
    const world = await start({
      user: EXCHANGE_USER.user,
      api: { answer: () => answerJson(200, entraToken(EXCHANGE_USER.token)) },
    });
    expect(only(await world.deliver()).kind).toBe('delivered');
    expect(world.sink.commands.map(({ line }) => line)).toContain(`AUTH XOAUTH2 ${EXCHANGE_USER.response}`);
  });

  test('a server that asks for the response by an empty 334 is given it', async () => {
    const world = await start({ sink: { script: { AUTH: '334 ' } } });
    await world.deliver();
    expect(authLines(world)[1]).toBe(authLines(world)[0]?.split(' ')[2]);
  });

  test.each(['XOAUTH2', 'OAUTHBEARER'] as const)(
    'no command is longer than 512 octets: a long token waits for the 334, as Microsoft shows it (%s)',
    async (mechanism) => {
      const token = `ey${'J0'.repeat(1_000)}`;
      const world = await start({
        api: { answer: () => answerJson(200, entraToken(token)) },
        bearer: { mechanisms: [mechanism] },
      });
      expect(only(await world.deliver()).kind).toBe('delivered');
      expect(world.heard).toEqual([[USER, token]]);
      const [command = '', response = ''] = authLines(world);
      expect(command).toBe(`AUTH ${mechanism}`);
      expect(Buffer.from(response, 'base64').toString()).toContain(`auth=Bearer ${token}\x01\x01`);
    },
  );

  test('a long token that is refused with JSON is acknowledged, too', async () => {
    const world = await start({
      api: { answer: () => answerJson(200, entraToken('x'.repeat(2_000))) },
      bearer: { takes: () => false, challenge: GMAIL_CHALLENGE, refusal: GMAIL_REFUSED },
    });
    expect(only(await world.deliver())).toMatchObject({ cause: 'auth_failed', code: 535 });
    const lines = world.sink.commands.map(({ line }) => line);
    expect(lines[lines.findIndex((line) => line.startsWith('AUTH')) + 2]).toBe('');
  });

  test('a 334 with JSON is acknowledged by an empty line, and both it and the 535 are told', async () => {
    const world = await start({
      bearer: { takes: () => false, challenge: GMAIL_CHALLENGE, refusal: GMAIL_REFUSED },
    });
    const result = await world.deliver();
    expect(only(result)).toMatchObject({
      kind: 'deferred',
      cause: 'auth_failed',
      code: 535,
      hopFailed: true,
    });
    expect(only(result).text).toContain(
      'refused the token (status 401, schemes bearer mac, scope https://mail.google.com/): 535 5.7.1 Username and Password not accepted.',
    );
    const lines = world.sink.commands.map(({ line }) => line);
    expect(lines[lines.findIndex((line) => line.startsWith('AUTH')) + 1]).toBe('');
    expect(JSON.stringify(result.evidence.steps)).not.toContain(GMAIL_CHALLENGE_SENT);
    expect(result.evidence.steps.map(({ reply }) => reply)).toContain(
      '334 status 401, schemes bearer mac, scope https://mail.google.com/',
    );
  });

  test('what is taken after a 334 with JSON is refused all the same', async () => {
    const world = await start({
      bearer: { takes: () => false, challenge: GMAIL_CHALLENGE, refusal: '235 2.7.0 Accepted' },
    });
    expect(only(await world.deliver())).toMatchObject({ cause: 'auth_failed', hopFailed: true });
    expect(world.sink.taken).toBe(0);
  });

  test('OAUTHBEARER is spoken where it alone is offered', async () => {
    const world = await start({ bearer: { mechanisms: ['OAUTHBEARER'] }, user: 'a=b,c@contoso.example' });
    expect(only(await world.deliver()).kind).toBe('delivered');
    const [line = ''] = authLines(world);
    expect(line).toMatch(/^AUTH OAUTHBEARER /);
    expect(Buffer.from(line.split(' ')[2] ?? '', 'base64').toString()).toBe(
      `n,a=a=3Db=2Cc@contoso.example,\x01host=127.0.0.1\x01port=${world.sink.port}\x01auth=Bearer token-1\x01\x01`,
    );
  });

  test('XOAUTH2 goes first where both are offered, and a refusal of OAUTHBEARER is acknowledged by ^A', async () => {
    const both = await start({ bearer: { mechanisms: ['OAUTHBEARER', 'XOAUTH2'] } });
    await both.deliver();
    expect(authLines(both)[0]).toMatch(/^AUTH XOAUTH2 /);
    const refused = await start({
      bearer: { mechanisms: ['OAUTHBEARER'], takes: () => false, challenge: RFC7628_CHALLENGE },
    });
    expect(only(await refused.deliver()).text).toContain('(status invalid_token, scope example_scope, ');
    expect(authLines(refused)[1]).toBe('AQ==');
  });

  test('a server that offers neither is told of, and is sent no token', async () => {
    const world = await start({ sink: { users: { u: 'p' } }, bearer: { mechanisms: [] } });
    expect(only(await world.deliver())).toMatchObject({ cause: 'auth_failed', hopFailed: true });
    expect(only(await world.deliver()).text).toContain('offers neither AUTH XOAUTH2 nor AUTH OAUTHBEARER');
    expect(authLines(world)).toEqual([]);
  });

  test('no token goes over a connection in clear', async () => {
    const world = await start({ sink: { tls: 'none' } });
    expect(only(await world.deliver())).toMatchObject({ cause: 'tls_failed', hopFailed: true });
    expect(authLines(world)).toEqual([]);
  });
});

describe('the request', () => {
  test('by client credentials is as Microsoft documents it', async () => {
    const world = await start({ scope: 'https://outlook.office365.com/.default' });
    await world.deliver();
    expect(world.api.requests[0]).toMatchObject({ method: 'POST', path: '/tenant/oauth2/v2.0/token' });
    expect(formOf(world)).toEqual({
      client_id: 'client-id',
      client_secret: SECRET,
      scope: 'https://outlook.office365.com/.default',
      grant_type: 'client_credentials',
    });
  });

  test('by a refresh token is as Google documents it', async () => {
    const world = await start({
      grant: GOOGLE,
      scope: 'https://mail.google.com/',
      api: { answer: () => answerJson(200, googleToken('ya29.token')) },
    });
    expect(only(await world.deliver()).kind).toBe('delivered');
    expect(formOf(world)).toEqual({
      client_id: 'client-id',
      client_secret: SECRET,
      refresh_token: REFRESH,
      grant_type: 'refresh_token',
    });
    expect(world.heard).toEqual([[USER, 'ya29.token']]);
  });

  test('by a service account is a JWT signed with RS256 for the subject', async () => {
    const world = await start({ grant: SERVICE, scope: 'https://mail.google.com/' });
    expect(only(await world.deliver()).kind).toBe('delivered');
    const { grant_type, assertion = '' } = formOf(world);
    expect(grant_type).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [header = '', claims = '', signature = ''] = assertion.split('.');
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(read(header)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
    const iat = Math.floor(world.clock.wall() / 1000);
    expect(read(claims)).toEqual({
      iss: 'mailer@project.iam.gserviceaccount.example',
      sub: USER,
      scope: 'https://mail.google.com/',
      aud: `${world.api.url}/tenant/oauth2/v2.0/token`,
      iat,
      exp: iat + 3600,
    });
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify('sha256', signed, account.publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
  });

  test('goes to no private address unless that is allowed', async () => {
    const world = await start({ allowPrivate: false });
    expect(only(await world.deliver())).toMatchObject({
      kind: 'deferred',
      cause: 'plain_http',
      hopFailed: true,
    });
    expect(world.api.connections).toBe(0);
  });
});

test('neither token nor secrets are in any record, whatever the peers repeat', async () => {
  const world = await start({
    grant: SERVICE,
    api: { answer: () => answerJson(200, entraToken('the-token-of-this-test-0123456789')) },
    sink: { script: { RCPT: '550 5.1.1 you are the-token-of-this-test-0123456789' } },
  });
  const kept = JSON.stringify(await world.deliver());
  expect(kept).toContain('(left out: it repeats the token)');
  expect(kept).not.toContain('the-token-of-this-test');
  world.api.script.push({ kind: 'answer', status: 200, body: '' });
  const echo = await start({ grant: SERVICE });
  echo.api.script.push(answerJson(400, { error: 'invalid_grant', error_description: 'filled below' }));
  await echo.deliver();
  const { assertion = '' } = formOf(echo);
  // Signed for the same second, it is the same text again.
  echo.api.script.push(answerJson(400, { error: 'invalid_grant', error_description: `bad ${assertion}` }));
  expect(JSON.stringify(await echo.deliver())).not.toContain(assertion.slice(0, 40));
});

/** What a test of the world's relay tells. */
async function stepsOf(world: World): Promise<ProbeStep[]> {
  const clock = new ManualClock();
  const oauth: OAuthSettings = {
    preset: null,
    tenant: null,
    tokenUrl: `${world.api.url}/token`,
    scope: null,
    allowPrivate: true,
    grant: MICROSOFT,
  };
  const settings = {
    port: world.sink.port,
    tls: 'required',
    username: USER,
    auth: 'xoauth2',
    oauth,
  } as const;
  const { smtp } = relayTo(settings);
  if (!smtp) throw new Error('relayTo makes smtp relays');
  const context = { hostname: 'client.example', clock, tokens: smarthostTokens(oauth, { clock }) };
  const steps: ProbeStep[] = [];
  for await (const step of probeSmarthost(smtp, context, new AbortController().signal)) steps.push(step);
  return steps;
}

test('a test tells of each step: the token asked for and got, with its life, and the session', async () => {
  const world = await start();
  const steps = await stepsOf(world);
  expect(steps.map(({ name }) => name)).toEqual([
    'TOKEN',
    'TOKEN',
    'CONNECT',
    'GREETING',
    'EHLO',
    'STARTTLS',
    'TLS',
    'EHLO',
    'AUTH',
    'READY',
  ]);
  const { host } = new URL(world.api.url);
  expect(steps.slice(0, 2).map(({ detail }) => detail)).toEqual([
    `asks ${host} for an access token`,
    `${host} issued one that is valid for 59 min`,
  ]);
  world.api.script.push(aadsts(700016, 'unauthorized_client', 'Application not found in the directory.'));
  expect((await stepsOf(world)).map(({ name, ok }) => [name, ok])).toEqual([
    ['TOKEN', true],
    ['token_refused', false],
  ]);
});

test('a test in which the second token is taken ends well', async () => {
  const world = await start({ bearer: { takes: (_, token) => token === 'token-2' } });
  const steps = await stepsOf(world);
  expect(steps.flatMap(({ name }) => (/TOKEN|AUTH|READY/.test(name) ? [name] : []))).toEqual([
    'TOKEN',
    'TOKEN',
    'AUTH',
    'TOKEN',
    'TOKEN',
    'TOKEN',
    'AUTH',
    'READY',
  ]);
  expect(steps.at(-1)).toMatchObject({ name: 'READY', ok: true });
});
