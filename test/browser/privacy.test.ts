import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { Dashboard, NEEDED } from './dashboard.ts';

/** Erasing a person: what would be touched, the address once more, and how far it is. */

describeWith(NEEDED, 'privacy', () => {
  let dashboard: Dashboard;
  let page: Page;

  beforeAll(async () => {
    dashboard = await Dashboard.start();
    await dashboard.claim();
    await dashboard.installation.run('suppressions', 'add', 'ann@example.org');
    page = await dashboard.signedIn('/privacy');
  }, 120_000);
  afterAll(async () => {
    const { strays, surprises } = dashboard;
    await dashboard.stop();
    expect([[...strays], surprises]).toEqual([[], []]);
  });

  test('nothing is erased before it was seen and the address typed once more', async () => {
    await page.getByText('Nobody was erased').waitFor();
    await page.getByRole('button', { name: 'Erase a person' }).click();
    await page.keyboard.type('Ann@Example.org');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Erase this person?' });
    await dialog.getByText('Suppressions', { exact: true }).waitFor();
    expect(await dialog.getByRole('button', { name: 'Erase', exact: true }).isDisabled()).toBe(true);
    await dialog.getByLabel(/to go on/).fill('ann@example.org');
    await dialog.getByRole('button', { name: 'Erase', exact: true }).click();
    const row = page.getByRole('table', { name: 'Erased people' }).getByRole('row').nth(1);
    await row.getByText(/^erased-[0-9a-z]{24}@erased\.invalid$/).waitFor();
    await row.getByText('Done', { exact: true }).waitFor({ timeout: 60_000 });
    await page.getByText('ann@example.org').waitFor({ state: 'detached' });
  }, 120_000);

  test('an address that is none is refused at its field', async () => {
    await page.getByRole('button', { name: 'Erase a person' }).click();
    await page.getByLabel('Address').fill('*@example.org');
    await page.keyboard.press('Enter');
    await page.getByText(/One person is erased at a time/).waitFor();
    await page.keyboard.press('Escape');
  });
});
