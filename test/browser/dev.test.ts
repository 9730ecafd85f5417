import { expect, onTestFinished, test } from 'vitest';
import { startDev, stopDev } from '../peers/dev-server.ts';
import { describeWith } from '../peers/need.ts';
import { launchBrowser, NEEDED } from './dashboard.ts';

describeWith(NEEDED, 'the dashboard of waybill dev', () => {
  test('has nobody sign in, and so no account, and nothing to sign out of', async () => {
    const running = await startDev();
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ baseURL: running.access.dashboard });
    page.setDefaultTimeout(60_000);
    await page.goto('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: /^dev/ }).click();
    await page.getByRole('menuitem', { name: 'Keys and help' }).waitFor();
    const offered = await page.getByRole('menuitem').allInnerTexts();
    expect(offered).toEqual(['First steps', 'Keys and help']);
    await page.goto('/account');
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    expect(await page.getByLabel(/password/i).count()).toBe(0);
    expect(await stopDev(running)).toBe(0);
  }, 120_000);
});
