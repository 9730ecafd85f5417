import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TOKEN_CAUSES, tokenCure } from './tokens.ts';

test('every known cause is in docs/relays.md, with what to do', () => {
  const doc = readFileSync(new URL('../../../docs/relays.md', import.meta.url), 'utf8');
  const rows = doc.split('\n').filter((line) => line.startsWith('| `'));
  for (const { code, cure } of TOKEN_CAUSES) {
    const told = `${cure.charAt(0).toUpperCase()}${cure.slice(1)}.`;
    expect(rows.filter((row) => row.startsWith(`| \`${code}\``) && row.includes(`| ${told} |`))).toHaveLength(
      1,
    );
  }
});

test.each([
  ['invalid_client', 'AADSTS7000215: Invalid client secret provided.', /secret’s value/],
  ['invalid_client', 'AADSTS7000222: The provided client secret keys are expired.', /has expired/],
  [
    'unauthorized_client',
    "AADSTS700016: Application with identifier 'x' was not found.",
    /does not know the application/,
  ],
  ['invalid_request', "AADSTS90002: Tenant 'x' not found.", /no such tenant/],
  ['invalid_grant', 'AADSTS50034: The user account does not exist.', /no such user/],
  ['invalid_grant', 'AADSTS70008: The refresh token has expired due to inactivity.', /sign in again/],
  ['invalid_grant', 'AADSTS65001: The user or administrator has not consented.', /admin consent/],
  ['invalid_scope', "AADSTS70011: The provided value for 'scope' is not valid.", /leave it out/],
  [
    'access_denied',
    'AADSTS53003: Access has been blocked by Conditional Access policies.',
    /Conditional Access/,
  ],
  ['invalid_grant', 'Token has been expired or revoked.', /consent again/],
  ['invalid_grant', 'Bad Request', /give the relay a new one/],
])('%s: %s', (error, description, cure) => {
  expect(tokenCure(error, description)).toMatch(cure);
});

test('a code of Microsoft’s that is not known is not taken for what another provider means by its error', () => {
  expect(tokenCure('invalid_client', 'AADSTS700099: New.')).toBeNull();
  expect(tokenCure('invalid_client', 'AADSTS70001: Shorter than one that is known.')).toBeNull();
  expect(tokenCure('odd', '')).toBeNull();
});
