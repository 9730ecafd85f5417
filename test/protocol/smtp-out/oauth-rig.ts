/** A token server, a smarthost that takes its tokens, and a relay between both. */
import { generateKeyPairSync } from 'node:crypto';
import type { OAuthGrant, OAuthSettings } from '../../../src/domain/relay.ts';
import { createAuthority, createCertificate } from '../../peers/certificate.ts';
import { entraError, entraToken } from '../../peers/oauth-documents.ts';
import { type ApiAct, type ApiOptions, answerJson, ProviderApi } from '../../peers/provider-api.ts';
import type { SinkBearer, SmtpSinkOptions } from '../../peers/smtp-sink-script.ts';
import { type Rig, startRig } from './rig.ts';

export const authority = createAuthority();
const certificate = createCertificate({ hosts: ['127.0.0.1'], issuer: authority });
export const USER = 'sender@contoso.example';
export const SECRET = 'client~secret-Value.8Q';
export const REFRESH = '1//0refresh-token-of-the-tests';
export const MICROSOFT: OAuthGrant = { kind: 'client_credentials', clientId: 'client-id', secret: SECRET };
export const GOOGLE: OAuthGrant = {
  kind: 'refresh_token',
  clientId: 'client-id',
  secret: SECRET,
  refreshToken: REFRESH,
};
export const account = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const SERVICE: OAuthGrant = {
  kind: 'service_account',
  account: 'mailer@project.iam.gserviceaccount.example',
  keyId: 'key-1',
  privateKey: account.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  subject: USER,
};

/** See {@link start}. */
export interface World extends Rig {
  readonly api: ProviderApi;
  /** The user and token of each AUTH that the smarthost heard. */
  readonly heard: readonly (readonly [user: string, token: string])[];
}

/** What a test may set. */
export interface WorldOptions {
  readonly grant?: OAuthGrant;
  readonly scope?: string | null;
  readonly api?: ApiOptions;
  readonly bearer?: Partial<SinkBearer>;
  readonly sink?: Partial<SmtpSinkOptions>;
  readonly allowPrivate?: boolean;
  readonly user?: string;
}

/** A token server that gives `token-1`, `token-2` …, a smarthost that takes what `takes` says, and a relay between. */
export async function start(options: WorldOptions = {}): Promise<World> {
  let given = 0;
  const usual = (): ApiAct => answerJson(200, entraToken(`token-${++given}`));
  const api = await ProviderApi.start({ answer: usual, ...options.api });
  const heard: [string, string][] = [];
  const takes = options.bearer?.takes ?? (() => true);
  const bearer: SinkBearer = {
    ...options.bearer,
    takes: (user, token) => {
      heard.push([user, token]);
      return takes(user, token);
    },
  };
  const oauth: OAuthSettings = {
    preset: null,
    tenant: null,
    tokenUrl: `${api.url}/tenant/oauth2/v2.0/token`,
    scope: options.scope ?? null,
    allowPrivate: options.allowPrivate ?? true,
    grant: options.grant ?? MICROSOFT,
  };
  const rig = await startRig({
    sink: { tls: 'starttls', certificate, ...options.sink, bearer },
    smtp: { tls: 'required', username: options.user ?? USER, auth: 'xoauth2', oauth },
  });
  return { ...rig, api, heard };
}

/** How Microsoft refuses to give a token. */
export function aadsts(code: number, error: string, text: string): ApiAct {
  return answerJson(401, entraError(code, error, text));
}

/** The form of a request for a token. */
export function formOf(world: World, index = 0): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(world.api.requests[index]?.body.toString()));
}
