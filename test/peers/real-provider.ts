/** A real OpenID Connect provider: `oidc-provider`, certified by the OpenID Foundation, with its forms for development. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// @ts-expect-error: it comes without types.
import untyped from 'oidc-provider';
import { systemRandom } from '../../src/lib/random.ts';
import { createSelfSigned } from '../../src/tls/self-signed.ts';
import { freePort } from './free-port.ts';

const Provider = untyped as new (issuer: string, configuration: object) => { callback(): RequestListener };

/** The client that it knows. */
export const CLIENT = { id: 'waybill', secret: 'a secret of the client, long enough' } as const;

/** A provider that runs. Whoever gives a name and any password at its form is who they say. */
export interface RealProvider {
  readonly issuer: string;
  readonly caFile: string;
  /** The groups of each of its users, by name; may be changed at any time. */
  readonly groups: Map<string, readonly string[]>;
  stop(): void;
}

/** Starts one that returns to this address. */
export async function startRealProvider(redirectUri: string): Promise<RealProvider> {
  const day = 86_400_000;
  const [notBefore, notAfter] = [Date.now() - day, Date.now() + 9 * day];
  // As our own, which browsers take.
  const { key, cert } = createSelfSigned({ hosts: ['localhost'], notBefore, notAfter, random: systemRandom });
  const folder = mkdtempSync(join(tmpdir(), 'waybill-provider-'));
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, cert);
  const groups = new Map<string, readonly string[]>();
  const port = await freePort();
  const issuer = `https://localhost:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    cookies: { keys: ['a key of this test'] },
    scopes: ['openid', 'profile', 'groups'],
    claims: { openid: ['sub'], profile: ['preferred_username'], groups: ['groups'] },
    pkce: { required: () => true },
    findAccount: async (_context: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, preferred_username: id, groups: groups.get(id) ?? [] }),
    }),
  });
  const server = createServer({ key, cert }, provider.callback());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    issuer,
    caFile,
    groups,
    stop: () => {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
