import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client, createKey } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import { Dashboard, NEEDED } from './dashboard.ts';

/** Ten thousand messages: found by words and tokens, paged without gaps, told of when new ones come, and live. */

const BATCH = 500;
const BATCHES = 20;

/** Notes in the page what slides last. */
const NOTE_SLIDES = `
  const { animate } = Element.prototype;
  Element.prototype.animate = function (...given) {
    document.body.dataset.slides = JSON.stringify(given[0]);
    return animate.apply(this, given);
  };`;
const ANIMATIONS = 'document.getAnimations().map(({ animationName }) => animationName ?? "")';
/** The page is looked at, or not. */
const LOOK = `(hidden) => {
  const state = hidden ? 'hidden' : 'visible';
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
}`;

describeWith(NEEDED, 'ten thousand messages', () => {
  let dashboard: Dashboard;
  let client: Client;

  beforeAll(async () => {
    dashboard = await Dashboard.start();
    await dashboard.claim();
    client = new Client(dashboard.server, await createKey(dashboard.installation, 'load'));
    for (let batch = 0; batch < BATCHES; batch++) await sendBatch(batch);
  }, 120_000);
  afterAll(async () => {
    await dashboard.stop();
    expect([[...dashboard.strays], dashboard.surprises]).toEqual([[], []]);
  });

  async function sendBatch(batch: number): Promise<void> {
    const messages = Array.from({ length: BATCH }, (_, place) => {
      const number = batch * BATCH + place;
      return {
        from: 'load@example.com',
        to: [`reader${number}@example.net`],
        subject: number === 4711 ? 'The needle' : `Letter number ${number}`,
        text: 'Hi.',
        tags: [number % 100 === 0 ? 'round' : 'odd'],
      };
    });
    const answer = await fetch(`${client.messages}/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages }),
    });
    expect(answer.status).toBe(202);
  }

  test('one of them is found by a word, by its recipient, and by its tag', async () => {
    const page = await dashboard.signedIn('/messages?q=needle');
    // Ten thousand messages have just come in: on a busy machine it takes a while until all of them can be searched.
    await page.getByRole('link', { name: 'The needle' }).waitFor({ timeout: 150_000 });
    for (const [query, subject] of [
      ['to:reader77@example.net', 'Letter number 77'],
      ['tag:round to:reader300@example.net', 'Letter number 300'],
      ['subject:"number 9999"', 'Letter number 9999'],
    ] as const) {
      const field = page.getByRole('combobox', { name: 'Search messages' });
      await field.fill('');
      await field.fill(query);
      await page.keyboard.press('Enter');
      await page.locator('[data-row]', { hasText: subject }).waitFor();
      expect(await page.locator('[data-row]').count()).toBe(1);
    }
  });

  test('scrolling goes on from page to page, and draws only what is seen', async () => {
    const page = await dashboard.signedIn('/messages');
    await page.getByRole('link', { name: 'Letter number 9999' }).waitFor();
    const seen = new Set<string>();
    while (!seen.has('Letter number 9700')) {
      for (const text of await page.locator('[data-row] bdi:first-child').allInnerTexts()) seen.add(text);
      expect(await page.locator('[data-row]').count()).toBeLessThan(60);
      await page.mouse.move(600, 500);
      await page.mouse.wheel(0, 600);
      await page.waitForFunction(
        'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))',
      );
    }
    for (let number = 9999; number >= 9700; number--) expect(seen).toContain(`Letter number ${number}`);
  });

  test('the focus stays on its row when the last rows come', async () => {
    const page = await dashboard.signedIn('/');
    const more = Promise.withResolvers<void>();
    await page.route('**/api/call/search', async (route) => {
      if (!route.request().postDataJSON().before) return await route.continue();
      await more.promise;
      const answer = await route.fetch();
      const body = (await answer.text()).replace(/"next":"[^"]*"/, '"next":null');
      return await route.fulfill({ response: answer, body });
    });
    await page.goto('/messages');
    await page.getByRole('link', { name: 'Letter number 9999' }).waitFor();
    const lastOfPage = page.getByRole('link', { name: 'Letter number 9950' });
    await page.mouse.move(600, 500);
    const scroll = async () => {
      await page.mouse.wheel(0, 600);
      return await lastOfPage.count();
    };
    await expect.poll(scroll).toBe(1);
    await lastOfPage.focus();
    more.resolve();
    await page.locator('table[aria-rowcount="101"]').waitFor();
    const focused = page.locator('[data-row]:focus', { hasText: 'Letter number 9950' });
    expect(await focused.count()).toBe(1);
  });

  test('all that match are offered where all that are shown are ticked', async () => {
    const page = await dashboard.signedIn('/messages?q=tag:round');
    await page.getByRole('link', { name: 'Letter number 9900' }).waitFor();
    // Rows that come meanwhile are not ticked.
    await page.getByText(/the index is catching up/).waitFor({ state: 'detached', timeout: 150_000 });
    const bar = page.getByRole('toolbar', { name: 'Selected messages' });
    const first = page.getByRole('checkbox', { name: 'Select', exact: false }).nth(1);
    await first.check();
    await bar.getByText('1 selected').waitFor();
    expect(await bar.getByRole('button', { name: /that match/ }).count()).toBe(0);
    const searches: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/api/call/search')) searches.push(request.url());
    });
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
    const count = bar.getByRole('button', { name: 'Count all that match' });
    await count.waitFor();
    expect(searches).toEqual([]);
    const problem = { status: 500, json: { detail: 'Ask again later.' } };
    await page.route('**/api/call/search', (route) => route.fulfill(problem));
    await count.press('Enter');
    await bar.getByText('Ask again later.').waitFor();
    await page.unroute('**/api/call/search');
    await bar.getByRole('button', { name: 'Count all that match again' }).press('Enter');
    await bar.getByRole('button', { name: 'Select all 100 that match' }).waitFor();
    await bar.getByRole('status').getByText('100 messages found').waitFor();
    // The focus stays where the next step is.
    await page.keyboard.press('Enter');
    await bar.getByText('100 selected').waitFor();
    const focused = "document.activeElement?.getAttribute('aria-label')";
    expect(await page.evaluate(focused)).toBe('Selected messages');
    await bar.getByRole('button', { name: 'Cancel sending' }).click();
    await page.getByRole('dialog', { name: 'Cancel 100 messages?' }).waitFor();
  });

  test('new ones are told of, and do not move what is looked at', async () => {
    const page = await dashboard.signedIn('/messages');
    await page.getByRole('link', { name: 'Letter number 9999' }).waitFor();
    await client.send({ from: 'a@example.com', to: ['b@example.net'], subject: 'Brand new', text: 'Hi.' });
    await page.getByRole('button', { name: /1 new/ }).waitFor();
    expect(await page.getByRole('link', { name: 'Brand new' }).count()).toBe(0);
    await page.getByRole('button', { name: /1 new/ }).click();
    await page.getByRole('link', { name: 'Brand new' }).waitFor();
  });

  test('a setting that is changed holds at once', async () => {
    const page = await dashboard.signedIn('/settings/http-api');
    const send = () =>
      client.post({ from: 'a@example.com', to: ['b@example.net'], text: 'x'.repeat(60_000) });
    expect((await send()).status).toBe(202);
    await page.getByRole('button', { name: 'Change api.max_message_bytes' }).click();
    await page.getByLabel('Max message bytes').fill('50000');
    await page
      .getByRole('button', { name: /Review|Save/ })
      .first()
      .click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Save|Apply|Change/ })
      .click();
    await page.getByText('The setting was changed').waitFor();
    expect((await send()).status).toBe(413);
  });

  test('live mode shows the newest twelve, slides new ones in, and is quiet where motion is unwanted', async () => {
    const still = await dashboard.signedIn('/');
    const moving = await dashboard.signedIn('/?live=1');
    await moving.emulateMedia({ reducedMotion: 'no-preference' });
    await still.getByRole('switch', { name: 'Live' }).click();
    expect(new URL(still.url()).search).toBe('?live=1');
    const newest = (page: Page) =>
      page
        .getByRole('heading', { name: 'Newest messages' })
        .locator('xpath=ancestor::section[1]')
        .getByRole('listitem');
    await expect.poll(() => newest(still).count()).toBe(12);
    await expect.poll(() => newest(moving).count()).toBe(12);
    for (const page of [still, moving]) await page.evaluate(NOTE_SLIDES);
    const mail = { from: 'load@example.com', to: ['ann@example.net'], subject: 'Just in', text: 'Hi.' };
    await Promise.all(Array.from({ length: 14 }, () => client.send(mail)));
    for (const page of [still, moving])
      await expect.poll(() => newest(page).first().textContent()).toContain('Just in');
    await expect.poll(() => newest(moving).count()).toBe(12);
    await expect.poll(() => moving.locator('body').getAttribute('data-slides')).toMatch(/translateY\(-\d/);
    expect(await still.locator('body').getAttribute('data-slides')).toBeNull();
    const names = (page: Page) => page.evaluate<string[]>(ANIMATIONS);
    await expect.poll(() => names(moving)).toContain('flow');
    expect(await names(still)).not.toContain('flow');
  });

  test('live mode asks for nothing while nobody looks, and catches up', async () => {
    const page = await dashboard.signedIn('/?live=1');
    const other = await dashboard.signedIn('/?live=1');
    const look = (hidden: boolean) => page.evaluate(`(${LOOK})(${hidden})`);
    await page.getByRole('heading', { name: 'Newest messages' }).waitFor();
    await page.waitForLoadState('networkidle');
    await look(true);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await client.send({
      from: 'load@example.com',
      to: ['ann@example.net'],
      subject: 'Seen later',
      text: 'Hi',
    });
    await other.getByRole('link', { name: 'Seen later' }).waitFor();
    expect(asked).not.toContain('/api/call/live');
    await look(false);
    await page.getByRole('link', { name: 'Seen later' }).waitFor();
  });
});
