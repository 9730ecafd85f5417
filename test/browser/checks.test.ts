import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import { Dashboard, NEEDED } from './dashboard.ts';
import { settled, tooWide } from './looks.ts';

/** What preflight finds, beside the mail it finds it in. */

const LETTER = { from: 'shop@example.com', to: ['ann@example.net'] };
const LONG = 'The order that you have waited for since the beginning of the month is here';

describeWith(NEEDED, 'the checks of a message', () => {
  let dashboard: Dashboard;
  let ci: Client;
  let page: Page;

  beforeAll(async () => {
    dashboard = await Dashboard.start();
    await dashboard.claim();
    ci = await dashboard.client('ci', '--test');
    page = await dashboard.signedIn('/');
  }, 120_000);
  afterAll(async () => {
    await dashboard.stop();
    expect([[...dashboard.strays], dashboard.surprises]).toEqual([[], []]);
  });

  const tab = (name: RegExp) => page.getByRole('tab', { name });
  const group = (name: string) => page.getByRole('region', { name });

  test('are counted on their tab, and stand there by severity, with what to do', async () => {
    const id = await ci.send({ ...LETTER, subject: LONG, html: '<p>It is here.</p>' });
    await ci.end(id);
    await page.goto(`/inbox/${id}`);
    await tab(/^Checks [1-9]/).click();
    expect(new URL(page.url()).searchParams.get('view')).toBe('checks');
    await group('Warnings').getByText('There is HTML, but no text').waitFor();
    await group('Hints').getByText(`The subject has ${LONG.length} characters`).waitFor();
    await group('Hints').getByText('Subject', { exact: true }).waitFor();
    await group('Hints').getByText('Shorten it').waitFor();
    const order = await page.getByRole('region', { name: /^(Errors|Warnings|Hints)$/ }).all();
    const names = await Promise.all(order.map((one) => one.getAttribute('aria-label')));
    expect(names.slice(-2)).toEqual(['Warnings', 'Hints']);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => tooWide(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('each lead to a page on what was found, by keys as well', async () => {
    await group('Hints').getByRole('button', { name: 'Why: subject-long' }).press('Enter');
    await page.getByRole('dialog').getByText('subject-long').first().waitFor();
    await settled(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const focused = () => page.evaluate("document.activeElement?.getAttribute('aria-label')");
    await expect.poll(focused).toBe('Why: subject-long');
  });

  test('are on a page that is read from its heading, and Back is at its row', async () => {
    await page.goto('/messages');
    const row = page.getByRole('row').getByRole('link').first();
    await row.press('Enter');
    const tag = () => page.evaluate('document.activeElement?.tagName');
    await page.waitForURL(/messages\/msg_/);
    await expect.poll(tag).toBe('H1');
    const { pathname } = new URL(page.url());
    const focused = () => page.evaluate("document.activeElement?.getAttribute('href')");
    await page.goBack();
    await expect.poll(focused).toBe(pathname);
    await page.keyboard.press('Enter');
    await expect.poll(tag).toBe('H1');
    await page.getByRole('main').getByRole('link', { name: 'Messages' }).press('Enter');
    await expect.poll(focused).toBe(pathname);
  });

  test('captured and scheduled mail have chips of their own', async () => {
    await page.goto('/messages?q=hello+is:captured');
    const only = page.getByRole('group', { name: 'Only' });
    const chip = only.getByRole('button', { name: 'Captured' });
    await chip.waitFor();
    expect(await only.getByRole('button').allInnerTexts()).toEqual(['Captured', 'Scheduled']);
    expect(await chip.getAttribute('aria-pressed')).toBe('true');
    await chip.click();
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('hello');
    await page.getByRole('button', { name: 'Failed' }).click();
    await chip.click();
    await expect
      .poll(() => new URL(page.url()).searchParams.get('q'))
      .toBe('hello status:failed is:captured');
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    await ci.send({ ...LETTER, subject: 'For tomorrow', text: 'Hi.', sendAt });
    await page.goto('/messages');
    await page.getByRole('button', { name: 'Scheduled' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('is:scheduled');
    const row = page.getByRole('row', { name: /For tomorrow/ });
    await row.getByText('Scheduled', { exact: true }).waitFor();
    // What was shown before goes when the answer comes.
    await expect.poll(() => page.locator('[data-row]').count()).toBe(1);
  });

  test('say so quietly where there are none', async () => {
    await page.route('**/api/call/preflight', (route) => route.fulfill({ json: { findings: [] } }));
    const id = await ci.send({ ...LETTER, subject: 'Hello', text: 'Hi.' });
    await ci.end(id);
    await page.goto(`/inbox/${id}?view=checks`);
    await page.getByText('No findings').waitFor();
    expect(await page.getByRole('region', { name: /^(Errors|Warnings|Hints)$/ }).count()).toBe(0);
    await page.unroute('**/api/call/preflight');
  });

  test('that cannot be had say why, and are asked for again', async () => {
    const detail = 'Too many messages are being read; try again.';
    await page.route('**/api/call/preflight', (route) =>
      route.fulfill({ status: 409, json: { code: 'unavailable', status: 409, detail } }),
    );
    const id = await ci.send({ ...LETTER, subject: LONG, text: 'Hi.' });
    await ci.end(id);
    await page.goto(`/messages/${id}?view=checks`);
    await page.getByText(detail).waitFor();
    await page.unroute('**/api/call/preflight');
    await page.getByRole('button', { name: 'Try again' }).click();
    await group('Hints').getByText('The subject has').waitFor();
  });

  test('are told before a message is sent, too', async () => {
    await page.goto('/messages');
    await page
      .getByRole('button', { name: /Write|Compose/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('From').fill('shop@example.com');
    await dialog.getByLabel('To').fill('ann@example.net');
    await dialog.getByLabel('Subject').fill(LONG);
    await dialog.getByLabel('Text').fill('Hi.');
    await dialog.getByRole('button', { name: 'Check' }).click();
    await dialog.getByRole('region', { name: 'Hints' }).getByText('The subject has').waitFor();
  });
});
