/**
 * As much of Cypress as the commands of `cypress-mailpit` use. Each runs over real HTTP; chains are promises, which the
 * commands only ever follow by `then`.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** What `cy.request` is given. */
interface Asked {
  readonly method?: string;
  readonly url: string;
  readonly qs?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly auth?: { readonly user: string; readonly pass: string };
}

/** Who the commands say they are, and where they find Mailpit. */
export interface CypressSettings {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/** Gives the commands the globals that they expect. */
export function standInForCypress({ url, username, password }: CypressSettings): void {
  const exposed: Readonly<Record<string, string>> = { MAILPIT_URL: url };
  const environment: Readonly<Record<string, string>> = {
    MAILPIT_USERNAME: username,
    MAILPIT_PASSWORD: password,
  };
  Object.assign(globalThis, {
    Cypress: { expose: (name: string) => exposed[name], config: () => 4000 },
    cy: {
      env: async (names: readonly string[]) =>
        Object.fromEntries(names.map((name) => [name, environment[name]])),
      wrap: async (value: unknown) => value,
      wait: (ms: number) => sleep(ms),
      request,
    },
  });
}

/** Fails for an answer that is not 2xx, as Cypress does. */
async function request({ method = 'GET', url, qs = {}, body, auth }: Asked) {
  const target = new URL(url);
  for (const [name, value] of Object.entries(qs)) target.searchParams.set(name, String(value));
  const headers = new Headers();
  if (auth !== undefined)
    headers.set('authorization', `Basic ${Buffer.from(`${auth.user}:${auth.pass}`).toString('base64')}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  const answer = await fetch(target, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status}: ${answer.statusText} ${text}`);
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: answer.status, body: isJson ? JSON.parse(text) : text };
}
