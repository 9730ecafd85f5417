/** Signing in with a real provider, whose forms are filled in as a browser would. */
import { request } from 'node:https';
import { expect, onTestFinished, test } from 'vitest';
import { OidcProvider } from '../../../src/oidc/provider.ts';
import { CLIENT, type RealProvider, startRealProvider } from '../../peers/real-provider.ts';
import { type Browser, MINUTE, startAccess } from './access-world.ts';
import { RULES } from './provider-world.ts';

interface Page {
  readonly location: string | null;
  readonly text: string;
}

/** What a browser does at the provider: it keeps cookies, and follows redirects until it is sent back. */
class Visitor {
  readonly #cookies = new Map<string, string>();
  readonly #back: string;

  /** `back`: where the provider returns to. */
  constructor(back: string) {
    this.#back = back;
  }

  /** Opens a page; `form` is posted to it. The page that is shown in the end, or the URL back to us. */
  async open(url: string, form?: Readonly<Record<string, string>>): Promise<Page & { readonly url: string }> {
    const page = await this.#ask(url, form);
    if (page.location === null) return { ...page, url };
    const next = new URL(page.location, url).href;
    return next.startsWith(this.#back) ? { ...page, url: next } : await this.open(next);
  }

  #ask(url: string, form?: Readonly<Record<string, string>>): Promise<Page> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
    const method = form === undefined ? 'GET' : 'POST';
    return new Promise((resolve, reject) => {
      // Whose certificate it is does not matter to this visitor.
      const asked = request(url, { method, headers, agent: false, rejectUnauthorized: false }, (response) => {
        const chunks: Buffer[] = [];
        for (const given of response.headers['set-cookie'] ?? []) {
          const [pair = ''] = given.split(';');
          this.#cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
        }
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        response.on('end', () =>
          resolve({ location: response.headers.location ?? null, text: Buffer.concat(chunks).toString() }),
        );
      });
      asked.on('error', reject).end(form === undefined ? undefined : new URLSearchParams(form).toString());
    });
  }
}

async function start() {
  const access = await startAccess(Date.now());
  await access.addUser('root');
  const back = `https://127.0.0.1:${access.dashboard.port}/sign-in/callback`;
  const provider: RealProvider = await startRealProvider(back);
  onTestFinished(() => provider.stop());
  access.state.provider = new OidcProvider(
    {
      issuer: provider.issuer,
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      name: 'Example SSO',
      publicUrl: null,
      scopes: ['openid', 'profile', 'groups'],
      rules: RULES,
      sessionMs: 60 * MINUTE,
      caFile: provider.caFile,
      allowHttp: false,
    },
    access.clock,
  );
  const visitor = new Visitor(back);
  const signIn = async (one: Browser) => {
    const { url } = (await one.call('provider_begin', { returnTo: '/queue' })).body;
    let page = await visitor.open(url);
    for (const form of [{ prompt: 'login', login: 'ann', password: 'any' }, { prompt: 'consent' }]) {
      if (page.url.startsWith(back)) break;
      page = await visitor.open(new URL(formOf(page.text), page.url).href, form);
    }
    return await one.call('provider', { search: new URL(page.url).search });
  };
  return { ...access, provider, signIn };
}

/** Where the form of a page leads. */
function formOf(html: string): string {
  return /<form[^>]* action="([^"]+)"/.exec(html)?.[1] ?? '';
}

test('a real provider signs in, gives another role once the groups are others, and none without', async () => {
  const { browser, provider, signIn } = await start();
  provider.groups.set('ann', ['helpdesk']);
  const ann = browser();
  expect((await signIn(ann)).body).toMatchObject({
    returnTo: '/queue',
    view: { state: 'signed_in', user: { name: 'ann', role: 'operator', provider: 'Example SSO' } },
  });
  provider.groups.set('ann', ['admins']);
  // The provider knows them by now, and asks nothing.
  expect((await signIn(browser('192.0.2.8'))).body.view).toMatchObject({
    user: { name: 'ann', role: 'admin' },
  });
  provider.groups.set('ann', []);
  expect((await signIn(browser('192.0.2.9'))).body.code).toBe('not_admitted');
  expect((await ann.session()).body.state).toBe('anonymous');
  provider.groups.set('ann', ['helpdesk']);
  const again = browser('192.0.2.10');
  await signIn(again);
  const { signOutUrl } = (await again.call('logout', {})).body as { readonly signOutUrl: string };
  expect(signOutUrl).toBe(`${provider.issuer}/session/end?client_id=${CLIENT.id}`);
});
