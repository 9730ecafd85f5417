import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { Dashboard, NEEDED } from './dashboard.ts';
import { settled, tooWide } from './looks.ts';

/** A template from its first version to its last. */

const HOSTILE = `<h1 onclick="alert(1)">Hello {{name}}</h1><script>alert(2)</script>
<img src="https://elsewhere.example/a.png" alt="Logo" onerror="alert(3)"><link rel="stylesheet" href="https://elsewhere.example/a.css">
<iframe src="https://elsewhere.example/"></iframe><meta http-equiv="refresh" content="0;url=https://elsewhere.example/">
<p><a href="https://elsewhere.example/">Leave</a></p>`;

/** What is selected in a text field. */
const SELECTED =
  'document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)';

describeWith(NEEDED, 'a template', () => {
  let dashboard: Dashboard;
  let page: Page;

  beforeAll(async () => {
    dashboard = await Dashboard.start();
    await dashboard.claim();
    page = await dashboard.signedIn('/');
  }, 120_000);
  afterAll(async () => {
    await dashboard.stop();
    // The policy of the frame refuses what a mail would run; browsers tell of it on the console.
    const refused = 'policy: Executing inline event handler';
    const surprises = dashboard.surprises.filter((surprise) => !surprise.startsWith(refused));
    expect([[...dashboard.strays], surprises]).toEqual([[], []]);
  });

  const dialog = () => page.getByRole('dialog');
  const code = (name: string) => page.getByRole('textbox', { name, exact: true });
  const mail = () => page.frameLocator('iframe[title="The mail"]');
  const act = async (name: string) => {
    await page.getByRole('button', { name: 'What else to do with the template' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  const save = async (version: number) => {
    await page.getByRole('button', { name: `Save as version ${version}` }).click();
    await page.getByText(new RegExp(`^Version ${version}, saved`)).waitFor();
  };

  test('is made by keys, of a name and a beginning, and shows its mail at once', async () => {
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await page.getByText('No templates yet').waitFor();
    await page.getByRole('button', { name: 'New template' }).first().click();
    await dialog().getByRole('button', { name: 'Create template' }).click();
    await dialog().getByText('Enter a name.').waitFor();
    await dialog().getByLabel('Name').fill('Sign-in code');
    expect(await dialog().getByLabel('Alias').inputValue()).toBe('sign-in-code');
    await dialog().getByRole('button', { name: 'Create template' }).click();
    await page.getByRole('heading', { name: 'Sign-in code' }).waitFor();
    await page.getByText('Not published').waitFor();
    await mail().getByText('135790').waitFor();
    await page.getByText('135790 is your code for Example Shop').waitFor();
    await settled(page);
  });

  test('is shown as it is typed, on a phone, in dark mode and as text, and the address says how', async () => {
    const html = await code('HTML').inputValue();
    await code('HTML').fill(html.replace('Hello {{name}}', 'Dear {{name}}'));
    await mail().getByText('Dear Ann').waitFor();
    await page.getByRole('button', { name: 'Phone width' }).click();
    await page.getByRole('button', { name: 'Dark mode' }).click();
    await page.getByText('With the mail’s own styles for dark mode').waitFor();
    const color = () =>
      mail()
        .locator('.sheet')
        .evaluate((element) => Reflect.get(globalThis, 'getComputedStyle')(element).backgroundColor);
    await expect.poll(color).toBe('rgb(34, 38, 43)');
    await expect.poll(async () => (await page.getByTitle('The mail').boundingBox())?.width).toBe(375);
    await page.getByRole('button', { name: 'Text', exact: true }).click();
    await page.getByText(/^Dear Ann,/).waitFor();
    expect(new URL(page.url()).search).toBe('?look=text&dark=1');
    await page.getByRole('button', { name: 'Desktop width' }).click();
    await page.getByRole('button', { name: 'Light', exact: true }).click();
  });

  test('tells what is wrong with it at its line, and keeps what it showed before', async () => {
    const whole = await code('HTML').inputValue();
    await code('HTML').fill(`<p>Dear {{name}}</p>\n<p>{{#paid}}</p>\n`);
    await page.getByRole('tab', { name: 'HTML 1 fault' }).waitFor();
    await mail().getByText('Dear Ann').waitFor();
    await page.getByRole('button', { name: 'Line 2', exact: true }).click();
    expect(await page.evaluate(SELECTED)).toBe('<p>{{#paid}}</p>');
    await page.getByRole('button', { name: 'Save as version 2' }).click();
    await page.getByText('It is not saved').waitFor();
    await code('HTML').fill(whole);
    await page.getByRole('tab', { name: 'HTML', exact: true }).waitFor();
    await page.getByText('It is not saved').waitFor({ state: 'detached' });
  });

  test('names what its sample lacks, and takes it in; a sample that is no JSON is told at its line', async () => {
    await page.getByLabel('Subject').fill('{{code}} for {{customer.name}}');
    await page.getByText('The sample has no value for').getByText('customer.name').waitFor();
    await page.getByRole('button', { name: 'Add to the sample' }).click();
    await page.getByText('The sample has no value for').waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'Sample' }).click();
    const sample = await code('Sample').inputValue();
    expect(JSON.parse(sample)).toMatchObject({ code: '135790', customer: { name: '' } });
    await code('Sample').fill('{\n  "code": "1",\n  oops\n}');
    await page.getByRole('button', { name: 'Line 3', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Save as version 2' }).isDisabled()).toBe(true);
    await code('Sample').fill(sample);
    await page.getByRole('tab', { name: 'HTML', exact: true }).click();
  });

  test('is checked as it is typed, and each finding leads to its line', async () => {
    const whole = await code('HTML').inputValue();
    const [before = '', after = ''] = whole.split('              <p style="margin: 0 0 16px">Dear');
    const image = '<img src="cid:box" width="120">';
    // The section's tags stand alone on their lines: they are none in the mail.
    await code('HTML').fill(`${before}{{#name}}\n{{/name}}\n${image}\n<p>Dear${after}`);
    const line = before.split('\n').length + 2;
    await page
      .getByRole('button', { name: `HTML, line ${line}` })
      .first()
      .click();
    await expect.poll(() => page.evaluate(SELECTED)).toBe(image);
    await code('HTML').fill(whole);
    await page.getByText('No findings').waitFor();
  });

  test('runs and fetches nothing of what it says', async () => {
    const whole = await code('HTML').inputValue();
    await code('HTML').fill(HOSTILE);
    await mail().getByRole('heading', { name: 'Hello Ann' }).click();
    await mail().getByText('Leave').click();
    await mail().getByRole('heading', { name: 'Hello Ann' }).waitFor();
    expect(
      await mail().locator('script, link, iframe, meta[http-equiv], [onclick], [onerror], img[src]').count(),
    ).toBe(0);
    await code('HTML').fill(whole);
    await mail().getByText('Dear Ann').waitFor();
  });

  test('is not left behind unsaved without a question, and is saved by a key', async () => {
    await page.getByRole('link', { name: 'Inbox' }).click();
    await dialog().getByText('Leave without saving?').waitFor();
    await dialog().getByRole('button', { name: 'Keep as it is' }).click();
    await page.getByLabel('What changed, for the history').fill('A customer');
    await code('HTML').press('Control+s');
    await page.getByText(/^Version 2, saved/).waitFor();
    await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Subject').inputValue()).toBe('{{code}} for {{customer.name}}');
  });

  test('is published', async () => {
    await page.getByRole('button', { name: 'Publish version 2' }).click();
    await dialog().getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Version 2 published').waitFor();
  });

  test('is sent as a test, by its name where it is published, and else as the preview shows it', async () => {
    const other = await dashboard.signedIn('/');
    const sent = async () => {
      await dialog().getByRole('button', { name: 'Send' }).click();
      const link = dialog().getByRole('link', { name: 'See what becomes of it' });
      await other.goto((await link.getAttribute('href')) ?? '');
      await dialog().getByRole('button', { name: 'Done' }).click();
    };
    await page.getByRole('button', { name: 'Send a test' }).click();
    await dialog().getByRole('button', { name: 'Send' }).click();
    await dialog().getByText('Enter a recipient.').waitFor();
    await dialog().getByLabel('From').fill('shop@example.com');
    await dialog().getByLabel('To').fill('ann@example.net');
    const request = page.waitForRequest('**/api/call/submit');
    await sent();
    const { template, variables } = (await request).postDataJSON().message;
    expect([template, variables.code]).toEqual(['sign-in-code', '135790']);
    await other.getByRole('heading', { name: /^135790 for/ }).waitFor();
    await page.getByLabel('Subject').fill('Not saved: {{code}}');
    await page.getByRole('button', { name: 'Send a test' }).click();
    await dialog().getByText('with what is not saved yet').waitFor();
    await sent();
    await other.getByRole('heading', { name: 'Not saved: 135790' }).waitFor();
    await page.getByLabel('Subject').fill('Nobody: {{nobody}}');
    await page.getByRole('button', { name: 'Send a test' }).click();
    await dialog().getByText('It cannot be sent like this').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('It cannot be sent like this').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Discard' }).click();
    await other.context().close();
  });

  test('is found in the list, which says which version is sent', async () => {
    await page.getByLabel('Subject').fill('Your code');
    await save(3);
    await page.getByText('3 not published').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Templates' }).click();
    await page.getByLabel('Search templates').fill('nothing of the kind');
    await page.getByText('No templates match').waitFor();
    await page.getByLabel('Search templates').fill('CODE');
    const row = page.getByRole('row').filter({ hasText: 'sign-in-code' });
    await row.getByText('Version 2 published').waitFor();
    await row.getByRole('link').click();
  });

  test('shows what a version changed, and goes back to it', async () => {
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('row').filter({ hasText: 'A customer' }).getByRole('button').click();
    await dialog().getByText('removed: ').first().waitFor();
    await dialog().getByText('{{code}} is your code for {{shop}}').waitFor();
    await dialog().getByText('{{code}} for {{customer.name}}').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => tooWide(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await dialog().getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('row').filter({ hasText: 'Version 2, restored' }).waitFor();
    await page.getByRole('tab', { name: 'Edit' }).click();
    expect(await page.getByLabel('Subject').inputValue()).toBe('{{code}} for {{customer.name}}');
  });

  test('that others have saved meanwhile is told, with theirs, and a way on with either', async () => {
    const other = await dashboard.signedIn('/templates/sign-in-code');
    for (const [version, keep] of [
      [4, 'Keep mine'],
      [6, 'Take theirs'],
    ] as const) {
      await other.getByText(new RegExp(`^Version ${version}, saved`)).waitFor();
      await page.getByLabel('Subject').fill(`Mine ${version}`);
      await other.getByLabel('Subject').fill(`Theirs ${version}`);
      await other.getByRole('button', { name: `Save as version ${version + 1}` }).click();
      const told = page.getByRole('status').filter({ hasText: `admin saved version ${version + 1}` });
      await told.waitFor();
      expect(await page.getByLabel('Subject').inputValue()).toBe(`Mine ${version}`);
      await told.getByRole('button', { name: 'See what changed' }).click();
      await dialog().getByText(`Theirs ${version}`).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('heading', { name: /^From version/ }).waitFor({ state: 'detached' });
      await told.getByRole('button', { name: keep }).click();
      await told.waitFor({ state: 'detached' });
      if (keep === 'Keep mine') await save(version + 2);
      const text = keep === 'Keep mine' ? `Mine ${version}` : `Theirs ${version}`;
      expect(await page.getByLabel('Subject').inputValue()).toBe(text);
    }
    await other.context().close();
  });

  test('is duplicated, unpublished and deleted', async () => {
    await act('Unpublish');
    await dialog().getByRole('button', { name: 'Unpublish' }).click();
    await page.getByText('Not published').waitFor();
    await act('Duplicate');
    await dialog().getByRole('button', { name: 'Create template' }).click();
    await page.getByRole('heading', { name: 'Sign-in code, copy' }).waitFor();
    expect(await page.getByLabel('Subject').inputValue()).toBe('Theirs 6');
    await act('Delete');
    await dialog().getByLabel('Type sign-in-code-copy to go on').fill('sign-in-code-copy');
    await dialog().getByRole('button', { name: 'Delete template' }).click();
    const rows = page.getByRole('row').filter({ hasText: 'sign-in-code' });
    await expect.poll(() => rows.count()).toBe(1);
    await page.goto('/templates/sign-in-code-copy');
    await page.getByText('There is no such template').waitFor();
  });

  test('is read by viewers, who change nothing of it', async () => {
    const viewer = await dashboard.signedIn('/');
    await viewer.route('**/api/session', async (route) => {
      const response = await route.fetch();
      const session = await response.json();
      await route.fulfill({ response, json: { ...session, user: { ...session.user, role: 'viewer' } } });
    });
    await viewer.goto('/templates/sign-in-code');
    await viewer.frameLocator('iframe').getByText('Dear Ann').waitFor();
    expect(await viewer.getByRole('textbox', { name: 'HTML' }).isEditable()).toBe(false);
    const acts = ['Send a test', 'What else to do with the template'];
    for (const name of acts) expect(await viewer.getByRole('button', { name }).count()).toBe(0);
  });
});
