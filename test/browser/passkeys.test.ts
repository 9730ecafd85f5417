import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { ADMIN, CAPTURING, Dashboard, HOST_NAME } from './dashboard.ts';

/** Passkeys, with the browser's own authenticator. */

/** The whole program, because without its windows Chromium allows passkeys on pages whose certificate it does not trust. */
const WHOLE = 'chromium';

describeWith([WHOLE], 'a passkey', () => {
  let dashboard: Dashboard;

  beforeAll(async () => {
    dashboard = await Dashboard.start(
      CAPTURING.replace('webui: {', `webui: { allowed_hosts: [${HOST_NAME}],`),
      WHOLE,
    );
    await dashboard.claim();
  }, 60_000);
  afterAll(async () => {
    await dashboard.stop();
    expect([[...dashboard.strays], dashboard.surprises]).toEqual([[], []]);
  });

  test('is added under one’s name, signs in by itself, and no longer once it is removed', async () => {
    const page = await dashboard.window();
    const device = await addAuthenticator(page);
    await page.goto(`${dashboard.namedUrl}/account`);
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
    await signIn(page);
    await page.getByText('You have no passkey').waitFor();
    await add(page);
    await page.getByRole('row', { name: /My laptop.*localhost/ }).waitFor();
    await signOut(page);

    // Whoever does not pass the check of the device does not get in.
    await device.verify(false);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('No passkey was given').waitFor();
    await device.verify(true);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('row', { name: /My laptop/ }).waitFor();

    await page.getByRole('button', { name: 'Remove the passkey My laptop' }).click();
    await page.getByLabel('Your password').fill(ADMIN.password);
    await page.getByRole('button', { name: 'Remove passkey' }).click();
    await page.getByText('You have no passkey').waitFor();
    await signOut(page);
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
  });

  test('is refused with the reason where the browser does not trust the certificate, or has none for the page', async () => {
    const page = await dashboard.window();
    await page.goto(`${dashboard.untrustedUrl}/account`);
    await signIn(page);
    await add(page);
    await page.getByText('with a certificate that the browser trusts').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('You have no passkey').waitFor();
  });

  test('that one has is listed where the dashboard is opened by an address, with the reason why it does not work there', async () => {
    const page = await dashboard.window();
    await addAuthenticator(page);
    await page.goto(`${dashboard.namedUrl}/account`);
    await signIn(page);
    await add(page);
    await page.getByRole('row', { name: /My laptop/ }).waitFor();
    const byAddress = await dashboard.signedIn('/account');
    await byAddress.getByRole('row', { name: /My laptop/ }).waitFor();
    await byAddress.getByText('Passkeys work only where this page is opened by a host name').waitFor();
    await byAddress.getByRole('button', { name: 'Remove the passkey My laptop' }).click();
    await byAddress.getByLabel('Your password').fill(ADMIN.password);
    await byAddress.getByRole('button', { name: 'Remove passkey' }).click();
    await byAddress.getByText('You have no passkey').waitFor();
  });

  test('is not offered where the dashboard is opened by an address', async () => {
    const page = await dashboard.signedIn('/account');
    await page.getByText('Passkeys work only where this page is opened by a host name').waitFor();
    expect(await page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0);
  });
});

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Name').fill(ADMIN.name);
  await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Adds a passkey, as far as the page goes. */
async function add(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name').fill('My laptop');
  await page.getByLabel('Your password').fill(ADMIN.password);
  await page.getByRole('button', { name: 'Go on' }).click();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /admin/ }).first().click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

/** Gives the page a device that keeps passkeys and says who holds it. */
async function addAuthenticator(page: Page) {
  const browser = await page.context().newCDPSession(page);
  await browser.send('WebAuthn.enable');
  const { authenticatorId } = await browser.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    verify: async (isUserVerified: boolean) =>
      void (await browser.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })),
  };
}
