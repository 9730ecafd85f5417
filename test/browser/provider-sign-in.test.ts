import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../peers/free-port.ts';
import { describeWith } from '../peers/need.ts';
import { CLIENT, type RealProvider, startRealProvider } from '../peers/real-provider.ts';
import { ADMIN, Dashboard, NEEDED } from './dashboard.ts';

/** Signing in with a real identity provider, in a real browser. */

describeWith(NEEDED, 'an identity provider', () => {
  let dashboard: Dashboard;
  let provider: RealProvider;

  beforeAll(async () => {
    const port = await freePort();
    const url = `https://localhost:${port}`;
    provider = await startRealProvider(`${url}/sign-in/callback`);
    dashboard = await Dashboard.start(`
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: ${port}, bind: ["127.0.0.1"] }
listener: { ports: [0], bind: ["127.0.0.1"] }
sign_in:
  oidc:
    issuer: ${provider.issuer}
    client_id: ${CLIENT.id}
    client_secret: "${CLIENT.secret}"
    ca_file: ${provider.caFile}
    name: Example SSO
    public_url: ${url}
    scopes: [openid, profile, groups]
    roles:
      - { group: mail-admins, role: admin }
      - { group: helpdesk, role: operator }
      - { group: staff, role: viewer }
`);
    await dashboard.claim();
  }, 60_000);
  afterAll(async () => {
    await dashboard.stop();
    provider.stop();
    expect(dashboard.surprises).toEqual([]);
  });

  /** A window in which the provider’s page does not wait for a font from elsewhere. */
  async function open(): Promise<Page> {
    const page = await dashboard.window();
    await page.route('https://fonts.googleapis.com/**', (route) => route.abort());
    return page;
  }

  test('signs somebody in by their groups, as others say who they are', async () => {
    provider.groups.set('ann', ['helpdesk', 'staff']);
    const page = await open();
    await page.goto(`${dashboard.namedUrl}/queue?relay=inbox`);
    await page.getByRole('button', { name: 'Sign in with Example SSO' }).click();
    await page.getByPlaceholder('Enter any login').fill('ann');
    await page.getByPlaceholder('and password').fill('whatever');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    // Where they wanted to be, and nothing of the answer is left in the address.
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/queue?relay=inbox');
    await page.goto(`${dashboard.namedUrl}/account`);
    await page.getByText('ann. You can act on mail and the queue').waitFor();
    await page.getByText('You sign in with Example SSO').waitFor();
    expect(await page.getByRole('heading', { name: 'Password' }).count()).toBe(0);

    // Another role at the next sign-in, for which the provider asks nothing any more.
    provider.groups.set('ann', ['mail-admins']);
    await signOutWhileAsking(page);
    await page.getByText('You are signed out here').waitFor();
    const out = await page.getByRole('link', { name: 'Sign out of Example SSO, too' }).getAttribute('href');
    expect(out).toMatch(`${provider.issuer}/session/end?client_id=${CLIENT.id}`);
    await page.getByRole('button', { name: 'Sign in with Example SSO' }).click();
    await page.getByRole('button', { name: /ann/ }).first().waitFor();
    await page.goto(`${dashboard.namedUrl}/account`);
    await page.getByText('ann. You may do everything here.').waitFor();
    await page.goto(`${dashboard.namedUrl}/users`);
    await page.getByRole('row', { name: /ann.*Administrator.*localhost/ }).waitFor();

    // And none once they are in no group.
    provider.groups.set('ann', ['visitors']);
    await signOut(page);
    await page.getByRole('button', { name: 'Sign in with Example SSO' }).click();
    await page.getByText('none of your groups may use this dashboard').waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.getByText('none of your groups').count()).toBe(0);
  });

  test('sends whoever opens another address to the one that it returns to', async () => {
    const page = await open();
    await page.goto('/');
    const port = dashboard.server.runtime.webui;
    await page.getByRole('button', { name: `Sign in with Example SSO at localhost:${port}` }).click();
    await page.getByRole('button', { name: 'Sign in with Example SSO', exact: true }).waitFor();
  });

  test('can be left and come back from: the button can be pressed again', async () => {
    const page = await open();
    await page.goto(dashboard.namedUrl);
    const button = page.getByRole('button', { name: 'Sign in with Example SSO' });
    // The browser stays on this page, as it would keep it while it shows another.
    await page.route(`${provider.issuer}/**`, (route) => route.fulfill({ status: 204 }));
    const asked = page.waitForRequest(`${provider.issuer}/**`);
    await button.click();
    await asked;
    expect(await button.isDisabled()).toBe(true);
    await page.evaluate("dispatchEvent(new Event('pageshow'))");
    await expect.poll(() => button.isEnabled()).toBe(true);
  });

  test('may let nobody in, or be away: whoever has a password signs in all the same', async () => {
    const page = await open();
    await page.goto(dashboard.namedUrl);
    await page.getByRole('button', { name: 'Sign in with Example SSO' }).click();
    await page.getByRole('link', { name: /Cancel/ }).click();
    await page.getByText('Example SSO let nobody in (access_denied)').waitFor();
    provider.stop();
    await page.getByLabel('Name').fill(ADMIN.name);
    await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: /admin/ }).first().waitFor();
  });
});

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /ann/ }).first().click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

/** Signs out while the page asks for something else, is refused, and asks who it is: that answer comes last. */
async function signOutWhileAsking(page: Page): Promise<void> {
  const late = Promise.withResolvers<void>();
  const answered: Promise<unknown>[] = [];
  await page.route('**/api/session', async (route) => {
    const response = await route.fetch();
    await late.promise;
    // The page may have given it up.
    answered.push(route.fulfill({ response }).catch(() => {}));
  });
  await page.route('**/api/session/logout', async (route) => {
    const response = await route.fetch();
    const asked = page.waitForRequest('**/api/session');
    for (const key of 'gq') await page.keyboard.press(key);
    await asked;
    await route.fulfill({ response });
  });
  await signOut(page);
  late.resolve();
  await expect.poll(() => answered.length).toBeGreaterThan(0);
  await Promise.all(answered);
  for (const path of ['session', 'session/logout']) await page.unroute(`**/api/${path}`);
}
