import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Client } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import { ADMIN, NEEDED } from './dashboard.ts';
import { tooWide } from './looks.ts';
import { type Populated, populate } from './populated.ts';

/** Pages say in plain words what is meant, and all of it. */

const LETTER = { from: 'a@example.com', subject: 'Hello', text: 'Hi.' };
const PHONE = { width: 375, height: 812 };

describeWith(NEEDED, 'what pages say', () => {
  let populated: Populated;
  let client: Client;
  let wide: Page;
  let phone: Page;

  beforeAll(async () => {
    populated = await populate();
    client = await populated.dashboard.client('words');
    wide = await populated.dashboard.signedIn('/');
    phone = await populated.dashboard.signedIn('/', PHONE);
  }, 120_000);
  afterAll(async () => {
    const { strays, surprises } = populated.dashboard;
    await populated.stop();
    expect([[...strays], surprises]).toEqual([[], []]);
  });

  test('the chart of outcomes says what it counts, in its table as well', async () => {
    await wide.goto('/');
    const chart = wide.getByRole('figure', { name: /^Messages delivered, captured and failed/ });
    await chart.waitFor();
    const counted = ['Delivered', 'Captured', 'Failed'];
    expect(await chart.getByRole('columnheader').allInnerTexts()).toEqual(['From', ...counted]);
    expect(await chart.getByRole('rowheader').first().innerText()).toMatch(/^\d{4}-\d\d-\d\d \d\d:00 UTC$/);
    await wide.getByText('Messages over the last 24 hours, by hour.').waitFor();
    // Attempts are no messages: they have a chart of their own.
    const attempts = wide.getByRole('figure', { name: /^Attempts deferred/ });
    expect(await attempts.getByRole('columnheader').allInnerTexts()).toEqual(['From', 'Attempts deferred']);
    // It grows as soon as something happens, long before the page asks by itself.
    const legend = chart.locator('figcaption');
    const before = await legend.innerText();
    await client.send({ ...LETTER, to: ['ann@example.net'] });
    await expect.poll(() => legend.innerText(), { timeout: 10_000 }).not.toBe(before);
  });

  test('a long list of addresses says how many there are, and keys reach all of them', async () => {
    const to = Array.from({ length: 45 }, (_, place) => `reader${place}@example.net`);
    const id = await client.send({ ...LETTER, to });
    for (const page of [wide, phone]) {
      await page.goto(`/messages/${id}`);
      const facts = page.getByRole('complementary', { name: 'Facts' });
      await facts.getByText('reader4@example.net').waitFor();
      expect(await facts.getByText('reader5@example.net').count()).toBe(0);
      await facts.getByRole('button', { name: 'To: and 40 more' }).press('Enter');
      const all = facts.getByRole('region', { name: 'To: all 45' });
      expect(await all.getByRole('listitem').count()).toBe(45);
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('End');
      const scrolled = async () => await all.evaluate((element) => Number(Reflect.get(element, 'scrollTop')));
      await vi.waitFor(async () => expect(await scrolled()).toBeGreaterThan(0), 60_000);
      await expect.poll(() => tooWide(page)).toEqual([]);
      await facts.getByRole('button', { name: 'To: only the first 5' }).press('Enter');
      expect(await all.count()).toBe(0);
    }
  });

  test('a long value has a button for all of it, and a short one has none', async () => {
    const words = Array.from({ length: 120 }, (_, place) => `word${place}`).join(' ');
    const id = await client.send({
      ...LETTER,
      to: ['b@example.net'],
      metadata: { note: words, few: 'words' },
    });
    await wide.goto(`/messages/${id}`);
    const facts = wide.getByRole('complementary', { name: 'Facts' });
    await facts.getByRole('button', { name: 'note: all of it' }).press('Enter');
    const all = facts.getByRole('region', { name: 'note' });
    expect(await all.innerText()).toBe(words);
    expect(await facts.getByRole('button', { name: /^(few|From):/ }).count()).toBe(0);
    await facts.getByRole('button', { name: 'note: less of it' }).press('Enter');
    expect(await all.count()).toBe(0);
  });

  test('further rows that cannot be fetched are told of, and not asked for over and over', async () => {
    const page = await populated.dashboard.signedIn('/');
    const json = { title: 'Unavailable', status: 500, detail: 'The rest is in a drawer.' };
    let asked = 0;
    await page.route('**/api/call/activity', async (route) => {
      const { before } = route.request().postDataJSON() as { before: number | null };
      if (before !== null) {
        asked++;
        return await route.fulfill({ status: 500, json });
      }
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), next: 1 } });
    });
    await page.goto('/activity');
    await page.getByRole('row').nth(1).waitFor();
    await page.mouse.wheel(0, 100_000);
    await page.getByText(json.detail).first().waitFor();
    // It asked again at once, and went on: this is long enough to see that it does not.
    await page.waitForTimeout(1000);
    expect(asked).toBe(1);
    await page.getByRole('button', { name: 'Load more' }).click();
    await expect.poll(() => asked).toBe(2);
  });

  test('the browser of a session is shown whole', async () => {
    for (const page of [wide, phone]) {
      await page.goto('/account');
      const words = page.getByText('Chrome on Linux', { exact: true }).first();
      await words.waitFor();
      const [needed = 0, has = 0] = await words.evaluate((element) =>
        ['scrollWidth', 'clientWidth'].map((name) => Number(Reflect.get(element, name))),
      );
      expect(needed).toBeLessThanOrEqual(has + 1);
      await expect.poll(() => tooWide(page)).toEqual([]);
    }
  });

  test('a relay without limits says so', async () => {
    await wide.goto('/relays/out');
    await wide.getByText('on recipients a day').waitFor();
    expect(await wide.getByText('no limit', { exact: true }).count()).toBe(3);
    await wide.goto('/relays/spare');
    await wide.getByText('of 400 recipients').waitFor();
  });

  test('a setting without a value shows what holds', async () => {
    await wide.goto('/settings/limits');
    await wide
      .locator('[id="limits.max_queued_bytes"]')
      .getByText(/^half of the free disk/)
      .waitFor();
  });

  test('a message that is not there is said so, and not to be tried again', async () => {
    await wide.goto('/messages/msg_00000000000000000000000000');
    await wide.getByText('There is no message msg_00000000000000000000000000.').waitFor();
    expect(await wide.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  test('times are those of the reader, with UTC in their titles, or of UTC where that is chosen', async () => {
    const far = await populated.dashboard.signedIn(`/messages/${populated.things.bounced}`, {
      timezoneId: 'Asia/Kolkata',
    });
    const accepted = far.getByRole('complementary', { name: 'Facts' }).locator('time').first();
    const utc = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/;
    expect(await accepted.innerText()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT\+5:30 \(/);
    expect(await accepted.getAttribute('title')).toMatch(new RegExp(`GMT\\+5:30 · ${utc.source}$`));
    await far.getByRole('button', { name: ADMIN.name }).click();
    await far.getByRole('menuitemradio', { name: 'UTC' }).click();
    expect(await accepted.innerText()).toMatch(new RegExp(`^${utc.source} \\(`));
    await far.context().close();
    // Who is in UTC has nothing to choose.
    await wide.getByRole('button', { name: ADMIN.name }).click();
    await wide.getByRole('menuitemradio', { name: 'Light' }).waitFor();
    expect(await wide.getByRole('menuitemradio', { name: 'UTC' }).count()).toBe(0);
    await wide.keyboard.press('Escape');
  });

  test('what keeps a message is told with buttons that change it', async () => {
    await populated.dashboard.installation.run('queue', 'pause', 'out');
    const id = await client.send({ ...LETTER, to: ['b@example.net'] });
    await wide.goto(`/messages/${id}`);
    // Its title alone is read aloud: the times below it tick.
    const title = wide.getByRole('status').filter({ hasText: 'It waits for something' });
    await title.waitFor();
    expect(await title.innerText()).toBe('It waits for something');
    const banner = title.locator('xpath=../..');
    await banner.getByText('out is paused', { exact: true }).waitFor();
    expect(await banner.getByRole('link', { name: 'Queue' }).getAttribute('href')).toBe('/queue?relay=out');
    // Each of these is tried once, which is enough for the next hop to be found ill.
    for (let more = 0; more < 10; more++) await client.send({ ...LETTER, to: ['b@example.net'] });
    populated.sink.script = { CONNECT: () => ({ close: 'reset' }), MAIL: () => ({ close: 'reset' }) };
    await populated.dashboard.installation.run('queue', 'resume', 'out');
    await banner.getByText('out is resting after failures', { exact: true }).waitFor();
    // Where there are buttons no command line is shown.
    expect(await banner.locator('code').count()).toBe(0);
    await banner.getByText(/^Began .* Waiting: \d+ recipients\. /).waitFor();
    await banner.getByRole('button', { name: 'Test out' }).click();
    await wide.getByRole('dialog', { name: 'Test out' }).getByText('It does not work yet').waitFor();
    await wide.keyboard.press('Escape');
    await wide.goto('/');
    const notice = wide.getByRole('listitem').filter({ hasText: 'out rests, because its next hop fails' });
    await notice.getByRole('link', { name: 'Show what waits at out' }).click();
    await wide.waitForURL(/relay:out\+status:queued\+status:retrying/);
    await wide.goto('/relays/out');
    await wide
      .getByRole('alert')
      .getByText('It rests, because its next hop fails', { exact: true })
      .waitFor();
    expect(await wide.getByRole('alert').locator('time').count()).toBe(0);
  });
});
