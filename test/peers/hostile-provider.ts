/** An OpenID Connect provider that does as a test says: honest unless it is told a lie. Over TLS, on a free port. */
import { createHash, createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, createCertificate } from './certificate.ts';

/** What it does otherwise than it should. */
export interface Lies {
  /** Claims of the ID token in place of true ones; undefined removes one. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** The same, of the token’s header. */
  readonly header?: Readonly<Record<string, unknown>>;
  /** How the token is signed: as it should be, with a stranger’s key, not at all, or by a secret that is none. */
  readonly signed?: 'well' | 'by a stranger' | 'not' | 'with the client secret' | 'with the public key';
  /** The token in place of the one that was made. */
  readonly token?: (token: string) => string;
  /** Of the user info; it is asked for when the token says nothing of groups. */
  readonly userinfo?: Readonly<Record<string, unknown>>;
  /** The answer of the token endpoint in place of a token. */
  readonly answer?: { readonly status: number; readonly type?: string; readonly body: string };
  /** What it says of itself. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Whoever asks for the token waits in vain. */
  readonly hangs?: boolean;
}

/** The client that it knows. */
export const CLIENT = { id: 'waybill', secret: 'a secret of the client, long enough' } as const;

interface Asked {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

/** Whose keys they are: its own, its next ones, or a stranger’s. */
type Owner = 'k1' | 'k2' | 'stranger';

const made = new Map<Owner, ReturnType<typeof makeKeys>>();

/** The same for all tests of a file, and only those that are used: making them takes long. */
function keysOf(owner: Owner) {
  const keys = made.get(owner) ?? makeKeys();
  made.set(owner, keys);
  return keys;
}

function makeKeys() {
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** What {@link startHostileProvider} starts. */
export type HostileProvider = Awaited<ReturnType<typeof startHostileProvider>>;

/** Starts one; `stop` ends it. `wall`: its clock. */
export async function startHostileProvider(wall: () => number) {
  const authority = createAuthority();
  const { key, cert } = createCertificate({ hosts: ['localhost', '127.0.0.1'], issuer: authority });
  const folder = mkdtempSync(join(tmpdir(), 'waybill-provider-'));
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, authority.cert);
  const state = {
    lies: {} as Lies,
    kid: 'k1' as Owner,
    codes: new Map<string, Asked>(),
    /** Paths that were asked for. */
    seen: [] as string[],
    accessTokens: new Set<string>(),
  };
  const server = createServer({ key, cert }, (request, response) => {
    state.seen.push((request.url ?? '').split('?')[0] ?? '');
    void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `https://localhost:${(server.address() as AddressInfo).port}/realm`;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { lies, kid, accessTokens } = state;
    const path = (request.url ?? '').slice('/realm'.length);
    const json = (body: unknown, status = 200) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (path === '/.well-known/openid-configuration')
      return json({ ...metadataOf(issuer), ...lies.metadata });
    if (path === '/jwks') return json({ keys: [jwkOf(kid)] });
    if (path === '/userinfo') {
      const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
      if (!accessTokens.has(token)) return json({ error: 'invalid_token' }, 401);
      return json({ sub: 'ann-1', ...lies.userinfo });
    }
    if (path !== '/token') return json({ error: 'not_found' }, 404);
    const body = new URLSearchParams(await textOf(request));
    if (lies.hangs) return;
    if (lies.answer !== undefined) {
      const { status, type = 'application/json', body: text } = lies.answer;
      return void response.writeHead(status, { 'content-type': type }).end(text);
    }
    if (body.get('client_secret') !== CLIENT.secret) return json({ error: 'invalid_client' }, 401);
    const code = body.get('code') ?? '';
    const asked = state.codes.get(code);
    // A code counts once (RFC 6749 §4.1.2).
    state.codes.delete(code);
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    if (asked?.challenge !== challenge || asked.redirectUri !== body.get('redirect_uri'))
      return json({ error: 'invalid_grant' }, 400);
    const accessToken = randomBytes(16).toString('hex');
    accessTokens.add(accessToken);
    json({ access_token: accessToken, token_type: 'Bearer', id_token: tokenFor(asked) });
  };

  const tokenFor = ({ nonce }: Asked): string => {
    const { lies, kid } = state;
    const now = Math.floor(wall() / 1000);
    const claims = {
      iss: issuer,
      sub: 'ann-1',
      aud: CLIENT.id,
      iat: now,
      exp: now + 300,
      nonce,
      preferred_username: 'ann',
      groups: ['admins'],
      ...lies.claims,
    };
    const header = { alg: 'RS256', kid, ...lies.header };
    const signed = `${encoded(header)}.${encoded(claims)}`;
    const whole = `${signed}.${signatureOf(signed, kid, lies.signed ?? 'well')}`;
    return lies.token?.(whole) ?? whole;
  };

  const leave = () => {
    server.closeAllConnections();
    server.close();
  };
  return {
    issuer,
    caFile,
    seen: state.seen,
    lie: (lies: Lies) => {
      state.lies = lies;
    },
    /** Has another key from now on. */
    rollOver: () => {
      state.kid = 'k2';
    },
    /** Answers nobody any more. */
    leave,
    stop: () => {
      leave();
      rmSync(folder, { recursive: true });
    },
    /** Somebody signs in at the URL that we sent them to: the query with which they come back. */
    authorize: (url: string): URLSearchParams => {
      const { searchParams: asked, pathname } = new URL(url);
      if (pathname !== '/realm/authorize') throw new Error(`nobody signs in at ${pathname}`);
      const code = randomBytes(16).toString('hex');
      state.codes.set(code, {
        challenge: asked.get('code_challenge') ?? '',
        nonce: asked.get('nonce') ?? '',
        redirectUri: asked.get('redirect_uri') ?? '',
      });
      return new URLSearchParams({ code, state: asked.get('state') ?? '', iss: issuer });
    },
  };
}

function metadataOf(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    end_session_endpoint: `${issuer}/logout`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    // As some have it: what they would sign with must not decide what is believed.
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    authorization_response_iss_parameter_supported: true,
  };
}

function jwkOf(kid: Owner) {
  return { ...keysOf(kid).publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
}

function signatureOf(text: string, kid: Owner, how: NonNullable<Lies['signed']>): string {
  const bytes = Buffer.from(text);
  if (how === 'not') return '';
  if (how === 'with the client secret')
    return createHmac('sha256', CLIENT.secret).update(bytes).digest('base64url');
  if (how === 'with the public key') {
    const pem = keysOf(kid).publicKey.export({ type: 'spki', format: 'pem' });
    return createHmac('sha256', pem).update(bytes).digest('base64url');
  }
  const { privateKey } = keysOf(how === 'by a stranger' ? 'stranger' : kid);
  return sign('sha256', bytes, privateKey).toString('base64url');
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
