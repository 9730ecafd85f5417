import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { NEEDED } from './dashboard.ts';
import { faultsByAxe, settled, tooWide } from './looks.ts';
import { type Populated, populate } from './populated.ts';

/** What became of mail, and the list of addresses that get none. */

describeWith(NEEDED, 'what became of mail', () => {
  let populated: Populated;
  let wide: Page;
  let phone: Page;

  beforeAll(async () => {
    populated = await populate();
    wide = await populated.dashboard.signedIn('/');
    phone = await populated.dashboard.signedIn('/', { width: 375, height: 812 });
  }, 120_000);
  afterAll(async () => {
    const { strays, surprises } = populated.dashboard;
    await populated.stop();
    expect([[...strays], surprises]).toEqual([[], []]);
  });

  const row = (page: Page, address: string) =>
    page.getByRole('row').filter({ has: page.getByText(address, { exact: true }) });

  test('stands with each recipient, and in the life of the message', async () => {
    await wide.goto(`/messages/${populated.things.bounced}`);
    const recipients = wide.getByRole('table', { name: 'Recipients' });
    const gone = recipients.getByRole('row').filter({ hasText: 'gone@example.net' });
    await gone.getByText('Bounced', { exact: true }).waitFor();
    await gone.getByText('Hard bounce', { exact: true }).waitFor();
    await gone.getByText('550 5.1.1 No mailbox here by that name').waitFor();
    await recipients.getByText(/^Called it spam/).waitFor();
    const life = wide.getByRole('list', { name: 'What happened' });
    await life.getByText('gone@example.net: hard bounce', { exact: true }).waitFor();
    await life.getByText('angry@example.org called it spam', { exact: true }).waitFor();
  });

  test('is shown to strangers by a link, with the content where that is asked for, until it is ended', async () => {
    await wide.goto(`/messages/${populated.things.bounced}`);
    const share = async (content: boolean) => {
      await wide.getByRole('button', { name: 'More', exact: true }).click();
      await wide.getByRole('menuitem', { name: 'Share by a link…' }).click();
      if (content) await wide.getByRole('checkbox', { name: 'Show subject and content' }).click();
      await wide.getByRole('button', { name: 'Make a link' }).click();
      const link = await wide.getByRole('dialog').getByLabel('link', { exact: true }).innerText();
      await wide.getByRole('button', { name: 'I have copied it' }).click();
      return link;
    };
    const subject = 'The new collection';
    const [bare, whole] = [await share(false), await share(true)];
    const stranger = await populated.dashboard.window({ width: 390, height: 844, colorScheme: 'dark' });
    await stranger.goto(bare);
    await stranger.getByText('gone@example.net: hard bounce', { exact: true }).waitFor();
    expect(await stranger.getByText(subject).count()).toBe(0);
    expect(await stranger.getByText('Contents').count()).toBe(0);
    expect([await tooWide(stranger), await faultsByAxe(stranger)]).toEqual([[], []]);
    await stranger.goto('about:blank');
    await stranger.goto(whole);
    await stranger.getByRole('heading', { name: subject }).waitFor();
    const said = stranger.frameLocator('iframe').locator('body');
    await expect.poll(() => said.innerText()).toContain('collection');
    const ends = wide.getByRole('button', { name: 'End this link' });
    for (const left of [1, 0]) {
      await ends.first().click();
      await wide.getByRole('button', { name: 'End the link' }).click();
      await expect.poll(() => ends.count()).toBe(left);
    }
    await stranger.reload();
    await stranger.getByText('This link shows nothing').waitFor();
  });

  test('is told by relay, domain and tag, over time and beside what is asked of senders', async () => {
    await wide.goto('/reputation');
    const cells = async (page: Page, name: string) =>
      await page
        .getByRole('table', { name: 'Rates', exact: true })
        .getByRole('row')
        .filter({ hasText: name })
        .getByRole('cell')
        .allInnerTexts();
    await row(wide, 'spare').waitFor();
    expect(await cells(wide, 'spare')).toEqual(['spare', '9', '2', '22 %', '1', '11 %']);
    const complaints = wide.getByRole('figure', { name: 'Rate of complaints by day' });
    await complaints.getByText('0.1 %', { exact: true }).waitFor();
    await complaints.getByText('0.3 %', { exact: true }).waitFor();
    expect((await complaints.getByRole('row').last().innerText()).split(/\s+/)).toContain('5.0');
    await wide.getByRole('button', { name: 'Recipient domain' }).click();
    await row(wide, 'example.org').waitFor();
    expect(await cells(wide, 'example.org')).toEqual(['example.org', '2', '1', '50 %', '1', '50 %']);
    const held = Promise.withResolvers<void>();
    await wide.route('**/api/call/rates', async (route) => {
      await held.promise;
      await route.continue();
    });
    await wide.getByRole('button', { name: 'Tag', exact: true }).click();
    await wide.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await row(wide, 'example.org').count(), 'domains are no tags to be chosen').toBe(0);
    held.resolve();
    await row(wide, 'orders').waitFor();
    await wide.unroute('**/api/call/rates');
    const tags = await wide
      .getByRole('table', { name: 'Rates', exact: true })
      .getByRole('row')
      .allInnerTexts();
    const place = tags.findIndex((text) => text.startsWith('orders'));
    expect(place, 'below the header').toBeGreaterThan(0);
    for (let down = 0; down < place; down++) await wide.keyboard.press('j');
    await wide.keyboard.press('Enter');
    await wide.getByRole('button', { name: 'Remove this choice' }).waitFor();
    expect(new URL(wide.url()).search).toBe('?by=tag&name=orders');
    expect((await complaints.getByRole('row').last().innerText()).split(/\s+/)).toContain('0');
    await row(wide, '(no tag)').getByRole('button').click();
    await expect.poll(() => new URL(wide.url()).search).toBe('?by=tag&untagged=1');
  });

  test('of a name that got no mail is shown as that, not as all, and its days are read with their counts', async () => {
    await wide.goto('/reputation?name=away');
    await wide.getByText('No mail in this time').waitFor();
    await wide.getByText('away', { exact: true }).waitFor();
    expect(await wide.getByRole('figure').count()).toBe(0);
    await wide.getByRole('button', { name: 'Remove this choice' }).click();
    const bounces = wide.getByRole('figure', { name: 'Rate of bounces by day' });
    expect(await bounces.getByRole('row').last().innerText()).toMatch(/ %, 3 bounced$/);
    expect(await bounces.getByRole('row').nth(1).innerText()).toMatch(/no mail$/);
  });

  test('says so when what others told cannot be shown', async () => {
    await wide.route('**/api/call/messageFeedback', (route) =>
      route.fulfill({ status: 500, json: { code: 'failed', detail: 'The store is away.' } }),
    );
    await wide.goto(`/messages/${populated.things.bounced}`);
    await wide.getByRole('alert').getByText('The store is away.').waitFor();
    await wide.unroute('**/api/call/messageFeedback');
    await wide.getByRole('button', { name: 'Try again' }).click();
    await wide.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('opens to what came, as plain text', async () => {
    const teller = await populated.dashboard.client(
      'evil',
      '--scope',
      'feedback:write',
      '--scope',
      'messages:read_all',
    );
    const text = '<img src=x onerror=alert(1)>\u202eevil';
    await teller.tell({
      kind: 'bounce',
      id: populated.things.delivered,
      recipient: 'ann@example.net',
      code: 550,
      text,
    });
    for (const page of [wide, phone]) {
      await page.goto(`/messages/${populated.things.delivered}`);
      const told = page
        .getByRole('region', { name: 'What others told' })
        .or(page.locator('section').filter({ has: page.getByRole('heading', { name: 'What others told' }) }));
      await told.getByText('Bounce', { exact: true }).click();
      await told.getByText(/onerror=alert/).waitFor();
      expect(await told.locator('img').count()).toBe(0);
      await expect.poll(() => tooWide(page)).toEqual([]);
    }
  });

  test('leads from a message that was not sent to the entry that stopped it', async () => {
    await wide.goto(`/messages/${populated.things.suppressed}`);
    await wide.getByRole('link', { name: 'Why it is suppressed' }).click();
    const drawer = wide.getByRole('dialog', { name: 'gone@example.net' });
    await drawer.getByText('550 5.1.1', { exact: true }).waitFor();
    await drawer.getByText('No mailbox here by that name').waitFor();
    await drawer.getByRole('link', { name: populated.things.bounced }).click();
    await wide.getByRole('heading', { name: 'The new collection' }).waitFor();
  });

  test('an address is added, found by keys and by its domain, and removed', async () => {
    await wide.goto('/suppressions');
    await wide.getByRole('button', { name: 'Add', exact: true }).click();
    const dialog = wide.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Suppress' }).click();
    await dialog.getByText('Enter an address.').waitFor();
    await dialog.getByLabel('Address').fill('no address');
    await dialog.getByRole('button', { name: 'Suppress' }).click();
    await dialog.locator('[aria-invalid=true]').waitFor();
    await dialog.getByLabel('Address').fill('*@blocked.example');
    await dialog.getByLabel('Note').fill('asked by phone');
    await dialog.getByRole('button', { name: 'Suppress' }).click();
    await dialog.waitFor({ state: 'detached' });
    await wide.keyboard.press('/');
    await wide.keyboard.type('blocked.example');
    await wide.keyboard.press('Enter');
    await expect.poll(() => wide.getByRole('row').count()).toBe(2);
    await row(wide, '*@blocked.example').getByText('asked by phone').waitFor();
    await wide.goto('/suppressions?q=bob@blocked.example');
    await wide.getByText('No entries match').waitFor();
    await wide.getByRole('link', { name: '*@blocked.example' }).click();
    const drawer = wide.getByRole('dialog', { name: '*@blocked.example' });
    await drawer.getByText('never by itself').waitFor();
    await wide.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await wide.goto('/suppressions');
    await row(wide, '*@blocked.example')
      .getByRole('button', { name: /^What to do/ })
      .click();
    await wide.getByRole('menuitem', { name: 'Remove' }).click();
    await wide.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await row(wide, '*@blocked.example').waitFor({ state: 'detached' });
  });

  test('a search that is not one yet is told so, and what is empty is the answer to what is asked', async () => {
    for (const [half, said] of [
      ['ann@', /^"" is not a valid mail domain/],
      ['example.', /^Must be a domain/],
      ['*@', /^A pattern must be like/],
      ['scope:key:nobody', /^There is no key nobody/],
    ] as const) {
      await wide.goto(`/suppressions?q=${half}`);
      await wide.getByText('Not a search yet').waitFor();
      await wide.getByText(said).waitFor();
      expect(await wide.getByRole('alert').count()).toBe(0);
    }
    await wide.goto('/suppressions?q=nobody.example');
    await wide.getByText('No entries match').waitFor();
    const held = Promise.withResolvers<void>();
    await wide.route('**/api/call/listSuppressions', async (route) => {
      await held.promise;
      await route.continue();
    });
    await wide.getByLabel('Search the list').fill('example.net');
    await wide.keyboard.press('Enter');
    await wide.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await wide.getByText('No entries match').count()).toBe(0);
    held.resolve();
    await row(wide, 'gone@example.net').waitFor();
    await wide.unroute('**/api/call/listSuppressions');
  });

  test('one who complained is sent to again only after a word was written', async () => {
    await wide.goto('/suppressions?reason=complaint');
    await row(wide, 'angry@example.org')
      .getByRole('button', { name: /^angry@/ })
      .click();
    await wide.getByRole('button', { name: 'Remove from the list' }).click();
    const dialog = wide.getByRole('dialog', { name: 'Send to somebody who complained?' });
    const remove = dialog.getByRole('button', { name: 'Remove' });
    expect(await remove.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('complaint');
    await remove.click();
    await wide.getByText('No entries match').waitFor();
  });

  test('a file is imported, with what is wrong in it, and the list exported again', async () => {
    const lines = ['address,note', 'one@import.example,old list', 'no address,', 'two@import.example,'];
    const file = { name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) };
    const latin = { ...file, buffer: Buffer.from('address\nbjörn@import.example', 'latin1') };
    for (const page of [phone, wide]) {
      await page.goto('/suppressions');
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByRole('button', { name: 'Import', exact: true }).isDisabled()).toBe(true);
      await dialog.getByLabel('File').setInputFiles(latin);
      await dialog.getByRole('button', { name: 'Import', exact: true }).click();
      await dialog.getByText('The file is not UTF-8.').waitFor();
      await dialog.getByLabel('File').setInputFiles(file);
      await dialog.getByRole('combobox', { name: 'Why' }).click();
      await page.getByRole('option', { name: 'Complaint' }).click();
      await dialog.getByRole('button', { name: 'Import', exact: true }).click();
      await dialog.getByText(page === phone ? '2 added' : '0 added', { exact: true }).waitFor();
      await dialog.getByText('Line 3', { exact: true }).waitFor();
      await expect.poll(() => tooWide(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Done' }).click();
      await row(page, 'one@import.example').getByText('Complaint', { exact: true }).waitFor();
    }
    const [saved] = await Promise.all([
      wide.waitForEvent('download'),
      wide.getByRole('button', { name: 'Export' }).click(),
    ]);
    expect(saved.suggestedFilename()).toMatch(/^waybill-suppressions-[\d-]+\.csv$/);
    const csv = readFileSync(await saved.path(), 'utf8')
      .trim()
      .split(/\r?\n/);
    expect(csv[0]).toMatch(/^id,address,/);
    expect(csv.filter((line) => line.includes('@import.example'))).toHaveLength(2);
    await wide.getByText(/^\d+ entries, saved where this browser keeps downloads$/).waitFor();
  });

  test('an empty list says how addresses come to it', async () => {
    const { installation } = populated.dashboard;
    const { stdout } = await installation.run('suppressions', 'list', '--json');
    const { suppressions }: { suppressions: readonly { id: string }[] } = JSON.parse(stdout);
    for (const { id } of suppressions) await installation.run('suppressions', 'remove', id, '--complaints');
    await phone.goto('/suppressions');
    await settled(phone);
    await phone.getByText('Nobody is suppressed').waitFor();
    await expect.poll(() => tooWide(phone)).toEqual([]);
  });
});
