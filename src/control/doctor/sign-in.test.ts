import { expect, onTestFinished, test } from 'vitest';
import { startHostileProvider } from '../../../test/peers/hostile-provider.ts';
import { premises } from '../../../test/support/premises.ts';
import { signInCheck } from './sign-in.ts';

const ROLES = 'roles: [{ group: admins, role: admin }]';

/** What is found with these settings of a provider that answers; null: with none. */
async function look(settings: string | null, caFile: string | null = null) {
  const provider = await startHostileProvider(() => 0);
  onTestFinished(provider.stop);
  const { issuer } = provider;
  const oidc = `{ issuer: "${issuer}", client_id: waybill, ca_file: ${caFile ?? provider.caFile}, ${settings} }`;
  const signIn = settings === null ? '' : `sign_in: { oidc: ${oidc} }`;
  const file = `server: { hostname: mail.example.com }\nwebui: { port: 443 }\n${signIn}`;
  const found = await signInCheck(premises({ file }), new AbortController().signal);
  return found.map(({ status, found: text }) => `${status}: ${text.replace(issuer, 'It')}`);
}

test('a provider that answers must know the address to which it returns, as browsers write it', async () => {
  expect(await look(ROLES)).toEqual([
    'ok: It answers. It must know that it may return to https://mail.example.com/sign-in/callback.',
  ]);
  expect(await look(`public_url: "https://sso.example.com:8420", ${ROLES}`)).toEqual([
    expect.stringContaining('https://sso.example.com:8420/sign-in/callback'),
  ]);
});

test('one that is not believed, lets nobody in, or may be asked in clear, is told of', async () => {
  expect(await look('allow_http: true', '/nowhere/ca.pem')).toEqual([
    'fail: It cannot be used: /nowhere/ca.pem cannot be read: there is no such file. Passwords work all the same.',
    expect.stringMatching(/^warn: No group has a role/),
    expect.stringMatching(/^warn: It may be asked over plain HTTP/),
  ]);
});

test('without one there is nothing to look at', async () => {
  expect(await look(null)).toEqual([expect.stringMatching(/^skipped: /)]);
});
